"""The ledger opened for writing. Opening and closing lose nothing, so that folding in two parts
gives what folding at once gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from unremember.actions import PlanItem, clean_path
from unremember.ledger.records import (
    Attempt,
    CommandRecord,
    EditMark,
    ErrorRecord,
    FileRecord,
    Ledger,
    Range,
    TestRecord,
)

MOST_ERRORS = 8
MOST_ATTEMPTS = 24
MOST_RANGES = 6


@dataclass(slots=True)
class Book:
    """A ledger opened for writing; files are found by their path seen from the root."""

    root: str = ""
    files: dict[str, FileRecord] = field(default_factory=dict[str, FileRecord])
    commands: dict[str, CommandRecord] = field(default_factory=dict[str, CommandRecord])
    tests: dict[tuple[str, bool], TestRecord] = field(
        default_factory=dict[tuple[str, bool], TestRecord]
    )
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    errors: list[ErrorRecord] = field(default_factory=list[ErrorRecord])
    plan: tuple[PlanItem, ...] = ()
    recent: list[EditMark] = field(default_factory=list[EditMark])
    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Keys of files by the last part of their path, to find two names of one file."""

    @classmethod
    def opened(cls, ledger: Ledger) -> Book:
        """A ledger's records, ready to be changed."""
        book = cls(root=ledger.root, plan=ledger.plan)
        book.files = {book.key(file.path): file for file in ledger.files}
        book.commands = {command.command: command for command in ledger.commands}
        book.tests = {(test.name, test.is_command): test for test in ledger.tests}
        book.attempts, book.errors = list(ledger.attempts), list(ledger.errors)
        book.recent = list(ledger.recent)
        for key in book.files:
            book.names.setdefault(_name(key), []).append(key)
        return book

    def closed(self) -> Ledger:
        """The records as a ledger."""
        return Ledger(
            self.root,
            tuple(self.files.values()),
            tuple(self.commands.values()),
            tuple(self.tests.values()),
            tuple(self.attempts),
            tuple(self.errors),
            self.plan,
            tuple(self.recent),
        )

    def key(self, path: str, cwd: str = "") -> str:
        """A path seen from the root where it lies below it; else as it is."""
        if cwd and cwd != self.root and not path.startswith(("/", "~")):
            path = clean_path(f"{cwd}/{path}")
        if self.root and path.startswith(self.root + "/"):
            return path[len(self.root) + 1 :]
        return path

    def learn_root(self, root: str) -> None:
        """Takes the first directory that is named as the root; one file's two names become one."""
        if self.root or not root.startswith("/") or root in ("/", "/tmp"):
            return
        self.root = root
        old, self.files = self.files, {}
        for file in old.values():
            key = self.key(file.path)
            self.files[key] = _merged(self.files[key], file) if key in self.files else file

    def root_from(self, path: str) -> None:
        """Learns the root from two names of one file: `/repo/src/a.py` and `src/a.py`."""
        if self.root or path.count("/") < (5 if path.startswith("/") else 1):
            return
        pairs = (
            (k, path) if k.startswith("/") else (path, k) for k in self.names.get(_name(path), ())
        )
        fitting = [
            (short, long[: -len(short) - 1])
            for long, short in pairs
            if long.startswith("/") and "/" in short and long.endswith(f"/{short}")
        ]
        if fitting:
            self.learn_root(max(fitting, key=lambda pair: (len(pair[0]), pair))[1])

    def file(self, path: str, cwd: str = "") -> FileRecord:
        """What is known of a file; an empty record if nothing is."""
        self.root_from(path)
        key = self.key(path, cwd)
        return self.files.get(key) or FileRecord(path if self.key(path) == key else key)

    def put(self, file: FileRecord) -> None:
        """Keeps a record, as the newest."""
        key = self.key(file.path)
        if self.files.pop(key, None) is None and not self.root:
            self.names.setdefault(_name(key), []).append(key)
        self.files[key] = file

    def tried(self, attempt: Attempt) -> None:
        """Notes an attempt; the same one again is counted."""
        same = [a for a in self.attempts if (a.what, a.how) == (attempt.what, attempt.how)]
        times = sum(a.times for a in same) + 1
        rest = [a for a in self.attempts if a not in same]
        self.attempts = [*rest, replace(attempt, times=times)][-MOST_ATTEMPTS:]

    def note_errors(self, found: list[str], ordinal: int) -> None:
        """Notes error lines as the newest; a known one moves up."""
        if found:
            kept = [e for e in self.errors if e.line not in found]
            self.errors = [*kept, *(ErrorRecord(line, ordinal) for line in found)][-MOST_ERRORS:]

    def settle(self, what: str, last: int, now: int, *, failed_before: bool, failed: bool) -> None:
        """Draws the conclusion from running `what` again, at `last` and at `now`."""
        if not failed:
            self.attempts = [a for a in self.attempts if (a.what, a.how) != (what, "fails")]
            self.errors = [e for e in self.errors if e.ordinal != last]
            return
        edited = max((f.modified for f in self.files.values()), default=0)
        if failed_before and edited > last:
            self.tried(Attempt(what, "fails", edited, now))

    def committed(self) -> int:
        """When the work was last committed."""
        commits = (c for c in self.commands.values() if "git commit" in c.command)
        return max((c.ordinal for c in commits if not c.failed), default=0)

    def wrote(self, name: str) -> bool:
        """Whether the agent wrote the file of a test, by the file's name in `name`."""
        return any(
            file.written and file.path.rpartition("/")[2] in name for file in self.files.values()
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _merged(a: FileRecord, b: FileRecord) -> FileRecord:
    return FileRecord(
        a.path,
        max(a.read, b.read),
        ()
        if (a.read and not a.ranges) or (b.read and not b.ranges)
        else union_ranges(a.ranges + b.ranges),
        a.reads + b.reads,
        max(a.written, b.written),
        max(a.edited, b.edited),
        a.edits + b.edits,
        max(a.changed, b.changed),
        max(a.deleted, b.deleted),
        max(a.moved, b.moved),
        b.to or a.to,
    )


def seen_again(file: FileRecord, lines: Range | None, ordinal: int) -> FileRecord:
    """A file after a read: lines seen before still count if it did not change since."""
    again = bool(file.read) and file.modified <= file.read
    whole = lines is None or (again and not file.ranges)
    ranges = () if whole else union_ranges((*(file.ranges if again else ()), lines or (1, 0)))
    return replace(file, read=ordinal, reads=file.reads + 1, ranges=ranges, deleted=0)


def union_ranges(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Ranges in order, joined where they meet; at most `MOST_RANGES`, the newest kept."""
    joined: list[Range] = []
    kept = list(dict.fromkeys(ranges))
    for first, last in sorted(kept, key=lambda r: (r[0] < 0, r)):
        if (
            joined
            and joined[-1][0] > 0 < first
            and (not joined[-1][1] or first <= joined[-1][1] + 1)
        ):
            start, end = joined[-1]
            joined[-1] = (start, max(end, last) if end and last else 0)
        else:
            joined.append((first, last))
    return tuple(joined[-MOST_RANGES:])
