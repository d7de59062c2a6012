"""The computed view: from the entries of a conversation to the history that the model sees next.

Everything here is pure: the same entries give the same history.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from unremember.archive.entries import (
    Answered,
    CallFinished,
    CallStarted,
    Compressed,
    Entry,
    Logged,
    Said,
    Undone,
    unfold,
)
from unremember.errors import ArchiveError
from unremember.history import History
from unremember.messages import Message, Text, ToolCall, ToolResult, find, handle

INTERRUPTED = "[interrupted, outcome unknown]"
"""The result of a call that was started and never finished. It is not run again by itself."""

NOT_RUN = "[not run: the run was interrupted before this call]"
"""The result of a call that was not even started, although one beside it was."""


def view(entries: Iterable[Logged], *, resume: bool = False) -> History:
    """What the model sees next: all that was said, with the compressions that were not undone.

    With `resume`, calls that have no result get a failed one, as `settle` says.
    """
    logged = list(entries)
    if resume:
        logged += _numbered(settle(logged), logged)
    undone = {entry.number for _, entry in _of(logged) if isinstance(entry, Undone)}
    return _replay(logged, undone).numbered_from(next_ordinal(item.entry for item in logged))


def said(entries: Iterable[Logged]) -> dict[int, Message]:
    """Every message as it was said, by ordinal, oldest first.

    Those that a compression brought in new, such as a summary, are there as it wrote them.
    """
    finished: dict[int, ToolResult] = {}
    messages: dict[int, Message] = {}
    for logged in entries:
        for message in (*spoken(logged.entry, finished), *written(logged.entry)):
            messages.setdefault(message.ordinal, message)
    return messages


def written(entry: Entry) -> Iterator[Message]:
    """The messages that a compression holds whole: shortened ones, and ones that nobody said."""
    if isinstance(entry, Compressed):
        for item in (*entry.system, *entry.messages):
            if isinstance(item, Message) and item.ordinal:
                yield item


def spoken(entry: Entry, finished: dict[int, ToolResult]) -> Iterator[Message]:
    """The messages that an entry adds to the history; notes in `finished` the results it brings."""
    match entry:
        case Said(message):
            yield message
        case CallFinished(result, ordinal, shown=shown):
            finished[ordinal] = shown or result
        case Answered():
            yield from answers(entry, finished)
        case _:
            pass


def answers(entry: Answered, finished: dict[int, ToolResult]) -> Iterator[Message]:
    """The messages that `entry` stands for; raises `ArchiveError` if a result is not there."""
    for ordinal in entry.ordinals:
        if ordinal not in finished:
            raise ArchiveError(
                f"no finished call has the result {handle(ordinal)}; append its CallFinished first"
            )
        yield Message("tool", (finished[ordinal],), ordinal=ordinal, at=entry.at)


def original(entry: Entry, ordinal: int) -> Message | ToolCall | ToolResult | None:
    """What `ordinal` names in an entry, if it names something."""
    match entry:
        case Said(message):
            return find([message], ordinal)
        case CallFinished(result):
            return result if entry.ordinal == ordinal else None
        case _:
            return find(written(entry), ordinal)


def settle(entries: Iterable[Logged]) -> tuple[CallFinished | Answered, ...]:
    """What to append before an interrupted conversation goes on; () when nothing is open.

    Results that came in before the interruption are kept. A call that was started and never
    finished fails with `INTERRUPTED`; one that was not started, although another of the same
    message was, with `NOT_RUN`. Where no start was recorded at all, nobody knows: `INTERRUPTED`.
    """
    logged = list(entries)
    open_calls = _replay(logged, ()).open_calls
    if not open_calls:
        return ()
    began, ordinals = _last_calls(logged)
    results = {
        entry.result.call_id: entry.ordinal
        for _, entry in _of(logged)
        if isinstance(entry, CallFinished) and entry.ordinal >= began
    }
    started = {entry.ordinal for _, entry in _of(logged) if isinstance(entry, CallStarted)}
    any_started = not started.isdisjoint(ordinals.values())
    free = next_ordinal(item.entry for item in logged)
    failed: list[CallFinished] = []
    for call in open_calls:
        if call.id not in results:
            never = any_started and ordinals.get(call.id) not in started
            text = Text(NOT_RUN if never else INTERRUPTED)
            failed.append(CallFinished(ToolResult(call.id, (text,), failed=True), free))
            results[call.id] = free
            free += 1
    return (*failed, Answered(tuple(results[call.id] for call in open_calls)))


def next_ordinal(entries: Iterable[Entry]) -> int:
    """The first ordinal that was never given away."""
    ends = (first + span for entry in entries for first, span in ordinals_of(entry))
    return max(ends, default=1)


def ordinals_of(entry: Entry) -> Iterator[tuple[int, int]]:
    """The ordinals that an entry names things with: the first, and how many."""
    match entry:
        case Said(message):
            yield message.ordinal, message.span
        case CallFinished():
            yield entry.ordinal, 1
        case Compressed():
            yield from ((message.ordinal, message.span) for message in written(entry))
            yield entry.notes.next or 1, 0
        case _:
            pass


def _replay(logged: Sequence[Logged], undone: Collection[int]) -> History:
    history = History()
    finished: dict[int, ToolResult] = {}
    everything: dict[int, Message] = {}
    fresh = True
    for number, entry in _of(logged):
        if isinstance(entry, Compressed):
            for message in written(entry):
                everything.setdefault(message.ordinal, message)
            if number not in undone:
                history, fresh = _restored(number, entry, everything), False
            continue
        for message in spoken(entry, finished):
            everything[message.ordinal] = message
            if fresh and message.role == "system":
                history = History(system=(*history.system, message))
            else:
                history, fresh = history.add(message), False
    return history


def _restored(number: int, entry: Compressed, said: dict[int, Message]) -> History:
    try:
        return History(
            system=tuple(unfold(entry.system, said)),
            messages=tuple(unfold(entry.messages, said)),
            notes=entry.notes,
        )
    except KeyError as error:
        raise ArchiveError(
            f"the compression at entry {number} keeps m{error.args[0]}, which was not said before; "
            "undo it to go on from the full history"
        ) from error


def _last_calls(logged: Sequence[Logged]) -> tuple[int, dict[str, int]]:
    """The last message with calls: its ordinal, and those of its calls by their ids."""
    for _, entry in reversed(list(_of(logged))):
        if isinstance(entry, Said) and entry.message.calls:
            parts = entry.message.numbered_parts()
            ids = {part.id: ordinal for ordinal, part in parts if isinstance(part, ToolCall)}
            return entry.message.ordinal, ids
    return 0, {}


def _of(logged: Iterable[Logged]) -> Iterator[tuple[int, Entry]]:
    return ((item.number, item.entry) for item in logged)


def _numbered(entries: Sequence[Entry], after: Sequence[Logged]) -> Iterator[Logged]:
    last = after[-1].number if after else 0
    at = after[-1].at if after else datetime.min.replace(tzinfo=UTC)
    for number, entry in enumerate(entries, start=last + 1):
        yield Logged(number, at, entry)
