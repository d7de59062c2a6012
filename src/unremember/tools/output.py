"""What a command prints, kept in bounded memory, and as plain text."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from unremember.actions import error_lines

KEPT = 8 * 1024 * 1024
"""Bytes kept of each end of an output. Large enough that hardly any output loses a byte."""

MOST_ERRORS = 20
"""Error lines remembered from what could not be kept."""

# Colours and cursor movements; window titles end with a bell or with ESC \.
_ESCAPE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x7f]"
)


@dataclass(slots=True)
class Kept:
    """The beginning and the end of an output; what is between them is counted exactly."""

    limit: int = KEPT
    head: bytearray = field(default_factory=bytearray)
    tail: deque[bytes] = field(default_factory=deque[bytes])
    dropped: int = 0
    errors: list[str] = field(default_factory=list[str])
    _tail: int = 0

    @property
    def total(self) -> int:
        """Bytes printed so far."""
        return len(self.head) + self.dropped + self._tail

    def add(self, data: bytes) -> None:
        """Takes in what was printed."""
        room = self.limit - len(self.head)
        if room > 0:
            self.head += data[:room]
            data = data[room:]
        if not data:
            return
        self.tail.append(data)
        self._tail += len(data)
        while self._tail - len(self.tail[0]) >= self.limit:
            self._drop(self.tail.popleft())

    def _drop(self, data: bytes) -> None:
        self._tail -= len(data)
        self.dropped += len(data)
        if len(self.errors) < MOST_ERRORS:
            found = error_lines(data.decode("utf-8", "replace"), MOST_ERRORS - len(self.errors))
            self.errors += found

    def text(self, start: int = 0) -> str:
        """What was printed from byte `start` on, as plain text; a gap says how much is missing."""
        tail = b"".join(self.tail)
        if not self.dropped:
            return plain_text((bytes(self.head) + tail)[start:])
        behind = len(self.head) + self.dropped
        if start >= behind:
            return plain_text(tail[start - behind :])
        gap = [f"[{self.dropped:,} bytes were not kept]"]
        if self.errors:
            gap = [f"{gap[0][:-1]}; error lines among them:]", *self.errors, "[and then:]"]
        return "\n".join((plain_text(bytes(self.head[start:])), *gap, plain_text(tail)))


def plain_text(data: bytes) -> str:
    """Printed bytes as text: no colours, and of a line that was drawn over, only its last state."""
    text = whole_characters(data).decode("utf-8", "replace").replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return _ESCAPE.sub("", text)


def _last_state(line: str) -> str:
    line = line.rstrip("\r")
    return line[line.rfind("\r") + 1 :]


def whole_characters(data: bytes) -> bytes:
    """The bytes without a piece of a UTF-8 character at either end."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    end = len(data)
    for back in range(1, min(4, end) + 1):
        byte = data[end - back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            end -= back if back < needed else 0
            break
        if byte < 0x80:
            break
    return data[start:end] if start < end else b""
