"""Short ways to say things in tests of the archive."""

from __future__ import annotations

from unremember.archive import Opened, Said
from unremember.messages import Message, Role, Text, ToolCall, ToolResult


def says(role: Role, text: str, ordinal: int = 0) -> Said:
    """A message with one text."""
    return Said(Message(role, (Text(text),), ordinal=ordinal))


def calls(*arguments: str) -> Said:
    """An assistant's message with a call of `shell` for each of `arguments`, with ids c0, c1, …"""
    made = (ToolCall(f"c{n}", "shell", text) for n, text in enumerate(arguments))
    return Said(Message("assistant", tuple(made)))


def result(number: int, text: str) -> ToolResult:
    """The result of the call `c<number>`."""
    return ToolResult(f"c{number}", (Text(text),))


def gives(number: int, text: str) -> Said:
    """The result of the call `c<number>` as a tool's message."""
    return Said(Message("tool", (result(number, text),)))


TALK = (
    Opened(cwd="/home/me/project", title="Mend the parser"),
    says("system", "You are careful."),
    says("user", "The parser drops the last line."),
    calls('{"command": "cat parser.py"}', '{"command": "pytest"}'),
    gives(0, "def parse(text): ..."),
    gives(1, "1 failed"),
    says("assistant", "It splits on the wrong line ending."),
    says("user", "한국어로 설명해 주세요"),
)
"""A conversation: m1 system, m2 user, m3 with the calls m4 and m5, results m6 and m7, m8, m9."""
