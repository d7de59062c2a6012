"""Shrinking a step in place, pairs intact: results first, then arguments, words last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any, cast

from unremember.compression.clip import clip_characters, clip_text, mark
from unremember.compression.shorten import shorten, shorten_text
from unremember.history import Step, is_pin
from unremember.messages import (
    Media,
    Message,
    Native,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from unremember.tokens import PER_MESSAGE, Weigher

LEAST = 16
"""Tokens left to a part whatever the limit: the mark that says what is missing."""

MARK_LENGTH = 48
"""Characters that a clip mark takes at most, but for huge numbers."""

ENDS = (8, 2, 0)
"""Elements of head and of tail that stay of a long list in arguments, ever fewer."""


class Rank(IntEnum):
    """What is cut last comes first. `WORDS` are the user's or the agent's."""

    WORDS = 0
    ARGUMENTS = 1
    RESULT = 2
    THOUGHT = 3


def shrink_step(
    step: Step, room: int, weigh: Weigher, *, full: bool = False, thinking: bool = True
) -> Step:
    """A step in about `room` tokens; messages that need no cut stay the objects they were.

    What is short stays whole. A user's message keeps head, rules and tail (with `full` as much of
    its ends as fit). Signed thinking goes back to its provider as it came or, with
    `thinking=False`, not at all.
    """
    messages = step.messages
    weights = weigh.messages(messages)
    if sum(weights) <= room:
        return step
    if len(messages) == 1 and is_pin(messages[0]) and not (messages[0].results or step.calls):
        return Step((shorten(messages[0], room, weigh, full=full),))
    parts = [(message, part) for message in messages for part in message.parts]
    alone = weigh.messages(Message(message.role, (part,)) for message, part in parts)
    costs = [weight - PER_MESSAGE for weight in alone]
    room -= sum(weights) - sum(costs)
    limits = _limits([part for _, part in parts], costs, room, thinking=thinking)
    left = iter(limits)
    return Step(tuple(_shrunk(message, left, weigh) for message in messages))


def _limits(parts: Sequence[Part], costs: Sequence[int], room: int, *, thinking: bool) -> list[int]:
    """How many tokens each part may take. What must not be cut comes off first."""
    fixed = [_is_fixed(part, thinking=thinking) for part in parts]
    room -= sum(cost for cost, stays in zip(costs, fixed, strict=True) if stays)
    limits = list(costs)
    ranks = [_rank(part) for part in parts]
    for rank in Rank:
        own = [n for n, r in enumerate(ranks) if r is rank and not fixed[n]]
        later = sum(costs[n] for n, r in enumerate(ranks) if r > rank and not fixed[n])
        # Half of what is left at most, unless what is cut earlier needs less than the other half.
        share = max(room // 2, room - later)
        cap = _level([costs[n] for n in own], max(0, share))
        for n in own:
            limits[n] = min(costs[n], cap)
            room -= limits[n]
    return limits


def _is_fixed(part: Part, *, thinking: bool) -> bool:
    return isinstance(part, Media) or (
        thinking and isinstance(part, Thinking) and bool(part.signature)
    )


def _rank(part: Part) -> Rank:
    match part:
        case ToolCall():
            return Rank.ARGUMENTS
        case ToolResult():
            return Rank.RESULT
        case Thinking():
            return Rank.THOUGHT
        case _:
            return Rank.WORDS


def _level(costs: Iterable[int], room: int) -> int:
    """Where costs must be cut so that together they take `room`; small ones stay whole."""
    ordered = sorted(costs)
    for place, cost in enumerate(ordered):
        level = room // (len(ordered) - place)
        if cost > level:
            return level
        room -= cost
    return ordered[-1] if ordered else 0


def _shrunk(message: Message, limits: Iterator[int], weigh: Weigher) -> Message:
    """A message with its parts cut to the next of `limits`."""
    ordinals = {id(part): ordinal for ordinal, part in message.numbered_parts()}
    parts: list[Part] = []
    for part, limit in zip(message.parts, limits, strict=False):
        ordinal = ordinals.get(id(part), message.ordinal)
        parts += _shrink(message, part, limit, weigh, ordinal)
    if len(parts) == len(message.parts) and all(map(_same, parts, message.parts)):
        return message
    # A message cannot be empty: what thought and did nothing else leaves a mark.
    texts = [part.text for part in message.parts if isinstance(part, Thinking)]
    parts = parts or [Text(mark(sum(map(len, texts)), "characters", message.ordinal))]
    source = message.source and Native(message.source.format, None)
    return replace(message, parts=tuple(parts), source=source)


def _same(part: Part, other: Part) -> bool:
    return part is other


def _shrink(
    message: Message, part: Part, limit: int, weigh: Weigher, ordinal: int
) -> tuple[Part, ...]:
    if weigh.message(Message(message.role, (part,))) - PER_MESSAGE <= limit:
        return (part,)
    limit = max(limit, LEAST)
    match part:
        case Text(text) if message.role == "user" and message.kind == "said":
            return (_or_same(part, shorten_text(text, limit, weigh.text, ordinal)),)
        case Text(text):
            return (_or_same(part, clip_text(text, limit, weigh.text, ordinal)),)
        case ToolCall(_, _, arguments):
            bare = weigh.message(Message("assistant", (replace(part, arguments=""),)))
            clipped = clip_arguments(arguments, limit - bare + PER_MESSAGE, weigh, ordinal)
            return (part if clipped == arguments else replace(part, arguments=clipped),)
        case ToolResult():
            return (_shrink_result(part, limit, weigh, ordinal),)
        case Thinking():
            return ()
        case Media():
            return (part,)


def _or_same(part: Text, text: str) -> Text:
    return part if part.text == text else Text(text)


def _shrink_result(result: ToolResult, limit: int, weigh: Weigher, ordinal: int) -> ToolResult:
    """The texts of a result joined and clipped; media stay while they take less than half."""
    media = tuple(part for part in result.content if isinstance(part, Media))
    heavy = weigh.message(Message("tool", (ToolResult("", media),))) if media else 0
    text = result.text
    if heavy > limit // 2:
        names = ", ".join(f"{m.kind} of {m.size:,} bytes" for m in media)
        media, heavy = (), 0
        text = f"{text}\n[{names}: left out · m{ordinal}]".lstrip("\n")
    clipped = clip_text(text, max(LEAST, limit - heavy), weigh.text, ordinal)
    return replace(result, content=(Text(clipped), *media))


# Arguments


def clip_arguments(arguments: str, limit: int, weigh: Weigher, ordinal: int) -> str:
    """Arguments in about `limit` tokens: still valid JSON with the same keys.

    Only texts in it are clipped, the longest most; where that is not enough, long lists too; where
    the keys alone are too many, one mark is all that stays. What is no JSON is clipped as a text.
    """
    try:
        value: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return clip_text(arguments, limit, weigh.text, ordinal)
    for ends in ENDS:
        if _weight(_clip_strings(value, 0, ordinal), weigh) > limit:
            value = _clip_lists(value, ends, ordinal)
    if _weight(_clip_strings(value, 0, ordinal), weigh) > max(limit, 4 * LEAST):
        value = {"clipped": mark(len(arguments), "characters", ordinal)}
    low, high = 0, max((len(text) for text in _strings(value)), default=0)
    while low < high:
        middle = (low + high + 1) // 2
        if _weight(_clip_strings(value, middle, ordinal), weigh) <= limit:
            low = middle
        else:
            high = middle - 1
    return _json(_clip_strings(value, low, ordinal))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _weight(value: object, weigh: Weigher) -> int:
    return weigh.text(_json(value))


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in cast("dict[str, Any]", value).values():
                yield from _strings(inner)
        case list():
            for inner in cast("list[Any]", value):
                yield from _strings(inner)
        case _:
            pass


def _clip_strings(value: object, keep: int, ordinal: int) -> object:
    match value:
        case str():
            # A mark longer than what it replaces helps nobody.
            long = len(value) > keep + MARK_LENGTH
            return clip_characters(value, keep, ordinal) if long else value
        case dict():
            fields = cast("dict[str, Any]", value)
            return {key: _clip_strings(inner, keep, ordinal) for key, inner in fields.items()}
        case list():
            return [_clip_strings(inner, keep, ordinal) for inner in cast("list[Any]", value)]
        case _:
            return value


def _clip_lists(value: object, ends: int, ordinal: int) -> object:
    match value:
        case dict():
            fields = cast("dict[str, Any]", value)
            return {key: _clip_lists(inner, ends, ordinal) for key, inner in fields.items()}
        case list():
            items = [_clip_lists(inner, ends, ordinal) for inner in cast("list[Any]", value)]
            if len(items) <= 2 * ends + 1:
                return items
            end = len(items) - ends
            gap = mark(len(_json(items[ends:end])), "characters", ordinal)
            return [*items[:ends], gap, *items[end:]]
        case _:
            return value
