"""Anthropic messages: a list of turns, or a request object with `system` and `messages`.

The API's turns are user and assistant in alternation, the results of tools first in the user turn
right after their calls. `write` keeps to that: neighbours of one role are merged into one turn,
whose blocks stay the objects they were; a turn that needs no change is itself the object it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from unremember.formats import media, turns
from unremember.formats.base import Conversation, conversation
from unremember.formats.blocks import part_of
from unremember.formats.dialect import dialect
from unremember.formats.shape import Object, as_list, as_object, as_objects, as_text
from unremember.history import History
from unremember.messages import (
    Media,
    Message,
    Native,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

NAME = "anthropic"

# The API's own rules for a call's id and a tool's name.
_NO_ID_LETTERS = r"[^a-zA-Z0-9_-]"
_LONGEST_ID = 64
_LONGEST_NAME = 128

FORGOTTEN = "[the conversation so far was forgotten]"
"""What a conversation begins with where only the model's words are left: a user has to open it."""


def matches(head: object) -> bool:
    """Whether a document, or the first lines of one, is in this form."""
    fields = as_object(head)
    items = as_list(fields.get("messages")) or as_list(head)
    known = dialect(items) if items else None
    return known == NAME or (known == "openai" and "system" in fields)


def read(document: object, *, whole: bool = False) -> list[Conversation]:
    """The one conversation in a document; `whole` makes no difference, nothing is dropped here."""
    fields = as_object(document)
    turns_given = as_objects(fields.get("messages")) or as_objects(document)
    reply = as_object(fields.get("response"))
    if reply.get("role") == "assistant" and turns_given[-1:] != [reply]:
        turns_given = [*turns_given, reply]
    messages = [*_read_system(fields.get("system")), *to_messages(turns_given)]
    return [conversation(messages, form=NAME, id=as_text(fields.get("id")))]


def to_messages(items: Iterable[object]) -> list[Message]:
    """The messages of a list of turns, neither mended nor numbered.

    One for each turn; only notes of this program, merged into a turn when they were written, are
    a message of their own again.
    """
    return [message for item in items for message in _read_turn(as_object(item))]


def write(history: History) -> list[dict[str, Any]]:
    """The turns to send, the notes as a block of their own; `system` gives what the system says.

    System messages that stood among the turns, as some proxies take them, stay there.

    A turn that was read from this form and not changed is the same object that was read, and so
    are the blocks of turns that were merged. Reasoning goes back only to where it came from.
    """
    written = _system_turns(history)
    begun = len(written)
    for role, group in groupby(_plain_turns(history), key=lambda turn: turn["role"]):
        if len(written) == begun and role == "assistant":
            written.append({"role": "user", "content": [_text(FORGOTTEN)]})
        written.append(_merged(role, list(group)))
    if len(written) > begun and written[-1]["role"] == "assistant":
        written[-1] = _without_last_blanks(written[-1])
    return written


def system(history: History) -> str | list[dict[str, Any]]:
    """What goes into the request's `system`: the object that was read, or text blocks."""
    apart = [message for message in history.system if not _is_turn(message)]
    if len(apart) == 1 and (own := turns.native(apart[0], NAME)):
        return own
    blocks: list[Object] = []
    for message in apart:
        own = turns.native(message, NAME)
        blocks += _blocks_of(own) if own else _build(turns.visible(message))
    return blocks


def request(history: History) -> dict[str, Any]:
    """The part of a request that is the history: `system`, if there is one, and `messages`."""
    said = system(history)
    head: Object = {"system": said} if said else {}
    return {**head, "messages": write(history)}


def _is_turn(message: Message) -> bool:
    return isinstance(turns.native(message, NAME), dict)


def _system_turns(history: History) -> list[Object]:
    return [turns.native(message, NAME) for message in history.system if _is_turn(message)]


# Reading


def _read_system(value: object) -> Iterator[Message]:
    if parts := tuple(map(part_of, _blocks_of(value))):
        yield Message("system", parts, source=Native(NAME, value))


def _blocks_of(content: object) -> list[Object]:
    """A content as a list of blocks, without blank texts, which the API refuses."""
    given = [content] if isinstance(content, str) else as_list(content)
    blocks = as_objects([_text(block) if isinstance(block, str) else block for block in given])
    return [block for block in blocks if not _is_blank(block)]


def _is_blank(block: Object) -> bool:
    return block.get("type") == "text" and not as_text(block.get("text")).strip()


def _text(text: str) -> Object:
    return {"type": "text", "text": text}


def _read_turn(turn: Object) -> Iterator[Message]:
    blocks = _blocks_of(turn.get("content"))
    places = [i for i, b in enumerate(blocks) if turns.is_note(as_text(b.get("text")))]
    if len(blocks) == 1 or not places:
        yield _message(turn, blocks)
        return
    start = 0
    for place in (*places, len(blocks)):
        for piece in (blocks[start:place], blocks[place : place + 1]):
            if piece:
                yield _message({"role": turn.get("role"), "content": piece}, piece)
        start = place + 1


def _message(turn: Object, blocks: Sequence[object]) -> Message:
    parts = tuple(map(part_of, blocks))
    source = Native(NAME, turn)
    match turn.get("role"):
        case "assistant":
            return Message("assistant", parts, source=source)
        case "system" | "developer":
            return Message("system", parts, source=source)
        case "user" if parts and all(isinstance(part, ToolResult) for part in parts):
            return Message("tool", parts, source=source)
        case "user":
            return turns.user_message(parts, Message("user", (), source=source))
        case _:
            return Message("user", parts, kind="program")


# Writing


