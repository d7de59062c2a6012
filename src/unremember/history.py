"""The history: what a model sees next, as a value that cannot be invalid.

A `History` is immutable. `add` gives a new one that shares everything with the one it extends, so
that adding costs time in the new messages only. The pairing rule (R2) lives here, once: a result
without its call, or a message between a call and its results, cannot be built. Foreign data goes
through `repair` first, which mends what is broken and says what it mended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from operator import eq
from typing import overload

from unremember.errors import InvalidHistory
from unremember.messages import Message, Text, ToolCall, ToolResult, handle
from unremember.notes import Notes


@dataclass(frozen=True, slots=True)
class Step:
    """The smallest piece to be forgotten safely: one message, or a call with all its results."""

    messages: tuple[Message, ...]

    @property
    def ordinal(self) -> int:
        """The ordinal of its first message."""
        return self.messages[0].ordinal

    @property
    def end(self) -> int:
        """The first ordinal after it."""
        return self.messages[-1].ordinal + self.messages[-1].span

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in it."""
        return self.messages[0].calls

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results in it, in the order given."""
        return tuple(result for message in self.messages for result in message.results)


class MessageLog:
    """A list of messages that only ever grows; histories are prefixes of it."""

    __slots__ = ("__weakref__", "items")

    def __init__(self, items: Iterable[Message] = ()) -> None:
        self.items = list(items)


class _Prefix(Sequence[Message]):
    """The first `length` messages of a log."""

    __slots__ = ("_length", "log")

    def __init__(self, log: MessageLog, length: int) -> None:
        self.log = log
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self.log.items[i] for i in range(*index.indices(self._length)))
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self.log.items[index if index >= 0 else self._length + index]

    def __iter__(self) -> Iterator[Message]:
        return islice(self.log.items, self._length)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Prefix):
            return NotImplemented
        return self._length == other._length and (
            self.log is other.log or all(map(eq, self, other))
        )

    def __hash__(self) -> int:
        return hash((self._length, self[-1] if self._length else None))

    def __repr__(self) -> str:
        return f"<{self._length} messages>"

    def extended(self, new: Sequence[Message]) -> _Prefix:
        """These and the new ones; the log is copied only if another history grew from it first."""
        shared = len(self.log.items) == self._length
        log = self.log if shared else MessageLog(self)
        log.items.extend(new)
        return _Prefix(log, self._length + len(new))


@dataclass(frozen=True)
class History:
    """What the model sees next: system messages, messages, and the program's notes.

    Raises `InvalidHistory` when the messages break the pairing rule: every result follows the
    message with its call, and nothing else is said before all calls of a message are answered.
    `open_calls` are the calls at the end that wait for their results.
    """

    system: tuple[Message, ...] = ()
    messages: Sequence[Message] = ()
    notes: Notes = Notes()
    open_calls: tuple[ToolCall, ...] = field(default=(), init=False, repr=False)
    _next: int = field(default=1, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for message in self.system:
            if message.role != "system":
                raise InvalidHistory(
                    f"a {message.role} message stands where system messages belong"
                )
        if not isinstance(self.messages, _Prefix):
            checked = tuple(self.messages)
            object.__setattr__(self, "messages", _Prefix(MessageLog(checked), len(checked)))
        open_calls: tuple[ToolCall, ...] = ()
        following = 1
        for message in (*self.system, *self.messages):
            open_calls = _open_after(message, open_calls)
            following = max(following, message.ordinal + message.span)
        object.__setattr__(self, "open_calls", open_calls)
        object.__setattr__(self, "_next", max(following, self.notes.next))

    @property
    def log(self) -> MessageLog:
        """The log that the messages begin; shared by histories that extend one another."""
        assert isinstance(self.messages, _Prefix)
        return self.messages.log

    def extends(self, other: History) -> bool:
        """Whether this history begins with the whole of `other` (R10)."""
        if self.system != other.system or self.notes != other.notes:
            return False
        length = len(other.messages)
        return length <= len(self.messages) and (
            self.log is other.log or all(map(eq, self.messages, other.messages))
        )

    @property
    def next_ordinal(self) -> int:
        """The ordinal that the next message will take."""
        return self._next

    def add(self, *messages: Message) -> History:
        """This history and the new messages; those without an ordinal are numbered."""
        open_calls, following = self.open_calls, self._next
        new: list[Message] = []
        for message in messages:
            if not message.ordinal:
                message = replace(message, ordinal=following)
            open_calls = _open_after(message, open_calls)
            following = max(following, message.ordinal + message.span)
            new.append(message)
        assert isinstance(self.messages, _Prefix)
        grown = object.__new__(History)
        # Past __post_init__: only the new messages need the check, the rest passed it before.
        for name, value in (
            ("system", self.system),
            ("messages", self.messages.extended(new)),
            ("notes", self.notes),
            ("open_calls", open_calls),
            ("_next", following),
        ):
            object.__setattr__(grown, name, value)
        return grown

    def numbered_from(self, ordinal: int) -> History:
        """The same history, whose next message takes `ordinal` at least.

        For one that holds less than was said: an ordinal that was given away is never reused.
        """
        same = self.add()
        object.__setattr__(same, "_next", max(self._next, ordinal))
        return same

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The messages (without the system's) as steps."""
        return tuple(split_steps(self.messages))

    @property
    def pins(self) -> tuple[Message, ...]:
        """What every compression keeps word for word, oldest first: user and pinned messages."""
        return tuple(message for message in self.messages if is_pin(message))


def is_pin(message: Message) -> bool:
    """Whether a message holds words to be kept: a user's, a later system message, or pinned."""
    if message.pinned or message.role == "system":
        return True
    return (
        message.role == "user"
        and message.kind == "said"
        and any(not isinstance(part, ToolResult) for part in message.parts)
    )


