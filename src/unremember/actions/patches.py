"""Files named in patches: `*** Update File:` blocks and unified diffs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unremember.actions.action import Action, clean_path

_BLOCK = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to): (.+)")
_NEW = re.compile(r"\+\+\+ (?:b/)?([^\t\n]+)")


def patched_files(patch: str) -> Iterator[Action]:
    """One action for each file that a patch makes, changes, moves or removes."""
    if "*** " in patch:
        yield from _blocks(patch)
    elif "+++ " in patch:
        yield from _diff(patch)


def _blocks(patch: str) -> Iterator[Action]:
    last = ""
    for line in _lines_with(patch, "*** "):
        found = _BLOCK.match(line)
        if not found:
            continue
        path = clean_path(found[2])
        match found[1]:
            case "Add File":
                yield Action("write", path)
            case "Update File":
                yield Action("edit", path)
            case "Delete File":
                yield Action("write", path, side_effects=True, effect="delete")
            case _:
                yield Action("write", last, side_effects=True, effect="move", to=path)
        last = path


def _diff(patch: str) -> Iterator[Action]:
    removed = ""
    for line in _lines_with(patch, ("--- ", "+++ ")):
        if line.startswith("--- "):
            removed = clean_path(line[4:].split("\t")[0].removeprefix("a/"))
        elif found := _NEW.match(line):
            path = clean_path(found[1])
            if path == "/dev/null":
                yield Action("write", removed, side_effects=True, effect="delete")
            else:
                yield Action("write" if removed == "/dev/null" else "edit", path)


def _lines_with(text: str, start: str | tuple[str, ...]) -> Iterator[str]:
    return (line for line in text.splitlines() if line.startswith(start))
