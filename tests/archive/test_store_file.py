"""The file of an archive: who may read it, what it survives, and when it is refused."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sayings import TALK, says

from unremember.archive import (
    Opened,
    Said,
    SqliteArchive,
    compressed,
    said,
    set_aside,
    view,
)
from unremember.archive.schema import MIGRATIONS, connect
from unremember.errors import ArchiveError, ArchiveTooNew
from unremember.history import History
from unremember.messages import Message, Text
from unremember.notes import Notes, OutlineEntry

SOURCE = Path(__file__).parents[2] / "src"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def digest(folder: Path) -> dict[str, bytes]:
    """The files of a folder with their contents."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_the_owner_can_read(tmp_path: Path, umask: int):
    """File, companions and new folders are closed to others, whatever the umask."""
    path = tmp_path / "new" / "deeper" / "a.db"
    before = os.umask(umask)
    try:
        with SqliteArchive(path) as archive:
            archive.append("talk", *TALK)
            files = list(path.parent.iterdir())
            assert {file.name for file in files} == {"a.db", "a.db-wal", "a.db-shm"}
            assert [mode(file) for file in files] == [0o600] * 3
            assert mode(path.parent) == mode(path.parent.parent) == 0o700
    finally:
        os.umask(before)


def test_a_file_that_others_can_read_is_closed_to_them(tmp_path: Path):
    """Rights that somebody widened are narrowed; a folder that was there is left as it is."""
    path = tmp_path / "a.db"
    SqliteArchive(path).close()
    path.chmod(0o644)
    tmp_path.chmod(0o755)
    SqliteArchive(path).close()
    assert mode(path) == 0o600
    assert mode(tmp_path) == 0o755


def test_everything_is_there_after_opening_again(tmp_path: Path):
    """What was appended is read back by the next one who opens the file."""
    with SqliteArchive(tmp_path / "a.db") as archive:
        archive.append("talk", *TALK)
        before = list(archive.entries("talk"))
    with SqliteArchive(tmp_path / "a.db") as archive:
        assert list(archive.entries("talk")) == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.db"]


def test_a_conversation_that_was_compressed_twice_is_resumed(tmp_path: Path):
    """Quit and resumed, it is seen as before, goes on where it was, and repeats nothing (F16)."""
    path = tmp_path / "a.db"
    with SqliteArchive(path) as archive:
        archive.append("talk", Opened(), says("system", "rules"))
        for turn in range(2):
            archive.append("talk", *(says("user", f"{turn}.{n} " * 300) for n in range(40)))
            history = view(archive.entries("talk"))
            outline = (*history.notes.outline, OutlineEntry(2 + 40 * turn, f"turn {turn}"))
            notes = Notes(outline, next=history.next_ordinal)
            after = History(history.system, history.messages[-3:], notes)
            archive.append("talk", compressed(after, said(archive.entries("talk"))))
        before = view(archive.entries("talk"))
    with SqliteArchive(path) as archive:
        resumed = view(archive.entries("talk"), resume=True)
        assert resumed == before
        assert [m.ordinal for m in resumed.messages] == [79, 80, 81]
        archive.append("talk", says("user", "Go on."))
        ordinals = [m.ordinal for m in view(archive.entries("talk")).messages]
        assert ordinals == [79, 80, 81, 82]
        assert len(said(archive.entries("talk"))) == 82


def test_a_closed_archive_says_so(tmp_path: Path):
    """Closing twice does nothing; using it afterwards is a clear error."""
    archive = SqliteArchive(tmp_path / "a.db")
    archive.close()
    archive.close()
    with pytest.raises(ArchiveError, match="closed"):
        archive.append("talk", Opened())


def newer(path: Path) -> None:
    """Makes a store of a version that does not exist yet."""
    with SqliteArchive(path) as archive:
        archive.append("talk", *TALK)
    with closing(sqlite3.connect(path)) as store:
        store.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
        store.commit()


