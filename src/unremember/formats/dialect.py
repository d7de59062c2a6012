"""Which provider's messages a list holds: OpenAI chat, OpenAI Responses, or Anthropic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from unremember.formats.shape import Object, as_object, as_objects

Dialect = Literal["openai", "responses", "anthropic"]

CHAT_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})

_RESPONSES_ITEMS = frozenset({"reasoning", "item_reference", "compaction", "mcp_list_tools"})
_RESPONSES_PARTS = frozenset({"input_text", "output_text", "input_image", "input_file"})
_OPENAI_PARTS = frozenset({"image_url", "input_audio", "file", "video_url"})
_ANTHROPIC_PARTS = frozenset(
    {"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"}
)


def dialect(items: Iterable[object]) -> Dialect | None:
    """The provider whose messages these are; None if they are no provider's.

    What only one provider has decides: Responses items, tool calls beside the content (OpenAI) or
    inside it (Anthropic). Plain texts, which all three accept, count as OpenAI chat.
    """
    seen: set[Dialect] = set()
    empty = True
    for item in items:
        fields = as_object(item)
        if not _is_item(fields.get("type")) and fields.get("role") not in CHAT_ROLES:
            return None
        seen.update(_evidence(fields))
        empty = False
    if empty:
        return None
    # Proxies let Anthropic's blocks through in OpenAI's messages, never the reverse.
    if "responses" in seen:
        return "responses"
    return "anthropic" if seen == {"anthropic"} else "openai"


def _evidence(item: Object) -> Iterator[Dialect]:
    if _is_item(item.get("type")):
        yield "responses"
    if item.get("tool_calls") or item.get("function_call") or item.get("role") in _OPENAI_ROLES:
        yield "openai"
    for part in as_objects(item.get("content")):
        kind = str(part.get("type"))
        if kind in _RESPONSES_PARTS:
            yield "responses"
        elif kind in _OPENAI_PARTS:
            yield "openai"
        elif kind in _ANTHROPIC_PARTS or kind.endswith(("_tool_use", "_tool_result")):
            yield "anthropic"


_OPENAI_ROLES = frozenset({"tool", "function", "developer"})


def _is_item(kind: object) -> bool:
    """Whether a type names an item of the Responses form, and not a message in another."""
    return isinstance(kind, str) and (
        kind in _RESPONSES_ITEMS or kind.endswith(("_call", "_call_output"))
    )
