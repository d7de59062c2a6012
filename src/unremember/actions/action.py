"""What one tool call does, as a value."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "read",
    "list",
    "search",
    "write",
    "edit",
    "run",
    "test",
    "plan",
    "delegate",
    "fetch",
    "other",
]

Effect = Literal["", "delete", "move", "format", "restore", "stash", "unstash"]
"""What a change of a file is beyond writing it. `restore` brings back an earlier content, `stash`
puts changes aside and `unstash` takes them up again."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a tool call does.

    `path` is normalised but stays as it was written: relative if it was relative. `cwd` is the
    absolute directory that the command itself went to first, if it did. `lines` are the first and
    the last line, counted from 1; a last line of 0 is the end of the file, a negative first one
    counts from the end; None is the whole file. `to` is where a moved file went. `query` is what
    was searched, fetched or asked for. `undo` and `digest` name an exact replacement and its
    reverse, so that an edit that is taken back can be seen.
    """

    kind: Kind
    path: str = ""
    lines: tuple[int, int] | None = None
    command: str = ""
    side_effects: bool = False
    effect: Effect = ""
    to: str = ""
    cwd: str = ""
    query: str = ""
    digest: str = ""
    undo: str = ""

    @property
    def is_test(self) -> bool:
        """Whether it runs tests."""
        return self.kind == "test"

    @property
    def changes_file(self) -> bool:
        """Whether it changes, makes or removes the file `path`."""
        return self.kind in ("write", "edit") and bool(self.path)


def clean_path(path: str) -> str:
    """A path without `./`, doubled slashes and a trailing slash; else as it was written."""
    path = path.strip().strip("\"'").removeprefix("file://")
    if not path:
        return ""
    path = posixpath.normpath(path)
    # POSIX keeps two leading slashes; no agent means them.
    return path[1:] if path.startswith("//") else path
