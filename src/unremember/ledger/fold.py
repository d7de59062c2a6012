"""Folds steps of a conversation into a ledger."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from unremember.actions import (
    Action,
    clean_path,
    exit_status,
    is_unknown,
    judge,
    read_action,
    read_plan,
    shell_text,
    shorten_command,
    squeeze,
    strip_frame,
    tool_kind,
    was_not_run,
    was_refused,
    worst_lines,
)
from unremember.ledger.book import Book, seen_again
from unremember.ledger.records import (
    Attempt,
    EditMark,
    FileRecord,
    Ledger,
)
from unremember.ledger.reruns import Run, note_command, note_test
from unremember.messages import Message, Text, ToolCall, ToolResult

_OPEN_FILE = re.compile(r"\[File: (.+?) \((\d+) lines total\)\]")
_ABOVE = re.compile(r"^\((\d+) more lines above\)", re.MULTILINE)
_BELOW = re.compile(r"^\((\d+) more lines below\)", re.MULTILINE)
_OUTSIDE = (
    " was modified, either by the user or by a linter",
    " changed outside",
    " modified outside",
    " changed on disk",
    " modified externally",
)
"""What programs around agents say behind the path of a file that somebody else changed."""

_MOVED_ON = re.compile(
    r"(?:file )?has been (?:unexpectedly )?(?:modified|changed) since|(?:modified"
    r"|changed) (?:on disk )?since"
    r"|unexpectedly modified|changed outside|modified externally",
    re.IGNORECASE,
)
_REFORMATTED = re.compile(r"^(?:reformatted|Formatted|Fixed) (\S+\.\w+)\r?$", re.MULTILINE)
_PRETTIER = re.compile(r"^(\S+\.\w+) \d+ms\r?$", re.MULTILINE)
_LISTING = re.compile(r"Here's the files and directories|\A\s*(?:d[rwx-]{9}|\[DIR\])")
_FOLDER = re.compile(r"\s*cd\s+(\"[^\"]+\"|'[^']+'|[^\s;&|]+)\s*(?:&&|;|\n)")
_STAGING = re.compile(r"^git add [^&;|]+(?:&&|;)\s*")

MOST_MARKS = 6
"""Exact edits that are remembered, to see whether they are taken back."""

LONGEST_COMMAND = 160
LONGEST_ERROR = 160
"""In characters."""


class Messages(Protocol):
    """Anything with messages in order, such as a `Step`."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """In the order they were said."""
        ...


def extend(ledger: Ledger, steps: Iterable[Messages]) -> Ledger:
    """The ledger after more steps. `extend(extend(l, a), b) == extend(l, a + b)`.

    Calls that have no result yet leave no trace: give a step when all its results are there.
    """
    book = Book.opened(ledger)
    for step in steps:
        _read_step(book, step.messages)
    return book.closed()


def _read_step(book: Book, messages: Iterable[Message]) -> None:
    calls: dict[str, tuple[int, ToolCall]] = {}
    for message in messages:
        if message.kind == "demo":
            continue
        for ordinal, part in message.numbered_parts():
            if isinstance(part, ToolCall):
                calls[part.id] = (ordinal, part)
            elif part.call_id in calls:
                called, call = calls.pop(part.call_id)
                _Reading(book, call, called, part, ordinal).note()
        if message.role == "user":
            for part in message.parts:
                if isinstance(part, Text):
                    _note_outside(book, part.text, message.ordinal)


def _note_outside(book: Book, text: str, ordinal: int) -> None:
    """What the program around an agent says about files that somebody else changed."""
    for words in _OUTSIDE:
        at = text.find(words)
        while at >= 0:
            before = text[max(text.rfind("\n", 0, at) + 1, at - 500) : at]
            before = before.removesuffix(" has been").removesuffix(" was")
            path = clean_path(
                before.rpartition("Note: ")[2] if "Note: " in before else before.split(" ")[-1]
            )
            if (known := book.files.get(book.key(path))) and "$" not in path:
                book.put(replace(known, changed=ordinal))
            at = text.find(words, at + 1)


@dataclass(slots=True)
class _Reading:
    """One call and its result, on their way into the book."""

    book: Book
    call: ToolCall
    called: int
    result: ToolResult
    answered: int
    text: str = ""
    status: int | None = None
    failed: bool = False

    def note(self) -> None:
        """Reads the call and its result into the book."""
        actions = read_action(self.call)
        self.text = self.result.text
        if was_not_run(self.result):
            return
        if is_unknown(self.result):
            if any(action.side_effects for action in actions):
                run = Run(self.command(actions), self.answered, "", None, False, unknown=True)
                note_command(self.book, run, effects=True)
            return
        reads_only = all(action.kind in ("read", "list", "search") for action in actions)
        # What was read may say anything; only a result too short for a file is taken as a refusal.
        if reads_only and not self.result.failed and len(self.text) > 2_000:
            self.status = exit_status(self.result) if tool_kind(self.call.name) == "shell" else None
            self.failed = bool(self.status)
        else:
            self.status, self.failed = judge(self.result, output=self.is_output(actions))
        for cwd in {action.cwd: None for action in actions if action.cwd}:
            self.book.learn_root(cwd)
        for at, action in enumerate(actions):
            # In `a && b && c` with a bad status the last one is the one that failed.
            done = not self.failed or (
                at < len(actions) - 1 and not was_refused(self.result) and bool(self.status)
            )
            self.note_action(action, done=done)
        self.note_commands(actions)
        if self.failed or any(action.kind in ("run", "test") for action in actions):
            self.book.note_errors(self.error_lines(), self.answered)
        _note_outside(self.book, self.text[-2_000:], self.answered)

    def is_output(self, actions: tuple[Action, ...]) -> bool:
        """Whether the result is what a program printed, not what an editor says."""
        shell = tool_kind(self.call.name) in ("shell", "code")
        return shell and not all(action.kind == "edit" for action in actions)

    def note_action(self, action: Action, *, done: bool) -> None:
        if action.kind == "plan":
            if done:
                self.book.plan = read_plan(self.call, self.text, self.book.plan, self.called)
        elif action.kind in ("read", "write", "edit"):
            action = self.with_shown_file(action)
            if not done:
                self.note_refused(action)
            elif action.path and "$" not in action.path and "*" not in action.path:
                self.note_file(action)

    def with_shown_file(self, action: Action) -> Action:
        """The action with the open file that only the result names."""
        if "[File: " not in self.text[:3_000]:
            return action
        found = _OPEN_FILE.search(self.text[:3_000])
        if not found:
            return action
        path = action.path or clean_path(found[1])
        if action.kind == "write" and found[1].endswith(f"/{path}"):
            self.book.learn_root(found[1][: -len(path) - 1])
        if action.kind != "read":
            return replace(action, path=path)
        above, below = _ABOVE.search(self.text), _BELOW.search(self.text)
        first = int(above[1]) + 1 if above else 1
        last = int(found[2]) - int(below[1]) if below else 0
        return replace(action, path=path, lines=(first, last) if above or below else None)

    def note_refused(self, action: Action) -> None:
        if action.kind == "edit" and action.path and _MOVED_ON.search(self.text[:1_000]):
            self.book.put(replace(self.book.file(action.path, action.cwd), changed=self.answered))

    def note_file(self, action: Action) -> None:
        book = self.book
        if action.effect in ("stash", "unstash", "restore"):
            self.note_undone(action)
            return
        file = book.file(action.path, action.cwd)
        match action.kind, action.effect:
            case "read", _:
                if not _LISTING.search(self.text[:200]):
                    book.put(seen_again(file, action.lines, self.answered))
                return
            case _, "delete":
                file = replace(file, deleted=self.called)
            case _, "move":
                self.move(file, action)
                return
            case _, "format":
                file = replace(file, changed=self.called)
            case "write", _:
                file = replace(file, written=self.called, deleted=0, moved=0, to="")
            case _:
                file = replace(file, edited=self.called, edits=file.edits + 1, deleted=0)
        book.put(file)
        if action.digest:
            self.mark(action, file)

    def move(self, file: FileRecord, action: Action) -> None:
        book = self.book
        to = book.file(action.to, action.cwd)
        book.put(replace(file, moved=self.called, to=action.to))
        book.put(replace(to, written=self.called, deleted=0))

    def mark(self, action: Action, file: FileRecord) -> None:
        """Notes an exact edit, or that it takes an earlier one back."""
        book = self.book
        undone = next((m for m in reversed(book.recent) if m.digest == action.undo), None)
        if undone:
            book.recent.remove(undone)
            self.book.tried(Attempt(file.path, "reversed", undone.ordinal, self.called))
        else:
            book.recent = [*book.recent, EditMark(action.digest, self.called)][-MOST_MARKS:]

    def note_undone(self, action: Action) -> None:
        book = self.book
        if action.effect == "unstash":
            book.attempts = [a for a in book.attempts if a.how != "stashed"]
            return
        how = "stashed" if action.effect == "stash" else "restored"
        for file in self.touched(action):
            since = max(file.edited, file.written)
            if since > self.book.committed():
                self.book.tried(Attempt(file.path, how, since, self.called))
            if action.effect == "restore":
                book.put(replace(file, changed=self.called, edited=0, edits=0, deleted=0))

    def touched(self, action: Action) -> list[FileRecord]:
        """The changed files that a path of the version control means."""
        book, key = self.book, self.book.key(action.path, action.cwd)
        if action.path not in (".", ":/"):
            under = [f for k, f in book.files.items() if k.startswith(f"{key}/") and f.edited]
            return under or [book.file(action.path, action.cwd)]
        # New files are left alone by a checkout and by a plain stash.
        return [f for f in book.files.values() if f.edited and not f.deleted]

    def note_commands(self, actions: tuple[Action, ...]) -> None:
        """The call as one command, with the status that belongs to all of it."""
        if not any(a.kind in ("run", "test") or a.side_effects for a in actions):
            return
        if any(a.kind in ("write", "edit") and not a.command for a in actions) and not shell_text(
            self.call
        ):
            return
        command = self.command(actions)
        effects = any(a.side_effects for a in actions)
        tests = any(a.is_test for a in actions)
        run = Run(command, self.answered, self.text, self.status, self.failed, self.result.failed)
        if tests:
            note_test(self.book, run)
        if not tests or effects:
            note_command(self.book, run, effects=effects)
        if "reformatted" in self.text or any(a.effect == "format" for a in actions):
            self.note_formatted()

    def folder(self, text: str) -> str:
        """Where a command goes first, if that is not the root: in another folder it is another."""
        found = _FOLDER.match(text)
        if not found:
            return ""
        folder = clean_path(found[1])
        return "" if folder in (self.book.root, ".") else self.book.key(folder)

    def command(self, actions: tuple[Action, ...]) -> str:
        """The command's text, shortened so that two different ones stay different."""
        kind = tool_kind(self.call.name)
        text = shell_text(self.call) if kind in ("shell", "") else ""
        if not text or kind == "code":
            text = next((a.command for a in reversed(actions) if a.command), self.call.name)
        folder = self.folder(text)
        text = shorten_command(text)
        if folder:
            text = f"cd {folder} && {text}"
        if len(text) > LONGEST_COMMAND:
            text = _STAGING.sub("", text)
        if len(text) <= LONGEST_COMMAND:
            return text
        mark = zlib.crc32(text.encode(errors="surrogatepass")) & 0xFFFFF
        return f"{text[: LONGEST_COMMAND - 8].rstrip()}… ~{mark:05x}"

    def note_formatted(self) -> None:
        """Files that a formatter says it rewrote."""
        book = self.book
        for pattern in (_REFORMATTED, _PRETTIER):
            for found in pattern.finditer(self.text[-20_000:]):
                path = clean_path(found[1])
                known = book.files.get(book.key(path))
                if known:
                    book.put(replace(known, changed=self.called))

    def error_lines(self) -> list[str]:
        """The one or two error lines of a result that say most."""
        if self.failed and tool_kind(self.call.name) != "shell" and was_refused(self.result):
            lines = [strip_frame(self.text[:2_000])]
        else:
            lines = worst_lines(self.text)
        shown = (squeeze(line, LONGEST_ERROR) for line in lines)
        return list(dict.fromkeys(line for line in shown if line))
