"""What all writers share: a history in the order it is sent, and what is still its native self."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from unremember.formats import media
from unremember.history import History, Step
from unremember.messages import Media, Message, Part, Text, Thinking, ToolResult
from unremember.notes import read_block, render


def steps(history: History) -> Iterator[Step]:
    """The steps of a history, and its notes as a step of their own in their place.

    The notes never stand between a call and its results: they go before the whole step.
    """
    note = notes_message(history)
    for step in history.steps:
        if note and step.messages[-1].ordinal >= history.notes.before:
            yield Step((note,))
            note = None
        yield step
    if note:
        yield Step((note,))


def notes_message(history: History) -> Message | None:
    """The notes of a history as a message of the program; None if there are none."""
    if not history.notes:
        return None
    return Message("user", (Text(render(history.notes)),), kind="program")


def is_note(text: str) -> bool:
    """Whether a whole text is notes that this program wrote, and nothing else."""
    return read_block(text) is not None


def user_message(parts: tuple[Part, ...], native: Message | None = None) -> Message:
    """A user's message; one that is nothing but notes belongs to the program."""
    alone = parts[0] if len(parts) == 1 else None
    program = isinstance(alone, Text) and is_note(alone.text)
    source = native.source if native else None
    return Message("user", parts, kind="program" if program else "said", source=source)


def native(message: Message, form: str) -> Any:
    """The very object that a message was read from, if it was read from `form`; else None."""
    source = message.source
    return source.value if source and source.format == form else None


def own_thinking(message: Message, form: str) -> tuple[Thinking, ...]:
    """The reasoning in a message that came from `form`; no other provider takes it back.

    A message that was changed says where it is from by a `Native` without a value.
    """
    if not message.source or message.source.format != form:
        return ()
    return tuple(part for part in message.parts if isinstance(part, Thinking))


def visible(message: Message) -> tuple[Text | Media, ...]:
    """The text and media in a message, without blank texts, which no provider accepts."""
    return tuple(
        part
        for part in message.parts
        if isinstance(part, Media) or (isinstance(part, Text) and part.text.strip())
    )


def flat_text(result: ToolResult) -> str:
    """A result where only text may stand: media are named in a line each."""
    lines = [
        part.text if isinstance(part, Text) else media.placeholder(part) for part in result.content
    ]
    return "\n".join(lines)


def legal_name(name: str, longest: int) -> str:
    """A tool's name in the letters that every provider accepts."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:longest] or "unnamed"


def legal_id(id: str, longest: int, letters: str = r"[^\x21-\x7e]") -> str:
    """A call's id in the letters and length that a provider accepts; others get a checksum."""
    clean = re.sub(letters, "_", id)
    if clean == id and 0 < len(id) <= longest:
        return id
    return f"{clean[: longest - 9]}-{sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
