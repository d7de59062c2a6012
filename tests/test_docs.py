"""The documentation is true: its code runs, its links lead somewhere, its options exist."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from pages import DOCS, PAGES, READMES, ROOT, anchors, blocks, commands, links, outputs

COMMANDS = (
    "compress",
    "inspect",
    "recall",
    "run",
    "resume",
    "ls",
    "purge",
    "config",
    "doctor",
)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def unremember(*arguments: str) -> str:
    """What the command prints."""
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-m", "unremember", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def options_of(command: str) -> set[str]:
    """The options that a command has, as its help lists them."""
    listed = unremember(command, "--help").partition("\nOptions:")[2]
    # `  -b, --budget <str>  How large …`; what stands further right is prose.
    rows = re.findall(r"^  (-[\w-]+)(?:, (-[\w-]+))?", listed, re.MULTILINE)
    return {option for pair in rows for option in pair if option}


@pytest.mark.parametrize("path", DOCS, ids=named)
def test_the_code_of_a_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The Python blocks of a page run from top to bottom in one session, and print what it says."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__page__"}
    printed = outputs(path)
    for block in blocks(path):
        if block.language != "python" or block.excuse:
            continue
        out = io.StringIO()
        # Line numbers of the page, so that a traceback points into it.
        code = compile("\n" * (block.line - 1) + block.text, str(path), "exec")
        with contextlib.redirect_stdout(out):
            exec(code, names)
        if block.line in printed:
            assert out.getvalue() == printed[block.line], f"line {block.line}"


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_links_lead_somewhere(path: Path):
    """Every relative link names a file that is there, and a heading in it."""
    for link in links(path):
        if "://" in link or link.startswith("mailto:"):
            continue
        place, _, heading = unquote(link).partition("#")
        target = (path.parent / place).resolve() if place else path
        assert target.exists(), link
        if heading:
            assert heading in anchors(target), link


def test_every_page_is_in_the_index_and_in_the_navigation():
    """Who reads the index, or the site made with mkdocs, finds every page, in one order."""
    order = [link for link in links(ROOT / "docs/index.md") if link.endswith(".md")]
    navigation = re.findall(r"^  - (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert ["index.md", *order] == navigation
    assert sorted(navigation) == [path.name for path in DOCS]


@pytest.mark.parametrize("path", [*DOCS, *READMES], ids=named)
def test_options_in_commands_exist(path: Path):
    """A command line that a page shows has no option that the command does not have."""
    for line in commands(path):
        _, command, *words = shlex.split(line.partition("#")[0])
        for word in words:
            if re.fullmatch(r"--?[a-z][a-z-]*", word):
                assert word in options_of(command), line


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_on_the_command_line_has_every_option(command: str):
    """docs/cli.md names all options of a command in the section about it, and no other."""
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `-")]
    told = set(re.findall(r"`(--?[a-z][a-z-]*)`", "\n".join(rows)))
    assert told == options_of(command) - {"--help", "-h"}


def shape(line: str) -> str:
    """A line of a report without its numbers and bars, which change with the weights in use."""
    return " ".join(re.sub(r"[\d,.·▏▎▍▌▋▊▉█]+|\ball of\b", " ", line).split())


@pytest.mark.parametrize("path", [*READMES, ROOT / "docs/cli.md"], ids=named)
def test_reports_look_as_shown(path: Path):
    """What a page shows as the output of a command has the lines of the real one."""
    shown = [block.text for block in blocks(path) if block.text.startswith("$ unremember ")]
    assert shown
    for part in "".join(shown).split("$ unremember ")[1:]:
        command, *lines = part.strip().splitlines()
        real = {shape(line) for line in unremember(*shlex.split(command)).splitlines()}
        missing = [line for line in lines if line != "…" and shape(line) not in real]
        assert not missing