def _plain_turns(history: History) -> Iterator[Object]:
    """One turn for each message that has something to say, not yet merged."""
    used: set[str] = set()
    for step in turns.steps(history):
        ids = {call.id: _unused(call.id, used) for call in step.calls}
        for message in step.messages:
            turn = _with_ids(_turn(message), ids)
            if not all(map(_is_thinking, _blocks_of(turn["content"]))):
                yield turn


def _unused(id: str, used: set[str]) -> str:
    """A legal id for a call: in this API no two calls of a conversation may share one."""
    legal = turns.legal_id(id, _LONGEST_ID, _NO_ID_LETTERS)
    fresh, count = legal, 1
    while fresh in used:
        count += 1
        fresh = f"{legal}-{count}"
    used.add(fresh)
    return fresh


def _with_ids(turn: Object, ids: dict[str, str]) -> Object:
    if all(old == new for old, new in ids.items()):
        return turn
    return {**turn, "content": [_with_id(block, ids) for block in _blocks_of(turn["content"])]}


def _with_id(block: Object, ids: dict[str, str]) -> Object:
    field = {"tool_use": "id", "tool_result": "tool_use_id"}.get(as_text(block.get("type")), "")
    old = as_text(block.get(field))
    return {**block, field: ids[old]} if ids.get(old, old) != old else block


def _turn(message: Message) -> Object:
    own = as_object(turns.native(message, NAME))
    if own and message.role != "system":
        return own
    role = "assistant" if message.role == "assistant" else "user"
    shown = turns.visible(message)
    if message.role == "system":
        # A later system message: only `system` may speak as the system, so it is marked instead.
        return {"role": role, "content": [_text(f"<system>\n{message.text}\n</system>")]}
    blocks = [_thinking(t) for t in turns.own_thinking(message, NAME) if t.signature]
    blocks += [_result(result) for result in message.results]
    blocks += _build(shown) if role == "user" else [_text(_as_text(part)) for part in shown]
    blocks += [_call(call) for call in message.calls]
    return {"role": role, "content": blocks}


def _as_text(part: Text | Media) -> str:
    return part.text if isinstance(part, Text) else media.placeholder(part)


def _thinking(part: Thinking) -> Object:
    if not part.text:
        return {"type": "redacted_thinking", "data": part.signature}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}


def _call(call: ToolCall) -> Object:
    name = turns.legal_name(call.name, _LONGEST_NAME)
    return {"type": "tool_use", "id": call.id, "name": name, "input": call.parsed()}


def _result(result: ToolResult) -> Object:
    block: Object = {"type": "tool_result", "tool_use_id": result.call_id}
    shown = [p for p in result.content if isinstance(p, Media) or p.text.strip()]
    match shown:
        case []:
            pass
        case [Text(text)]:
            block["content"] = text
        case _:
            block["content"] = _build(shown)
    return {**block, "is_error": True} if result.failed else block


def _build(parts: Iterable[Text | Media]) -> list[Object]:
    return [_build_block(part) for part in parts]


def _build_block(part: Text | Media) -> Object:
    match part:
        case Text(text):
            return _text(text)
        case Media(kind="image" | "document" as kind, data=data) if media.is_url(part):
            return {"type": kind, "source": {"type": "url", "url": data}}
        case Media(kind="image" | "document" as kind, mime=mime, data=data) if mime and data:
            inline = media.inline_base64(part)
            source = {"type": "base64", "media_type": mime, "data": inline}
            return {"type": kind, "source": source}
        case _:
            return _text(media.placeholder(part))


def _merged(role: str, group: Sequence[Object]) -> Object:
    """One turn of several of the same role; a single one that is legal stays what it is."""
    contents = [_blocks_of(turn["content"]) for turn in group]
    blocks = _ordered_answers(contents) if role == "user" else _ordered_words(contents)
    [first, *more] = group
    given = first["content"]
    if more:
        return {"role": role, "content": blocks}
    if isinstance(given, str) or _same(blocks, given):
        return first
    return {**first, "content": blocks}


def _same(blocks: Sequence[object], others: Sequence[object]) -> bool:
    return len(blocks) == len(others) and all(a is b for a, b in zip(blocks, others, strict=True))


def _ordered_answers(contents: Iterable[Sequence[Object]]) -> list[Object]:
    """The blocks of a user turn: results first, all else behind them."""
    blocks = [block for content in contents for block in content]
    return sorted(blocks, key=lambda block: block.get("type") != "tool_result")


def _ordered_words(contents: Sequence[Sequence[Object]]) -> list[Object]:
    """The blocks of an assistant turn, of whose reasoning only the newest message's is left.

    The API wants a turn that has reasoning to begin with it, unchanged; that of older messages
    may be left out.
    """
    thoughts = [[b for b in content if _is_thinking(b)] for content in contents]
    last = max((i for i, found in enumerate(thoughts) if found), default=0)
    words = [b for content in contents[:last] for b in content if not _is_thinking(b)]
    rest = [b for content in contents[last:] for b in content if not _is_unsigned(b)]
    if not words:
        return rest
    signed = [block for block in thoughts[last] if not _is_unsigned(block)]
    return [*signed, *words, *(block for block in rest if not _is_thinking(block))]


def _is_thinking(block: Object) -> bool:
    return block.get("type") in ("thinking", "redacted_thinking")


def _is_unsigned(block: Object) -> bool:
    return block.get("type") == "thinking" and not block.get("signature")


def _without_last_blanks(turn: Object) -> Object:
    """An assistant turn that ends the conversation may not end in white space."""
    content = turn["content"]
    if isinstance(content, str):
        clean = content.rstrip()
        return turn if clean == content else {**turn, "content": clean}
    *before, last = content
    text = as_text(last.get("text")) if last.get("type") == "text" else ""
    clean = text.rstrip()
    return turn if clean == text else {**turn, "content": [*before, {**last, "text": clean}]}
