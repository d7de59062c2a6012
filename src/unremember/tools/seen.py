"""Which files the agent saw, and in which state: so that no edit is based on old text."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

Shown = tuple[str, int]
"""Digest of a text that was shown, and the ordinal of the result that shows it."""


def digest(data: bytes) -> str:
    """Seven hexadecimal digits that name a content, as version control does."""
    return hashlib.sha256(data).hexdigest()[:7]


@dataclass(slots=True)
class Seen:
    """The content of each file as the agent last saw or made it, and the ranges it was shown."""

    files: dict[Path, Shown] = field(default_factory=dict[Path, Shown])
    ranges: dict[tuple[Path, int, int], Shown] = field(
        default_factory=dict[tuple[Path, int, int], Shown]
    )

    def note(self, path: Path, content: str, ordinal: int) -> None:
        """The agent knows `path` with the content of this digest since result `ordinal`."""
        self.files[path] = (content, ordinal)

    def changed(self, path: Path, content: str) -> int:
        """The ordinal at which a file was known that changed since by another hand; else 0."""
        known, ordinal = self.files.get(path, (content, 0))
        return 0 if known == content else ordinal

    def show(self, path: Path, lines: tuple[int, int], text: str, ordinal: int) -> None:
        """The lines of a file were shown as `text` in the result `ordinal`."""
        self.ranges[path, *lines] = (digest(text.encode(errors="surrogatepass")), ordinal)

    def shown(self, path: Path, lines: tuple[int, int], text: str) -> int:
        """The result that showed the very same text for these lines; 0: none."""
        known, ordinal = self.ranges.get((path, *lines), ("", 0))
        return ordinal if known == digest(text.encode(errors="surrogatepass")) else 0
