"""`--patch-out`: what a run changed in its workspace, as one diff."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from unremember.cli.output import check_target, write_whole
from unremember.errors import InputError

Finish = Callable[[list[str]], None]
"""Writes the patch; given the diffs of the tools, which stand for it where there is no git."""


@contextmanager
def patch_of(target: str | None, folder: Path) -> Generator[Finish]:
    """Looks at the workspace now; the function given writes what changed since then.

    Git compares two pictures of the workspace, kept outside of the repository; so its index, its
    objects and what was changed before are not touched, and what is ignored is left out.
    """
    if target is None:
        yield lambda diffs: None
        return
    path = check_target(target, (), "--patch-out")
    with tempfile.TemporaryDirectory(prefix="unremember-") as temporary:
        pictures = _pictures(folder, Path(temporary))
        before = pictures() if pictures else ""

        def finish(diffs: list[str]) -> None:
            if pictures:
                text = _git(
                    folder, "diff", "--binary", before, pictures(), env=_env(Path(temporary))
                )
            else:
                text = "".join(f"{diff.rstrip()}\n" for diff in diffs).encode()
            write_whole(path, text)

        yield finish


def _pictures(folder: Path, temporary: Path) -> Callable[[], str] | None:
    """A function that gives the name of the workspace's present tree; None without git."""
    if not shutil.which("git"):
        return None
    try:
        top = _git(folder, "rev-parse", "--show-toplevel").decode().strip()
        index = _git(folder, "rev-parse", "--git-path", "index").decode().strip()
        objects = _git(folder, "rev-parse", "--git-path", "objects").decode().strip()
    except InputError:
        return None
    if (folder / index).is_file():
        # What git knows of unchanged files saves reading them all again.
        shutil.copyfile(folder / index, temporary / "index")
    (temporary / "objects").mkdir()
    (temporary / "alternate").write_text(str((folder / objects).resolve()))

    def picture() -> str:
        env = _env(temporary)
        _git(Path(top), "add", "--all", env=env)
        return _git(Path(top), "write-tree", env=env).decode().strip()

    return picture


def _env(temporary: Path) -> dict[str, str]:
    return {
        "GIT_INDEX_FILE": str(temporary / "index"),
        "GIT_OBJECT_DIRECTORY": str(temporary / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": (temporary / "alternate").read_text(),
    }


def _git(folder: Path, *words: str, env: dict[str, str] | None = None) -> bytes:
    done = subprocess.run(
        ["git", "-c", "core.hooksPath=/dev/null", *words],
        cwd=folder,
        env={**os.environ, **(env or {})},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        words_of_git = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise InputError(f"--patch-out: git {words[0]} failed: {words_of_git}")
    return done.stdout