def test_a_newer_store_is_refused_and_untouched(tmp_path: Path):
    """A store of a newer version stays as it is, byte for byte; nothing is created beside it."""
    newer(tmp_path / "a.db")
    before = digest(tmp_path)
    (tmp_path / "a.db").chmod(0o640)
    with pytest.raises(ArchiveTooNew, match="newer Unremember"):
        SqliteArchive(tmp_path / "a.db")
    assert digest(tmp_path) == before
    assert mode(tmp_path / "a.db") == 0o640


def test_a_newer_version_in_the_write_ahead_log_is_seen(tmp_path: Path):
    """A newer program that was killed before its log was merged has its store respected, too."""
    made, found = tmp_path / "made", tmp_path / "found"
    made.mkdir()
    SqliteArchive(made / "a.db").close()
    with closing(sqlite3.connect(made / "a.db")) as store:
        store.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
        store.commit()
        # As a kill would leave it: the store is still open.
        shutil.copytree(made, found)
    before = digest(found)
    assert before["a.db-wal"]
    with pytest.raises(ArchiveTooNew):
        SqliteArchive(found / "a.db")
    assert digest(found) == before


VERSION_1 = """
CREATE TABLE conversation (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT NOT NULL,
    forked_at INTEGER NOT NULL, nth INTEGER NOT NULL, agents INTEGER NOT NULL DEFAULT 0,
    number INTEGER NOT NULL, next_ordinal INTEGER NOT NULL, open_calls BLOB NOT NULL,
    started INTEGER NOT NULL, last INTEGER NOT NULL);
CREATE TABLE entry (
    key INTEGER PRIMARY KEY, conversation INTEGER NOT NULL REFERENCES conversation (key),
    number INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    span INTEGER NOT NULL, body BLOB NOT NULL);
CREATE UNIQUE INDEX entry_by_number ON entry (conversation, number);
CREATE INDEX entry_by_ordinal ON entry (conversation, ordinal) WHERE ordinal > 0;
CREATE TABLE unindexed (key INTEGER PRIMARY KEY);
INSERT INTO conversation VALUES
    (1, 'talk', '', 0, 0, 0, 3, 3, CAST('[]' AS BLOB), 1767225600000000, 1767225602000000);
INSERT INTO entry VALUES
    (1, 1, 1, 'Opened', 1767225600000000, 0, 0,
     CAST('[{"parent":"","forked_at":0,"cwd":"/srv","title":"Old"},[]]' AS BLOB)),
    (2, 1, 2, 'Said', 1767225601000000, 1, 1,
     CAST('[{"message":{"role":"user","parts":[{"text":"Hello from version 1"}],"ordinal":1,'
       || '"id":"","at":null,"kind":"said","pinned":false,"source":null}},[]]' AS BLOB)),
    (3, 1, 3, 'Said', 1767225602000000, 2, 1,
     CAST('[{"message":{"role":"assistant","parts":[{"text":"\0","signature":""},'
       || '{"text":"Hi."}],"ordinal":2,"id":"","at":null,"kind":"said","pinned":false,'
       || '"source":null}},[]]' AS BLOB));
INSERT INTO unindexed VALUES (2), (3);
PRAGMA application_id = 1433301613;
PRAGMA user_version = 1;
""".replace("\0", "thought")


def version_1(path: Path) -> None:
    """A store as version 1 of the schema was written, without a search index."""
    with closing(sqlite3.connect(path)) as store:
        store.executescript(VERSION_1)


def test_a_store_of_version_1_is_read(tmp_path: Path):
    """A store from the first release opens, is searched, and goes on."""
    version_1(tmp_path / "a.db")
    with SqliteArchive(tmp_path / "a.db") as archive:
        texts = [message.text for message in view(archive.entries("talk")).messages]
        assert texts == ["Hello from version 1", "Hi."]
        assert [hit.handle for hit in archive.search("version 1")] == ["m1"]
        assert archive.append("talk", says("user", "Go on.")) == 4
        (info,) = archive.conversations()
        assert (info.title, info.cwd, info.next_ordinal) == ("Old", "/srv", 4)


