"""`unremember config`: the settings in force, and where each came from."""

from __future__ import annotations

import sys
from pathlib import Path

from unremember.cli.config import Merged, load, repository_file, rows, user_file
from unremember.cli.output import put
from unremember.cli.screen import rendered, uncut
from unremember.cli.trust import remember
from unremember.errors import InputError


def run(*, trust: bool) -> int:
    """The command. With `trust` the repository's settings are trusted from now on."""
    folder = Path.cwd()
    if trust:
        _trust(folder)
    put(_drawn(load(folder), folder), sys.stdout)
    return 0


def _trust(folder: Path) -> None:
    path = repository_file(folder)
    if path is None:
        raise InputError(f"there is no .unremember.toml in {folder} or above it in its repository")
    remember(path, path.read_bytes(), trusted=True)


def _drawn(merged: Merged, folder: Path) -> str:
    names = {str(user_file()): "yours", str(repository_file(folder)): "this repository"}
    shown = ((n, value, names.get(origin, origin)) for n, value, origin in rows(merged))
    text = "".join(f"{n:<24} {value:<32}  {origin}\n" for n, value, origin in shown)
    files = [f"yours: {user_file()}{'' if user_file().is_file() else ' (not there)'}"]
    if theirs := repository_file(folder):
        files.append(f"this repository: {theirs}")
    return text + "\n" + "".join(rendered(uncut(line), sys.stdout) for line in files)
