"""`edit_file`: exact and unique, on the text as it is now, and nothing else changes."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hands import Hands
from hypothesis import given
from hypothesis import strategies as st

from unremember.tools.text import decode, encode, splice

CODE = "def area(r):\n    return 3 * r * r\n\n\ndef edge(r):\n    return 6 * r\n"


@pytest.fixture
def code(root: Path) -> Path:
    path = root / "circle.py"
    path.write_text(CODE)
    return path


async def test_an_edit_returns_a_diff(hands: Hands, code: Path):
    """The one place is changed; the model and the user get the diff with true line numbers."""
    ran = await hands.run("edit_file", path="circle.py", old="return 6 * r", new="return 6.3 * r")
    assert code.read_text() == CODE.replace("6 * r", "6.3 * r")
    assert ran.diff == (
        "--- circle.py\n+++ circle.py\n@@ -4,3 +4,3 @@\n \n def edge(r):\n"
        "-    return 6 * r\n+    return 6.3 * r"
    )
    assert ran.result.text.startswith("edited circle.py@")
    assert ran.diff in ran.result.text


async def test_several_places_are_refused(hands: Hands, code: Path):
    """Text that stands more than once is refused with the lines; `every` changes all of it."""
    text = await hands.fails("edit_file", path="circle.py", old="(r)", new="(radius)")
    assert "2 times in circle.py (lines 1, 5)" in text
    assert code.read_text() == CODE
    await hands("edit_file", path="circle.py", old="(r)", new="(radius)", every=True)
    assert code.read_text() == CODE.replace("(r)", "(radius)")


@pytest.mark.parametrize(
    ("old", "hint"),
    [
        (
            "def edge(r):\n  return 6 * r\n",
            "differs in blanks only:\n5\tdef edge(r):\n6\t    return 6",
        ),
        ("def edge(radius):\n    return 6 * r", "nearest is:\n5\tdef edge(r):\n6\t"),
        ("DEF AREA(R):", "nearest is:\n1\tdef area(r):"),
        ("5\tdef edge(r):\n6\t    return 6 * r", "line numbers"),
        ("a completely other thing", "Nothing in the file is like it"),
        ("", "old is empty"),
    ],
)
async def test_text_that_is_not_there(hands: Hands, code: Path, old: str, hint: str):
    """What does not match exactly is refused, and the nearest place is shown with line numbers."""
    text = await hands.fails("edit_file", path="circle.py", old=old, new="x")
    assert hint.lower() in text.lower()
    assert code.read_text() == CODE


async def test_a_stale_edit_is_refused(hands: Hands, code: Path):
    """F9: after a formatter changed the file, an edit of the old text is refused with a hint."""
    await hands("read_file", path="circle.py")
    await hands("edit_file", path="circle.py", old="6 * r", new="6.3*r")
    code.write_text(code.read_text().replace("6.3*r", "6.3 * r"))
    text = await hands.fails("edit_file", path="circle.py", old="3 * r * r", new="3.1 * r * r")
    assert text.startswith("circle.py changed outside since m2; nothing was written")
    assert "read_file" in text
    assert "3.1" not in code.read_text()
    assert "6.3 * r" in await hands("read_file", path="circle.py")
    await hands("edit_file", path="circle.py", old="3 * r * r", new="3.1 * r * r")
    assert "3.1 * r" in code.read_text()


async def test_several_edits_in_a_row_need_no_new_read(hands: Hands, code: Path):
    """The agent's own edits are no change by another hand."""
    await hands("read_file", path="circle.py")
    await hands("edit_file", path="circle.py", old="def area", new="def size")
    await hands("edit_file", path="circle.py", old="def edge", new="def rim")
    assert "def size" in code.read_text()
    assert "def rim" in code.read_text()


async def test_an_edit_of_an_unread_file_may_match(hands: Hands, code: Path):
    """What was seen by a search or a command can be edited: an exact match is proof enough."""
    await hands("edit_file", path="circle.py", old="def edge", new="def rim")
    assert "def rim" in code.read_text()


async def test_line_ends_mark_and_mode_stay(hands: Hands, root: Path):
    """CRLF, byte order mark and permissions are as before; new lines end like those around them."""
    path = root / "run.sh"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    path.chmod(0o750)
    await hands("edit_file", path="run.sh", old="two\nthree", new="2\n2.5\nthree")
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n2.5\r\nthree\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o750
    assert [entry.name for entry in root.iterdir()] == ["run.sh"]


async def test_mixed_line_ends_stay_where_nothing_changed(hands: Hands, root: Path):
    """In a file with both line ends only the changed line is touched."""
    path = root / "a.txt"
    path.write_bytes(b"a\r\nb\nc\r\nd\n")
    await hands("edit_file", path="a.txt", old="a\nb\nc\nd", new="a\nB\nc\nd")
    assert path.read_bytes() == b"a\r\nB\nc\r\nd\n"


async def test_older_encodings_stay(hands: Hands, root: Path):
    """A file is written in its own encoding; a letter that it lacks is refused."""
    path = root / "a.txt"
    path.write_bytes("안녕하세요 세계\n".encode("cp949"))
    await hands("edit_file", path="a.txt", old="세계", new="여러분")
    assert path.read_bytes() == "안녕하세요 여러분\n".encode("cp949")
    assert "euc_kr" in await hands.fails("edit_file", path="a.txt", old="여러분", new="🙂")


async def test_broken_bytes_survive(hands: Hands, root: Path):
    """Bytes that are no text stay as they are when something else is edited."""
    path = root / "a.txt"
    path.write_bytes("größe äöü\n".encode() + b"raw \xfe\xff\nend\n")
    await hands("edit_file", path="a.txt", old="end", new="END")
    assert path.read_bytes() == "größe äöü\n".encode() + b"raw \xfe\xff\nEND\n"


LINES = st.lists(
    st.tuples(st.text("ab é한", max_size=4), st.sampled_from(["\n", "\r\n"])), max_size=8
)


@given(LINES, st.data())
def test_reading_and_writing_is_exact(lines: list[tuple[str, str]], data: st.DataObject):
    """Any text comes back to the byte; a replacement changes nothing before and behind it."""
    raw = "".join(line + end for line, end in lines)
    file = decode(raw.encode())
    assert file is not None
    assert encode(file) == raw.encode()
    start = data.draw(st.integers(0, len(file.text)))
    end = data.draw(st.integers(start, len(file.text)))
    new = data.draw(st.text("xy\n", max_size=6))
    after = splice(file, start, end, new)
    assert after.text == file.text[:start] + new + file.text[end:]
    assert decode(encode(after)) == after or "\r" in after.text
    # The untouched lines keep their own ends.
    before_lines = encode(file).splitlines(keepends=True)
    after_lines = encode(after).splitlines(keepends=True)
    whole = file.text.count("\n", 0, start)
    assert after_lines[:whole] == before_lines[:whole]
