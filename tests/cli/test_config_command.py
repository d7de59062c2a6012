"""Settings: where they come from, whom they are taken from, and what is said of mistakes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest
from agents import Bench, bench

__all__ = ["bench"]


def value(shown: str, name: str) -> list[str]:
    """The row of a setting: its value and where it came from."""
    row = next(line for line in shown.splitlines() if line.startswith(f"{name} "))
    return row.split(None, 1)[1].rsplit("  ", 1)


def test_nothing_set(bench: Bench):
    """Every setting is shown, with its default."""
    done = bench.run("config")
    assert done.returncode == 0
    assert value(done.stdout, "model")[1].strip() == "default"
    assert value(done.stdout, "permissions.writes")[0].strip() == '"ask"'
    assert max(map(len, done.stdout.splitlines()[:10])) <= 80


def test_the_repository_is_trusted_first(bench: Bench):
    """Its values are left out with one line until they are trusted, and again once they change."""
    bench.settings('model = "ollama:mine"\nbudget = 9000\n')
    theirs = bench.repository / ".unremember.toml"
    theirs.write_text('model = "ollama:theirs"\n')
    before = bench.run("config")
    assert "ollama:mine" in value(before.stdout, "model")[0]
    assert before.stderr.count("\n") == 1
    assert "not trusted" in before.stderr
    trusted = bench.run("config", "--trust")
    assert "ollama:theirs" in value(trusted.stdout, "model")[0]
    assert value(trusted.stdout, "model")[1].strip() == "this repository"
    assert value(trusted.stdout, "budget")[1].strip() == "yours"
    assert bench.run("config").stdout == trusted.stdout
    theirs.write_text('model = "ollama:theirs"\npermissions.commands = ["rm"]\n')
    assert "not trusted" in bench.run("config").stderr


def test_trust_is_asked_once(bench: Bench):
    """At a terminal the file is shown and asked about; the answer, yes or no, is kept."""
    (bench.repository / ".unremember.toml").write_text('model = "ollama:theirs"\n')

    def at_a_terminal(typed: bytes) -> str:
        ours, theirs = pty.openpty()
        os.write(ours, typed)
        done = subprocess.run(
            [sys.executable, "-m", "unremember", "config"],
            cwd=bench.repository,
            env=bench.environment(TERM="dumb"),
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=60,
            check=True,
        )
        shown = os.read(ours, 65_536).decode()
        os.close(theirs)
        os.close(ours)
        return shown + done.stdout.decode()

    asked = at_a_terminal(b"y\n")
    assert "Use them? [y/N]" in asked
    assert 'model = "ollama:theirs"' in asked
    assert "ollama:theirs" in value(bench.run("config").stdout, "model")[0]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("model = \n", 1, "no TOML"),
        ("# mine\nmodle = 'x'\n", 2, "modle"),
        ("[permissions]\nwrites = 'ask'\nnetwrok = true\n", 3, "netwrok"),
        ("model = 'x'\n\n[permissions]\nwrites = 'never'\n", 4, "permissions.writes"),
        ("[prices.'a:b.c']\ninput = 1\noutput = -2\n", 3, "prices.a:b.c.output"),
        ("[[concepts]]\nkeyword='a'\ndescription='b'\n[[concepts]]\nkeyword=5\n", 5, "keyword"),
        ("budget = 0\n", 1, "budget"),
    ],
)
def test_a_mistake_is_named_with_its_line(bench: Bench, text: str, line: int, said: str):
    """Bad TOML, unknown keys and wrong values are one line with file and line, and status 2."""
    path = bench.settings(text)
    done = bench.run("config")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert str(path) in done.stderr
    assert f"line {line}" in done.stderr
    assert said in done.stderr


def test_another_file(bench: Bench):
    """`UNREMEMBER_CONFIG` names another file; one that is not there is a mistake."""
    other = bench.home / "other.toml"
    assert bench.run("config", UNREMEMBER_CONFIG=str(other)).returncode == 2
    other.write_text("retention_days = 30\n")
    shown = bench.run("config", UNREMEMBER_CONFIG=str(other)).stdout
    assert value(shown, "retention_days")[0].strip() == "30"