def test_an_older_store_is_migrated_after_a_copy(tmp_path: Path):
    """Migrations are applied in order, once, and the store as it was lies beside it, closed."""
    path = tmp_path / "a.db"
    version_1(path)
    added = (*MIGRATIONS, ("ALTER TABLE conversation ADD COLUMN note TEXT",))
    connect(path, migrations=added).close()
    backup = tmp_path / "a.db.v1.backup"
    assert mode(backup) == 0o600
    with closing(sqlite3.connect(path)) as store:
        assert store.execute("SELECT id, note FROM conversation").fetchall() == [("talk", None)]
        assert store.execute("PRAGMA user_version").fetchone() == (2,)
    with SqliteArchive(backup) as archive:
        assert len(list(archive.entries("talk"))) == 3
    connect(path, migrations=added).close()
    with pytest.raises(ArchiveTooNew):
        SqliteArchive(path)


def test_a_migration_that_fails_changes_nothing(tmp_path: Path):
    """When a migration breaks half-way the store is as it was, and opens."""
    path = tmp_path / "a.db"
    version_1(path)
    broken = (*MIGRATIONS, ("ALTER TABLE conversation ADD COLUMN note TEXT", "NONSENSE"))
    with pytest.raises(ArchiveError, match="NONSENSE"):
        connect(path, migrations=broken)
    with SqliteArchive(path) as archive:
        assert len(list(archive.entries("talk"))) == 3


