"""Changing a file: what `edit_file` and `write_file` share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice
from pathlib import Path

from unremember.errors import ToolError
from unremember.messages import handle
from unremember.tools.base import Context, Output
from unremember.tools.confirm import allow_write
from unremember.tools.seen import digest
from unremember.tools.workspace import Content

AROUND = 2
"""Unchanged lines on each side of a change in a diff."""


def find_writable(context: Context, path: str) -> Path:
    """The real place of a file that may be written. Raises `ToolError`."""
    real = context.workspace.find(path)
    if ".git" in real.parts:
        # A hook or an alias written there would run with the next command of version control.
        raise ToolError(f"{path} belongs to version control; change it by its own commands only")
    return real


def refuse_stale(context: Context, real: Path, before: Content) -> None:
    """Raises `ToolError` if another hand changed the file since the agent knew it."""
    if since := context.state.seen.changed(real, digest(before.data)):
        name = context.workspace.show(real)
        raise ToolError(
            f"{name} changed outside since {handle(since)}; nothing was written. "
            f"Read it again with read_file, then make the change on its new text"
        )


async def put(
    context: Context, tool: str, real: Path, before: Content | None, after: bytes, diff: str
) -> str:
    """Writes a file after asking where that is wanted; gives the digest of what it now holds."""
    await allow_write(context, tool, context.workspace.show(real), diff)
    _refuse_moved_on(context, real, before)
    context.workspace.write(real, after, before.mode if before else None)
    context.state.seen.note(real, content := digest(after), context.ordinal)
    return content


def _refuse_moved_on(context: Context, real: Path, before: Content | None) -> None:
    """The user may have thought for minutes before the yes: the file must be as it was."""
    now = context.workspace.read(real).data if context.workspace.exists(real) else None
    if now != (before.data if before else None):
        raise ToolError(
            f"{context.workspace.show(real)} changed outside just now; nothing was written. "
            "Read it again with read_file"
        )


def changed(summary: str, diff: str) -> Output:
    """What a tool says after a change."""
    return Output(f"{summary}\n{diff}".rstrip("\n"), diff=diff)


_HUNK = re.compile(r"^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@", re.MULTILINE)


def diff_of(name: str, old: list[str], new: list[str]) -> str:
    """A unified diff of two lists of lines; costs little where only a small part differs."""
    top = sum(1 for _ in _same(old, new))
    bottom = sum(1 for _ in _same(old[top:][::-1], new[top:][::-1]))
    start = max(0, top - AROUND)
    ends = (len(old) - bottom + AROUND, len(new) - bottom + AROUND)
    rows = unified_diff(old[start : ends[0]], new[start : ends[1]], n=AROUND, lineterm="")
    text = "\n".join(islice(rows, 2, None))
    shifted = _HUNK.sub(
        lambda hunk: f"@@ -{int(hunk[1]) + start}{hunk[2]} +{int(hunk[3]) + start}{hunk[4]} @@",
        text,
    )
    return f"--- {name}\n+++ {name}\n{shifted}" if shifted else ""


def _same(old: list[str], new: list[str]) -> Iterator[None]:
    """One item for each line that both share at the beginning."""
    for one, other in zip(old, new, strict=False):
        if one != other:
            return
        yield
