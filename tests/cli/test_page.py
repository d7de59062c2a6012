"""`unremember compress --report`: the page for a browser."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

from talks import Run, openai_messages

HOSTILE = "</pre><script>alert(1)</script><img src=http://x.example/a onerror=alert(2)>"


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, and the texts of originals."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.originals: list[str] = []
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.inside = tag == "pre"
        if self.inside:
            self.originals.append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.originals[-1] += data


def page(run: Run, tmp_path: Path) -> str:
    """The page about a conversation with hostile texts in every place."""
    messages = openai_messages()
    messages[1]["content"] += HOSTILE
    messages[2]["tool_calls"][0]["function"]["name"] = "x\"'><b>"
    messages[3]["content"] = HOSTILE + messages[3]["content"] + "\x1b[31m\x00"
    source, out = tmp_path / "<i>talk.json", tmp_path / "report.html"
    source.write_text(json.dumps(messages))
    assert run("compress", source, "-b", "2k", "--report", out).returncode == 0
    return out.read_text("utf-8")


def test_the_page_is_complete_in_itself(run: Run, tmp_path: Path):
    """It loads nothing, runs nothing, and forbids itself both."""
    found = Page(page(run, tmp_path))
    assert {tag for tag, _ in found.tags}.isdisjoint({"script", "link", "img", "iframe", "i", "b"})
    attributes = {name for _, attrs in found.tags for name in attrs}
    assert attributes.isdisjoint({"src", "href", "onerror", "onclick"})
    policy = [attrs["content"] for _, attrs in found.tags if "http-equiv" in attrs]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_originals_are_in_it(run: Run, tmp_path: Path):
    """Every original can be opened, also what is hostile, as the text that it was."""
    found = Page(page(run, tmp_path))
    whole = "\n".join(found.originals)
    assert HOSTILE in whole
    for message in openai_messages()[4:]:
        assert message["content"] in whole
    assert "\x1b" not in whole
    assert sum(tag == "details" for tag, _ in found.tags) > 90


def test_it_can_be_read_without_colours_and_mouse(run: Run, tmp_path: Path):
    """Levels are words, bars have a text, and what scrolls can be reached with the keyboard."""
    text = page(run, tmp_path)
    found = Page(text)
    assert "○ gone" in text
    assert "● whole" in text
    bars = [attrs for _, attrs in found.tags if attrs.get("role") == "img"]
    assert [str(bar["aria-label"]).split(":")[0] for bar in bars] == ["before", "after"]
    assert all(attrs.get("tabindex") == "0" for tag, attrs in found.tags if tag == "pre")
