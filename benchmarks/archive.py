# ruff: noqa: T201
"""Measures the archive: an append as a conversation grows, and its file against the text.

    python benchmarks/archive.py [FOLDER]

Prints ratios within one run: absolute times depend on the machine's disk. FOLDER holds recorded
conversations to store; without it a generated one is stored.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from unremember.archive import Entry, MemoryArchive, Opened, Said, SqliteArchive, said, view
from unremember.archive.search import texts
from unremember.errors import UnrememberError
from unremember.formats import read
from unremember.messages import Message, Text, ToolCall, ToolResult

SAMPLES = 200
"""Appends that are timed at each length; their median counts, as the disk is shared."""


def step(number: int, chance: random.Random) -> list[Entry]:
    """What an agent says and gets in one step: a call and about 1,500 characters of result."""
    words = " ".join(f"word{chance.randrange(5000)}" for _ in range(180))
    call = ToolCall(f"c{number}", "shell", f'{{"command": "cat src/file{number % 50}.py"}}')
    result = ToolResult(call.id, (Text(words),))
    return [
        Said(Message("assistant", (Text(f"Step {number}: look at it."), call))),
        Said(Message("tool", (result,))),
    ]


def seconds_per_append(archive: SqliteArchive, first: int, chance: random.Random) -> list[float]:
    """How long each of `SAMPLES` appends of a step took, flushed to disk."""
    taken: list[float] = []
    for number in range(first, first + SAMPLES):
        entries = step(number, chance)
        start = time.perf_counter()
        archive.append("talk", *entries)
        taken.append(time.perf_counter() - start)
    return taken


def measure_appends(folder: Path, *, index: bool) -> None:
    """Prints how an append at entry 10,000 compares to one at entry 100."""
    chance = random.Random(1)
    with SqliteArchive(folder / f"{index}.db", index=index) as archive:
        archive.append("talk", Opened(), *(e for n in range(50) for e in step(n, chance)))
        early = seconds_per_append(archive, 50, chance)
        first = 50 + SAMPLES
        batch = (e for n in range(first, 5000) for e in step(n, chance))
        archive.append("talk", *batch)
        late = seconds_per_append(archive, 5000, chance)
        start = time.perf_counter()
        hits = archive.search("word4711 ")
        found = time.perf_counter() - start
        start = time.perf_counter()
        archive.recall("talk", "m12000")
        recalled = time.perf_counter() - start
        start = time.perf_counter()
        view(archive.entries("talk"))
        replayed = time.perf_counter() - start
    kind = "with index" if index else "without index"
    print(
        f"append {kind}: {median(early) * 1e3:.2f} ms at entry 100, {median(late) * 1e3:.2f} ms at "
        f"entry 10,000: ratio {median(late) / median(early):.2f}"
    )
    print(
        f"  search {found * 1e3:.1f} ms ({len(hits)} hits), recall {recalled * 1e3:.1f} ms, "
        f"view of 10,400 entries {replayed:.2f} s"
    )


def conversations(folder: Path | None) -> Iterable[Sequence[Message]]:
    """Conversations to store: those in `folder`, or a generated one."""
    if folder is None:
        chance = random.Random(2)
        with MemoryArchive() as archive:
            archive.append("talk", Opened(), *(e for n in range(1000) for e in step(n, chance)))
            yield list(said(archive.entries("talk")).values())
        return
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                found = read(path, whole=True)
            except UnrememberError:
                continue
            for conversation in found:
                yield [*conversation.history.system, *conversation.history.messages]


def measure_size(folder: Path, data: Path | None) -> None:
    """Prints the size of a store against the text in it, in bytes of UTF-8."""
    raw, sizes = 0, dict[bool, int]()
    talks = list(conversations(data))
    for index in (False, True):
        path = folder / f"size-{index}.db"
        with SqliteArchive(path, index=index) as archive:
            for number, messages in enumerate(talks):
                archive.append(f"{number}", Opened(), *map(Said, messages))
        sizes[index] = path.stat().st_size
    for message in (message for messages in talks for message in messages):
        raw += sum(len(text.encode("utf-8", "replace")) for _, text in texts(Said(message)))
    print(
        f"file of {len(talks)} conversations, {raw:,} bytes of text: {sizes[False] / raw:.2f} x "
        f"the text without search index, {sizes[True] / raw:.2f} x with it"
    )


def main() -> None:
    """Runs all measurements."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as folder:
        for index in (False, True):
            measure_appends(Path(folder), index=index)
        measure_size(Path(folder), data)


if __name__ == "__main__":
    main()
