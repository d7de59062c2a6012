"""`edit_file`: replaces text that stands exactly once in a file."""

from __future__ import annotations

import re
from dataclasses import replace
from difflib import SequenceMatcher, get_close_matches

from unremember.errors import ToolError
from unremember.prompts import prompt
from unremember.tools.base import Context, Output
from unremember.tools.change import changed, diff_of, find_writable, put, refuse_stale
from unremember.tools.define import tool
from unremember.tools.text import FileText, decode, encode, splice

MOST_SHOWN = 14
"""Lines of the nearest match that are shown."""

_NUMBERED = re.compile(r"\s*\d+\t")


@tool(effect="writes", description=prompt("edit_file"))
async def edit_file(context: Context, path: str, old: str, new: str, every: bool = False) -> Output:
    """Replaces `old`, which must stand exactly once in the file, or each of it with `every`."""
    real = find_writable(context, path)
    name = context.workspace.show(real)
    before = context.workspace.read(real)
    refuse_stale(context, real, before)
    file = decode(before.data)
    if file is None:
        raise ToolError(f"{name} is a binary file; edit_file changes text only")
    after = _replaced(name, file, _plain(old), _plain(new), every=every)
    try:
        data = encode(after)
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{name} is in {file.encoding}, which has no {error.object[error.start]!r}"
        ) from None
    diff = diff_of(name, file.lines, after.lines)
    content = await put(context, "edit_file", real, before, data, diff)
    return changed(f"edited {name}@{content}", diff)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _replaced(name: str, file: FileText, old: str, new: str, *, every: bool) -> FileText:
    if not old:
        raise ToolError("old is empty; give the text to replace, or use write_file for a new file")
    if old == new:
        raise ToolError("old and new are the same; nothing to change")
    places = _find_all(file.text, old)
    if not places:
        raise ToolError(f"old was not found in {name}; nothing was changed. {_hint(file, old)}")
    if len(places) > 1 and not every:
        lines = [file.text.count("\n", 0, place) + 1 for place in places]
        shown = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
        raise ToolError(
            f"old stands {len(places):,} times in {name} (lines {shown}); nothing was changed. "
            "Add lines around it to make it unique, or set every"
        )
    if not file.returns:
        return replace(file, text=file.text.replace(old, new))
    for place in reversed(places):
        file = splice(file, place, place + len(old), new)
    return file


def _find_all(text: str, part: str) -> list[int]:
    places: list[int] = []
    at = text.find(part)
    while at >= 0:
        places.append(at)
        at = text.find(part, at + len(part))
    return places


def _hint(file: FileText, old: str) -> str:
    wanted = old.strip("\n").split("\n")
    if all(_NUMBERED.match(line) for line in wanted):
        return "Leave out the line numbers and the tabs behind them"
    lines = file.lines
    start = nearest(lines, wanted)
    if start is None:
        return "Nothing in the file is like it; read the file again"
    found = lines[start : start + len(wanted)]
    same = [line.split() for line in found] == [line.split() for line in wanted]
    why = "It differs in blanks only" if same else "The nearest is"
    shown = [f"{start + n}\t{line[:500]}" for n, line in enumerate(found[:MOST_SHOWN], start=1)]
    more = f"\n… {len(found) - MOST_SHOWN} more lines" if len(found) > MOST_SHOWN else ""
    return f"{why}:\n" + "\n".join(shown) + more


def nearest(lines: list[str], wanted: list[str]) -> int | None:
    """Where in `lines` (from 0) the passage begins that is most like `wanted`; None: nowhere."""
    stripped = [line.strip().lower() for line in lines]
    keys = [line.strip().lower() for line in wanted]
    places: dict[str, list[int]] = {}
    for number, line in enumerate(stripped):
        places.setdefault(line, []).append(number)
    starts: set[int] = set()
    # The longest lines say most about where the passage is.
    for offset in sorted(range(len(keys)), key=lambda n: -len(keys[n]))[:5]:
        known = places.get(keys[offset], []) if keys[offset] else []
        if not known and len(keys[offset]) > 2:
            close = get_close_matches(keys[offset][:300], (line[:300] for line in places), n=2)
            known = [number for line in close for number in places.get(line, [])]
        starts.update(number - offset for number in known[:20])
    inside = [start for start in starts if 0 <= start < len(lines)]
    return max(inside, key=lambda start: _likeness(stripped, keys, start), default=None)


def _likeness(stripped: list[str], keys: list[str], start: int) -> float:
    return sum(
        1.0 if one == other else SequenceMatcher(None, one[:300], other[:300]).quick_ratio()
        for one, other in zip(stripped[start:], keys, strict=False)
    )
