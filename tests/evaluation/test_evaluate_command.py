"""`unremember evaluate` as users run it: the real command in a process of its own."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from recorded import KOREAN, save, talk

SOURCE = Path(__file__).parents[2] / "src"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder."""
    ours = {"COLUMNS": "80", "PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "utf-8"}
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    return subprocess.run(
        [sys.executable, "-m", "unremember", "evaluate", *arguments],
        cwd=folder,
        env={**env, **ours},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    save(recordings / "a.json", talk())
    save(recordings / "b.json", talk(KOREAN))
    (recordings / "broken.jsonl").write_text("{\n")
    return tmp_path


class Page(HTMLParser):
    """Collects the tags of a page, and what they load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href")]


def test_table_csv_and_page(folder: Path):
    """The table fits 80 columns; CSV and page hold the same means; the broken file is listed."""
    done = run(
        folder, "recordings", "--strategy", "outline,window,head-tail,mask", "--budgets", "10%,20%",
        "--cuts", "0.6,0.8", "--csv", "t.csv", "--html", "p.html", "--jobs", "2", "--rounds", "2",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "…" not in done.stdout.partition("1 failed")[0]
    for word in ("recall", "neighbours", "head-tail", "budget 10 %", "1 failed", "broken.jsonl"):
        assert word in done.stdout
    with (folder / "t.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["format"] for row in rows} == {"openai", "all"}
    ours = next(
        r for r in rows if (r["format"], r["strategy"], r["budget"]) == ("all", "outline", "10")
    )
    page = (folder / "p.html").read_text("utf-8")
    assert f"{float(ours['recall']):.1f}" in page
    parsed = Page(page)
    assert parsed.tags.count("figure") == 8
    assert "script" not in parsed.tags
    assert parsed.loads == []


def test_json_holds_every_run(folder: Path):
    """With --json the runs, the table and what failed are values; the output folder keeps them."""
    done = run(folder, "recordings", "--budgets", "0.2", "--cuts", "0.6", "-o", "kept", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [run["recording"] for run in found["runs"]] == ["a.json", "b.json"]
    assert [one["recording"] for one in found["failed"]] == ["broken.jsonl"]
    assert found["runs"][0]["refused"] == []
    assert (folder / "kept" / "runs.jsonl").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("nowhere",),
        ("recordings", "--strategy", "best"),
        ("recordings", "--budgets", "150%"),
        ("recordings", "--cuts", "half"),
        ("recordings", "--rounds", "0"),
        ("recordings", "--jobs", "-2"),
        ("recordings/broken.jsonl",),
        ("recordings", "--csv", "recordings/a.json"),
        ("recordings", "--html", "nowhere/p.html"),
        (),
    ],
)
def test_bad_input_is_one_line(folder: Path, arguments: tuple[str, ...]):
    """What cannot be used ends with exit status 2 and one line that says why."""
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("unremember: ")
