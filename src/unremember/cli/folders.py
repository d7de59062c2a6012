"""Where Claude Code and Codex keep the conversations of a folder."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation on disk; `age` is in seconds since the epoch."""

    path: Path
    agent: str
    age: float


def newest_conversation(folder: Path) -> Found | None:
    """The conversation of this folder's project that was written to last; None if there is none.

    The project is the folder itself or, inside a repository, the nearest folder above it that has
    conversations.
    """
    for project in _projects(folder):
        found = [*_claude_code(project), *_codex(project)]
        if found:
            return max(found, key=lambda one: one.age)
    return None


def _projects(folder: Path) -> Iterator[tuple[str, ...]]:
    """The names of the folder (the shell's, and with links followed), then of those above."""
    real = folder.resolve()
    shell = os.environ.get("PWD", "")
    named = shell if shell and Path(shell).resolve() == real else str(folder)
    yield tuple(dict.fromkeys((named, str(real))))
    repository = next((p for p in (real, *real.parents) if (p / ".git").exists()), real)
    for above in real.parents:
        if above.is_relative_to(repository):
            yield (str(above),)


def _home(variable: str, default: str) -> Path:
    given = os.environ.get(variable)
    return Path(given).expanduser() if given else Path.home() / default


def _claude_code(project: tuple[str, ...]) -> Iterator[Found]:
    """`<home>/projects/<folder>/*.jsonl`, the folder's name without signs that are not letters."""
    root = _home("CLAUDE_CONFIG_DIR", ".claude") / "projects"
    names = [n for p in project for n in (p.replace("/", "-"), re.sub(r"[^A-Za-z0-9]", "-", p))]
    for name in dict.fromkeys(names):
        for path in _files(root / name, "*.jsonl"):
            # What a sub-agent said is kept beside what it was asked in.
            if not path.name.startswith("agent-"):
                yield Found(path, "Claude Code", path.stat().st_mtime)


def _codex(project: tuple[str, ...]) -> Iterator[Found]:
    """The newest `<home>/sessions/**/rollout-*.jsonl` that was begun in the project."""
    rollouts = _files(_home("CODEX_HOME", ".codex") / "sessions", "**/rollout-*.jsonl")
    dated = sorted(((path.stat().st_mtime, path) for path in rollouts), reverse=True)
    for age, path in dated:
        if _began_in(path) in project:
            yield Found(path, "Codex", age)
            return


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    try:
        yield from (p for p in folder.glob(pattern) if p.is_file() and p.stat().st_size)
    except OSError:
        return


def _began_in(rollout: Path) -> str:
    """The folder in a rollout's first line; "" if it does not say."""
    try:
        with rollout.open("rb") as file:
            first: Any = json.loads(file.readline())
        payload: Any = first.get("payload", first)
        folder = cast("object", payload.get("cwd"))
    except (OSError, ValueError, AttributeError):
        return ""
    return folder if isinstance(folder, str) else ""
