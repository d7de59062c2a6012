"""What the three READMEs promise: the same code, which runs, and commands that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from unicodedata import east_asian_width

import pytest

from pages import READMES, ROOT, blocks


def code(path: Path) -> str:
    """The one block of Python in a README."""
    (found,) = (block.text for block in blocks(path) if block.language == "python")
    return found


def width(line: str) -> int:
    """Columns that a line takes in a terminal."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in line)


def test_there_are_three():
    """English, Korean and Chinese."""
    assert [path.name for path in READMES] == ["README.ko.md", "README.md", "README.zh.md"]


def test_the_code_is_the_same_everywhere():
    """A reader of any language gets the same code, of eight lines."""
    assert len({code(path) for path in READMES}) == 1
    assert len(code(READMES[0]).splitlines()) == 8


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
def test_the_code_runs(path: Path):
    """Pasted into Python in a checkout, it runs, and shows that the history became smaller."""
    done = subprocess.run(
        [sys.executable, "-c", code(path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    told = re.match(r"([\d,]+) tokens became ([\d,]+)\n", done.stdout)
    assert told
    before, after = (int(number.replace(",", "")) for number in told.groups())
    assert after <= 4_000 < before
    assert "failed" in done.stdout


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
def test_it_fits_a_terminal(path: Path):
    """Code and output stand in 80 columns."""
    for block in blocks(path):
        for line in block.text.splitlines():
            assert width(line) <= 80, line


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
def test_the_scripts_exist(path: Path):
    """The two commands for newcomers are there and can be run."""
    for name in ("scripts/demo", "scripts/test"):
        assert name in path.read_text(encoding="utf-8")
        assert (ROOT / name).stat().st_mode & 0o111
