"""What an archive holds: one entry for each thing said or done, and nothing is ever changed.

The entries are a tagged union. Each text is stored once: the result of a call is in
`CallFinished`, and `Answered` only says that results enter the history; a compression names the
messages that it kept, and holds whole only those that differ from what was said.

Times are not in the entries: the archive stamps each one when it takes it (`Logged`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from unremember.history import History
from unremember.messages import Message, ToolResult
from unremember.notes import Notes, Run


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation begins; always its first entry.

    With a `parent` it is the conversation of a sub-agent (`forked_at` is 0), or a fork that goes
    on from entry `forked_at` of its parent.
    """

    parent: str = ""
    forked_at: int = 0
    cwd: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the system, the user, the assistant, the program, or a tool.

    Without an ordinal it is given the next one. Results that the archive has from `CallFinished`
    come as `Answered` instead.
    """

    message: Message


@dataclass(frozen=True, slots=True)
class CallStarted:
    """The call with this ordinal begins to run. A call that starts may have had an effect."""

    ordinal: int


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A call has its result, which is not in the history yet.

    `ordinal` is that of the result (0: the next one). Where results are numbered in the order of
    their calls, the first one's is `History.next_ordinal`. `seconds` is how long the call ran.
    `shown` is what enters the history where that is less than the whole result.
    """

    result: ToolResult
    ordinal: int = 0
    seconds: float = 0.0
    shown: ToolResult | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """Finished results enter the history, each as a message of its own, in this order."""

    ordinals: tuple[int, ...]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Compressed:
    """The history became smaller; this is all that it consists of from here on.

    A `Run` stands for messages exactly as they were said; a message that differs from what was
    said, or that nobody said, is held whole. `before` and `after` are in tokens.
    """

    system: tuple[Run | Message, ...] = ()
    messages: tuple[Run | Message, ...] = ()
    notes: Notes = Notes()
    strategy: str = ""
    before: int = 0
    after: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """Something was tried and changed nothing, such as a compression that was refused."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a strategy can go on after a crash: a resume point as JSON, "" when it has ended."""

    point: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The compression that is entry `number` holds no longer."""

    number: int


@dataclass(frozen=True, slots=True)
class Purged:
    """The user removed something for good; `what` are its handles, never its content."""

    what: str


Entry = (
    Opened
    | Said
    | CallStarted
    | CallFinished
    | Answered
    | Compressed
    | Failed
    | Reached
    | Undone
    | Purged
)


@dataclass(frozen=True, slots=True)
class Logged:
    """An entry in the archive: its number in the conversation, from 1, and when it was taken."""

    number: int
    at: datetime
    entry: Entry


def compressed(
    history: History,
    said: Mapping[int, Message],
    *,
    strategy: str = "",
    before: int = 0,
    after: int = 0,
    reason: str = "",
) -> Compressed:
    """The entry for a compression whose outcome is `history`.

    `said` are the messages as they were said, by ordinal: see `view.said`. Weights are in tokens.
    """
    return Compressed(
        system=tuple(_fold(history.system, said)),
        messages=tuple(_fold(history.messages, said)),
        notes=history.notes,
        strategy=strategy,
        before=before,
        after=after,
        reason=reason,
    )


def _fold(messages: Iterable[Message], said: Mapping[int, Message]) -> Iterator[Run | Message]:
    """Messages that stand as they were said, as runs of (first ordinal, how many); others whole."""
    first = count = following = 0
    for message in messages:
        intact = said.get(message.ordinal) == message
        if count and not (intact and message.ordinal == following):
            yield first, count
            count = 0
        if not intact:
            yield message
            continue
        if not count:
            first = message.ordinal
        count += 1
        following = message.ordinal + message.span
    if count:
        yield first, count


def unfold(kept: Sequence[Run | Message], said: Mapping[int, Message]) -> Iterator[Message]:
    """The messages that `Compressed.system` or `Compressed.messages` stands for.

    Raises `KeyError` with the ordinal of a message that is not among `said`.
    """
    for item in kept:
        if isinstance(item, Message):
            yield item
            continue
        ordinal, count = item
        for _ in range(count):
            yield said[ordinal]
            ordinal += said[ordinal].span