def full(path: Path) -> None:
    with SqliteArchive(path) as archive:
        archive.append("talk", *TALK, *(says("user", os.urandom(900).hex()) for _ in range(99)))


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty pages": lambda data: bytes(len(data)),
    "garbage": lambda data: bytes(range(256)) * (len(data) // 256),
    "text": lambda _: b"Dear diary, this is no database.\n" * 9,
    "a short file": lambda data: data[:50],
    "cut off": lambda data: data[: len(data) // 2],
    "cut within a page": lambda data: data[:5000],
    "pages overwritten": lambda data: data[:4096] + bytes(len(data) - 4096),
    "noise inside": lambda data: data[:4096] + os.urandom(len(data) - 4096),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, how: str):
    """Damage is told in one line that says what to do; the file is never overwritten."""
    path = tmp_path / "a.db"
    full(path)
    path.write_bytes(DAMAGES[how](path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(ArchiveError) as caught, SqliteArchive(path) as archive:
        list(archive.entries("talk"))
    assert "\n" not in str(caught.value)
    assert "is damaged" in str(caught.value)
    assert "set_aside" in str(caught.value)
    assert path.read_bytes() == before


def test_a_damaged_entry_is_named_as_damage(tmp_path: Path):
    """One entry whose bytes were changed is told as damage, not as a traceback of a parser."""
    path = tmp_path / "a.db"
    full(path)
    with closing(sqlite3.connect(path)) as store:
        store.execute("UPDATE entry SET body = x'789c0102' WHERE number = 3")
        store.commit()
    with SqliteArchive(path) as archive, pytest.raises(ArchiveError, match="is damaged"):
        list(archive.entries("talk"))


def test_a_damaged_file_can_be_set_aside(tmp_path: Path):
    """Whoever asks for it gets the file moved, with nothing lost, and can begin anew."""
    path = tmp_path / "a.db"
    path.write_bytes(b"not a database" * 100)
    moved = set_aside(path)
    assert moved.read_bytes() == b"not a database" * 100
    with SqliteArchive(path) as archive:
        archive.append("talk", *TALK)


def test_the_database_of_another_program_is_refused(tmp_path: Path):
    """A file that is a database but no archive is named as such and left alone."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as store:
        store.execute("CREATE TABLE bookmarks (url TEXT)")
        store.commit()
    before = path.read_bytes()
    with pytest.raises(ArchiveError, match="another program"):
        SqliteArchive(path)
    assert path.read_bytes() == before


@contextmanager
def largest_file(size: int) -> Generator[None]:
    """Files of this process may grow to `size` bytes; writing fails beyond, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_when_no_more_can_be_written_nothing_is_lost(tmp_path: Path):
    """An append that finds no space fails whole; what was there is there; later ones work."""
    big = Said(Message("user", (Text(os.urandom(3_000_000).hex()),)))
    with SqliteArchive(tmp_path / "a.db") as archive:
        archive.append("talk", *TALK)
        before = list(archive.entries("talk"))
        with largest_file(1_000_000), pytest.raises(ArchiveError, match="Free some space"):
            archive.append("talk", says("user", "small"), big)
        assert list(archive.entries("talk")) == before
        assert archive.append("talk", big) == len(TALK) + 1
    with SqliteArchive(tmp_path / "a.db") as archive:
        assert len(list(archive.entries("talk"))) == len(TALK) + 1


def fill(archive: SqliteArchive) -> None:
    """Appends until no more fits."""
    for _ in range(1000):
        archive.append("talk", says("user", os.urandom(4000).hex()))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte, where one may be mounted."""
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("no file system may be mounted here")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_full_disk(small_disk: Path):
    """On a disk that fills up, all that was acknowledged is there, and appends work after."""
    filler = small_disk / "filler"
    filler.write_bytes(bytes(300_000))
    with SqliteArchive(small_disk / "a.db") as archive:
        archive.append("talk", Opened())
        with pytest.raises(ArchiveError, match="Free some space"):
            fill(archive)
        written = len(list(archive.entries("talk")))
        assert written > 1
        filler.unlink()
        assert archive.append("talk", says("user", "space again")) == written + 1
    with SqliteArchive(small_disk / "a.db") as archive:
        assert len(list(archive.entries("talk"))) == written + 1


READ_ONLY = """
import os, sys
sys.path[:0] = [sys.argv[1]]
from unremember.archive import Opened, SqliteArchive
from unremember.errors import ArchiveError
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    SqliteArchive(sys.argv[2]).append("talk", Opened())
except ArchiveError as error:
    print(error)
"""


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_may_not_be_written(there: bool):
    """Where nothing may be written the error names the place and what to do."""
    # Not below `tmp_path`: nobody but its owner may even look there.
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        path = folder / "a.db"
        if there:
            SqliteArchive(path).close()
            path.chmod(0o444)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(SOURCE), str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
        folder.chmod(0o700)
    assert str(path) in done.stdout
    assert "yours to" in done.stdout


def test_a_place_that_cannot_be_a_file(tmp_path: Path):
    """A folder in the place of the file, or a file in the place of a folder, is a clear error."""
    (tmp_path / "file").write_text("a file")
    for path in (tmp_path, tmp_path / "file" / "a.db"):
        with pytest.raises(ArchiveError, match="cannot be"):
            SqliteArchive(path)


def test_entries_written_without_an_index_are_found_later(tmp_path: Path):
    """What was written where no index could be kept is indexed by the next one who can."""
    path = tmp_path / "a.db"
    with SqliteArchive(path, index=False) as archive:
        archive.append("talk", *TALK)
        assert [hit.handle for hit in archive.search("wrong line")] == ["m8"]
    with SqliteArchive(path) as archive:
        assert [hit.handle for hit in archive.search("wrong line")] == ["m8"]
    with closing(sqlite3.connect(path)) as store:
        assert store.execute("SELECT count(*) FROM unindexed").fetchone() == (0,)
        match = store.execute("SELECT count(*) FROM words WHERE words MATCH '\"wro\"'")
        assert match.fetchone() == (1,)


def test_two_open_archives_of_one_process(tmp_path: Path):
    """The same file may be opened twice in a process; closing one leaves the other working."""
    path = tmp_path / "a.db"
    with SqliteArchive(path) as first:
        first.append("talk", Opened())
        with SqliteArchive(path) as second:
            second.append("talk", says("user", "from the second"))
            first.append("talk", says("user", "from the first"))
        first.append("talk", says("user", "after closing the second"))
        assert [item.number for item in first.entries("talk")] == [1, 2, 3, 4]
