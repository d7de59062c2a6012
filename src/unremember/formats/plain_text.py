"""A transcript to read: who said what, with handles. It is written only, not read."""

from __future__ import annotations

from collections.abc import Iterator

from unremember.formats import media, turns
from unremember.history import History
from unremember.messages import (
    Media,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    handle,
)

NAME = "text"


def write(history: History) -> str:
    """The whole history as text: a headed paragraph for each message, call and result."""
    messages = [*history.system, *(m for step in turns.steps(history) for m in step.messages)]
    return "\n".join(line for message in messages for line in _lines(message))


def _lines(message: Message) -> Iterator[str]:
    numbered = {id(part): ordinal for ordinal, part in message.numbered_parts()}
    headed = False
    for part in message.parts:
        if isinstance(part, ToolCall):
            yield from _headed(f"calls {part.name}", numbered.get(id(part), 0), part.arguments)
        elif isinstance(part, ToolResult):
            title = "result, failed" if part.failed else "result"
            yield from _headed(title, numbered.get(id(part), 0), turns.flat_text(part))
        else:
            title = "" if headed else _title(message)
            headed = True
            yield from _headed(title, message.ordinal, _shown(part))


def _title(message: Message) -> str:
    return message.role if message.kind == "said" else f"{message.role} ({message.kind})"


def _shown(part: Text | Thinking | Media) -> str:
    match part:
        case Text(text):
            return text
        case Thinking(text):
            return f"(thinking) {text}" if text else "(thinking, encrypted)"
        case Media():
            return media.placeholder(part)


def _headed(title: str, ordinal: int, text: str) -> Iterator[str]:
    """A heading, unless `title` is empty, the text, and a blank line."""
    if title:
        yield f"── {handle(ordinal)} {title}" if ordinal else f"── {title}"
    yield text
    yield ""
