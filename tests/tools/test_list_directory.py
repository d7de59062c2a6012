"""`list_directory`: a tree without what is ignored, with exact counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hands import Hands


@pytest.fixture
def tree(root: Path) -> Path:
    for name in (
        "a.py",
        "b.txt",
        "src/c.py",
        "src/deep/d.py",
        "src/deep/deeper/e.py",
        "build/out.o",
        "src/gen/x.py",
        "src/gen/keep.py",
        "src/local.log",
        "logs/only.log",
        ".git/config",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (root / ".gitignore").write_text("build/\n*.log\n!only.log\n")
    (root / "src/.gitignore").write_text("gen/*\n!gen/keep.py\n")
    return root


@pytest.mark.usefixtures("tree")
async def test_a_tree_without_ignored_files(hands: Hands):
    """Two levels are shown, folders with a slash; nested ignore files and their exceptions hold."""
    assert (await hands("list_directory")).split("\n") == [
        "[./: 10 entries]",
        ".gitignore",
        "a.py",
        "b.txt",
        "logs/",
        "  only.log",
        "src/",
        "  .gitignore",
        "  c.py",
        "  deep/",
        "  gen/",
    ]


@pytest.mark.usefixtures("tree")
async def test_depth_and_folder(hands: Hands):
    """The depth is the model's choice; the rules of folders above hold in one below."""
    assert (await hands("list_directory", depth=1)).split("\n")[1:] == [
        ".gitignore", "a.py", "b.txt", "logs/", "src/",
    ]  # fmt: skip
    assert (await hands("list_directory", path="src", depth=3)).split("\n") == [
        "[src/: 8 entries]",
        ".gitignore",
        "c.py",
        "deep/",
        "  d.py",
        "  deeper/",
        "    e.py",
        "gen/",
        "  keep.py",
    ]
    assert "from 1" in await hands.fails("list_directory", depth=0)


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("glob", "names"),
    [
        ("*.py", ["a.py", "src/c.py", "src/deep/d.py", "src/deep/deeper/e.py", "src/gen/keep.py"]),
        ("src/*.py", ["src/c.py"]),
        ("**/deep/**/*.py", ["src/deep/d.py", "src/deep/deeper/e.py"]),
        ("[ab].{py,txt}", ["a.py", "b.txt"]),
        ("?.txt", ["b.txt"]),
    ],
)
async def test_a_glob_finds_files_at_any_depth(hands: Hands, glob: str, names: list[str]):
    """A glob without a slash matches names everywhere; paths are as other tools take them."""
    text = await hands("list_directory", glob=glob)
    assert text.split("\n") == [f"[{len(names)} files match]", *names]


async def test_nothing_there(hands: Hands, root: Path):
    """An empty folder, a glob without a match, a file and a missing folder are told apart."""
    assert await hands("list_directory") == "[./ is empty]"
    assert "No files found" in await hands("list_directory", glob="*.rs")
    (root / "a").write_text("")
    assert "read_file shows it" in await hands.fails("list_directory", path="a")
    assert "no such folder" in await hands.fails("list_directory", path="b")


async def test_a_large_folder_is_capped(hands: Hands, root: Path):
    """200 entries are shown, what is near the top first; the counts of the rest are exact."""
    for folder in ("many", "zoo"):
        (root / folder).mkdir()
    for number in range(500):
        (root / "many" / f"f{number:03}").touch()
    (root / "zoo" / "lion").touch()
    lines = (await hands("list_directory")).split("\n")
    assert lines[0] == "[./: 503 entries]"
    assert "  … 302 more" in lines
    assert "zoo/" in lines
    assert lines[-1].startswith("[303 of 503 are not shown")
    lines = (await hands("list_directory", glob="f*")).split("\n")
    assert lines[0] == "[500 files match]"
    assert len(lines) == 202
    assert lines[-1].startswith("[300 of 500 are not shown")


async def test_links_and_large_files_are_marked(hands: Hands, root: Path):
    """A link shows where it leads and is not followed; a large file shows its size."""
    (root / "loop").symlink_to(".")
    (root / "big").write_bytes(b"x" * 120_000)
    assert (await hands("list_directory")).split("\n")[1:] == ["big (120 kB)", "loop -> ."]
