"""The examples are what they say they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_conversation_is_what_its_script_writes(tmp_path: Path):
    """`conversation.jsonl` is up to date, byte for byte."""
    fresh = tmp_path / "fresh.jsonl"
    script = EXAMPLES / "make_conversation.py"
    subprocess.run([sys.executable, str(script), "-o", str(fresh)], check=True)
    assert fresh.read_bytes() == (EXAMPLES / "conversation.jsonl").read_bytes()
