"""Several processes at one archive, and processes that are killed."""

from __future__ import annotations

import multiprocessing
import random
import subprocess
import sys
import threading
import time
from itertools import chain
from pathlib import Path

import pytest
from sayings import says

from unremember.archive import Opened, Said, SqliteArchive, view
from unremember.messages import Message

SOURCE = Path(__file__).parents[2] / "src"
SPAWN = multiprocessing.get_context("spawn")


def talk_a_lot(path: Path, name: str, times: int) -> None:
    """Appends to a conversation of its own and to one that all share."""
    with SqliteArchive(path, wait=60) as archive:
        archive.append(name, Opened())
        for n in range(times):
            archive.append("shared", says("user", f"{name} says {n}"))
            archive.append(name, says("user", f"own {n}"), says("assistant", "yes"))


def test_processes_that_append_at_once(tmp_path: Path):
    """Numbers and ordinals stay unique and in order, nothing is lost, and each keeps its order."""
    path = tmp_path / "new folder" / "a.db"
    with SqliteArchive(path) as archive:
        archive.append("shared", Opened())
    names = [f"writer {n}" for n in range(3)]
    writers = [SPAWN.Process(target=talk_a_lot, args=(path, name, 40)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    with SqliteArchive(path) as archive:
        shared = list(archive.entries("shared"))
        assert [item.number for item in shared] == list(range(1, 122))
        messages = view(shared).messages
        assert [message.ordinal for message in messages] == list(range(1, 121))
        for name in names:
            said = [m.text for m in messages if m.text.startswith(name)]
            assert said == [f"{name} says {n}" for n in range(40)]
            assert [item.number for item in archive.entries(name)] == list(range(1, 82))
        assert len(archive.search("writer 1 says", "shared", limit=99)) == 40


def open_it(path: Path, name: str, begin: float) -> None:
    """Opens an archive at the given moment and says something."""
    time.sleep(max(0.0, begin - time.time()))
    with SqliteArchive(path, wait=60) as archive:
        archive.append(name, Opened())


def test_processes_that_make_the_archive_at_once(tmp_path: Path):
    """Whoever comes first makes the file; the others find it whole."""
    path, begin = tmp_path / "a.db", time.time() + 2
    openers = [SPAWN.Process(target=open_it, args=(path, f"{n}", begin)) for n in range(5)]
    for opener in openers:
        opener.start()
    for opener in openers:
        opener.join()
        assert opener.exitcode == 0
    with SqliteArchive(path) as archive:
        assert sorted(info.id for info in archive.conversations()) == ["0", "1", "2", "3", "4"]


def test_threads_share_one_archive(tmp_path: Path):
    """One object may be used from several threads."""
    with SqliteArchive(tmp_path / "a.db") as archive:
        archive.append("talk", Opened())

        def write() -> None:
            for n in range(25):
                archive.append("talk", says("user", f"thread {n}"))
                list(archive.entries("talk", after=n))

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [item.number for item in archive.entries("talk")] == list(range(1, 102))


WRITER = """
import os, random, sys
sys.path[:0] = [sys.argv[1]]
from unremember.archive import Compressed, Opened, Said, SqliteArchive
from unremember.messages import Message, Text
from unremember.notes import Notes, OutlineEntry

archive = SqliteArchive(sys.argv[2])
if not archive.conversations():
    archive.append("talk", Opened())
(info,) = archive.conversations()
print(f"{info.entries} 0", flush=True)
while True:
    text = "x" * random.choice((5, 500, 50_000)) + str(info.entries)
    number = archive.append("talk", *(Said(Message("user", (Text(text),))) for _ in range(3)))
    print(f"{number} {len(text)}", flush=True)
    if number % 5 == 0:
        notes = Notes((OutlineEntry(1, "earlier"),), next=number)
        print(f"{archive.append('talk', Compressed(notes=notes))} 0", flush=True)
"""


def test_killed_at_any_moment(tmp_path: Path):
    """After kill -9 at 20 moments every acknowledged entry is there, and none by half (F17)."""
    path, acknowledged = tmp_path / "a.db", dict[int, int]()
    chance = random.Random(7)
    for round in range(20):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(SOURCE), str(path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout
        with writer.stdout:
            # The first rounds hit the making of the file itself.
            first = writer.stdout.readline() if round > 4 else ""
            timer = threading.Timer(chance.uniform(0.01, 0.4), writer.kill)
            timer.start()
            for line in chain([first] if first else [], writer.stdout):
                if line.endswith("\n"):
                    number, length = map(int, line.split())
                    acknowledged[number] = length
        writer.wait()
        timer.join()
    assert len(acknowledged) > 40
    with SqliteArchive(path) as archive:
        logged = {item.number: item.entry for item in archive.entries("talk")}
        assert sorted(logged) == list(range(1, len(logged) + 1))
        assert logged.keys() >= {number for number in acknowledged if number}
        # At most the append that was under way is more than what was acknowledged.
        assert len(logged) - max(acknowledged) <= 3
        for number, length in acknowledged.items():
            if length:
                entry = logged[number]
                assert isinstance(entry, Said)
                assert len(entry.message.text) == length
        view(archive.entries("talk"))
        assert archive.append("talk", says("user", "and on")) == len(logged) + 1


SPENDER = """
import sys
sys.path[:0] = [sys.argv[1]]
from unremember.archive import Handles, SqliteArchive
archive = SqliteArchive(sys.argv[2])
print("ready", flush=True)
for n in range(1, 60):
    archive.purge(Handles("talk", f"m{n}", f"m{n}"))
"""


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.06, 0.15])
def test_killed_while_purging(tmp_path: Path, delay: float):
    """A kill in the middle of a purge leaves a store that opens, purged or not, never by half."""
    path = tmp_path / "a.db"
    with SqliteArchive(path) as archive:
        archive.append(
            "talk", Opened(), *(says("user", f"secret-{n}-secret " * 50) for n in range(60))
        )
    spender = subprocess.Popen(
        [sys.executable, "-c", SPENDER, str(SOURCE), str(path)], stdout=subprocess.PIPE, text=True
    )
    assert spender.stdout
    with spender.stdout:
        spender.stdout.readline()
        time.sleep(delay)
        spender.kill()
    spender.wait()
    with SqliteArchive(path) as archive:
        for n in range(60):
            message = archive.recall("talk", f"m{n + 1}")
            assert isinstance(message, Message)
            assert message.text in (f"secret-{n}-secret " * 50, "[purged]")
            found = [hit.handle for hit in archive.search(f"secret-{n}-secret")]
            assert found == ([] if message.text == "[purged]" else [f"m{n + 1}"])
