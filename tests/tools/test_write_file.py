"""`write_file`: new files at once, others only when the agent knows what it replaces."""

from __future__ import annotations

import stat
from pathlib import Path

from hands import Hands

from unremember.tools import Answer, Question, approve_all


async def test_a_new_file_with_its_folders(hands: Hands):
    """A new file is written with missing folders; the answer says how large it is."""
    ran = await hands.run("write_file", path="src/deep/a.py", content="x = 1\ny = 2\n")
    assert (hands.root / "src/deep/a.py").read_text() == "x = 1\ny = 2\n"
    assert "new, 2 lines, 12 bytes" in ran.result.text
    assert "+x = 1" in ran.diff
    assert "+x = 1" not in ran.result.text


async def test_an_unread_file_is_not_replaced(hands: Hands):
    """A file that the agent did not read is kept, also where everything is approved."""
    (hands.root / "a.py").write_text("precious\n")
    text = await hands.fails("write_file", path="a.py", content="x\n")
    assert "you have not read it" in text
    assert "edit_file" in text
    assert (hands.root / "a.py").read_text() == "precious\n"
    await hands("read_file", path="a.py")
    await hands("write_file", path="a.py", content="x\n")
    assert (hands.root / "a.py").read_text() == "x\n"


async def test_the_user_can_allow_it(hands: Hands):
    """A person may say yes to replacing an unread file, seeing the diff."""
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Answer("yes")

    (hands.root / "a.py").write_text("old\n")
    hands.context.approve = ask
    await hands("write_file", path="a.py", content="new\n")
    assert (hands.root / "a.py").read_text() == "new\n"
    assert asked[0].personal
    assert "-old\n+new" in asked[0].diff


async def test_a_stale_file_is_not_replaced(hands: Hands):
    """A file that another hand changed since it was read is kept, with a hint."""
    (hands.root / "a.py").write_text("one\n")
    await hands("read_file", path="a.py")
    (hands.root / "a.py").write_text("two\n")
    text = await hands.fails("write_file", path="a.py", content="three\n")
    assert "changed outside since m1" in text
    assert (hands.root / "a.py").read_text() == "two\n"


async def test_what_the_agent_wrote_it_may_replace(hands: Hands):
    """Its own file needs no reading; a diff says what changed; the same again is refused."""
    await hands("write_file", path="a.py", content="one\ntwo\n")
    text = await hands("write_file", path="a.py", content="one\n2\n")
    assert "-two\n+2" in text
    assert "already holds" in await hands.fails("write_file", path="a.py", content="one\n2\n")


async def test_line_ends_and_mode_of_a_replaced_file(hands: Hands):
    """A replaced file keeps its line ends, its mark and its permissions."""
    path = hands.root / "a.bat"
    path.write_bytes(b"\xef\xbb\xbfone\r\n")
    path.chmod(0o755)
    await hands("read_file", path="a.bat")
    await hands("write_file", path="a.bat", content="one\ntwo\n")
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\ntwo\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


async def test_writes_are_whole_or_not_at_all(hands: Hands):
    """Where the folder cannot be written nothing is left behind and the old content stands."""
    (hands.root / "file").write_text("x")
    assert "file" in await hands.fails("write_file", path="file/a.py", content="x")
    assert [path.name for path in hands.root.iterdir()] == ["file"]


async def test_the_user_sees_changes_before_they_are_made(hands: Hands):
    """Where writes are asked for, the question holds the diff; a no changes nothing."""
    asked: list[Question] = []

    async def ask(question: Question) -> Answer:
        asked.append(question)
        return Answer("no", "keep the old name") if len(asked) == 1 else Answer("always")

    hands.context.asks = frozenset({"runs", "writes"})
    hands.context.approve = ask
    (hands.root / "a.py").write_text("name = 1\n")
    text = await hands.fails("edit_file", path="a.py", old="name", new="title")
    assert "keep the old name" in text
    assert (hands.root / "a.py").read_text() == "name = 1\n"
    assert "-name = 1\n+title = 1" in asked[0].diff
    await hands("edit_file", path="a.py", old="name", new="title")
    await hands("edit_file", path="a.py", old="title", new="name")
    assert len(asked) == 2


async def test_a_file_changed_while_the_user_thought(hands: Hands):
    """The file is looked at again after the yes: a change in between is not overwritten."""
    path: Path = hands.root / "a.py"
    path.write_text("one\n")

    async def ask(question: Question) -> Answer:
        path.write_text("saved by the user\n")
        return await approve_all(question)

    hands.context.asks = frozenset({"writes"})
    hands.context.approve = ask
    text = await hands.fails("edit_file", path="a.py", old="one", new="two")
    assert "changed outside just now" in text
    assert path.read_text() == "saved by the user\n"
