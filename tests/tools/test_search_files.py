"""`search_files`: the same answer from ripgrep and without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hands import Hands

from unremember.tools import search_files as module


@pytest.fixture(params=["ripgrep", "python"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With ripgrep, and as on a machine that has none."""
    if request.param == "python":
        monkeypatch.setattr(module, "find_ripgrep", lambda: "")
    elif not module.find_ripgrep():
        pytest.skip("ripgrep is not installed")
    return request.param


@pytest.fixture
def tree(root: Path) -> Path:
    for name, text in (
        ("a.py", "import os\n\ndef area(r):\n    return r\n"),
        ("src/b.py", "from a import area\nprint(area(2))\n"),
        ("src/c.txt", "the area\n"),
        ("out/gen.py", "def area(): pass\n"),
        (".hidden/d.py", "area = 1\n"),
        (".git/HEAD", "area\n"),
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "bin").write_bytes(b"area\0\1\2")
    (root / ".gitignore").write_text("out/\n")
    return root


@pytest.mark.usefixtures("engine", "tree")
async def test_lines_by_file(hands: Hands):
    """Matching lines with their numbers under their file; ignored and binary files are left out."""
    assert await hands("search_files", pattern=r"area\(|area$") == (
        "[4 lines in 3 files]\n"
        "a.py\n3: def area(r):\n"
        "src/b.py\n1: from a import area\n2: print(area(2))\n"
        "src/c.txt\n1: the area"
    )


@pytest.mark.usefixtures("engine", "tree")
async def test_narrowed_by_path_and_glob(hands: Hands):
    """A folder, a file or a glob narrows the search; hidden files count."""
    assert (await hands("search_files", pattern="area", path="src", glob="*.txt")) == (
        "[1 lines in 1 files]\nsrc/c.txt\n1: the area"
    )
    assert "[1 lines in 1 files]\na.py" in await hands("search_files", pattern="area", path="a.py")
    assert ".hidden/d.py" in await hands("search_files", pattern="area = 1")


@pytest.mark.usefixtures("engine", "tree")
async def test_nothing_found_and_wrong_patterns(hands: Hands):
    """Nothing found is no error; a pattern that is none is one, with its reason."""
    text = await hands("search_files", pattern="nowhere", path="src")
    assert text == "No matches found for 'nowhere' in src"
    assert "no regular expression" in await hands.fails("search_files", pattern="area(")
    assert "no such file" in await hands.fails("search_files", pattern="x", path="nope")


@pytest.mark.usefixtures("engine", "tree")
async def test_patterns_that_only_python_knows(hands: Hands):
    """Looking around is understood, whoever searches."""
    assert "src/c.txt" in await hands("search_files", pattern=r"(?<=the )area")


@pytest.mark.usefixtures("engine")
async def test_many_matches_are_capped(hands: Hands, root: Path):
    """100 lines are shown and all are counted; a giant line is cut."""
    (root / "a.txt").write_text("hit\n" * 2_500)
    (root / "b.txt").write_text("hit" + "x" * 300_000 + "\n")
    text = await hands("search_files", pattern="hit")
    assert text.startswith("[2,501 lines in 2 files]")
    assert text.endswith("[2,401 more lines; narrow it by path, glob or pattern]")
    assert text.count("hit") == 100
    text = await hands("search_files", pattern="hit", path="b.txt")
    assert len(text) < 500


@pytest.mark.usefixtures("engine")
async def test_files_that_cannot_be_read_are_left_out(hands: Hands, root: Path):
    """Pipes and links out of the workspace are not opened; other encodings are searched."""
    os.mkfifo(root / "pipe")
    (root / "out").symlink_to("/etc/passwd")
    (root / "wide.txt").write_bytes("\ufeffthe root\n".encode("utf-16-le"))
    assert "[1 lines in 1 files]\nwide.txt" in await hands("search_files", pattern="root")
