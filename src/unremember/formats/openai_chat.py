"""OpenAI chat messages: a list, an object with `messages`, or JSON lines of either.

Read: all roles (`developer` is a system message, `function` an old tool result), contents as text
or parts, tool calls, custom calls, the old `function_call`, refusals and reasoning fields. Each
message carries its own JSON object, and `write` gives that very object back while the message is
unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

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

NAME = "openai"

# The API's own limits for `tool_calls[].id` and for a function's name, in characters.
_LONGEST_ID = 40
_LONGEST_NAME = 64


def matches(head: object) -> bool:
    """Whether a document, or the first lines of one, is in this form."""
    lists = _lists(head)
    return bool(lists) and dialect(lists[0]) == NAME


def read(document: object, *, whole: bool = False) -> list[Conversation]:
    """The conversations in a document; `whole` makes no difference, nothing is dropped here.

    An object's `response` is the last message. JSON lines hold one message each, or one object
    with `messages` each, which is then a conversation of its own.
    """
    id = as_text(as_object(document).get("id"))
    return [conversation(to_messages(items), form=NAME, id=id) for items in _lists(document)]


def to_messages(items: Iterable[object]) -> list[Message]:
    """The messages of a list, one for each object in it, neither mended nor numbered."""
    messages: list[Message] = []
    unanswered: list[ToolCall] = []
    for index, item in enumerate(items):
        fields = as_object(item)
        message = _read_message(fields, index, unanswered)
        if "function_call" in fields:
            unanswered += message.calls
        messages.append(message)
    return messages


def write(history: History) -> list[dict[str, Any]]:
    """The messages to send: the system's, then all in order, the notes as a user message.

    A message that was read from this form and not changed is the same object that was read.
    Reasoning goes back only to where it came from.
    """
    written = [_written(message) for message in history.system]
    for step in turns.steps(history):
        written += _write_step(step)
    return written


def _lists(document: object) -> list[list[Object]]:
    """The lists of messages in a document."""
    if fields := as_object(document):
        return _list_of_object(fields)
    objects = as_objects(document)
    if len(objects) != len(as_list(document)):
        return []
    if objects and all("messages" in entry for entry in objects):
        return [items for entry in objects for items in _list_of_object(entry)]
    return [objects] if objects else []


def _list_of_object(document: Object) -> list[list[Object]]:
    messages = as_objects(document.get("messages"))
    if not messages:
        return []
    reply = _reply(document.get("response"))
    return [[*messages, reply] if reply and reply != messages[-1] else messages]


def _reply(response: object) -> Object:
    """The message in a response, be it the whole completion or the message itself."""
    fields = as_object(response)
    choices = as_objects(fields.get("choices"))
    if choices:
        return as_object(choices[0].get("message"))
    return fields if fields.get("role") == "assistant" else {}


# Reading


def _read_message(item: Object, index: int, unanswered: list[ToolCall]) -> Message:
    source = Native(NAME, item)
    content = read_content(item.get("content"))
    match item.get("role"):
        case "system" | "developer":
            return Message("system", said(content), source=source)
        case "user":
            return turns.user_message(said(content), Message("user", (), source=source))
        case "assistant":
            parts = (*_reasoning(item), *said(content), *_extras(item), *_calls(item, index))
            return Message("assistant", parts, source=source)
        case "tool":
            result = ToolResult(as_text(item.get("tool_call_id")), content)
            return Message("tool", (result,), source=source)
        case "function":
            name = as_text(item.get("name"))
            call = next((call for call in unanswered if call.name == name), None)
            if call:
                unanswered.remove(call)
            return Message("tool", (ToolResult(call.id if call else name, content),), source=source)
        case _:
            return Message("user", said(content), kind="program")


def read_content(content: object) -> tuple[Text | Media, ...]:
    """A content as parts: a text, or a list of parts, of which unknown ones are kept as JSON."""
    if isinstance(content, str):
        return (Text(content),) if content else ()
    return tuple(_read_part(part) for part in as_list(content))


def said(content: Iterable[Text | Media]) -> tuple[Text | Media, ...]:
    """A content without blank texts: nobody said them."""
    return tuple(p for p in content if isinstance(p, Media) or p.text.strip())


def _read_part(part: object) -> Text | Media:
    match part:
        case str():
            return Text(part)
        case {"type": "text", "text": str(text)} | {"type": "refusal", "refusal": str(text)}:
            return Text(text)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return media.from_url("image", url)
        case {"type": "image_url", "image_url": str(url)}:
            return media.from_url("image", url)
        case {"type": "video_url", "video_url": {"url": str(url)}}:
            return media.from_url("video", url)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form)}}:
            return media.from_base64("audio", f"audio/{form}", data)
        case {"type": "file", "file": {"file_data": str(url)}}:
            return media.from_url("document", url)
        case _:
            return media.unknown(part)


def _reasoning(item: Object) -> Iterator[Thinking]:
    """Reasoning beside the content, in the field that the provider at hand uses."""
    for field in ("reasoning_content", "reasoning"):
        if text := as_text(item.get(field)):
            yield Thinking(text)
            return
    for block in as_objects(item.get("thinking_blocks")):
        yield Thinking(as_text(block.get("thinking")), as_text(block.get("signature")))


def _extras(item: Object) -> Iterator[Text | Media]:
    if refusal := as_text(item.get("refusal")):
        yield Text(refusal)
    if audio := as_object(item.get("audio")):
        yield media.from_base64("audio", "", as_text(audio.get("data")))
        if transcript := as_text(audio.get("transcript")):
            yield Text(transcript)


def _calls(item: Object, index: int) -> Iterator[ToolCall]:
    for call in as_objects(item.get("tool_calls")):
        id = as_text(call.get("id"))
        if custom := as_object(call.get("custom")):
            yield ToolCall(id, as_text(custom.get("name")), as_text(custom.get("input")))
        else:
            function = as_object(call.get("function"))
            arguments = as_json(function.get("arguments", ""))
            yield ToolCall(id, as_text(function.get("name")), arguments)
    if old := as_object(item.get("function_call")):
        yield ToolCall(f"call-{index}", as_text(old.get("name")), as_json(old.get("arguments", "")))


# Writing


def _write_step(step: Step) -> list[Object]:
    head, *rest = step.messages
    if not head.calls:
        written = _written(head)
        return [written] if written.get("content") or turns.native(head, NAME) else []
    own = as_object(turns.native(head, NAME))
    ids = {c.id: c.id if own else turns.legal_id(c.id, _LONGEST_ID) for c in head.calls}
    names = {c.id: c.name for c in head.calls}
    functions = bool(own.get("function_call")) and not own.get("tool_calls")
    written = [own or _written(head)]
    for message in rest:
        written += _write_results(message, ids, names if functions else {})
    return written


def _write_results(
    message: Message, ids: dict[str, str], functions: dict[str, str]
) -> list[Object]:
    """The results of a step's calls, under the ids that the calls were written with.

    `functions` are names by id, where the call was written in the old form without ids.
    """
    own = as_object(turns.native(message, NAME))
    unchanged = all(ids[result.call_id] == result.call_id for result in message.results)
    if own and unchanged and (own.get("role") == "function") == bool(functions):
        return [own]
    written: list[Object] = []
    for result in message.results:
        text = turns.flat_text(result)
        if functions:
            name = functions[result.call_id]
            written.append({"role": "function", "name": name, "content": text})
        else:
            id = ids[result.call_id]
            written.append({"role": "tool", "tool_call_id": id, "content": text})
    beside = turns.visible(message)
    return [*written, {"role": "user", "content": _content(beside)}] if beside else written


def _written(message: Message) -> Object:
    own = turns.native(message, NAME)
    if own is not None:
        return own
    if message.role != "assistant":
        return {"role": message.role, "content": _content(turns.visible(message))}
    texts = _texts(message)
    built: Object = {"role": "assistant", "content": _content(texts) if texts else None}
    if thinking := "\n".join(t.text for t in turns.own_thinking(message, NAME) if t.text):
        built["reasoning_content"] = thinking
    if message.calls:
        built["tool_calls"] = [_call(call) for call in message.calls]
    return built


def _texts(message: Message) -> tuple[Text, ...]:
    """What an assistant showed; this API takes nothing but text from it."""
    shown = turns.visible(message)
    return tuple(p if isinstance(p, Text) else Text(media.placeholder(p)) for p in shown)


def _call(call: ToolCall) -> Object:
    function = {"name": turns.legal_name(call.name, _LONGEST_NAME), "arguments": call.arguments}
    return {"id": turns.legal_id(call.id, _LONGEST_ID), "type": "function", "function": function}


def _content(parts: Sequence[Text | Media]) -> str | list[Object]:
    match parts:
        case []:
            return ""
        case [Text(text)]:
            return text
        case _:
            return [_write_part(part) for part in parts]


def _write_part(part: Part) -> Object:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Media(kind="image", data=data) if data:
            return {"type": "image_url", "image_url": {"url": media.data_url(part)}}
        case Media(kind="audio") if data := media.inline_base64(part):
            form = part.mime.rpartition("/")[2] or "wav"
            return {"type": "input_audio", "input_audio": {"data": data, "format": form}}
        case Media(kind="document") if media.inline_base64(part):
            return {"type": "file", "file": {"file_data": media.data_url(part)}}
        case Media():
            return {"type": "text", "text": media.placeholder(part)}
        case _:
            raise AssertionError(part)
