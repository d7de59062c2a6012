"""What of the user's words stays (rule R3), and how much of the target it may take.

User messages share up to half the target. The first and the latest come first, then those that
state a rule, then the rest, newest first. A message too big for its share keeps its head, its tail
and its rules; one that does not fit at all becomes a line of the outline with its handle. A step
that holds a pinned message with calls is a pin as a whole: a call never stands without its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice

from unremember.compression.material import words_of
from unremember.compression.rules import is_rule, sentences
from unremember.compression.shrink import shrink_step
from unremember.history import Step, is_pin
from unremember.messages import Message
from unremember.tokens import Weigher

SHARE = 5
"""A pin heavier than one part in so many of the target is cut to that, unless all fit whole."""

HEAD_AND_TAIL = 60
"""Tokens that a message cut to head and tail takes, with its mark."""

LEAST = 24
"""Tokens below which a cut message says nothing; then it becomes a line of the outline."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """What became of pins: messages that stay, by ordinal, and what those weighed that were `cut`.

    `dropped` are those that did not fit; `tokens` is the weight of what stays, of `pool` allowed.
    """

    stay: dict[int, Message]
    cut: dict[int, int]
    dropped: tuple[Message, ...]
    tokens: int
    pool: int


def pins_of(steps: Sequence[Step]) -> list[Step]:
    """The pins among steps, oldest first, without the tool results beside a user's words."""
    return [pin for step in steps for pin in _pins_in(step)]


def _pins_in(step: Step) -> list[Step]:
    if step.calls and any(message.pinned for message in step.messages):
        return [step]
    words = (words_of(message) for message in step.messages if is_pin(message))
    return [Step((message,)) for message in words if message]


def keep_pins(steps: Sequence[Step], pool: int, target: int, weigh: Weigher) -> Pinned:
    """Chooses what of the pins among `steps` (oldest first) stays within `pool` tokens."""
    pins = pins_of(steps)
    weights = step_weights(pins, weigh)
    if sum(weights) <= pool:
        stay = {message.ordinal: message for pin in pins for message in pin.messages}
        return Pinned(stay, {}, (), sum(weights), pool)
    return _share_out(pins, weights, pool, target, weigh)


def _share_out(
    pins: list[Step], weights: list[int], pool: int, target: int, weigh: Weigher
) -> Pinned:
    share = max(LEAST, target // SHARE)
    kept: dict[int, Message] = {}
    cut: dict[int, int] = {}
    dropped: list[Message] = []
    left = pool
    order = _by_rank(pins)
    # What the pins still to come need at least is not this one's to take.
    needs = [*accumulate(min(weights[index], HEAD_AND_TAIL) for index in reversed(order))]
    for index, need in zip(order, [*reversed(needs[:-1]), 0], strict=True):
        pin, weight = pins[index], weights[index]
        room = min(left, max(share, left - need))
        if weight > min(room, share) and room >= LEAST:
            pin = shrink_step(pin, room, weigh)
        size = weight if pin is pins[index] else step_weight(pin, weigh)
        if size > left:
            dropped += pins[index].messages
            continue
        for message, whole in zip(pin.messages, pins[index].messages, strict=True):
            kept[message.ordinal] = message
            if message is not whole:
                cut[message.ordinal] = weigh.message(whole)
        left -= size
    dropped.sort(key=lambda message: message.ordinal)
    return Pinned(kept, cut, tuple(dropped), pool - left, pool)


def grow_pins(pinned: Pinned, steps: Sequence[Step], room: int, weigh: Weigher) -> Pinned:
    """The same pins of `steps`, those that were cut with up to `room` tokens more in all."""
    stay, left = dict(pinned.stay), room
    for pin in pins_of(steps):
        [message, *others] = pin.messages
        if left > 0 and not others and message.ordinal in pinned.cut:
            before = weigh.message(stay[message.ordinal])
            grown = shrink_step(pin, before + left, weigh, full=True)
            if step_weight(grown, weigh) <= before + left:
                stay[message.ordinal] = grown.messages[0]
                left -= step_weight(grown, weigh) - before
    return replace(pinned, stay=stay, tokens=pinned.tokens + room - left)


def _by_rank(pins: list[Step]) -> list[int]:
    """The user's first, the latest, then those that state a rule, then the rest, newest first."""
    users = [n for n, pin in enumerate(pins) if pin.messages[0].role == "user"]
    newest_first = range(len(pins) - 1, -1, -1)
    rest = sorted(newest_first, key=lambda n: not _obliges(pins[n]))
    return list(dict.fromkeys((*users[:1], *users[-1:], *rest)))


def _obliges(pin: Step) -> bool:
    lines = (line for message in pin.messages for line in message.text.split("\n"))
    return any(is_rule(sentence) for line in lines for sentence in sentences(line))


def step_weights(steps: Sequence[Step], weigh: Weigher) -> list[int]:
    """Tokens of each step, counted in one batch."""
    weights = iter(weigh.messages(message for step in steps for message in step.messages))
    return [sum(islice(weights, len(step.messages))) for step in steps]


def step_weight(step: Step, weigh: Weigher) -> int:
    """Tokens of the messages of a step."""
    return sum(weigh.messages(step.messages))
