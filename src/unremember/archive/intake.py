"""What an entry must fulfil to be taken, and the numbers it is given. Pure, and constant in time.

An archive never holds a sequence of messages that no history can be built from: what would break
a pair of call and result is refused when it is said, not found when the conversation is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from unremember.archive.entries import (
    Answered,
    CallFinished,
    Compressed,
    Entry,
    Logged,
    Opened,
    Said,
    Undone,
)
from unremember.archive.view import answers, next_ordinal, ordinals_of, view
from unremember.errors import InputError, InvalidHistory
from unremember.history import History
from unremember.messages import Message, ToolCall, ToolResult, handle


@dataclass(frozen=True, slots=True)
class Tail:
    """All that must be known of a conversation to add to it: `open_calls` are the ids of calls."""

    number: int = 0
    next_ordinal: int = 1
    open_calls: tuple[str, ...] = ()


class Past(Protocol):
    """Look-ups in the entries that a conversation has so far, a fork's shared past included."""

    def is_taken(self, ordinal: int) -> bool:
        """Whether the ordinal names something."""
        ...

    def finished(self, ordinal: int) -> ToolResult | None:
        """The result of a finished call, by its own ordinal."""
        ...

    def is_compression(self, number: int) -> bool:
        """Whether the entry with this number is a compression."""
        ...


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry with its numbers: it gives away `span` ordinals beginning at `ordinal`."""

    entry: Entry
    number: int
    ordinal: int = 0
    span: int = 0


def check_id(id: str) -> None:
    """Raises `InputError` for an id that no store can hold."""
    try:
        usable = bool(id.encode())
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise InputError(f"{id!r} cannot be the id of a conversation; take new_id()")


def check_opening(entries: Sequence[Entry]) -> Opened | None:
    """The entry that opens a new conversation; None if `entries` do not begin with one."""
    if not (entries and isinstance(entries[0], Opened)):
        return None
    if entries[0].forked_at:
        raise InputError("a fork is not opened by an entry; call fork(conversation, at)")
    return entries[0]


def tail_after(past: Sequence[Logged]) -> Tail:
    """What must be known to go on after `past`."""
    return Tail(
        number=past[-1].number,
        next_ordinal=next_ordinal(item.entry for item in past),
        open_calls=tuple(call.id for call in view(past).open_calls),
    )


def admit(entry: Entry, tail: Tail, past: Past) -> tuple[Taken, Tail]:
    """Checks and numbers one more entry; gives it and the new tail.

    Raises `InvalidHistory` for a message that may not follow, `InputError` for an entry that
    names something that is not there.
    """
    open_calls = tail.open_calls
    match entry:
        case Opened(forked_at=at) if at != tail.number:
            raise InputError("a conversation is opened once; take another id for another one")
        case Said(message):
            message = _numbered(message, tail)
            open_calls = _follow(open_calls, [message])
            entry = Said(message)
        case CallFinished(result, ordinal):
            if result.call_id not in open_calls:
                raise InvalidHistory(f"no open call has the id {result.call_id!r}; say it first")
            if ordinal and ordinal < tail.next_ordinal and past.is_taken(ordinal):
                raise InvalidHistory(f"{handle(ordinal)} names something else already")
            entry = replace(entry, ordinal=ordinal or tail.next_ordinal)
        case Answered(ordinals):
            results = {o: found for o in ordinals if (found := past.finished(o))}
            open_calls = _follow(open_calls, answers(entry, results))
        case Undone(number) if not past.is_compression(number):
            raise InputError(f"entry {number} is no compression, so it cannot be undone")
        case _:
            pass
    ordinal, span = _given(entry, tail)
    following = max(tail.next_ordinal, next_ordinal([entry]))
    taken = Taken(entry, tail.number + 1, ordinal, span)
    return taken, Tail(taken.number, following, open_calls)


def _numbered(message: Message, tail: Tail) -> Message:
    if not message.ordinal:
        return replace(message, ordinal=tail.next_ordinal)
    if message.ordinal < tail.next_ordinal:
        raise InvalidHistory(
            f"{handle(message.ordinal)} names something else already, or was left out; "
            f"the next free one is {handle(tail.next_ordinal)}"
        )
    return message


def _follow(open_calls: tuple[str, ...], messages: Iterable[Message]) -> tuple[str, ...]:
    """The calls that are open after `messages`; the history itself knows the rule."""
    calls = tuple(ToolCall(id, "", "") for id in open_calls)
    before = History(messages=(Message("assistant", calls),) if calls else ())
    return tuple(call.id for call in before.add(*messages).open_calls)


def _given(entry: Entry, tail: Tail) -> tuple[int, int]:
    """The ordinals that an entry gives away; a compression, those of messages that nobody said."""
    pairs = list(ordinals_of(entry))
    if isinstance(entry, Compressed):
        pairs = [(first, span) for first, span in pairs if span and first >= tail.next_ordinal]
    if not pairs:
        return 0, 0
    first = min(first for first, _ in pairs)
    return first, max(first + span for first, span in pairs) - first
