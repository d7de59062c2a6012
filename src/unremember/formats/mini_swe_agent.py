"""mini-swe-agent: one `.traj.json` with `messages`.

Since version 2 the messages are those of OpenAI with tool calls, and a last one with the role
`exit`, which is what the submitting command printed. Before, and in its text mode still, a command
is a block of shell in the assistant's text, and the user message after it is what it printed; both
become a call of the tool `bash` and its result here. A file of a run over the Responses API holds
its items and whole responses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from unremember.formats import openai_chat, openai_responses
from unremember.formats.base import Conversation, conversation
from unremember.formats.shape import Object, as_object, as_objects, as_text
from unremember.messages import Media, Message, Native, Part, Text, ToolCall, ToolResult

NAME = "mini-swe-agent"

_ACTION = re.compile(r"```(?:mswea_bash_command|bash)[^\S\n]*\n(.*?)\n?```", re.DOTALL)

# What the program says when the person at the terminal speaks; the rest of the line is theirs.
_USER_SPOKE = re.compile(
    r"\s*(?:Interrupted by user|Commands? not executed\. The user rejected"
    r"|The user added a new task|User command:)"
)
_USER_INTERRUPTS = frozenset({"UserInterruption", "UserRejection", "UserNewTask"})


def matches(head: object) -> bool:
    """Whether a document is a trajectory of this agent."""
    fields = as_object(head)
    info = as_object(fields.get("info"))
    named = as_text(fields.get("trajectory_format")).startswith(NAME) or "mini_version" in info
    return named and isinstance(fields.get("messages"), list)


def read(document: object, *, whole: bool = False) -> list[Conversation]:
    """The one conversation in a document; `whole` makes no difference, nothing is dropped here."""
    fields = as_object(document)
    items = as_objects(fields.get("messages"))
    settings = as_object(as_object(fields.get("info")).get("config"))
    folder = as_text(as_object(settings.get("environment")).get("cwd"))
    messages = _from_responses(items) if _is_responses(items) else _from_chat(items)
    id = as_text(fields.get("instance_id"))
    return [conversation(messages, form=NAME, id=id, cwd=folder)]


def _is_responses(items: Iterable[Object]) -> bool:
    return any(i.get("object") == "response" or i.get("type") == "function_call" for i in items)


def _from_responses(items: Iterable[Object]) -> list[Message]:
    flat = [part for item in items for part in (as_objects(item.get("output")) or [item])]
    return openai_responses.to_messages(flat)


def _from_chat(items: Sequence[Object]) -> list[Message]:
    messages: list[Message] = []
    open_calls: list[ToolCall] = []
    for index, message in enumerate(openai_chat.to_messages(items)):
        item = items[index]
        read = _read(replace(message, source=Native(NAME, item)), item, open_calls, index)
        answered = {result.call_id for result in read.results}
        open_calls = [call for call in open_calls if call.id not in answered]
        open_calls += read.calls
        # A run that hit a limit ends with an `exit` that says nothing.
        if read.parts or item.get("role") != "exit":
            messages.append(read)
    return messages


def _read(message: Message, item: Object, open_calls: Sequence[ToolCall], index: int) -> Message:
    extra = as_object(item.get("extra"))
    match message.role:
        case "assistant" if not message.calls:
            return replace(message, parts=tuple(_text_protocol(message.text, index)))
        case "tool":
            failed = _has_failed(extra)
            parts = tuple(replace(result, failed=failed) for result in message.results)
            return replace(message, parts=parts)
        case "user" if index > 1 or item.get("role") == "exit":
            return _observation(message, extra, open_calls)
        case _:
            return message


def _text_protocol(text: str, index: int) -> Iterator[Part]:
    """A text with exactly one block of shell is a call; the agent refuses any other number."""
    blocks = list(_ACTION.finditer(text))
    if len(blocks) != 1:
        if text.strip():
            yield Text(text)
        return
    [block] = blocks
    for prose in (text[: block.start()], text[block.end() :]):
        if prose.strip():
            yield Text(prose.strip())
    arguments = json.dumps({"command": block[1].strip()}, ensure_ascii=False)
    yield ToolCall(f"bash-{index}", "bash", arguments)


def _observation(message: Message, extra: Object, open_calls: Sequence[ToolCall]) -> Message:
    """A later user message: what the last command printed, the program's words, or a person's."""
    spoken = extra.get("interrupt_type") in _USER_INTERRUPTS or _USER_SPOKE.match(message.text)
    content = tuple(part for part in message.parts if isinstance(part, Text | Media))
    if not open_calls:
        return message if spoken else replace(message, kind="program")
    call = open_calls[0]
    if spoken:
        refused = ToolResult(call.id, (), failed=True)
        return replace(message, parts=(refused, *content), kind="said")
    result = ToolResult(call.id, content, _has_failed(extra))
    return replace(message, role="tool", parts=(result,), kind="said")


def _has_failed(extra: Object) -> bool:
    return extra.get("returncode") not in (0, None)
