"""What the providers refuse, as lists of breaches; an empty list means: they would take it.

The rules are those of the APIs and not of any client: roles and their order, the pairing of calls
and results, and contents that may not be empty. Each breach names the place (counted from 0).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from unremember.formats.shape import Object, as_list, as_object, as_objects, as_text

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")


def check_openai(messages: Sequence[dict[str, Any]], *, allow_open: bool = False) -> list[str]:
    """What the chat API would refuse; `allow_open` lets calls at the very end wait for results."""
    return list(_openai(messages, allow_open))


def check_anthropic(
    messages: Sequence[dict[str, Any]], system: object = None, *, allow_open: bool = False
) -> list[str]:
    """What the Messages API would refuse; `allow_open` lets calls at the very end wait."""
    return [*_anthropic_system(system), *_anthropic(messages, allow_open)]


def check_responses(items: Sequence[dict[str, Any]], *, allow_open: bool = False) -> list[str]:
    """What the Responses API would refuse; `allow_open` lets calls wait for their outputs."""
    return [*_responses_pairs(items, allow_open), *_responses_items(items)]


# OpenAI chat


def _openai(messages: Sequence[Object], allow_open: bool) -> Iterator[str]:
    waiting: list[str] = []
    for place, message in enumerate(messages):
        at, role = f"message {place}", message.get("role")
        if role in ("tool", "function"):
            key = as_text(message.get("tool_call_id" if role == "tool" else "name"))
            if key in waiting:
                waiting.remove(key)
            else:
                yield f"{at}: a result of {key!r}, which no call right before it asked for"
            # An empty string is taken here, and only here: many tools print nothing.
            if message.get("content") != "":
                yield from _openai_content(at, message.get("content"))
            continue
        for id in waiting:
            yield f"{at}: comes before the result of the call {id!r}"
        waiting = []
        if role == "assistant":
            yield from _openai_assistant(at, message)
            waiting = _openai_calls(message)
        elif role in ("system", "developer", "user"):
            yield from _openai_content(at, message.get("content"))
        else:
            yield f"{at}: unknown role {role!r}"
    if not allow_open:
        yield from (f"the end: the call {id!r} has no result" for id in waiting)


def _openai_content(at: str, content: object) -> Iterator[str]:
    if isinstance(content, str):
        if not content.strip():
            yield f"{at}: empty content"
        return
    parts = as_list(content)
    if not parts:
        yield f"{at}: no content"
    for part in map(as_object, parts):
        if not as_text(part.get("type")):
            yield f"{at}: a part without a type"
        elif part["type"] == "text" and not as_text(part.get("text")).strip():
            yield f"{at}: an empty text part"


def _openai_calls(message: Object) -> list[str]:
    ids = [as_text(call.get("id")) for call in as_objects(message.get("tool_calls"))]
    old = as_object(message.get("function_call"))
    return [*ids, as_text(old.get("name"))] if old else ids


def _openai_assistant(at: str, message: Object) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls == []:
        yield f"{at}: an empty list of tool calls"
    says = any(message.get(field) is not None for field in ("content", "refusal", "audio"))
    if not says and not _openai_calls(message):
        yield f"{at}: neither content nor calls"
    if as_list(message.get("content")):
        yield from _openai_content(at, message["content"])
    ids: set[str] = set()
    for call in as_objects(calls):
        id, function = as_text(call.get("id")), as_object(call.get("function"))
        if not id or id in ids:
            yield f"{at}: a call without an id of its own ({id!r})"
        ids.add(id)
        custom = as_object(call.get("custom"))
        if not _NAME.fullmatch(as_text((custom or function).get("name"))):
            yield f"{at}: the call {id!r} has no legal name"
        if not isinstance((custom or function).get("input" if custom else "arguments"), str):
            yield f"{at}: the arguments of the call {id!r} are no string"


# Anthropic


def _anthropic_system(system: object) -> Iterator[str]:
    for block in as_objects(system):
        if block.get("type") != "text" or not as_text(block.get("text")).strip():
            yield "system: a block that is no text, or an empty one"


def _anthropic(messages: Sequence[Object], allow_open: bool) -> Iterator[str]:
    waiting: list[str] = []
    used: set[str] = set()
    for place, message in enumerate(messages):
        at, role = f"turn {place}", message.get("role")
        if role != ("assistant" if place % 2 else "user"):
            yield f"{at}: the role is {role!r}; user and assistant alternate, beginning with user"
        blocks = _blocks(message)
        if not blocks:
            yield f"{at}: no content"
        if any(b.get("type") == "text" and not as_text(b.get("text")).strip() for b in blocks):
            yield f"{at}: an empty text block"
        yield from _anthropic_results(at, blocks, waiting)
        waiting = [as_text(b.get("id")) for b in blocks if b.get("type") == "tool_use"]
        yield from _anthropic_calls(at, role, blocks, used)
        yield from _anthropic_thinking(at, role, blocks)
    if messages and messages[-1].get("role") == "assistant":
        last = (_blocks(messages[-1]) or [{}])[-1]
        text = as_text(last.get("text"))
        if last.get("type") == "text" and text != text.rstrip():
            yield "the end: the assistant's last text ends in white space"
    if waiting and not allow_open:
        yield f"the end: the call {waiting[0]!r} has no result"


def _blocks(message: Object) -> list[Object]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else as_objects(content)


def _anthropic_results(at: str, blocks: Sequence[Object], waiting: Sequence[str]) -> Iterator[str]:
    results = [as_text(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result"]
    if any(block.get("type") != "tool_result" for block in blocks[: len(results)]):
        yield f"{at}: tool results do not come first"
    for id in dict.fromkeys((*waiting, *results)):
        if id not in waiting:
            yield f"{at}: a result of {id!r}, which the turn before did not call"
        elif results.count(id) != 1:
            yield f"{at}: {results.count(id)} results of the call {id!r}"
    for block in blocks:
        for part in as_objects(block.get("content")):
            if part.get("type") == "text" and not as_text(part.get("text")).strip():
                yield f"{at}: an empty text block in a result"


def _anthropic_calls(
    at: str, role: object, blocks: Sequence[Object], used: set[str]
) -> Iterator[str]:
    for block in blocks:
        if block.get("type") == "tool_result" and role != "user":
            yield f"{at}: a result in a turn that is not the user's"
        if block.get("type") != "tool_use":
            continue
        id = as_text(block.get("id"))
        if role != "assistant":
            yield f"{at}: a call in a turn that is not the assistant's"
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", id) or id in used:
            yield f"{at}: the call id {id!r} is not legal or was used before"
        used.add(id)
        if not _NAME.fullmatch(as_text(block.get("name"))):
            yield f"{at}: the call {id!r} has no legal name"
        if not isinstance(block.get("input"), dict):
            yield f"{at}: the input of the call {id!r} is no object"


def _anthropic_thinking(at: str, role: object, blocks: Sequence[Object]) -> Iterator[str]:
    thoughts = [b for b in blocks if b.get("type") in ("thinking", "redacted_thinking")]
    if not thoughts:
        return
    if role != "assistant":
        yield f"{at}: thinking in a turn that is not the assistant's"
    if blocks[0] not in thoughts:
        yield f"{at}: thinking does not come first"
    if blocks[-1] in thoughts:
        yield f"{at}: thinking comes last"
    for block in thoughts:
        if not as_text(block.get("signature")) and not as_text(block.get("data")):
            yield f"{at}: thinking without a signature"


# OpenAI Responses


def _responses_pairs(items: Sequence[Object], allow_open: bool) -> Iterator[str]:
    calls: dict[str, str] = {}
    answered: set[str] = set()
    for place, item in enumerate(items):
        at, kind, id = f"item {place}", as_text(item.get("type")), as_text(item.get("call_id"))
        if kind.endswith("_call") and "call_id" in item:
            if not id or id in calls.keys() - answered:
                yield f"{at}: a call without an id of its own ({id!r})"
            calls[id] = kind
            answered.discard(id)
        elif kind.endswith("_call_output"):
            if f"{calls.get(id)}_output" != kind:
                yield f"{at}: an output of {id!r}, which no {kind.removesuffix('_output')} made"
            elif id in answered:
                yield f"{at}: a second output of the call {id!r}"
            answered.add(id)
    if not allow_open:
        yield from (f"the end: the call {id!r} has no output" for id in calls.keys() - answered)


def _responses_items(items: Sequence[Object]) -> Iterator[str]:
    ids: set[str] = set()
    for place, item in enumerate(items):
        at, kind = f"item {place}", as_text(item.get("type")) or "message"
        id = as_text(item.get("id"))
        if id and kind != "item_reference" and id in ids:
            yield f"{at}: the id {id!r} was used before"
        ids.add(id)
        if kind == "reasoning" and not _is_followed(items, place):
            yield f"{at}: reasoning without the item that follows from it"
        elif kind == "message":
            yield from _responses_message(at, item)
        elif kind == "function_call" and not isinstance(item.get("arguments"), str):
            yield f"{at}: the arguments are no string"
        elif kind == "custom_tool_call" and not isinstance(item.get("input"), str):
            yield f"{at}: the input is no string"
        elif kind.endswith("_call_output") and not isinstance(
            item.get("output"), str | list | dict
        ):
            yield f"{at}: no output"
        named = kind in ("function_call", "custom_tool_call")
        if named and not _NAME.fullmatch(as_text(item.get("name"))):
            yield f"{at}: no legal name"


def _is_followed(items: Sequence[Object], place: int) -> bool:
    """Whether the model's own words or calls follow an item of reasoning."""
    following = as_object(items[place + 1]) if place + 1 < len(items) else {}
    if "role" in following:
        return following["role"] == "assistant"
    return bool(following) and not as_text(following.get("type")).endswith("_output")


def _responses_message(at: str, item: Object) -> Iterator[str]:
    if item.get("role") not in ("system", "developer", "user", "assistant"):
        yield f"{at}: unknown role {item.get('role')!r}"
    content = item.get("content")
    texts = [p.get("text") for p in as_objects(content) if "text" in p]
    blank = any(not as_text(text).strip() for text in texts)
    if not content or (isinstance(content, str) and not content.strip()) or blank:
        yield f"{at}: empty content"
