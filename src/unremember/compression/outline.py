"""From chosen lines to the entries of the outline."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from unremember import actions
from unremember.compression.material import Entry, Material, Origin
from unremember.messages import Text, ToolResult
from unremember.notes import Excerpt, OutlineEntry, may_stand_in_notes

_TITLE = 120
"""Characters of an entry's title at most."""


def outline_of(material: Material, lines: Iterable[int]) -> tuple[OutlineEntry, ...]:
    """The entries that hold the chosen `lines`: oldest first, lines in order, gaps marked."""
    chosen: dict[int, list[int]] = {}
    for line in lines:
        chosen.setdefault(material.entry[line], []).append(line)
    entries = [
        _entry(material, number, sorted(own, key=lambda line: material.place[line]))
        for number, own in chosen.items()
    ]
    return tuple(_merged(sorted(entries, key=lambda entry: entry.ordinal)))


def _merged(entries: Iterable[OutlineEntry]) -> Iterator[OutlineEntry]:
    """One entry for an ordinal: an earlier outline may tell of a message that was cut again."""
    for _, group in groupby(entries, key=lambda entry: entry.ordinal):
        first, *more = group
        for other in more:
            rest = (replace(excerpt, after_gap=True) for excerpt in other.excerpts[:1])
            excerpts = (*first.excerpts, *rest, *other.excerpts[1:])
            missing = max(first.missing, other.missing)
            first = replace(first, excerpts=excerpts, missing=missing)
        yield first


def _entry(material: Material, number: int, lines: list[int]) -> OutlineEntry:
    entry = material.entries[number]
    places = [material.place[line] for line in lines]
    excerpts = tuple(
        Excerpt(material.texts[line], after_gap=place > before + 1)
        for line, place, before in zip(lines, places, [places[0] - 1, *places], strict=False)
    )
    missing = max(0, entry.length - len(lines))
    has_main = entry.main in lines
    # An outline is made anew for each try at a budget; what came of a call is read off it once.
    if has_main not in entry.heads:
        entry.heads[has_main] = head(entry, has_main=has_main)
    return OutlineEntry(entry.ordinal, entry.heads[has_main], excerpts, missing)


def head(entry: Entry, *, has_main: bool) -> str:
    """The line that opens an entry: who spoke, or which tool ran and what came of it."""
    if entry.old:
        return entry.old.title
    if entry.call is None:
        return {Origin.AGENT: "agent", Origin.USER: "user"}.get(entry.origin, "program")
    came = actions.outcome(entry.call, entry.result or _NONE)
    # That it went well, or how many lines it gave, is what a reader expects anyway.
    came = "" if _PLAIN.fullmatch(came) else f"→ {came}"
    return one_line(came if has_main else f"{actions.title(entry.call)} {came}")


_PLAIN = re.compile(r"ok|[0-9,]+ lines?|")
_NONE = ToolResult("", (Text(""),), failed=True)


def one_line(text: str) -> str:
    """A text as a title: one line, not too long, nothing that could end the notes."""
    line = " ".join(text.split())
    line = line if may_stand_in_notes(line) else line.replace("<", "‹")
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
