"""OpenAI Responses items: a list, or an object with `input`, `instructions` and `output`.

One assistant message here is everything a model gave back at once: its reasoning, messages and
calls up to the first output, because the API refuses reasoning without the item that follows it.
Each message carries the list of its own items, and `write` gives those very items back while the
message is unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from unremember.formats import media, turns
from unremember.formats.base import Conversation, conversation
from unremember.formats.dialect import dialect
from unremember.formats.shape import Object, as_json, as_list, as_object, as_objects, as_text
from unremember.history import History, Step
from unremember.messages import (
    Media,
    Message,
    Native,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME = "responses"

# The API's own limits for `call_id` and for a function's name, in characters.
_LONGEST_ID = 64
_LONGEST_NAME = 128

_CALLS_THAT_CAN_BE_BUILT = ("function_call", "custom_tool_call")


def matches(head: object) -> bool:
    """Whether a document, or the first lines of one, is in this form."""
    fields = as_object(head)
    if "input" in fields:
        items = as_list(fields["input"])
        return isinstance(fields["input"], str) or dialect(items) is not None
    items = as_list(head) or as_list(fields.get("output"))
    return bool(items) and dialect(items) == NAME


def read(document: object, *, whole: bool = False) -> list[Conversation]:
    """The one conversation in a document; `whole` makes no difference, nothing is dropped here."""
    id = as_text(as_object(document).get("id"))
    return [conversation(to_messages(_items(document)), form=NAME, id=id)]


def to_messages(items: Iterable[object]) -> list[Message]:
    """The messages of a list of items, neither mended nor numbered.

    Items that a model gave back at once are one message; all others are one each.
    """
    messages: list[Message] = []
    spoken: list[Object] = []
    for item in map(as_object, items):
        if _is_spoken(item):
            spoken.append(item)
            continue
        if spoken:
            messages.append(_assistant(spoken))
            spoken = []
        messages.append(_read_item(item))
    if spoken:
        messages.append(_assistant(spoken))
    return messages


def write(history: History) -> list[dict[str, Any]]:
    """The items to send: the system's, then all in order, the notes as a user message.

    Items that were read from this form and not changed are the same objects that were read.
    """
    written = [item for message in history.system for item in _written(message)]
    for step in turns.steps(history):
        written += _write_step(step)
    return _without_dangling(written)


def _items(document: object) -> list[Object]:
    if items := as_objects(document):
        return items
    fields = as_object(document)
    instructions, given = fields.get("instructions"), fields.get("input")
    head: list[Object] = []
    if isinstance(instructions, str) and instructions.strip():
        head.append({"role": "developer", "content": instructions})
    if isinstance(given, str):
        head.append({"role": "user", "content": given})
    reply = fields.get("output") or as_object(fields.get("response")).get("output")
    return [*head, *as_objects(instructions), *as_objects(given), *as_objects(reply)]


# Reading


def _is_spoken(item: Object) -> bool:
    """Whether an item is the model's own: all but what others say, and what answers a call."""
    if "role" in item:
        return item["role"] == "assistant"
    return not str(item.get("type")).endswith(("_output", "_response"))


def _assistant(items: Sequence[Object]) -> Message:
    parts = tuple(part for item in items for part in _read_spoken(item))
    return Message("assistant", parts, source=Native(NAME, list(items)))


def _read_spoken(item: Object) -> Iterator[Part]:
    kind = str(item.get("type") or "message")
    if "role" in item:
        yield from (p for p in _read_content(item.get("content")) if not _is_blank(p))
    elif kind == "reasoning":
        texts = [*as_objects(item.get("summary")), *as_objects(item.get("content"))]
        text = "\n".join(as_text(part.get("text")) for part in texts)
        yield Thinking(text, as_text(item.get("encrypted_content")) or as_text(item.get("id")))
    elif kind.endswith("_call") and as_text(item.get("call_id")):
        name = as_text(item.get("name")) or kind.removesuffix("_call")
        yield ToolCall(as_text(item["call_id"]), name, _arguments(item))
    else:
        yield media.unknown(item)


def _arguments(item: Object) -> str:
    """What a call asks for: a function's arguments, a custom tool's text, a built-in's action."""
    fields = ("arguments", "input", "action", "operation", "actions")
    return next((as_json(item[field]) for field in fields if field in item), "")


def _read_item(item: Object) -> Message:
    source = Native(NAME, [item])
    kind = str(item.get("type") or "message")
    if kind.endswith("_output"):
        id = as_text(item.get("call_id")) or as_text(item.get("id"))
        content = _read_content(item.get("output"))
        failed = item.get("status") in ("failed", "incomplete")
        return Message("tool", (ToolResult(id, content, failed),), source=source)
    content = tuple(p for p in _read_content(item.get("content")) if not _is_blank(p))
    match item.get("role"):
        case "system" | "developer":
            return Message("system", content, source=source)
        case "user":
            return turns.user_message(content, Message("user", (), source=source))
        case _:
            return Message("user", (media.unknown(item),), kind="program", source=source)


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def _read_content(content: object) -> tuple[Text | Media, ...]:
    match content:
        case str():
            return (Text(content),) if content else ()
        case list():
            return tuple(_read_part(part) for part in as_list(cast("object", content)))
        case None:
            return ()
        case _:
            return (_read_part(content),)