def split_steps(messages: Iterable[Message]) -> Iterator[Step]:
    """Groups messages into steps: a message with calls takes all messages with its results."""
    group: list[Message] = []
    for message in messages:
        if group and not message.results:
            yield Step(tuple(group))
            group = []
        group.append(message)
    if group:
        yield Step(tuple(group))


def _open_after(message: Message, open_calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """The calls still open after `message`; raises if it may not follow."""
    where = (
        f"message {handle(message.ordinal)} ({message.role})"
        if message.ordinal
        else f"a {message.role} message"
    )
    if not message.parts:
        raise InvalidHistory(f"{where} is empty; leave it out")
    left = list(open_calls)
    for result in message.results:
        if message.role not in ("tool", "user"):
            raise InvalidHistory(
                f"{where} holds a tool result; results belong to the roles tool and user"
            )
        index = next((i for i, call in enumerate(left) if call.id == result.call_id), None)
        if index is None:
            raise InvalidHistory(f"{where} answers the call {result.call_id!r}, which is not open")
        del left[index]
    if message.role == "tool" and len(message.results) != len(message.parts):
        raise InvalidHistory(f"{where} holds something else than tool results")
    if message.calls and message.role != "assistant":
        raise InvalidHistory(f"{where} holds a tool call; calls belong to the role assistant")
    if left and len(message.results) != len(message.parts):
        raise InvalidHistory(
            f"{where} comes before the result of the call {left[0].id!r}; give that first"
        )
    ids = [call.id for call in message.calls]
    if len(set(ids)) != len(ids):
        raise InvalidHistory(f"{where} holds two calls with one id")
    return tuple(left) + message.calls


@dataclass(frozen=True, slots=True)
class Repair:
    """What was broken in foreign data and how it was mended; `where` is a place in the data."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


NO_RESULT = "[no result was recorded; the outcome is unknown]"
"""Stands in for the result of a call that was never answered."""


def repair(
    messages: Iterable[Message], *, close: bool = True
) -> tuple[list[Message], list[Repair]]:
    """Mends foreign messages so that a `History` can be built from them.

    A call without a result gets a failed one; a result without a call becomes a note of the
    program, its text intact; a message between a call and its results is moved behind them;
    repeated results and empty messages are dropped; two calls with one id in a message are told
    apart. With `close=False` calls at the very end stay open. Numbering is the caller's.
    """
    mended: list[Message] = []
    repairs: list[Repair] = []
    waiting: list[ToolCall] = []
    answered: set[str] = set()
    late: list[Message] = []

    def settle() -> None:
        nonlocal waiting
        for call in waiting:
            repairs.append(Repair(f"call {call.id!r}", "it has no result; a failed one was put in"))
            mended.append(Message("tool", (ToolResult(call.id, (Text(NO_RESULT),), failed=True),)))
        waiting = []
        mended.extend(late)
        late.clear()

    for place, message in enumerate(_one_id_each(messages, repairs), start=1):
        where = f"message {place}"
        orphans = [r for r in message.results if r.call_id not in {c.id for c in waiting}]
        if orphans:
            keep = tuple(p for p in message.parts if not any(p is orphan for orphan in orphans))
            for orphan in orphans:
                if orphan.call_id in answered:
                    repairs.append(
                        Repair(where, f"a second result of the call {orphan.call_id!r} was dropped")
                    )
                else:
                    repairs.append(
                        Repair(
                            where,
                            f"the result of the unknown call {orphan.call_id!r} became a note",
                        )
                    )
                    text = f"[a tool result whose call is not in this conversation]\n{orphan.text}"
                    late.append(Message("user", (Text(text),), at=message.at, kind="program"))
            message = replace(message, parts=keep, source=None)
            if not keep:
                if not waiting:
                    settle()
                continue
        if not message.parts:
            repairs.append(Repair(where, f"an empty {message.role} message was left out"))
            continue
        given = {result.call_id for result in message.results}
        waiting = [call for call in waiting if call.id not in given]
        answered |= given
        results = tuple(part for part in message.parts if isinstance(part, ToolResult))
        others = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if waiting and results and others:
            mended.append(replace(message, parts=results, source=None))
            message = replace(message, parts=others, source=None)
            results = ()
        if waiting and not results:
            if message.role == "assistant":
                settle()
            else:
                repairs.append(
                    Repair(where, "it stood between a call and its result and was moved behind it")
                )
                late.append(message)
                continue
        mended.append(message)
        if message.calls:
            waiting = list(message.calls)
            answered -= {call.id for call in waiting}
        elif not waiting:
            settle()
    if close or late:
        settle()
    return mended, repairs


def _one_id_each(messages: Iterable[Message], repairs: list[Repair]) -> Iterator[Message]:
    """Tells apart calls that share an id within one message; their results follow in call order."""
    renamed: dict[str, list[str]] = {}
    for place, message in enumerate(messages, start=1):
        ids = [call.id for call in message.calls]
        if ids:
            renamed = {}
        if len(set(ids)) != len(ids) or "" in ids:
            repairs.append(
                Repair(f"message {place}", "calls without an id of their own were given one")
            )
            parts = list(message.parts)
            for index, part in enumerate(parts):
                if isinstance(part, ToolCall):
                    new = f"{part.id or 'call'}-{index}"
                    renamed.setdefault(part.id, []).append(new)
                    parts[index] = replace(part, id=new)
            message = replace(message, parts=tuple(parts), source=None)
        elif renamed and message.results:
            parts = list(message.parts)
            for index, part in enumerate(parts):
                if isinstance(part, ToolResult) and renamed.get(part.call_id):
                    parts[index] = replace(part, call_id=renamed[part.call_id].pop(0))
            message = replace(message, parts=tuple(parts), source=None)
        yield message
