"""Gemini CLI: recorded chats, saved checkpoints, and sessions as JSON lines.

What is known of the forms:
- A chat is `{"sessionId", "messages"}`; a message of the type `gemini` holds its `toolCalls` with
  their results inside. The types info, error and warning are for the screen, and no messages.
- Newer versions write the same as JSON lines: a first line about the session, then messages, of
  which a later one with the same id replaces the earlier, `$set` and `$rewindTo` lines; what was
  rewound is an abandoned branch.
- A checkpoint is a list of `{"role", "parts"}` as the API takes it (bare, or as `history` or
  `clientHistory`). Calls there often have no id: a response answers the oldest open call of its
  name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from unremember.formats.base import Conversation
from unremember.formats.blocks import arguments, inline, shown
from unremember.formats.media import from_url, kind_of, unknown
from unremember.formats.moment import moment
from unremember.formats.shape import Object, as_json, as_list, as_object, as_objects, as_text
from unremember.formats.threads import Said, assemble
from unremember.messages import Media, Message, Native, Part, Text, Thinking, ToolCall, ToolResult

NAME = "gemini-cli"
LINES = True

_FAILED = {"error", "cancelled"}

# How the program opens every conversation in the user's name, and what it lets the model answer.
_SETUP = ("This is the Gemini CLI. We are setting up the context", "<session_context>")
_SETUP_ANSWER = "Got it. Thanks for the context!"


def matches(head: object) -> bool:
    """Whether a document, or the first lines of one, is one of the three forms."""
    first = next(iter(as_objects(head)), as_object(head))
    return "projectHash" in first or _is_chat(head) or bool(_contents(head))


def _is_chat(head: object) -> bool:
    return any(
        said.get("type") == "gemini" and "content" in said
        for said in as_objects(as_object(head).get("messages"))
    )


def _contents(head: object) -> list[Object]:
    """The contents of a checkpoint; empty if it is none."""
    saved = as_object(head)
    found = as_list(head) or as_list(saved.get("clientHistory")) or as_list(saved.get("history"))
    contents = as_objects(found)
    valid = all(c.get("role") in ("user", "model") and "parts" in c for c in contents)
    return contents if valid else []


def read(
    source: Iterator[tuple[int, Object]] | list[Any] | Object, *, whole: bool = False
) -> list[Conversation]:
    """The one conversation of a chat, a checkpoint, or a session's `(line number, line)` pairs."""
    if isinstance(source, Iterator):
        return [_read_lines((line for _, line in source), whole)]
    contents = _contents(source)
    if contents:
        said = (Said(message) for message in _checkpoint(contents))
        return [assemble(said, form=NAME, whole=whole)]
    chat = as_object(source)
    said = (Said(m) for entry in as_objects(chat.get("messages")) for m in _messages(entry))
    return [assemble(said, form=NAME, whole=whole, id=as_text(chat.get("sessionId")))]


def _read_lines(lines: Iterable[Object], whole: bool) -> Conversation:
    entries: dict[str, tuple[Object, str]] = {}
    session, rewound = "", 0
    for place, line in enumerate(lines):
        session = session or as_text(line.get("sessionId"))
        if "$rewindTo" in line:
            rewound += 1
            kept = list(entries)
            cut = kept.index(line["$rewindTo"]) if line["$rewindTo"] in entries else len(kept)
            for id in kept[cut:]:
                entry, lane = entries[id]
                # Under another key: a message said anew may take the same id.
                del entries[id]
                entries[f"{id} {rewound}"] = entry, lane or f"abandoned branch {rewound}"
        elif "type" in line:
            entries[as_text(line.get("id")) or f"line {place}"] = line, ""
    said = (Said(m, lane=lane) for entry, lane in entries.values() for m in _messages(entry))
    return assemble(said, form=NAME, whole=whole, id=session)


def _messages(entry: Object) -> Iterator[Message]:
    at, id = moment(entry.get("timestamp")), as_text(entry.get("id"))
    source = Native(NAME, entry)
    match entry.get("type"):
        case "user":
            yield from _whole(Message("user", tuple(_parts(entry.get("content")))), at, id, source)
        case "gemini":
            calls = as_objects(entry.get("toolCalls"))
            parts: list[Part] = [*_thoughts(entry.get("thoughts")), *_parts(entry.get("content"))]
            parts += (_call(call, place, id) for place, call in enumerate(calls))
            yield from _whole(Message("assistant", tuple(parts)), at, id, source)
            for place, call in enumerate(calls):
                answer = _answer(call, _call(call, place, id).id)
                if answer:
                    ended = moment(call.get("timestamp")) or at
                    yield Message("tool", (answer,), at=ended, source=Native(NAME, call))
        case _:
            pass


