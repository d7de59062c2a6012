"""What a user purges is gone for good: from entries, index, notes, files; and nothing else is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sayings import calls, gives, result, says

from unremember.archive import (
    Answered,
    Archive,
    CallFinished,
    Compressed,
    Failed,
    Handles,
    MemoryArchive,
    OlderThan,
    Opened,
    Purged,
    Said,
    SqliteArchive,
    WholeConversation,
    view,
)
from unremember.archive.codec import encode
from unremember.concepts import Fact
from unremember.errors import ArchiveError, InputError, UnknownHandle
from unremember.ledger import Ledger
from unremember.ledger.records import CommandRecord, ErrorRecord, FileRecord
from unremember.messages import Message, Native, Text, Thinking, ToolCall
from unremember.notes import Excerpt, Notes, OutlineEntry

SECRET = "hunter2-correct-horse"
LONG_SECRET = " ".join(f"{SECRET}-{n}" for n in range(200))


def tell(archive: Archive, id: str = "talk") -> None:
    """A conversation that holds the secret in the call m4 and in its result m5."""
    archive.append(
        id,
        Opened(title="Set up the deploy"),
        says("system", "You are careful."),
        says("user", "Set up the deploy."),
        calls('{"command": "login --password hunter2-correct-horse"}'),
        gives(0, f"logged in\ntoken: {LONG_SECRET}"),
        says("assistant", "The deploy is set up."),
    )


def everything(archive: Archive) -> str:
    """All that the archive holds, as text."""
    infos = archive.conversations()
    return repr((infos, [list(archive.entries(info.id)) for info in infos]))


def raw(folder: Path) -> bytes:
    """The bytes of all files in a folder."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_purged_handles_lose_their_content(archive: Archive):
    """Call and result lose their content, keep their places, and the history still pairs."""
    tell(archive)
    assert archive.purge(Handles("talk", "m3", "m5")) == 2
    assert SECRET not in everything(archive)
    assert "hunter2" not in everything(archive)
    assert archive.search("hunter2") == []
    history = view(archive.entries("talk"))
    assert [m.ordinal for m in history.messages] == [2, 3, 5, 6]
    assert archive.recall("talk", "m4") == ToolCall("c0", "shell", "{}")
    assert archive.recall("talk", "m5") == result(0, "[purged]")
    assert history.messages[0].text == "Set up the deploy."
    *_, last = archive.entries("talk")
    assert last.entry == Purged("m3-m5")


def test_a_single_part_can_be_purged(archive: Archive):
    """The handle of a call purges that call only; that of a message all that is in it."""
    parts = (Thinking("hm"), Text("words"), ToolCall("c0", "a", "x"), ToolCall("c1", "b", "y"))
    message = Message("assistant", parts, source=Native("form", {"x": "y"}))
    archive.append("talk", Opened(), Said(message))
    assert archive.purge(Handles("talk", "m3", "m3")) == 1
    left = archive.recall("talk", "m1")
    assert isinstance(left, Message)
    assert left.parts == (*parts[:3], ToolCall("c1", "b", "{}"))
    assert left.source is None
    archive.purge(Handles("talk", "m1", "m1"))
    left = archive.recall("talk", "m1")
    assert isinstance(left, Message)
    assert left.parts == (
        Text("[purged]"),
        ToolCall("c0", "a", "{}"),
        ToolCall("c1", "b", "{}"),
    )


def test_a_purged_user_message_is_no_longer_the_users(archive: Archive):
    """What stands in its place is not passed off as the user's words, nor kept like them."""
    tell(archive)
    archive.purge(Handles("talk", "m2", "m2"))
    assert view(archive.entries("talk")).pins == ()


def test_finished_results_are_purged(archive: Archive):
    """A result that came as a finished call is purged by the handle of the result."""
    archive.append("talk", Opened(), calls("{}"), CallFinished(result(0, SECRET)), Answered((3,)))
    archive.purge(Handles("talk", "m3", "m3"))
    assert SECRET not in everything(archive)
    assert view(archive.entries("talk")).messages[-1].results[0].text == "[purged]"