def _read_part(part: object) -> Text | Media:
    match part:
        case str():
            return Text(part)
        case {"type": "input_text" | "output_text" | "text" | "summary_text", "text": str(text)}:
            return Text(text)
        case {"type": "refusal", "refusal": str(text)}:
            return Text(text)
        case {"type": "input_image" | "computer_screenshot", "image_url": str(url)}:
            return media.from_url("image", url)
        case {"type": "input_file", "file_data": str(url)} | {
            "type": "input_file",
            "file_url": str(url),
        }:
            return media.from_url("document", url)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form)}}:
            return media.from_base64("audio", f"audio/{form}", data)
        case _:
            return media.unknown(part)


# Writing


def _write_step(step: Step) -> list[Object]:
    head, *rest = step.messages
    kinds = {id: kind for message in rest for id, kind in _answer_kinds(message).items()}
    written = _written(head, kinds)
    # A call and its output must be of one kind, whichever of the two had to be built anew.
    calls = {
        as_text(item.get("call_id")): as_text(item.get("type"))
        for item in written
        if as_text(item.get("type")).endswith("_call")
    }
    return [*written, *(item for message in rest for item in _write_results(message, calls))]


def _answer_kinds(message: Message) -> dict[str, str]:
    items = as_objects(turns.native(message, NAME))
    return {
        as_text(i.get("call_id")): as_text(i.get("type")).removesuffix("_output") for i in items
    }


def _write_results(message: Message, calls: dict[str, str]) -> list[Object]:
    own = turns.native(message, NAME)
    if own is not None and all(
        calls.get(id) == kind for id, kind in _answer_kinds(message).items()
    ):
        return own
    written: list[Object] = []
    for result in message.results:
        id = turns.legal_id(result.call_id, _LONGEST_ID)
        id = result.call_id if result.call_id in calls else id
        kind = f"{calls.get(id, 'function_call')}_output"
        written.append({"type": kind, "call_id": id, "output": turns.flat_text(result)})
    beside = turns.visible(message)
    return [*written, _said("user", beside)] if beside else written


def _written(message: Message, kinds: dict[str, str] | None = None) -> list[Object]:
    """A message as items; `kinds` are those of the calls' answers, where these are still native."""
    own = turns.native(message, NAME)
    if own is not None:
        return own
    shown = turns.visible(message)
    if message.role != "assistant":
        return [_said(message.role, shown)] if shown else []
    items: list[Object] = [_reasoning(t) for t in turns.own_thinking(message, NAME) if t.signature]
    if shown:
        items.append(_said("assistant", shown))
    items += [_call(call, (kinds or {}).get(call.id, "")) for call in message.calls]
    return items


def _reasoning(thinking: Thinking) -> Object:
    if thinking.signature.startswith("rs_"):
        return {"type": "reasoning", "id": thinking.signature, "summary": []}
    return {"type": "reasoning", "summary": [], "encrypted_content": thinking.signature}


def _call(call: ToolCall, kind: str) -> Object:
    if kind not in _CALLS_THAT_CAN_BE_BUILT:
        kind = _CALLS_THAT_CAN_BE_BUILT[0]
    name, id = turns.legal_name(call.name, _LONGEST_NAME), turns.legal_id(call.id, _LONGEST_ID)
    field = "input" if kind == "custom_tool_call" else "arguments"
    return {"type": kind, "call_id": id, "name": name, field: call.arguments}


def _said(role: str, parts: Sequence[Text | Media]) -> Object:
    match parts:
        case [Text(text)]:
            content: object = text
        case _:
            content = [_write_part(part, role) for part in parts]
    return {"type": "message", "role": role, "content": content}


def _write_part(part: Text | Media, role: str) -> Object:
    kind = "output_text" if role == "assistant" else "input_text"
    match part:
        case Text(text):
            return {"type": kind, "text": text}
        case Media(kind="image", data=data) if data and role == "user":
            return {"type": "input_image", "image_url": media.data_url(part)}
        case Media(kind="document", data=data) if data and role == "user":
            field = "file_url" if media.is_url(part) else "file_data"
            return {"type": "input_file", field: media.data_url(part)}
        case _:
            return {"type": kind, "text": media.placeholder(part)}


def _without_dangling(items: list[Object]) -> list[Object]:
    """The items without reasoning that nothing of the model follows: the API refuses it."""
    kept: list[Object] = []
    following: Object = {}
    for item in reversed(items):
        if item.get("type") != "reasoning" or (following and _is_spoken(following)):
            kept.append(item)
            following = item
    return kept[::-1]
