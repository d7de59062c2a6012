"""`unremember doctor`: what is installed, and whether it works."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from unremember.cli.config import user_file
from unremember.cli.output import put
from unremember.cli.store import archive_file
from unremember.errors import UnrememberError
from unremember.models import PROVIDERS
from unremember.tokens import default_counter
from unremember.tools import Sandbox

EXTRAS = (
    ("agent", "pydantic_ai", "models of providers"),
    ("agent", "prompt_toolkit", "a comfortable chat"),
    ("local", "xllamacpp", "models in GGUF files"),
    ("tokens", "toktok", "exact counts"),
)


def run() -> int:
    """The command. It changes nothing and shows no key."""
    put("".join(f"{name:<20}{value}\n" for name, value in _findings()), sys.stdout)
    return 0


def _findings() -> Iterator[tuple[str, str]]:
    for extra, package, purpose in EXTRAS:
        there = find_spec(package) is not None
        how = "installed" if there else f"missing: pip install 'unremember[{extra}]'"
        yield package, f"{how} · {purpose}"
    yield "ripgrep", shutil.which("rg") or "missing: search is slower, by Python"
    yield "git", shutil.which("git") or "missing: --patch-out holds the edits of tools only"
    yield "sandbox", Sandbox().absent or "bubblewrap works: commands run without network"
    yield "counter", default_counter().name
    for variable in dict.fromkeys(name for one in PROVIDERS.values() for name in one.keys):
        yield variable, "set" if os.environ.get(variable) else "not set"
    yield "settings", f"{user_file()}{'' if user_file().is_file() else ' (not there)'}"
    yield "archive", _archive()


def _archive() -> str:
    path = archive_file()
    if not path.is_file():
        return f"{path} (not there yet)"
    from unremember.archive import SqliteArchive

    try:
        with SqliteArchive(path) as archive:
            count = len(archive.conversations())
    except UnrememberError as error:
        return str(error)
    size = path.stat().st_size / 1_000_000
    return f"{path}: {count:,} conversations, {size:.1f} MB, readable"