def compress(archive: Archive, id: str = "talk") -> None:
    """A compression whose every field tells the secret, beside harmless things."""
    history = view(archive.entries(id))
    notes = Notes(
        outline=(
            OutlineEntry(2, "user: Set up the deploy."),
            OutlineEntry(3, "shell login", (Excerpt("logged in"), Excerpt(f"token: {SECRET}-7"))),
            OutlineEntry(
                6, "agent", (Excerpt("The deploy is set up."), Excerpt(f"it is {SECRET}"))
            ),
        ),
        ledger=Ledger(
            root="/srv/deploy",
            files=(FileRecord("deploy.toml", read=2), FileRecord(f"{SECRET}.pem", read=2)),
            commands=(CommandRecord("login", 4), CommandRecord(f"cat {SECRET}", 2)),
            errors=(ErrorRecord("a failure", 5), ErrorRecord("another failure", 6)),
        ),
        facts=(
            Fact("access", "somebody may log in", evidence=(5,)),
            Fact("access", f"the password is {SECRET}", evidence=(6,)),
            Fact("state", "The deploy is set up.", evidence=(6,)),
        ),
        next=history.next_ordinal + 1,
    )
    summary = Message(
        "user",
        (Text(f"The deploy is set up.\nPassword {SECRET}."),),
        ordinal=history.next_ordinal,
        kind="summary",
    )
    clipped = Message("assistant", (ToolCall("c0", "shell", f'{{"command": "{SECRET}…"}}'),), 3)
    archive.append(
        id,
        Compressed(
            system=((1, 1),),
            messages=(summary, clipped, (5, 2)),
            notes=notes,
            reason=f"too much {SECRET}",
        ),
        Failed("compression", f"refused: {SECRET}"),
    )


def test_notes_tell_nothing_of_what_was_purged(archive: Archive):
    """Outline, ledger, facts, summaries and records of failures lose it; the rest stays."""
    tell(archive)
    compress(archive)
    archive.purge(Handles("talk", "m3", "m5"))
    assert "hunter2" not in everything(archive)
    history = view(archive.entries("talk"))
    notes = history.notes
    assert [entry.ordinal for entry in notes.outline] == [2, 6]
    assert notes.outline[1].excerpts == (Excerpt("The deploy is set up."),)
    assert notes.ledger.root == "/srv/deploy"
    assert notes.ledger.files == (FileRecord("deploy.toml", read=2),)
    assert notes.ledger.commands == ()
    assert notes.ledger.errors == (ErrorRecord("another failure", 6),)
    assert notes.facts == (Fact("state", "The deploy is set up.", evidence=(6,)),)
    assert history.messages[0].text == "The deploy is set up.\n[purged]"
    assert history.messages[-1].text == "The deploy is set up."


def test_forks_lose_what_they_share(archive: Archive):
    """A purge in a fork reaches the shared past, in every fork, and what each derived from it."""
    tell(archive)
    fork = archive.fork("talk", 6)
    other = archive.fork("talk", 3)
    archive.append(other, says("assistant", "something else"), says("user", "its own m4"))
    compress(archive, fork)
    compress(archive)
    archive.purge(Handles(fork, "m3", "m5"))
    assert "hunter2" not in everything(archive)
    assert archive.recall("talk", "m5") == result(0, "[purged]")
    assert archive.recall(other, "m4") == Message("user", (Text("its own m4"),), ordinal=4)
    assert [e.ordinal for e in view(archive.entries("talk")).notes.outline] == [2, 6]


def test_a_purge_in_a_fork_leaves_other_branches(archive: Archive):
    """What a fork said on its own is purged there; the same ordinals elsewhere stay."""
    tell(archive)
    fork = archive.fork("talk", 3)
    archive.append(fork, says("assistant", "m3 of the fork"))
    archive.purge(Handles(fork, "m3", "m3"))
    assert archive.recall("talk", "m4") == ToolCall(
        "c0", "shell", '{"command": "login --password hunter2-correct-horse"}'
    )


def test_sub_agents_are_purged_by_their_handles(archive: Archive):
    """`a1.m2` names what a sub-agent said, also to a purge."""
    archive.append("talk", Opened())
    archive.append("agent", Opened(parent="talk"), says("user", "a"), says("user", SECRET))
    archive.purge(Handles("talk", "a1.m2", "a1.m2"))
    assert SECRET not in everything(archive)
    with pytest.raises(InputError, match="no range"):
        archive.purge(Handles("talk", "a1.m2", "a1.m1"))


def test_a_purged_conversation_leaves_nothing(archive: Archive):
    """With a conversation go its sub-agents and forks; its parent keeps a mark, no content."""
    archive.append("top", Opened(), says("user", "unrelated"))
    archive.append("talk", Opened(parent="top"))
    archive.append("talk", says("user", SECRET))
    archive.append("deep", Opened(parent="talk"), says("user", SECRET))
    archive.fork("talk", 2)
    assert archive.purge(WholeConversation("talk")) == 5
    assert [info.id for info in archive.conversations()] == ["top"]
    assert SECRET not in everything(archive)
    *_, last = archive.entries("top")
    assert last.entry == Purged("a1")
    archive.append("next", Opened(parent="top"), says("user", "hello"))
    assert archive.recall("top", "a2.m1") == archive.recall("next", "m1")
    with pytest.raises(ArchiveError):
        archive.append("talk", says("user", "still there?"))


