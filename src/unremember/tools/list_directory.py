"""`list_directory`: what is in a folder, without what version control ignores."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from unremember.errors import ToolError
from unremember.prompts import prompt
from unremember.tools.base import Context, Output
from unremember.tools.define import tool
from unremember.tools.globs import compile_glob
from unremember.tools.ignores import Entry, walk

MOST = 200
"""Entries that are shown."""

LARGE = 50_000
"""Bytes of a file from which on its size is shown: it may not fit in a window."""


@tool(effect="reads", description=prompt("list_directory"))
async def list_directory(
    context: Context, path: str = ".", depth: int = 2, glob: str = ""
) -> Output:
    """Lists a folder; with a glob, the files at any depth that match it."""
    real = context.workspace.find(path)
    if not real.is_dir():
        raise ToolError(
            f"{path} is a file; read_file shows it" if real.exists() else f"no such folder: {path}"
        )
    if depth < 1:
        raise ToolError("depth counts from 1")
    shown = context.workspace.show(real)
    if glob:
        found = await asyncio.to_thread(_matching, real, context.workspace.root, glob)
        return Output(_flat(context, shown, glob, found))
    entries = await asyncio.to_thread(lambda: list(walk(real, context.workspace.root, depth)))
    return Output(_tree(real, shown, entries))


def _matching(folder: Path, root: Path, glob: str) -> list[Path]:
    matches = compile_glob(glob)
    return sorted(
        entry.path
        for entry in walk(folder, root)
        if not entry.is_folder and matches(entry.path.relative_to(folder).as_posix())
    )


def _flat(context: Context, shown: str, glob: str, found: list[Path]) -> str:
    if not found:
        return f"No files found in {shown} that match {glob}"
    rows = [context.workspace.show(path) + _size(path) for path in found[:MOST]]
    return "\n".join((f"[{len(found):,} files match]", *rows, *_more(len(found))))


def _tree(folder: Path, shown: str, entries: list[Entry]) -> str:
    """Entries indented under their folders. The walk goes level by level, so that a cut takes the
    deepest ones; how many are not shown stands under each folder."""
    kept = entries[:MOST]
    missing = Counter(entry.path.parent for entry in entries[MOST:])
    children: dict[Path, list[Entry]] = {}
    for entry in kept:
        children.setdefault(entry.path.parent, []).append(entry)
    rows = [f"[{shown}/: {len(entries):,} entries]" if entries else f"[{shown}/ is empty]"]

    stack = [iter(children.get(folder, ()))]
    above = [folder]
    while stack:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            here = above.pop()
            if missing[here]:
                rows.append("  " * len(above) + f"… {missing[here]:,} more")
            continue
        rows.append("  " * (entry.depth - 1) + _name(entry))
        if entry.is_folder:
            stack.append(iter(children.get(entry.path, ())))
            above.append(entry.path)
    return "\n".join((*rows, *_more(len(entries))))


def _name(entry: Entry) -> str:
    if entry.is_link:
        return f"{entry.path.name} -> {entry.path.readlink()}"
    return f"{entry.path.name}/" if entry.is_folder else entry.path.name + _size(entry.path)


def _size(path: Path) -> str:
    try:
        size = path.lstat().st_size
    except OSError:
        return ""
    return f" ({size // 1000:,} kB)" if size >= LARGE else ""


def _more(total: int) -> list[str]:
    if total <= MOST:
        return []
    return [f"[{total - MOST:,} of {total:,} are not shown; use a folder inside, or a glob]"]
