"""Showing lines of a long text page by page, each page within a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unremember.compression.clip import clip_characters, most

LONGEST = 2_000
"""Characters of a line above which its head and tail are shown only."""

RESERVE = 80
"""Tokens left for what stands around a page."""


@dataclass(frozen=True, slots=True)
class Page:
    """Numbered lines `first` to `last` of `total`; empty when there are none."""

    text: str
    first: int
    last: int
    total: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is before or behind it."""
        return self.first == 1 and self.last == self.total


def cut_page(
    lines: Sequence[str],
    first: int,
    last: int,
    cap: int,
    count: Callable[[str], int],
    ordinal: int,
    *,
    numbered: bool = True,
) -> Page:
    """As many lines from `first` to `last` (0: the end) as fit in `cap` tokens, at least one."""
    stop = min(last or len(lines), len(lines))
    start = min(max(first, 1), len(lines) + 1)
    room = max(cap - RESERVE, RESERVE)
    # No line weighs less than a token, and few texts have more than 8 characters to one.
    shown: list[str] = []
    characters = 0
    for number in range(start, stop + 1):
        line = clip_characters(lines[number - 1], min(LONGEST, room), ordinal)
        shown.append(f"{number}\t{line}" if numbered else line)
        characters += len(line)
        if len(shown) >= room or characters > room * 40:
            break
    kept = max(1, most(len(shown), lambda n: count("\n".join(shown[:n])) <= room))
    return Page("\n".join(shown[:kept]), start, start + min(kept, len(shown)) - 1, len(lines))
