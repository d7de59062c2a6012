"""From a recorded conversation to the places where it is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from unremember.evaluation.texts import message_texts
from unremember.formats import Conversation
from unremember.history import History, Step
from unremember.messages import Message

FEWEST_CALLS = 8
"""Calls that must follow a cut: with fewer there is too little that could have been needed."""

SMALLEST = 30_000
"""Characters that must stand before a cut: less fits every model as it is."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A recording cut in two: what the agent had before it, and the steps it then took.

    `share` is the part of the recording's characters that was asked for.
    """

    share: float
    before: History
    after: tuple[Step, ...]


class Unusable(Exception):
    """A recording or a cut that nothing can be measured on; the message says why."""


def cut_at(conversation: Conversation, share: float) -> Cut:
    """Cuts a conversation behind `share` of its content, right before the agent's next message.

    Only what was said before the first recorded compaction counts, so `conversation` should be
    the whole log. Raises `Unusable` where too little stands before the cut or follows it.
    """
    steps = _until_compaction(conversation.history.steps)
    place = place_of(steps, share)
    before = History(
        conversation.history.system, [m for step in steps[:place] for m in step.messages]
    )
    after = steps[place:]
    calls = sum(len(step.calls) for step in after)
    if calls < FEWEST_CALLS:
        raise Unusable(f"only {calls} calls follow the cut; {FEWEST_CALLS} are needed")
    size = _size((*before.system, *before.messages))
    if size < SMALLEST:
        raise Unusable(f"only {size:,} characters stand before the cut; {SMALLEST:,} are needed")
    return Cut(share, before, after)


def place_of(steps: Sequence[Step], share: float) -> int:
    """How many steps stand before a cut; it is right before a message of the assistant."""
    sums = list(accumulate(_size(step.messages) for step in steps))
    wanted = share * (sums[-1] if sums else 0)
    place = next((i for i, size in enumerate(sums, start=1) if size >= wanted), len(steps))
    while place < len(steps) and steps[place].messages[0].role != "assistant":
        place += 1
    return place


def parts_of(before: History, rounds: int) -> list[tuple[Message, ...]]:
    """The messages before a cut in `rounds` parts of about one size, cut as recordings are cut."""
    steps = before.steps
    places = [place_of(steps, turn / rounds) for turn in range(1, rounds)]
    bounds = sorted({0, *places, len(steps)})
    return [
        tuple(m for step in steps[start:end] for m in step.messages)
        for start, end in pairwise(bounds)
    ]


def _until_compaction(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    end = next(
        (i for i, step in enumerate(steps) if any(m.kind == "summary" for m in step.messages)),
        len(steps),
    )
    return steps[:end]


def _size(messages: Sequence[Message]) -> int:
    return sum(len(text) for message in messages for text in message_texts(message))
