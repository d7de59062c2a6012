"""FILE left out: the newest conversation of this folder's project."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from talks import Run, one_line_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder to work in."""
    folder = tmp_path / "my_project"
    folder.mkdir()
    return folder


def claude(home: Path, project: Path, name: str, text: str, age: int) -> Path:
    """Puts a conversation where Claude Code keeps that of a folder."""
    folder = home / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    said = {"type": "user", "uuid": "1", "sessionId": "s"}
    path.write_text(json.dumps({**said, "message": {"role": "user", "content": text}}) + "\n")
    os.utime(path, (age, age))
    return path


def codex(home: Path, project: Path, text: str, age: int) -> Path:
    """Puts a rollout where Codex keeps all of them."""
    folder = home / "sessions" / "2026" / "01" / "02"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-{age}-{text}.jsonl"
    content = [{"type": "input_text", "text": text}]
    lines = (
        {"type": "session_meta", "payload": {"id": "x", "cwd": str(project)}},
        {
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": content},
        },
    )
    stamp = {"timestamp": "2026-01-02T00:00:00Z"}
    path.write_text("".join(json.dumps({**stamp, **line}) + "\n" for line in lines))
    os.utime(path, (age, age))
    return path


def test_the_newest_is_named_and_read(run: Run, tmp_path: Path, project: Path):
    """Of all conversations of this folder the one written last; of other folders none."""
    claude(tmp_path / ".claude", project, "a.jsonl", "older", 1_000)
    newest = claude(tmp_path / ".claude", project, "b.jsonl", "newest", 3_000)
    claude(tmp_path / ".claude", project, "agent-1.jsonl", "a sub-agent", 9_000)
    codex(tmp_path / ".codex", project, "rollout", 2_000)
    codex(tmp_path / ".codex", tmp_path / "elsewhere", "other", 8_000)
    done = run("recall", "m1", cwd=project)
    assert done.stdout == b"newest"
    assert str(newest) in done.stderr.decode().splitlines()[0]


def test_codex_may_be_the_newest(run: Run, tmp_path: Path, project: Path):
    """Rollouts are found by the folder in their first line; CODEX_HOME says where they are."""
    claude(tmp_path / ".claude", project, "a.jsonl", "older", 1_000)
    codex(tmp_path / "elsewhere", project, "rollout", 2_000)
    env = {"CODEX_HOME": str(tmp_path / "elsewhere")}
    assert run("recall", "m1", cwd=project, env=env).stdout == b"rollout"


def test_claude_code_may_have_moved(run: Run, tmp_path: Path, project: Path):
    """CLAUDE_CONFIG_DIR says where its conversations are."""
    claude(tmp_path / "config", project, "a.jsonl", "moved", 1_000)
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "config")}
    assert run("recall", "m1", cwd=project, env=env).stdout == b"moved"


def test_below_the_project(run: Run, tmp_path: Path, project: Path):
    """In a folder inside a repository, the conversations of the repository count."""
    claude(tmp_path / ".claude", project, "a.jsonl", "above", 1_000)
    inner = project / "src" / "deep"
    inner.mkdir(parents=True)
    assert run("recall", "m1", cwd=inner).returncode == 2
    (project / ".git").mkdir()
    assert run("recall", "m1", cwd=inner).stdout == b"above"


def test_none_found(run: Run, project: Path):
    """One line and status 2."""
    done = run("inspect", cwd=project)
    assert done.returncode == 2
    assert str(project) in one_line_of(done)
