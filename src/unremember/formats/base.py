"""What every format gives back, and the one way from foreign messages to a valid history.

A format module has a `NAME`, `matches(head)`, and `read(...)`. Forms made of JSON lines are given
`(line number, value)` pairs, forms that are one document the parsed document; both take `whole`.
Those that can be written have `write(history)` too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge

from unremember.history import History, Repair, repair, split_steps
from unremember.messages import Message, number
from unremember.notes import Notes, take_out


@dataclass(frozen=True, slots=True)
class Conversation:
    """A recorded conversation.

    `history` is what the model would see next, or the whole log if that was asked for. `originals`
    is every message of the log, also what recorded compactions dropped, with the same ordinals in
    both views: handles resolve against these.
    """

    history: History
    format: str
    id: str = ""
    cwd: str = ""
    repairs: tuple[Repair, ...] = ()
    originals: tuple[Message, ...] = ()


def conversation(
    messages: Iterable[Message],
    *,
    form: str,
    id: str = "",
    cwd: str = "",
    repairs: Iterable[Repair] = (),
    live: Collection[int] | None = None,
    lanes: Sequence[str] = (),
    close: bool = True,
) -> Conversation:
    """Mends and numbers the messages of a log, and builds the history of those that are live.

    `messages` is the whole log in file order; `live` are the indices in it that the model would
    see next (None: all). A step is live when its first message is: a live call brings its results
    along, a result without its call stays out. `lanes` names, message for message, the thread it
    belongs to ("" for the main one): calls and results of different lanes never meet. Leading
    system messages become `History.system`. `close=False` leaves calls at the very end open.
    """
    log = [replace(message, ordinal=index) for index, message in enumerate(messages, start=1)]
    names = lanes or [""] * len(log)
    seen = None if live is None else {index + 1 for index in live}
    found = list(repairs)
    threads: list[list[tuple[int, bool, Message]]] = []
    for lane in dict.fromkeys(names):
        said = [message for message, name in zip(log, names, strict=True) if name == lane]
        mended, faults = repair(said, close=close)
        thread = list(_placed(mended, seen))
        threads.append(thread)
        if any(shown for _, shown, _ in thread):
            found += [replace(f, where=f"{f.where} of {lane}") if lane else f for f in faults]
    merged = list(merge(*threads, key=lambda entry: entry[0]))
    originals = number(replace(message, ordinal=0) for _, _, message in merged)
    shown = [message for message, entry in zip(originals, merged, strict=True) if entry[1]]
    shown, notes = take_out(shown)
    if notes:
        originals = shown
    return Conversation(history_of(shown, notes), form, id, cwd, tuple(found), tuple(originals))


def _placed(
    mended: Iterable[Message], seen: Collection[int] | None
) -> Iterator[tuple[int, bool, Message]]:
    """Mended messages with their place in the file and whether they are live, step by step.

    What a repair put in or moved stands where the message before it stands.
    """
    place = 0
    for step in split_steps(mended):
        shown = seen is None or (step.messages[0].ordinal or place) in seen
        for message in step.messages:
            place = max(place, message.ordinal)
            yield place, shown, message


def history_of(messages: Sequence[Message], notes: Notes = Notes()) -> History:
    """The history of these messages; the system messages before all others go to its head."""
    leading = next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))
    return History(tuple(messages[:leading]), messages[leading:], notes)
