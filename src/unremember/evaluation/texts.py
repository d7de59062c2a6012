"""What is said, as plain text: the one form in which source and result are compared."""

from __future__ import annotations

import json
from collections.abc import Iterator

from unremember.history import History
from unremember.messages import Message, Text, ToolCall, ToolResult
from unremember.notes import render


def message_texts(message: Message) -> Iterator[str]:
    """The texts of a message: what was written, what was called, and what came back.

    Reasoning is left out: it is not sent back once its tool loop has ended.
    """
    for part in message.parts:
        match part:
            case Text(text):
                yield text
            case ToolCall():
                yield call_text(part)
            case ToolResult():
                yield part.text
            case _:
                pass


def call_text(call: ToolCall) -> str:
    """A call as somebody reads it: its name, and behind it what it was called with."""
    return f"{call.name} {argument_text(call)}"


def argument_text(call: ToolCall) -> str:
    """What a tool was called with: each value on lines of its own, without the names of fields."""
    try:
        value: object = json.loads(call.arguments)
    except ValueError:
        return call.arguments
    return "\n".join(_leaves(value))


def _leaves(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():  # pyright: ignore[reportUnknownVariableType]
                yield from _leaves(inner)  # pyright: ignore[reportUnknownArgumentType]
        case list():
            for inner in value:  # pyright: ignore[reportUnknownVariableType]
                yield from _leaves(inner)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            yield json.dumps(value)


def history_texts(history: History) -> list[str]:
    """All texts that a model would read of a history, the notes' text among them."""
    texts = [text for m in (*history.system, *history.messages) for text in message_texts(m)]
    return [*texts, render(history.notes)] if history.notes else texts


def lines_of(text: str) -> list[str]:
    """The lines of a text that hold something, without the white space around them."""
    return [line for raw in text.splitlines() if (line := raw.strip())]
