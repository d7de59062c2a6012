"""What the ledger holds: records of files, commands, tests, attempts, errors and the plan.

Every `ordinal` is that of a call or a result in the conversation, 0 where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from unremember.actions import Outcome, PlanItem

Range = tuple[int, int]
"""First and last line, counted from 1; a last of 0 is the file's end, a negative first counts
from the end."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What happened to a file.

    `path` is as it was first written. `read` is the last read, `ranges` the lines seen since the
    file last changed (none: all of it), `reads` how often. `written` is when the agent wrote all
    of it, `edited` the last change in part, `edits` how many changes there were. `changed` is when
    something else changed it: a formatter, the version control, the user.
    """

    path: str
    read: int = 0
    ranges: tuple[Range, ...] = ()
    reads: int = 0
    written: int = 0
    edited: int = 0
    edits: int = 0
    changed: int = 0
    deleted: int = 0
    moved: int = 0
    to: str = ""

    @property
    def ordinal(self) -> int:
        """When something last happened to it."""
        return max(self.read, self.modified, self.deleted, self.moved)

    @property
    def modified(self) -> int:
        """When its content last changed."""
        return max(self.written, self.edited, self.changed)

    @property
    def is_stale(self) -> bool:
        """Whether it changed since it was last read."""
        return 0 < self.read < self.modified


@dataclass(frozen=True, slots=True)
class CommandRecord:
    """A command that was run: its last run, the exit status if one was stated, how often.

    `unknown` says that no result of the last run was seen: it may have had its effect.
    """

    command: str
    ordinal: int = 0
    exit_status: int | None = None
    failed: bool = False
    times: int = 1
    side_effects: bool = False
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class TestRecord:
    """A test, or a command that runs tests, with its last outcome and the one before.

    `detail` are the counts of a command (`3 failed, 12 passed`). `is_command` tells a command from
    a single test, `written` says that the agent wrote the test's file.
    """

    __test__ = False

    name: str
    outcome: Outcome
    ordinal: int = 0
    before: Outcome | None = None
    before_ordinal: int = 0
    detail: str = ""
    times: int = 1
    is_command: bool = False
    written: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something that was tried and then undone, or that still fails.

    `how`: `reversed` (an edit was exactly taken back), `restored` (the file was brought back from
    the version control or a copy), `stashed`, or `fails` (`what` failed again after an edit).
    `tried` is the edit, `ended` when it was undone or failed last.
    """

    what: str
    how: str
    tried: int = 0
    ended: int = 0
    times: int = 1


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """An error line from the result `ordinal`."""

    line: str
    ordinal: int = 0


@dataclass(frozen=True, slots=True)
class EditMark:
    """Names an exact replacement, so that its reverse is known when it comes."""

    digest: str
    ordinal: int = 0


Record = FileRecord | CommandRecord | TestRecord | Attempt | ErrorRecord | PlanItem | EditMark


@dataclass(frozen=True, slots=True)
class Ledger:
    """What happened to files, commands and tests, and what holds now; newest last in each group.

    `root` is the absolute directory that relative paths are seen from, where a command named it.
    `recent` are the last exact edits. It is true when it holds anything.
    """

    root: str = ""
    files: tuple[FileRecord, ...] = ()
    commands: tuple[CommandRecord, ...] = ()
    tests: tuple[TestRecord, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    errors: tuple[ErrorRecord, ...] = ()
    plan: tuple[PlanItem, ...] = ()
    recent: tuple[EditMark, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))
