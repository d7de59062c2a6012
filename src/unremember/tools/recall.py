"""`recall`: exact originals of what left the history, by handle or by words."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from itertools import islice

from unremember.compression import CLIP_MARK
from unremember.errors import ToolError
from unremember.events import Recalled
from unremember.prompts import prompt
from unremember.tools.base import Context, Output
from unremember.tools.define import tool
from unremember.tools.page import cut_page

PIECE = 1_000
"""Characters of a piece, where a line is too long to be shown whole."""

AROUND = 300
"""Characters shown on each side of words that were found in such a line."""

_HANDLE = re.compile(r"(?:a\d+\.)?m\d+\b")


@tool(effect="reads", description=prompt("recall"))
async def recall(context: Context, what: str, start_line: int = 1) -> Output:
    """Brings back originals: a handle, a handle and words to find in it, or words."""
    if context.recall is None:
        raise ToolError("nothing is kept in this run; recall has no archive to look in")
    name, words = _split(what)
    text = await asyncio.to_thread(context.recall, name)
    context.emit(Recalled(name, context.count(text)))
    if words:
        return Output(_found(name, words, text, context))
    lines = _pieces(text)
    if start_line > len(lines):
        raise ToolError(f"{name} has {len(lines):,} lines; there is no line {start_line:,}")
    page = cut_page(
        lines, start_line, 0, context.cap, context.count, context.ordinal, numbered=False
    )
    if page.is_whole:
        return Output(text)
    rest = page.total - page.last
    more = f"\n[{rest:,} more lines; go on with start_line={page.last + 1}]" if rest else ""
    return Output(f"[{name} lines {page.first}-{page.last} of {page.total:,}]\n{page.text}{more}")


def _split(what: str) -> tuple[str, str]:
    """A handle and the words to find in it; a query is all words and stands alone."""
    if mark := CLIP_MARK.search(what):
        what = mark[0].rpartition("· ")[2].removesuffix(" …]")
    what = what.strip().strip("#[]")
    if not what:
        raise ToolError("what is empty; give a handle such as m41, or words to search for")
    if found := _HANDLE.match(what):
        return found[0], what[found.end() :].strip(" :")
    return what, ""


def _pieces(text: str) -> list[str]:
    """The lines of a text; a giant line as several."""
    pieces: list[str] = []
    for line in text.split("\n"):
        if len(line) <= PIECE * 2:
            pieces.append(line)
        else:
            pieces += (line[at : at + PIECE] for at in range(0, len(line), PIECE))
    return pieces


def _found(name: str, words: str, text: str, context: Context) -> str:
    """The places in an original where the words stand, with the numbers of their lines."""
    hits: list[str] = []
    number = 1
    for line in text.split("\n"):
        hits += (f"{number + at // PIECE}\t{shown}" for at, shown in _places(line, words))
        number += len(_pieces(line))
    if not hits:
        raise ToolError(f"{words!r} does not stand in {name} ({number - 1:,} lines)")
    page = cut_page(hits, 1, 0, context.cap, context.count, context.ordinal, numbered=False)
    more = f"\n[{page.total - page.last:,} more]" if page.last < page.total else ""
    return f"[{name}: {words!r} is at {len(hits):,} places]\n{page.text}{more}"


def _places(line: str, words: str) -> Iterator[tuple[int, str]]:
    """Where the words stand in a line, with the line; in a giant one with what is around them."""
    found = re.finditer(re.escape(words), line, re.IGNORECASE)
    if len(line) <= PIECE * 2:
        yield from ((0, line) for _ in islice(found, 1))
        return
    last = -PIECE
    for place in found:
        if place.start() - last >= AROUND:
            last = place.start()
            yield last, line[max(0, last - AROUND) : place.end() + AROUND]
