"""Read and write recorded conversations of other agents; one module per form.

`read` tells the form by itself. What it gives back is mended, numbered and valid: see
`Conversation`. `write` puts a history into one of the forms that providers take, or into text.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from unremember.errors import InputError, UnknownFormat
from unremember.formats import (
    anthropic,
    claude_code,
    codex,
    gemini_cli,
    mini_swe_agent,
    openai_chat,
    openai_responses,
    openhands,
    pi,
    plain_text,
    swe_agent,
    tau_bench,
)
from unremember.formats.base import Conversation, conversation
from unremember.formats.shape import as_object, as_objects
from unremember.formats.source import Parsed, parsed
from unremember.history import History, Repair

__all__ = ["FORMATS", "WRITABLE", "Conversation", "conversation", "detect", "read", "write"]


class _Form(Protocol):
    @property
    def NAME(self) -> str: ...  # noqa: N802 - a module's constant

    def matches(self, head: object) -> bool: ...

    def read(self, source: Any, /, *, whole: bool = False) -> list[Conversation]: ...


# In this order: forms that record a provider's messages come before the provider's own.
_LINES: tuple[_Form, ...] = (claude_code, codex, pi, gemini_cli, openhands)
_DOCUMENTS: tuple[_Form, ...] = (
    gemini_cli,
    mini_swe_agent,
    swe_agent,
    tau_bench,
    openhands,
    openai_responses,
    anthropic,
    openai_chat,
)

FORMATS = tuple(dict.fromkeys(form.NAME for form in (*_LINES, *_DOCUMENTS)))
"""The names of all forms that can be read."""

WRITABLE = ("openai", "anthropic", "responses", "text")
"""The names of all forms that can be written."""


def read(source: Path | bytes | str, *, whole: bool = False, name: str = "") -> list[Conversation]:
    """The conversations in a file, in bytes, or in a text.

    A string of one line that does not begin like JSON is a path. By default each conversation is
    what its model would see next; with `whole` it is the whole log, also what earlier compactions
    had dropped. `name` stands for the source in messages. A form with several conversations in
    one file (OpenHands, tau-bench, lines of requests) gives as many.

    Raises `InputError` for what cannot be read and `UnknownFormat` for what is no conversation,
    each with one line that names the source, the place, and what was expected.
    """
    with parsed(source, name) as given:
        form, value = _recognise(given)
        found = [c for c in form.read(value, whole=whole) if c.originals]
        if not found:
            raise InputError(f"{given.name}: it holds no messages (read as {form.NAME})")
        return [_with_repairs(found[0], given.repairs), *found[1:]]


def detect(source: Path | bytes | str, *, name: str = "") -> str:
    """The name of the form that a source is in. Raises as `read` does."""
    with parsed(source, name) as given:
        return _recognise(given)[0].NAME


def write(history: History, form: str) -> Any:
    """A history in one of the forms of `WRITABLE`, as JSON values; as a string for "text".

    OpenAI chat and Responses are lists; Anthropic is an object with `system` and `messages`.
    """
    match form:
        case "openai":
            return openai_chat.write(history)
        case "anthropic":
            return anthropic.request(history)
        case "responses":
            return openai_responses.write(history)
        case "text":
            return plain_text.write(history)
        case _:
            raise InputError(f"{form!r} cannot be written; choose one of {', '.join(WRITABLE)}")


def _recognise(given: Parsed) -> tuple[_Form, Any]:
    """The form of what was parsed, and what its module is to read."""
    if given.document is None:
        head = [line for _, line in given.head]
        for form in (*_LINES, *_DOCUMENTS):
            if form.matches(head):
                return form, given.lines if form in _LINES else [line for _, line in given.lines]
        raise _unknown(given.name, f"line {given.head[0][0]}" if head else "line 1", head[:1])
    for form in _DOCUMENTS:
        if form.matches(given.document):
            return form, given.document
    alone = as_object(given.document)
    for form in _LINES:
        if alone and form.matches([alone]):
            return form, iter([(1, alone)])
    raise _unknown(given.name, "line 1", given.document)


def _unknown(name: str, place: str, found: object) -> UnknownFormat:
    first = next(iter(as_objects(found)), as_object(found))
    what = f"the keys {', '.join(list(first)[:6])}" if first else "no message"
    return UnknownFormat(
        f"{name}: {place}: found {what}; expected a conversation of {', '.join(FORMATS)}"
    )


def _with_repairs(found: Conversation, repairs: list[Repair]) -> Conversation:
    return replace(found, repairs=(*repairs, *found.repairs)) if repairs else found
