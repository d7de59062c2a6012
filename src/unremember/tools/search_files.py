"""`search_files`: lines that match a regular expression, by ripgrep or without it."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from unremember.errors import ToolError
from unremember.prompts import prompt
from unremember.tools.base import Context, Output
from unremember.tools.define import tool
from unremember.tools.globs import compile_glob
from unremember.tools.ignores import walk
from unremember.tools.process import Process
from unremember.tools.text import decode
from unremember.tools.workspace import Workspace

MOST = 100
"""Matching lines that are shown."""

LONGEST = 250
"""Characters of a line that are shown."""

SECONDS = 30
"""How long a search may take."""


LONGEST_SEARCHED = 10_000
"""Characters of a line that are searched without ripgrep: some patterns need forever on more."""


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for, and where."""

    pattern: str
    place: Path
    workspace: Workspace
    glob: str = ""


@dataclass(slots=True)
class Hits:
    """Lines that were found, in files by name; all are counted, the first `MOST` kept."""

    rows: dict[str, list[tuple[int, str]]] = field(default_factory=dict[str, list[tuple[int, str]]])
    files: set[str] = field(default_factory=set[str])
    total: int = 0
    stopped: bool = False

    def add(self, name: str, number: int, line: str) -> None:
        """Takes in one matching line."""
        self.total += 1
        self.files.add(name)
        if self.total <= MOST:
            self.rows.setdefault(name, []).append((number, line))


@tool(effect="reads", description=prompt("search_files"))
async def search_files(context: Context, pattern: str, path: str = ".", glob: str = "") -> Output:
    """Searches files for a regular expression, line by line."""
    real = context.workspace.find(path)
    if not real.exists():
        raise ToolError(f"no such file or folder: {path}")
    search = Search(pattern, real, context.workspace, glob)
    program = find_ripgrep()
    hits = await _by_ripgrep(program, search, context.cancelled) if program else None
    # Patterns that only Python knows, such as (?<=…), end here too.
    hits = hits or await asyncio.to_thread(_by_python, search)
    return Output(_shown(hits, search))


def find_ripgrep() -> str:
    """The program `rg`: on the path, or from the package that brings it; "" if there is none."""
    beside = Path(sys.executable).parent / "rg"
    return shutil.which("rg") or (str(beside) if beside.is_file() else "")


async def _by_ripgrep(program: str, search: Search, cancelled: asyncio.Event) -> Hits | None:
    """What ripgrep finds; None if it does not understand the pattern."""
    root = search.workspace.root
    words = [program, "--no-config", "--hidden", "--no-require-git", "--glob=!.git", "--sort=path"]
    words += ["--line-number", "--no-heading", "--with-filename", "--null", "--color=never"]
    words += [f"--max-columns={LONGEST * 4}", "--max-columns-preview"]
    words += [f"--glob={search.glob}"] if search.glob else []
    place = search.workspace.show(search.place)
    reader = _Rows()
    process = await Process.start(
        [*words, f"--regexp={search.pattern}", "--", place], root, reader.take
    )
    reader.hits.stopped = await process.wait(SECONDS, cancelled) != "done"
    if process.status == 2 and not reader.hits.total:
        return None
    return reader.hits


@dataclass(slots=True)
class _Rows:
    """Reads what ripgrep prints while it prints: all is counted, little is kept."""

    hits: Hits = field(default_factory=Hits)
    _rest: str = ""

    def take(self, text: str) -> None:
        *rows, self._rest = (self._rest + text).split("\n")
        for row in rows:
            name, _, rest = row.partition("\0")
            number, _, line = rest.partition(":")
            # Other rows are complaints about files that cannot be read.
            if number.isdigit():
                self.hits.add(name.removeprefix("./"), int(number), line)


def _by_python(search: Search) -> Hits:
    try:
        expression = re.compile(search.pattern)
    except re.error as error:
        raise ToolError(
            f"{search.pattern!r} is no regular expression ({error}); put \\ before signs that are "
            "meant as they stand"
        ) from None
    hits, stop = Hits(), monotonic() + SECONDS
    for path in _files(search):
        for number, line in enumerate(_lines(search.workspace, path), start=1):
            if expression.search(line[:LONGEST_SEARCHED]):
                hits.add(search.workspace.show(path), number, line)
            if monotonic() > stop:
                hits.stopped = True
                return hits
    return hits


def _files(search: Search) -> Iterator[Path]:
    if search.place.is_file():
        yield search.place
        return
    root = search.workspace.root
    base = root if search.place.is_relative_to(root) else search.place
    wanted = compile_glob(search.glob) if search.glob else None
    paths = (entry.path for entry in walk(search.place, root) if not entry.is_folder)
    for path in sorted(paths):
        if not path.is_symlink() and (not wanted or wanted(path.relative_to(base).as_posix())):
            yield path


def _lines(workspace: Workspace, path: Path) -> list[str]:
    try:
        file = decode(workspace.read(path).data)
    except ToolError:
        return []
    return file.lines if file else []


def _shown(hits: Hits, search: Search) -> str:
    where = search.workspace.show(search.place) + (f" ({search.glob})" if search.glob else "")
    late = f"\n[stopped after {SECONDS} s; there may be more]" if hits.stopped else ""
    if not hits.total:
        return f"No matches found for {search.pattern!r} in {where}{late}"
    rows = [f"[{hits.total:,} lines in {len(hits.files):,} files]"]
    for name, lines in hits.rows.items():
        rows += (name, *(f"{number}: {_short(line)}" for number, line in lines))
    if hits.total > MOST:
        rows.append(f"[{hits.total - MOST:,} more lines; narrow it by path, glob or pattern]")
    return "\n".join(rows) + late


def _short(line: str) -> str:
    line = line.strip("\r").replace("\t", "  ")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}… ({len(line):,} characters)"
