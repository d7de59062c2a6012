"""Every text that is sent to a model: one Markdown file each, with named placeholders."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """The text of `prompts/<name>.md`, without blanks around it.

    Placeholders are in braces and are filled with `str.format` by the caller.
    """
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip()
