"""How large the file of an archive becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from unremember.archive import Opened, Said, SqliteArchive, said
from unremember.archive.search import texts
from unremember.formats import read

DATA = Path(__file__).parents[2] / "../shared/data"
FILES = sorted(path for path in DATA.glob("*/*") if path.suffix in (".json", ".jsonl", ".traj"))


@pytest.mark.skipif(not DATA.exists(), reason="the recorded conversations are not here")
def test_recorded_conversations_stay_small(tmp_path: Path):
    """Without search index the file is under 2.5 times the text; everything comes back exact."""
    path, raw = tmp_path / "a.db", 0
    talks = {
        f"{file} {n}": [*found.history.system, *found.history.messages]
        for file in FILES
        for n, found in enumerate(read(file, whole=True))
    }
    with SqliteArchive(path, index=False) as archive:
        for id, messages in talks.items():
            archive.append(id, Opened(), *map(Said, messages))
            found = [text for message in messages for _, text in texts(Said(message))]
            raw += sum(len(text.encode("utf-8", "replace")) for text in found)
    assert raw > 1_000_000
    assert path.stat().st_size < 2.5 * raw
    with SqliteArchive(path, index=False) as archive:
        for id, messages in talks.items():
            back = list(said(archive.entries(id)).values())
            assert back == messages
            assert [message.source for message in back] == [m.source for m in messages]
