"""Whether the settings of a repository may be used: they can hold permissions.

The user is asked once for each content of each file. The answer is kept in the user's folder.
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from unremember.cli.output import one_line, say, write_whole
from unremember.errors import InputError

LINES = 40
"""Lines of the file that are shown before the question."""


def may_use(path: Path, data: bytes) -> bool:
    """Whether the file at `path`, which holds `data`, was trusted, or is now.

    Without a terminal nobody can be asked; it is then left out, and one line says so.
    """
    known = _known().get(str(path.resolve()))
    if isinstance(known, dict) and cast("Any", known).get("sha256") == _digest(data):
        return cast("Any", known).get("trusted") is True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"{path} is not trusted and was left out; to use it: unremember config --trust")
        return False
    trusted = _ask(path, data)
    remember(path, data, trusted=trusted)
    return trusted


def remember(path: Path, data: bytes, *, trusted: bool) -> None:
    """Keeps the user's answer. Where that cannot be written, it holds for this time only."""
    answers = _known()
    answers[str(path.resolve())] = {"sha256": _digest(data), "trusted": trusted}
    file = _file()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(file, (json.dumps(answers, indent=1) + "\n").encode())
    except (OSError, InputError) as error:
        say(f"the answer holds for this time only: {error}")


def _ask(path: Path, data: bytes) -> bool:
    lines = data.decode("utf-8", "replace").splitlines()
    shown = "".join(f"  {one_line(line)}\n" for line in lines[:LINES])
    more = f"  … and {len(lines) - LINES:,} lines more\n" if len(lines) > LINES else ""
    sys.stderr.write(
        f"This repository brings settings of its own, {path}:\n{shown}{more}"
        "They can allow commands. Use them? [y/N] "
    )
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _file() -> Path:
    from platformdirs import user_config_path

    return user_config_path("unremember", appauthor=False) / "trusted.json"


def _known() -> dict[str, object]:
    try:
        found: object = json.loads(_file().read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()