def _whole(message: Message, at: Any, id: str, source: Native) -> Iterator[Message]:
    if message.parts:
        yield replace(message, at=at, id=id, source=source)


def _thoughts(thoughts: object) -> Iterator[Thinking]:
    for thought in as_objects(thoughts):
        lines = (as_text(thought.get("subject")), as_text(thought.get("description")))
        text = "\n".join(line for line in lines if line)
        if text:
            yield Thinking(text)


def _call(call: Object, place: int, message: str) -> ToolCall:
    id = as_text(call.get("id")) or f"{message or 'call'}-{place}"
    return ToolCall(id, as_text(call.get("name")), arguments(call.get("args")))


def _answer(call: Object, id: str) -> ToolResult | None:
    """What a recorded call gave back; None while it ran or waited for a permission."""
    given = call.get("result")
    if given is None:
        given = call.get("resultDisplay")
    failed = call.get("status") in _FAILED
    if given is None and not failed:
        return None
    blocks = as_list(given) or [given]
    parts = [part for block in blocks if block for part in _result_parts(block)]
    failed = failed or any(_is_error(as_object(block).get("functionResponse")) for block in blocks)
    return ToolResult(id, tuple(parts), failed)


def _result_parts(block: object) -> Iterator[Text | Media]:
    answer = as_object(block).get("functionResponse")
    if answer:
        yield from _response(as_object(answer))
        return
    part = _part(block)
    yield part if isinstance(part, Text | Media) else unknown(block)


def _response(answer: Object) -> Iterator[Text | Media]:
    """A function's response: its output or error as text if that is all there is, else its JSON."""
    response = answer.get("response")
    fields = as_object(response)
    alone = next(iter(fields.values())) if len(fields) == 1 else None
    if isinstance(alone, str) and fields.keys() <= {"output", "error"}:
        yield from [Text(alone)] if alone else []
    elif response is not None:
        yield Text(as_json(response))
    for part in as_objects(answer.get("parts")):
        yield from _result_parts(part)


def _is_error(answer: object) -> bool:
    return "error" in as_object(as_object(answer).get("response"))


def _checkpoint(contents: Iterable[Object]) -> Iterator[Message]:
    """The messages of API contents; each response is a message of its own."""
    waiting: dict[str, list[str]] = {}
    calls, setup = 0, False
    for content in contents:
        source = Native(NAME, content)
        parts: list[Part] = []
        answers: list[ToolResult] = []
        for block in as_list(content.get("parts")):
            fields = as_object(block)
            asked, answered = fields.get("functionCall"), fields.get("functionResponse")
            if asked:
                calls += 1
                call = _call(as_object(asked), calls, "call")
                waiting.setdefault(call.name, []).append(call.id)
                parts.append(call)
            elif answered:
                answers.append(_answer_to(as_object(answered), waiting))
            else:
                parts += (part for part in [_part(block)] if not _is_blank(part))
        role = "assistant" if content.get("role") == "model" else "user"
        yield from (Message("tool", (answer,), source=source) for answer in answers)
        message = Message(role, tuple(parts), source=None if answers else source)
        opening = message.text.lstrip().startswith(_SETUP)
        if opening or (setup and message.text.strip() == _SETUP_ANSWER):
            message = replace(message, kind="program")
        setup = opening
        if parts:
            yield message


def _answer_to(answer: Object, waiting: dict[str, list[str]]) -> ToolResult:
    name, id = as_text(answer.get("name")), as_text(answer.get("id"))
    opened = waiting.get(name, [])
    if id in opened:
        opened.remove(id)
    elif not id and opened:
        id = opened.pop(0)
    return ToolResult(id or name, tuple(_response(answer)), _is_error(answer))


def _parts(content: object) -> Iterator[Part]:
    """The parts of a chat's content, which is a text, a part, or a list of parts."""
    blocks = as_list(content) or [content]
    return (p for block in blocks if block for p in [_part(block)] if not _is_blank(p))


def _part(block: object) -> Part:
    fields = as_object(block)
    match block:
        case {"text": str(text), "thought": True}:
            return Thinking(text, as_text(fields.get("thoughtSignature")))
        case {"text": str(text)}:
            return Text(text)
        case {"inlineData": {"data": str(data)}}:
            return inline(as_text(as_object(fields["inlineData"]).get("mimeType")), data)
        case {"fileData": {"fileUri": str(uri)}}:
            mime = as_text(as_object(fields["fileData"]).get("mimeType"))
            return replace(from_url(kind_of(mime), uri), mime=mime)
        case _:
            return shown(block)


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()
