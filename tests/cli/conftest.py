"""The real command in a process of its own, and a conversation to run it on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest
from talks import Run, environment, openai_messages


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the command in a folder of its own and gives what came of it; output as bytes."""

    def run(
        *arguments: str | Path,
        given: bytes = b"",
        cwd: Path = tmp_path,
        env: dict[str, str] | None = None,
        stdin: BinaryIO | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "unremember", *map(str, arguments)],
            input=None if stdin else given,
            stdin=stdin,
            env=environment(tmp_path, **(env or {})),
            cwd=cwd,
            capture_output=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    """A file with `openai_messages`."""
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(openai_messages()), "utf-8")
    return path
