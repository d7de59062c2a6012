"""From the entries of a log to a conversation: what is live, what belongs to another thread."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unremember.formats.base import Conversation, conversation
from unremember.history import Repair
from unremember.messages import Message


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a log.

    `live` is false for what a recorded compaction dropped. `lane` names another thread than the
    main one ("sidechain x", "abandoned branch 2"); such messages are among the originals and in
    no view, because the main model never saw them or will not see them again.
    """

    message: Message
    live: bool = True
    lane: str = ""


def assemble(
    said: Iterable[Said],
    *,
    form: str,
    whole: bool,
    id: str = "",
    cwd: str = "",
    repairs: Iterable[Repair] = (),
) -> Conversation:
    """The conversation of a log's messages, every result right behind the message with its call."""
    entries = pair_up(said)
    shown = {i for i, s in enumerate(entries) if not s.lane and (whole or s.live)}
    return conversation(
        [entry.message for entry in entries],
        form=form,
        id=id,
        cwd=cwd,
        repairs=repairs,
        live=shown,
        lanes=[entry.lane for entry in entries],
    )


def pair_up(said: Iterable[Said]) -> list[Said]:
    """Moves each result behind the message with its call, results in the order of the calls.

    Logs write results as they come: parallel ones in any order, and other lines in between. A
    result goes to the newest call before it with its id that has none yet; others stay in place.
    """
    slots: list[list[Said]] = []
    waiting: dict[tuple[str, str], list[int]] = {}
    for entry in said:
        message = entry.message
        calls: dict[tuple[str, str], list[int]] = {}
        for call in message.calls:
            calls.setdefault((entry.lane, call.id), []).append(len(slots))
        waiting |= calls
        answered = message.results[0].call_id if message.is_single_result else None
        places = waiting.get((entry.lane, answered)) if answered is not None else None
        if places:
            slots[places.pop()].append(entry)
        else:
            slots.append([entry])
    return [entry for slot in slots for entry in _in_call_order(slot)]


def _in_call_order(slot: list[Said]) -> list[Said]:
    if len(slot) < 3:
        return slot
    order = {call.id: place for place, call in enumerate(slot[0].message.calls)}
    return [slot[0], *sorted(slot[1:], key=lambda s: order[s.message.results[0].call_id])]
