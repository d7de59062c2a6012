"""Clipping a text in place: head, tail and error lines stay, marks say what is missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from unremember.actions import is_error_line
from unremember.messages import handle

CountText = Callable[[str], int]

CLIP_MARK = re.compile(r"\[… [0-9,]+ (?:character|line|attachment)s? left out · m[0-9]+ …\]")
"""What stands where something was clipped. Tools refuse arguments that hold such a mark."""

_AROUND = 2
"""Lines kept on each side of an error line."""

_LINE = 2_000
"""Characters above which a line is clipped by itself, not kept or left out as a whole."""


def mark(count: int, unit: str, ordinal: int) -> str:
    """The mark for `count` characters, lines or attachments missing of what `ordinal` names."""
    unit = unit.removesuffix("s") if count == 1 else unit
    return f"[… {count:,} {unit} left out · {handle(ordinal)} …]"


def clip_characters(text: str, keep: int, ordinal: int) -> str:
    """Head and tail of a text, `keep` characters in all, and the exact count of what is missing."""
    if len(text) <= keep:
        return text
    head = keep * 2 // 3
    tail = keep - head
    return (
        text[:head] + mark(len(text) - keep, "characters", ordinal) + (text[-tail:] if tail else "")
    )


def clip_text(
    text: str, limit: int, count: CountText, ordinal: int, wanted: Iterable[int] | None = None
) -> str:
    """A text of at most `limit` tokens: head, tail and the lines that matter, in order.

    `wanted` are the numbers of lines (from 0) that matter most, best first; without it they are
    the error lines, newest first, with their neighbours. A limit too small for anything but the
    mark gives the mark, or the text where that is no longer.
    """
    if count(text) <= max(limit, count(mark(len(text), "characters", ordinal))):
        return text
    lines = text.split("\n")
    if len(lines) < 4 or max(map(len, lines)) > _LINE:
        # Few lines or giant ones: characters are the only fair measure.
        errors = _error_passages(text)
        return largest(
            lambda keep: _clip_around(text, keep, ordinal, errors), len(text), limit, count
        )
    order = _by_worth(lines, wanted)
    return largest(
        lambda keep: _join(lines, sorted(order[:keep]), ordinal), len(lines), limit, count
    )


def _by_worth(lines: list[str], wanted: Iterable[int] | None) -> list[int]:
    """All line numbers: what matters alternating with head and tail, best first."""
    matters = list(wanted) if wanted is not None else list(_error_lines(lines))
    ends: list[int] = []
    top, bottom = 0, len(lines) - 1
    while top <= bottom:
        ends.append(top)
        if bottom != top:
            ends.append(bottom)
        top, bottom = top + 1, bottom - 1
    # The very ends first: a reader needs to see how it begins and how it ended.
    order = dict.fromkeys((*ends[:4], *matters, *ends))
    return list(order)


def _error_lines(lines: list[str]) -> Iterable[int]:
    for number in range(len(lines) - 1, -1, -1):
        if is_error_line(lines[number]):
            yield number
            for distance in range(1, _AROUND + 1):
                yield from (
                    n for n in (number - distance, number + distance) if 0 <= n < len(lines)
                )


def _join(lines: list[str], kept: list[int], ordinal: int) -> str:
    """The kept lines in order, each gap marked with how many lines are missing."""
    out: list[str] = []
    following = 0
    for number in (*kept, len(lines)):
        if number > following:
            out.append(mark(number - following, "lines", ordinal))
        if number < len(lines):
            out.append(lines[number])
        following = number + 1
    return "\n".join(out)


_ERROR_WORD = re.compile(r"(?i:\berror\b|exception|traceback|\bfatal\b|panic)")


def _error_passages(text: str) -> list[int]:
    """Where, in a text of giant lines, errors are spoken of; the newest three."""
    return [found.start() for found in _ERROR_WORD.finditer(text)][-3:]


def _clip_around(text: str, keep: int, ordinal: int, places: list[int]) -> str:
    """Head, tail and some characters around each place; `keep` characters in all."""
    share = keep // (4 + len(places)) if places else 0
    ends = keep - share * len(places)
    windows = [(0, ends * 2 // 3)]
    windows += [(max(0, place - share // 3), place + share - share // 3) for place in places]
    windows.append((len(text) - (ends - ends * 2 // 3), len(text)))
    out: list[str] = []
    at = 0
    for start, end in windows:
        start, end = max(start, at), min(end, len(text))
        if end <= start:
            continue
        if start > at:
            out.append(mark(start - at, "characters", ordinal))
        out.append(text[start:end])
        at = end
    if at < len(text):
        out.append(mark(len(text) - at, "characters", ordinal))
    return "".join(out)


def largest(make: Callable[[int], str], limit: int, tokens: int, count: CountText) -> str:
    """The longest `make(n)`, n up to `limit`, that weighs at most `tokens`; at least `make(0)`."""

    def fits(number: int) -> bool:
        # No text has more than some dozens of characters to a token: the far longer need no count.
        made = make(number)
        return len(made) <= tokens * 200 and count(made) <= tokens

    return make(most(limit, fits))


def most(limit: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `limit` that `holds`, as all smaller ones do; else 0."""
    low = 0
    while low < limit:
        middle = (low + limit + 1) // 2
        if holds(middle):
            low = middle
        else:
            limit = middle - 1
    return low
