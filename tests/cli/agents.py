"""What the tests of the agent's commands share: a repository to work in, and scripted models."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talks import environment

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A tool call of a script."""
    return {"name": name, "arguments": arguments}


def git(folder: Path, *words: str) -> str:
    """Git in a folder, as somebody."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


class Bench:
    """A home and a small repository; runs the command in it, without a terminal."""

    def __init__(self, tmp_path: Path) -> None:
        self.home, self.repository = tmp_path / "home", tmp_path / "repository"
        self.home.mkdir()
        self.repository.mkdir()
        (self.repository / "a.py").write_text("x = 1\n")
        git(self.repository, "init", "-q")
        git(self.repository, "add", ".")
        git(self.repository, "commit", "-qm", "begin")
        self._scripts = 0

    def environment(self, **env: str) -> dict[str, str]:
        """Of a user who has set nothing."""
        given = environment(self.home, **env)
        ours = ("XDG_", "UNREMEMBER_", "OPENAI_", "ANTHROPIC_")
        return {n: v for n, v in given.items() if not n.startswith(ours) or n in env}

    def script(self, *turns: dict[str, Any]) -> str:
        """The name of a model that plays these turns."""
        self._scripts += 1
        path = self.home / f"script-{self._scripts}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in turns))
        return f"scripted:{path}"

    def run(self, *arguments: str | Path, given: str = "", **env: str) -> Done:
        """The command in the repository."""
        return subprocess.run(
            [sys.executable, "-m", "unremember", *map(str, arguments)],
            input=given,
            cwd=self.repository,
            env=self.environment(**env),
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def settings(self, text: str) -> Path:
        """Writes the user's settings."""
        path = self.home / ".config" / "unremember" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A home and a repository."""
    return Bench(tmp_path)
