"""Reads the project's Markdown for the tests: fenced blocks, links, and commands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = sorted((ROOT / "docs").glob("*.md"))
READMES = sorted(ROOT.glob("README*.md"))
PAGES = [*DOCS, *READMES, *sorted(ROOT.glob("[AC]*.md")), ROOT / "examples" / "README.md"]


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, the number of its first line of text, and why it is
    not to be run ("": it is)."""

    language: str
    text: str
    line: int
    excuse: str = ""


_FENCE = re.compile(
    r"(?:^<!-- not run: (?P<excuse>[^\n]+?) -->\n+)?"
    r"^```(?P<language>[a-z]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


def blocks(path: Path) -> Iterator[Block]:
    """The fenced blocks of a page, from top to bottom."""
    page = path.read_text(encoding="utf-8")
    for found in _FENCE.finditer(page):
        line = page.count("\n", 0, found.start("text")) + 1
        yield Block(found["language"], found["text"], line, found["excuse"] or "")


def prose(path: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def outputs(path: Path) -> dict[int, str]:
    """What blocks of Python are said to print, by their lines: the text block right after one."""
    page = path.read_text(encoding="utf-8").splitlines()
    found: dict[int, str] = {}
    before: Block | None = None
    for block in blocks(path):
        if before and before.language == "python" and block.language == "text":
            between = page[before.line - 1 + before.text.count("\n") + 1 : block.line - 2]
            if not any(line.strip() for line in between):
                found[before.line] = block.text
        before = block
    return found


_LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(path: Path) -> list[str]:
    """The targets of a page's links and pictures."""
    return _LINK.findall(prose(path))


def anchors(path: Path) -> set[str]:
    """What a link can point to within a page: its headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


_COMMAND = re.compile(
    r"(?:^|`|\$ )(unremember (?:compress|inspect|recall|run|resume|ls|purge|config|doctor)\b"
    r"[^`\n|]*)",
    re.MULTILINE,
)


def commands(path: Path) -> list[str]:
    """The command lines of `unremember` that a page names, up to a pipe."""
    return [found.strip() for found in _COMMAND.findall(path.read_text(encoding="utf-8"))]
