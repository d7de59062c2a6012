"""Both archives, for tests of what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from unremember.archive import Archive, MemoryArchive, SqliteArchive

MAKERS: dict[str, Callable[[Path], Archive]] = {
    "memory": lambda _: MemoryArchive(),
    "sqlite": SqliteArchive,
    "sqlite without index": lambda path: SqliteArchive(path, index=False),
}


@pytest.fixture(params=MAKERS)
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Archive]:
    with MAKERS[request.param](tmp_path / "archive.db") as made:
        yield made
