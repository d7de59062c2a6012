"""The examples are what they say they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_conversation_is_what_its_script_writes(tmp_path: Path):
    """`conversation.jsonl` is up to date, byte for byte."""
    fresh = tmp_path / "fresh.jsonl"
    script = EXAMPLES / "make_conversation.py"
    subprocess.run([sys.executable, str(script), "-o", str(fresh)], check=True)
    assert fresh.read_bytes() == (EXAMPLES / "conversation.jsonl").read_bytes()


def run(script: str, *arguments: str) -> str:
    """What an example prints; warnings are errors in it too."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / script), *arguments],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("budget", [2_000, 8_000])
def test_messages_are_compressed(budget: int):
    """`compress_messages.py` stays within its budget, and keeps messages as the same objects."""
    printed = run("compress_messages.py", str(budget))
    assert f"at most {budget:,}" in printed
    assert "are the very same objects" in printed


def test_a_log_is_kept_in_memory():
    """`keep_a_log.py` compresses several times, and what it forgot is found and recalled."""
    printed = run("keep_a_log.py")
    assert "compressions; the model now sees" in printed
    assert "m9 is still here: ToolResult" in printed


def test_a_log_is_kept_in_a_file(tmp_path: Path):
    """With a file it can be run again: the second conversation goes into the same archive."""
    store = tmp_path / "log.db"
    for _ in range(2):
        assert "m9 is still here: ToolResult" in run("keep_a_log.py", str(store))
    assert store.stat().st_mode & 0o077 == 0


def test_a_strategy_of_ones_own():
    """`plan_and_execute.py` plans, does steps, plans anew, and draws its graph."""
    printed = run("plan_and_execute.py")
    assert "assistant: There are none; pears would do." in printed
    assert "program: Which steps are left now? One line each." in printed
    assert "12 turns: Breakfast can be made of two oats and five pears." in printed
    assert run("plan_and_execute.py", "--drawing").startswith("flowchart TD")
