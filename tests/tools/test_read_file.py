"""`read_file`: numbered lines, page by page, never the same twice."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from hands import Hands

from unremember.messages import Media

# One pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_lines_are_numbered(hands: Hands):
    """The header names the file, its content's digest and its length; each line has its number."""
    (hands.root / "a.py").write_text("def f():\n    return 1\n")
    header, *lines = (await hands("read_file", path="a.py")).split("\n")
    assert header.startswith("[a.py@")
    assert header.endswith(" 2 lines]")
    assert lines == ["1\tdef f():", "2\t    return 1"]


async def test_a_range_of_lines(hands: Hands):
    """A range is shown with its true numbers; one that cannot be is refused."""
    (hands.root / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    text = await hands("read_file", path="a.txt", start_line=40, end_line=42)
    assert text.split("\n")[1:] == ["40\tline 40", "41\tline 41", "42\tline 42"]
    assert "lines 40-42 of 100]" in text
    assert "has 100 lines" in await hands.fails("read_file", path="a.txt", start_line=101)
    assert "comes before" in await hands.fails("read_file", path="a.txt", start_line=9, end_line=3)


async def test_a_long_file_comes_in_pages(hands: Hands):
    """Pages stay within the cap and say where to go on; together they are the whole file."""
    (hands.root / "a.txt").write_text("".join(f"a line with number {n}\n" for n in range(1, 1001)))
    hands.context.cap = 1_000
    start, seen = 1, list[str]()
    while start:
        text = await hands("read_file", path="a.txt", start_line=start)
        assert hands.context.count(text) <= 1_000
        assert "left out" not in text
        rows = text.split("\n")[1:]
        more = rows.pop() if rows[-1].startswith("[") else ""
        seen += [row.partition("\t")[2] for row in rows]
        assert not more or f"[{1000 - len(seen):,} more lines" in more
        start = int(more.partition("start_line=")[2].rstrip("]") or 0)
    assert seen == [f"a line with number {n}" for n in range(1, 1001)]


async def test_a_giant_line_is_clipped_in_place(hands: Hands):
    """Of a line too long for a page its ends are shown, with the exact count of the rest."""
    (hands.root / "min.js").write_text("x" * 3_000_000 + "\nlast\n")
    text = await hands("read_file", path="min.js")
    assert "[… 2,998,000 characters left out · m1 …]" in text
    assert text.endswith("2\tlast")


async def test_an_identical_read_says_unchanged(hands: Hands):
    """F9: the same lines, unchanged and still visible, are not sent again."""
    path = hands.root / "a.py"
    path.write_text("one\ntwo\nthree\n")
    await hands("read_file", path="a.py")
    again = await hands("read_file", path="a.py")
    assert again.endswith("unchanged since m1")
    assert "two" not in again
    assert "two" in await hands("read_file", path="a.py", start_line=2, end_line=2)
    hands.context.visible = {2, 3}
    assert "two" in await hands("read_file", path="a.py")
    hands.context.visible = {4}
    assert (await hands("read_file", path="a.py")).endswith("unchanged since m4")


async def test_a_changed_file_is_read_anew(hands: Hands):
    """F9: what another hand changed is shown again, and said; an untouched range is not."""
    path = hands.root / "a.py"
    path.write_text("one\ntwo\nthree\n")
    await hands("read_file", path="a.py")
    await hands("read_file", path="a.py", start_line=1, end_line=1)
    path.write_text("one\nTWO\nthree\n")
    text = await hands("read_file", path="a.py")
    assert "TWO" in text
    assert text.endswith("Note: a.py changed outside since m2")
    assert "unchanged since m2" in await hands("read_file", path="a.py", start_line=1, end_line=1)


@pytest.mark.parametrize(
    ("data", "shown", "note"),
    [
        ("naïve café\n".encode("cp1252"), "naïve café", "cp1252"),
        ("안녕하세요 세계\n".encode("cp949"), "안녕하세요 세계", "euc_kr"),
        ("똠방각하 뷁\n".encode("cp949"), "똠방각하 뷁", "cp949"),
        ("これはテストです\n".encode("shift_jis"), "これはテストです", "shift_jis"),
        ("这是一个测试文件\n".encode("gb18030"), "这是一个测试文件", "gb2312"),
        ("Привет, мир\n".encode("cp1251"), "Привет, мир", "cp1251"),
        ("\ufeffmarked\n".encode(), "marked", ""),
        ("\ufeffwide 한\n".encode("utf-16-le"), "wide 한", "utf-16-le"),
        (b"one\r\ntwo\r\n", "one", "CRLF"),
        (b"one\r\ntwo\n", "one", "some CRLF"),
        ("어 é ü\n".encode() + b"broken \xff byte\n", "어 é ü", ""),
    ],
)
async def test_encodings_and_line_ends(hands: Hands, data: bytes, shown: str, note: str):
    """Older encodings, marks and other line ends are read, and what is unusual is said."""
    (hands.root / "a.txt").write_bytes(data)
    header, line, *_ = (await hands("read_file", path="a.txt")).split("\n")
    assert line == f"1\t{shown}"
    assert header.endswith(f" ({note})" if note else "]")


async def test_binary_files_are_named(hands: Hands):
    """A binary file is named by what it is and how large; its bytes are not sent."""
    (hands.root / "a.bin").write_bytes(b"\x7fELF\0\1\2" * 100)
    assert "an ELF program, 700 bytes" in await hands("read_file", path="a.bin")
    (hands.root / "empty").write_bytes(b"")
    assert "is empty" in await hands("read_file", path="empty")


async def test_images_for_models_that_see(hands: Hands):
    """A model that sees gets the image; another one its kind and size."""
    (hands.root / "dot.png").write_bytes(PNG)
    text = await hands("read_file", path="dot.png")
    assert "image/png" in text
    assert "1 x 1 pixels; this model cannot see images" in text
    hands.context.sees_images = True
    result = (await hands.run("read_file", path="dot.png")).result
    media = result.content[1]
    assert isinstance(media, Media)
    assert (media.kind, media.mime, media.width, media.height) == ("image", "image/png", 1, 1)
    assert base64.b64decode(media.data) == PNG


async def test_a_file_too_large_to_open(hands: Hands, root: Path):
    """A file of a gigabyte is refused with what to use instead, without reading it."""
    with (root / "big").open("wb") as file:
        file.truncate(1_000_000_000)
    assert "search_files" in await hands.fails("read_file", path="big")
