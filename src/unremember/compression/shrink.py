"""Shrinking the parts of one message in place, pairs intact."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

from unremember.compression.clip import clip_text
from unremember.messages import Media, Message, Part, Text, Thinking, ToolCall, ToolResult
from unremember.tokens import PER_MESSAGE, Weigher

LEAST = 12
"""Tokens left to a part whatever the limit: the mark that says what is missing."""


def shrink_parts(message: Message, limit: int, weigh: Weigher) -> tuple[Part, ...]:
    """The parts of `message` in about `limit` tokens, each cut in proportion to its weight."""
    weights = [
        weigh.message(Message(message.role, (part,))) - PER_MESSAGE for part in message.parts
    ]
    total = sum(weights) or 1
    room = max(0, limit - PER_MESSAGE)
    ordinals = {id(part): ordinal for ordinal, part in message.numbered_parts()}
    return tuple(
        _shrink(
            part, max(LEAST, room * weight // total), weigh, ordinals.get(id(part), message.ordinal)
        )
        for part, weight in zip(message.parts, weights, strict=True)
    )


def _shrink(part: Part, limit: int, weigh: Weigher, ordinal: int) -> Part:
    match part:
        case Text(text):
            return Text(clip_text(text, limit, weigh.text, ordinal))
        case ToolCall(_, _, arguments):
            return replace(part, arguments=_shrink_arguments(arguments, limit, weigh, ordinal))
        case ToolResult():
            return _shrink_result(part, limit, weigh, ordinal)
        case Thinking() | Media():
            # Thinking of an open tool loop must go back as it came; a picture cannot be cut.
            return part


def _shrink_result(result: ToolResult, limit: int, weigh: Weigher, ordinal: int) -> ToolResult:
    """The texts of a result joined and clipped; media stay while they take less than half."""
    media = tuple(part for part in result.content if isinstance(part, Media))
    heavy = weigh.message(Message("tool", (ToolResult("", media),))) if media else 0
    if heavy > limit // 2:
        names = ", ".join(f"{m.kind} of {m.size:,} bytes" for m in media)
        media, heavy = (), 0
        text = f"{result.text}\n[{names}: left out]".lstrip("\n")
    else:
        text = result.text
    clipped = clip_text(text, max(LEAST, limit - heavy), weigh.text, ordinal)
    return replace(result, content=(Text(clipped), *media))


def _shrink_arguments(arguments: str, limit: int, weigh: Weigher, ordinal: int) -> str:
    """Still valid JSON with the same keys: only texts in it are clipped, the longest most."""
    try:
        value: object = json.loads(arguments)
    except ValueError:
        return clip_text(arguments, limit, weigh.text, ordinal)
    longest = max((len(text) for text in _strings(value)), default=0)
    low, high, best = 0, longest, arguments
    while low <= high:
        middle = (low + high) // 2
        candidate = json.dumps(_clip_strings(value, middle, ordinal), ensure_ascii=False)
        if middle == 0 or weigh.text(candidate) <= limit:
            low, best = middle + 1, candidate
        else:
            high = middle - 1
        if middle == 0:
            break
    return best


def _strings(value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [
                text for inner in cast("dict[str, Any]", value).values() for text in _strings(inner)
            ]
        case list():
            return [text for inner in cast("list[Any]", value) for text in _strings(inner)]
        case _:
            return []


def _clip_strings(value: object, keep: int, ordinal: int) -> object:
    from unremember.compression.clip import clip_characters

    match value:
        case str():
            # A mark longer than what it replaces helps nobody.
            return clip_characters(value, keep, ordinal) if len(value) > keep + 48 else value
        case dict():
            return {
                k: _clip_strings(v, keep, ordinal) for k, v in cast("dict[str, Any]", value).items()
            }
        case list():
            return [_clip_strings(inner, keep, ordinal) for inner in cast("list[Any]", value)]
        case _:
            return value
