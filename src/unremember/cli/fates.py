"""What became of each piece of a conversation: message by message, call by call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from unremember import actions
from unremember.compression.report import Level
from unremember.formats import media
from unremember.history import History, Step
from unremember.messages import Media, Message, Part, Text, Thinking, ToolCall, ToolResult, handle
from unremember.notes import OutlineEntry


@dataclass(frozen=True, slots=True)
class Fate:
    """One piece: the words of a message, a call, or a result.

    `who` says what it is, `title` tells it in one line. `original` is its text as it was; `left`
    is what stays of it, "" where it is whole or gone.
    """

    ordinal: int
    level: Level
    who: str
    title: str
    original: str
    left: str = ""

    @property
    def handle(self) -> str:
        """What brings the original back."""
        return handle(self.ordinal)


def fates(before: History, after: History) -> Iterator[Fate]:
    """What became of every piece of `before` in `after`, oldest first."""
    stays = {message.ordinal: message for message in (*after.system, *after.messages)}
    told = {entry.ordinal: entry for entry in after.notes.outline}
    for step in (*(Step((message,)) for message in before.system), *before.steps):
        calls = {part.id: (o, part) for m in step.messages for o, part in _calls(m)}
        for message in step.messages:
            kept = stays.get(message.ordinal)
            if words := _words(message, kept, told):
                yield words
            for ordinal, part in message.numbered_parts():
                call = calls.get(part.call_id) if isinstance(part, ToolResult) else None
                yield _numbered(ordinal, part, kept, told, call)


def _calls(message: Message) -> Iterator[tuple[int, ToolCall]]:
    for ordinal, part in message.numbered_parts():
        if isinstance(part, ToolCall):
            yield ordinal, part


def _words(message: Message, kept: Message | None, told: Mapping[int, OutlineEntry]) -> Fate | None:
    """What became of what was said in a message; None if nothing was."""
    own = tuple(part for part in message.parts if not isinstance(part, ToolCall | ToolResult))
    text = text_of(own)
    if not text.strip():
        return None
    left = tuple(p for p in kept.parts if not isinstance(p, ToolCall | ToolResult)) if kept else ()
    title = _first_line(message.text or text)
    if left == own:
        return Fate(message.ordinal, "whole", speaker(message), title, text)
    level, rest = ("clipped", text_of(left)) if left else _told(told.get(message.ordinal))
    return Fate(message.ordinal, level, speaker(message), title, text, rest)


def _numbered(
    ordinal: int,
    part: ToolCall | ToolResult,
    kept: Message | None,
    told: Mapping[int, OutlineEntry],
    call: tuple[int, ToolCall] | None,
) -> Fate:
    """What became of a call or a result; in the outline both stand under the call's handle."""
    who, title = describe(part, call[1] if call else None)
    original = text_of((part,))
    left = _kept_part(part, kept)
    if left == part:
        return Fate(ordinal, "whole", who, title, original)
    entry = told.get(call[0] if call else ordinal)
    level, rest = ("clipped", text_of((left,))) if left else _told(entry)
    return Fate(ordinal, level, who, title, original, rest)


def _kept_part(part: ToolCall | ToolResult, kept: Message | None) -> Part | None:
    for own in kept.parts if kept else ():
        match part, own:
            case (ToolCall(id=a), ToolCall(id=b)) | (ToolResult(call_id=a), ToolResult(call_id=b)):
                if a == b:
                    return own
            case _:
                pass
    return None


def _told(entry: OutlineEntry | None) -> tuple[Level, str]:
    if entry is None:
        return "gone", ""
    lines = [entry.title]
    for excerpt in entry.excerpts:
        lines += ["…", excerpt.text] if excerpt.after_gap else [excerpt.text]
    return ("clipped" if entry.excerpts else "line"), "\n".join(lines)


def describe(part: ToolCall | ToolResult, call: ToolCall | None) -> tuple[str, str]:
    """What a call or a result is, and one line that tells it."""
    match part:
        case ToolCall(name=name):
            return f"call of {name}", actions.title(part)
        case ToolResult() if call:
            return f"result of {call.name}", actions.outcome(call, part) or "no output"
        case ToolResult():
            return "result", _first_line(part.text)


def speaker(message: Message) -> str:
    """Who said a message, in the words of the reports."""
    match message.kind, message.role:
        case "summary", _:
            return "earlier summary"
        case "program", _:
            return "program"
        case "demo", _:
            return f"demonstration ({message.role})"
        case _, "system":
            return "system prompt"
        case _, "user":
            return "you"
        case _:
            return "agent"


def text_of(parts: tuple[Part, ...]) -> str:
    """The text of parts, for reading: media are named."""
    return "\n".join(_text(part) for part in parts)


def _text(part: Part) -> str:
    match part:
        case Text(text) | Thinking(text):
            return text
        case ToolCall(arguments=arguments):
            return arguments
        case ToolResult(content=content):
            return text_of(content)
        case Media():
            return media.placeholder(part)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")[:400]
