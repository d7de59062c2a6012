"""Paths stay inside the workspace, whatever they look like and whatever changes meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hands import Hands

from unremember.errors import InputError, ToolError
from unremember.tools import Workspace


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "secret.txt"
    path.parent.mkdir()
    path.write_text("the key\n")
    return path


async def test_ways_out_are_refused(hands: Hands, secret: Path):
    """`..`, absolute paths, home and links lead out; reading and writing there is refused."""
    (hands.root / "link").symlink_to(secret.parent)
    (hands.root / "file-link").symlink_to(secret)
    (hands.root / "new-link").symlink_to(secret.parent / "new.txt")
    for path in (
        "../outside/secret.txt",
        "a/../../outside/secret.txt",
        str(secret),
        "link/secret.txt",
        "file-link",
        "new-link",
        "~/x.txt",
    ):
        for name, arguments in (
            ("read_file", {"path": path}),
            ("write_file", {"path": path, "content": "x"}),
            ("edit_file", {"path": path, "old": "key", "new": "x"}),
            ("list_directory", {"path": path}),
            ("search_files", {"pattern": "key", "path": path}),
        ):
            text = await hands.fails(name, **arguments)
            assert "outside the workspace" in text
            assert "--add-dir" in text
            assert "the key" not in text
    assert secret.read_text() == "the key\n"
    assert [path.name for path in secret.parent.iterdir()] == ["secret.txt"]


async def test_added_folders_are_inside(hands: Hands, secret: Path):
    """A folder that the user added can be read and written, also through a link to it."""
    hands.context.workspace = Workspace(hands.root, (secret.parent,))
    (hands.root / "link").symlink_to(secret.parent)
    assert "the key" in await hands("read_file", path=str(secret))
    await hands("write_file", path="link/new.txt", content="hello\n")
    assert (secret.parent / "new.txt").read_text() == "hello\n"
    assert "1 lines in 1 files" in await hands("search_files", pattern="hello", path="link")


async def test_links_inside_stay_links(hands: Hands):
    """A link to a file inside is followed; writing changes the file and leaves the link."""
    (hands.root / "real.txt").write_text("one\n")
    (hands.root / "link.txt").symlink_to("real.txt")
    await hands("edit_file", path="link.txt", old="one", new="two")
    assert (hands.root / "link.txt").is_symlink()
    assert (hands.root / "real.txt").read_text() == "two\n"


def test_a_link_made_after_the_check_is_not_followed(root: Path, secret: Path):
    """A folder or file that becomes a link between check and use is refused, not followed."""
    workspace = Workspace(root)
    (root / "sub").mkdir()
    for path in ("sub/secret.txt", "secret.txt"):
        checked = workspace.find(path)
        if path.startswith("sub"):
            (root / "sub").rmdir()
            (root / "sub").symlink_to(secret.parent)
        else:
            checked.symlink_to(secret)
        with pytest.raises(ToolError):
            workspace.read(checked)
    (root / "later").mkdir()
    checked = workspace.find("later/new.txt")
    (root / "later").rmdir()
    (root / "later").symlink_to(secret.parent)
    with pytest.raises(ToolError):
        workspace.write(checked, b"x")
    assert [path.name for path in secret.parent.iterdir()] == ["secret.txt"]


def test_writing_over_a_link_made_after_the_check_replaces_the_link(root: Path, secret: Path):
    """A file's name that became a link is replaced by the file; where it led is untouched."""
    workspace = Workspace(root)
    checked = workspace.find("a.txt")
    checked.symlink_to(secret)
    workspace.write(checked, b"x")
    assert secret.read_text() == "the key\n"
    assert not checked.is_symlink()


async def test_what_is_no_file_is_named(hands: Hands):
    """Folders, pipes, missing files and odd names fail with what they are; nothing hangs."""
    os.mkfifo(hands.root / "pipe")
    (hands.root / "folder").mkdir()
    (hands.root / "config.toml").write_text("")
    assert "a pipe" in await hands.fails("read_file", path="pipe")
    assert "folder" in await hands.fails("read_file", path="folder")
    assert "near it: config.toml" in await hands.fails("read_file", path="config.tml")
    assert "no folder src" in await hands.fails("read_file", path="src/a.py")
    assert "zero byte" in await hands.fails("read_file", path="a\0b")


async def test_version_control_is_left_alone(hands: Hands):
    """Files of version control are not written: a hook there would run with the next command."""
    (hands.root / ".git").mkdir()
    for path in (".git/hooks/pre-commit", "sub/.git/config"):
        assert "version control" in await hands.fails("write_file", path=path, content="x")


def test_a_workspace_is_a_folder(root: Path):
    """A root that is no folder is refused at once."""
    with pytest.raises(InputError, match="no folder"):
        Workspace(root / "missing")