def test_nothing_to_purge_is_an_error(archive: Archive):
    """A purge that would remove nothing says so, and changes nothing."""
    tell(archive)
    before = everything(archive)
    with pytest.raises(UnknownHandle):
        archive.purge(Handles("talk", "m90", "m99"))
    with pytest.raises(UnknownHandle):
        archive.purge(Handles("talk", "41", "42"))
    with pytest.raises(ArchiveError):
        archive.purge(WholeConversation("nowhere"))
    assert archive.purge(OlderThan(datetime(2000, 1, 1, tzinfo=UTC))) == 0
    assert everything(archive) == before


@pytest.mark.parametrize("kind", [MemoryArchive, SqliteArchive])
def test_retention(kind: type, tmp_path: Path):
    """What was last used before a moment goes, unless something that hangs on it was used since."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)

    def clock() -> datetime:
        return moment

    made: Archive = (
        SqliteArchive(tmp_path / "a.db", clock=clock)
        if kind is SqliteArchive
        else MemoryArchive(clock=clock)
    )
    with made as archive:
        archive.append("old", Opened())
        archive.append("agent", Opened(parent="old"))
        archive.append("base", Opened(), says("user", "shared"))
        moment += timedelta(days=40)
        fork = archive.fork("base", 2)
        archive.append("new", Opened())
        assert archive.purge(OlderThan(moment - timedelta(days=30))) == 2
        assert {info.id for info in archive.conversations()} == {"base", fork, "new"}
        assert archive.recall(fork, "m1") == archive.recall("base", "m1")


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_purged_bytes_are_gone_from_the_files(tmp_path: Path, index: bool, whole: bool):
    """Neither the file nor its write-ahead log holds a purged text, compressed or not."""
    odd = "zq-unmistakable-zq"
    folder = tmp_path / "store"
    with SqliteArchive(folder / "a.db", index=index) as archive:
        archive.append("talk", Opened(title=odd), says("user", odd), says("user", "stay " * 9))
        archive.append("kept", Opened(), says("user", "kept words"))
        for n in range(50):
            archive.append("talk", says("user", f"{odd} {n}"))
        assert odd.encode() in raw(folder)
        archive.purge(WholeConversation("talk") if whole else Handles("talk", "m1", "m1"))
        if not whole:
            archive.purge(Handles("talk", "m3", "m52"))
        assert odd.encode() not in raw(folder)
        assert b"mistakab" not in raw(folder)
        assert [hit.conversation for hit in archive.search("kept words")] == ["kept"]
    assert odd.encode() not in raw(folder)


def test_compressed_bytes_are_gone_from_the_files(tmp_path: Path):
    """The bytes under which a longer text was stored are gone as well."""
    path = tmp_path / "a.db"
    with SqliteArchive(path) as archive:
        tell(archive)
        stored = encode(list(archive.entries("talk"))[4].entry)[20:60]
    assert SECRET.encode() not in stored
    assert stored in path.read_bytes()
    with SqliteArchive(path) as archive:
        archive.purge(Handles("talk", "m5", "m5"))
        assert stored not in raw(tmp_path)


def test_the_index_forgets_what_was_purged(tmp_path: Path):
    """No triple of characters that only a purged text had is left in the search index."""
    path = tmp_path / "a.db"
    with SqliteArchive(path) as archive:
        for n in range(30):
            archive.append(f"talk {n}", Opened(), says("user", "words that stay"))
            archive.append(f"talk {n}", says("user", "qzx"))
        for n in range(30):
            archive.purge(Handles(f"talk {n}", "m2", "m2"))
    with closing(sqlite3.connect(path)) as store:
        store.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row)")
        terms = {term for (term,) in store.execute("SELECT term FROM temp.terms")}
    assert "sta" in terms
    assert "qzx" not in terms


def test_backups_of_migrations_are_purged(tmp_path: Path):
    """A copy made before a migration holds what is purged, so it goes too."""
    path = tmp_path / "a.db"
    with SqliteArchive(path) as archive:
        tell(archive)
        backup = tmp_path / "a.db.v1.backup"
        backup.write_bytes(b"an older store")
        archive.purge(Handles("talk", "m4", "m4"))
    assert not backup.exists()


def test_a_purge_that_another_process_hinders_says_so(tmp_path: Path):
    """While somebody reads, the log may hold what was purged: that is told, and mended later."""
    path = tmp_path / "a.db"
    with SqliteArchive(path, wait=0.2) as archive:
        tell(archive)
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM entry").fetchone()
            with pytest.raises(ArchiveError, match="purge again"):
                archive.purge(Handles("talk", "m4", "m4"))
            assert archive.recall("talk", "m4") == ToolCall("c0", "shell", "{}")
        archive.purge(Handles("talk", "m4", "m4"))
        assert b"--password" not in raw(tmp_path)
