"""Content blocks as parts, in the spellings that coding agents' logs share.

Nothing is lost: a block of a kind that is not known becomes `Media("other")` with its JSON.
"""

from __future__ import annotations

from unremember.formats.media import from_base64, from_url, kind_of, unknown
from unremember.formats.shape import as_json, as_list, as_object, as_text
from unremember.messages import Media, Part, Text, Thinking, ToolCall, ToolResult


def parts_of(content: object) -> tuple[Part, ...]:
    """The parts of a message's `content`, which is a string or a list of blocks."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    return tuple(part_of(block) for block in as_list(content))


def part_of(block: object) -> Part:
    """One content block as a part: Anthropic's blocks, and what tool results may hold."""
    match block:
        case {"type": "thinking", "thinking": str(text)}:
            return Thinking(text, as_text(as_object(block).get("signature")))
        case {"type": "redacted_thinking", "data": str(data)}:
            return Thinking("", data)
        case {"type": "tool_use", "id": str(id), "name": str(name)}:
            return ToolCall(id, name, arguments(as_object(block).get("input")))
        case {"type": "tool_result", "tool_use_id": str(id)}:
            said = as_object(block)
            return result(id, said.get("content"), failed=said.get("is_error") is True)
        case _:
            return shown(block)


def arguments(value: object) -> str:
    """Call arguments as the raw string: as they are if they are one, else their JSON."""
    return as_json({} if value is None else value)


def result(call_id: str, content: object, *, failed: bool = False) -> ToolResult:
    """A tool result from a string, a list of blocks, or any other JSON (kept as its text)."""
    if not content:
        return ToolResult(call_id, (), failed)
    blocks = as_list(content) or [as_json(content)]
    return ToolResult(call_id, tuple(shown(block) for block in blocks), failed)


def shown(block: object) -> Text | Media:
    """A block that is text or media, whoever's spelling it has."""
    match block:
        case str():
            return Text(block)
        case {"type": "text" | "input_text" | "output_text", "text": str(text)}:
            return Text(text)
        case {"type": "image" | "document", "source": {"type": "base64", "data": str(data)}}:
            return inline(as_text(as_object(as_object(block)["source"]).get("media_type")), data)
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return from_url("image", url)
        case {"type": "document", "source": {"type": "url", "url": str(url)}}:
            return from_url("document", url)
        case {"type": "image", "data": str(data)}:
            return inline(as_text(as_object(block).get("mimeType")), data)
        case {"type": "input_image", "image_url": str(url)}:
            return from_url("image", url)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return from_url("image", url)
        case _:
            return unknown(block)


def inline(mime: str, data: str) -> Media:
    """Media given as base64 with its MIME type."""
    return from_base64(kind_of(mime), mime, data)
