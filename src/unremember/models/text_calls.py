"""Tool calls that a model wrote as JSON into its text, as small local models often do.

Such a text counts as a call only when the model made no real one, and when the name is that of a
tool on offer and the arguments fit its schema exactly. Known spellings: the bare object (or a list
of them) as the whole text, a fenced block, and `<tool_call>` tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from unremember.messages import Native, Part, Text, ToolCall
from unremember.models.base import Reply, ToolSpec
from unremember.models.schema import fits

NOTE = "a call written as text was taken as a call of {names}"

_FENCE = re.compile(r"```[ \t]*[\w-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_TAGS = re.compile(r"<(tool_call|function_call)>(.*?)(?:</\1>|\Z)", re.DOTALL)

# The keys under which models put the name and the arguments of a call.
_NAMES = ("name", "tool", "tool_name", "function_name")
_ARGUMENTS = ("arguments", "parameters", "args", "tool_input", "input")


def take_text_calls(reply: Reply, tools: Sequence[ToolSpec]) -> Reply:
    """The reply with calls that were written as text made calls; unchanged if there are none."""
    message = reply.message
    if not tools or message.calls:
        return reply
    offered = {tool.name: tool for tool in tools}
    parts: list[Part] = []
    for part in message.parts:
        parts += _split(part.text, offered) if isinstance(part, Text) else [part]
    names = [part.name for part in parts if isinstance(part, ToolCall)]
    if not names:
        return reply
    note = NOTE.format(names=", ".join(names))
    source = message.source and Native(message.source.format, None)
    changed = replace(message, parts=tuple(_numbered(parts)), source=source)
    return replace(reply, message=changed, finish="calls", notes=(*reply.notes, note))


def call_schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """The JSON schema of one call of one of `tools`: for servers that only force schemas."""
    calls = [
        {
            "type": "object",
            "properties": {"name": {"const": tool.name}, "arguments": tool.parameters},
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return calls[0] if len(calls) == 1 else {"anyOf": calls}


def _numbered(parts: Sequence[Part]) -> Iterator[Part]:
    count = 0
    for part in parts:
        if isinstance(part, ToolCall):
            count += 1
            yield replace(part, id=f"text-call-{count}")
        else:
            yield part


def _split(text: str, offered: Mapping[str, ToolSpec]) -> list[Part]:
    """The text as what was said and what was called, in order."""
    if whole := _calls(text, offered):
        return list(whole)
    for marked in (_TAGS, _FENCE):
        pieces = list(_pieces(text, marked, offered))
        if any(isinstance(piece, ToolCall) for piece in pieces):
            return pieces
    return [Text(text)]


def _pieces(text: str, marked: re.Pattern[str], offered: Mapping[str, ToolSpec]) -> Iterator[Part]:
    start = 0
    for found in marked.finditer(text):
        if calls := _calls(found[found.re.groups], offered):
            if said := text[start : found.start()].strip():
                yield Text(said)
            yield from calls
            start = found.end()
    if said := text[start:].strip():
        yield Text(said)


def _calls(text: str, offered: Mapping[str, ToolSpec]) -> list[ToolCall]:
    """The calls that a text is made of; none if anything else is in it."""
    values = _objects(text)
    calls = [call for value in values if (call := _call(value, offered))]
    return calls if len(calls) == len(values) else []


def _objects(text: str) -> list[dict[str, Any]]:
    """The JSON objects that a text is made of: one, a list of them, or several lines."""
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    at, text = 0, text.strip()
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return []
        values = cast("list[object]", value if isinstance(value, list) else [value])
        if not all(isinstance(one, dict) for one in values):
            return []
        found += cast("list[dict[str, Any]]", values)
        while at < len(text) and text[at] in " \t\r\n,;":
            at += 1
    return found


def _call(value: dict[str, Any], offered: Mapping[str, ToolSpec]) -> ToolCall | None:
    """The call that an object describes, if it fits an offered tool exactly."""
    function = value.get("function")
    if isinstance(function, dict):
        value = cast("dict[str, Any]", function)
    elif isinstance(function, str):
        value = {**value, "name": function}
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    tool = offered.get(name)
    key = next((key for key in _ARGUMENTS if key in value), "")
    if tool is None or not key:
        return None
    arguments = value[key]
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return None
    if not isinstance(arguments, dict) or not fits(cast("object", arguments), tool.parameters):
        return None
    return ToolCall("", name, json.dumps(arguments, ensure_ascii=False))
