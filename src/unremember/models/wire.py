"""A history as pydantic-ai's messages, and what comes back as a message of ours.

A reply carries its native JSON (`Native("pydantic-ai:…")`), so that signatures, encrypted
reasoning and ids go back to the provider they came from exactly as they were. Whatever was changed
or came from elsewhere is built from its parts; reasoning then goes back only where it is from.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

from unremember.formats import media, turns
from unremember.formats.anthropic import FORGOTTEN
from unremember.history import History
from unremember.messages import (
    Media,
    Message,
    Native,
    Part,
    Text,
    Thinking,
    ToolCall,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_ai import messages as pai

# What every provider accepts: the strictest rule for letters, and the strictest for length.
_ID_LETTERS = r"[^a-zA-Z0-9_-]"
_LONGEST_ID = 40
_LONGEST_NAME = 64

# What a native message needs to go back; the rest of it (usage, time) is told elsewhere.
_KEPT = ("parts", "kind", "model_name", "provider_name", "provider_url", "canonical_system")


@dataclass(frozen=True, slots=True)
class Wire:
    """The rules of one way to talk to a provider.

    `system` is pydantic-ai's name of the provider; `alternates` where roles must take turns;
    `later_system` where system messages may stand among the others; `kin` are the formats of
    recorded conversations whose signed reasoning it takes back. Reasoning of a message that was
    changed goes back where it is `signed`: where nothing but text and signature belongs to it.
    """

    name: str
    system: str
    alternates: bool = False
    later_system: bool = False
    documents: bool = False
    signed: bool = False
    kin: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """The `Native.format` of its replies."""
        return f"pydantic-ai:{self.name}"


OPENAI_CHAT = Wire("openai", "openai", later_system=True)
OPENAI_RESPONSES = Wire("openai-responses", "openai", later_system=True, documents=True)
ANTHROPIC = Wire(
    "anthropic", "anthropic", alternates=True, documents=True, signed=True, kin=("anthropic",)
)
GOOGLE = Wire("google", "google", alternates=True, documents=True, signed=True)
OLLAMA = Wire("ollama", "ollama", later_system=True)


class Memo:
    """What messages became when they were last sent, so that only the new ones are built.

    It belongs to one wire, and holds the messages of the last request only.
    """

    __slots__ = ("_fresh", "_last")

    def __init__(self) -> None:
        self._last: dict[int, _Written] = {}
        self._fresh: dict[int, _Written] = {}

    def get(self, message: Message, ids: Mapping[str, str], build: Callable[[], Any]) -> Any:
        """What the message became, built if it is new or its calls go by other ids now."""
        calls = tuple(ids.items())
        # By identity: the same message of a log. It is kept beside, so the number is not reused.
        found = self._last.get(id(message))
        if found is None or found.message is not message or found.calls != calls:
            found = _Written(message, calls, build())
        self._fresh[id(message)] = found
        return found.value

    def turn_over(self) -> None:
        """Forgets what the request just written did not hold."""
        self._last, self._fresh = self._fresh, {}


@dataclass(frozen=True, slots=True)
class _Written:
    message: Message
    calls: tuple[tuple[str, str], ...]
    value: Any


def to_messages(
    history: History, wire: Wire, *, sees_images: bool, memo: Memo | None = None
) -> list[pai.ModelMessage]:
    """The messages to send: the system's, then all in order, the notes in a user part of their own.

    Everything said between two replies is one request, results first; where roles take turns,
    neighbouring replies are one as well, and a user opens the conversation.
    """
    from pydantic_ai import messages as pai

    built: list[pai.ModelMessage] = []
    asked: list[Any] = [pai.SystemPromptPart(m.text) for m in history.system if m.text.strip()]
    begun = not wire.alternates
    memo = memo or Memo()
    for role, said in _turns(history, wire, sees_images, memo):
        if role == "request":
            asked += cast("list[Any]", said)
            begun = begun or bool(said)
            continue
        if not begun:
            asked.append(pai.UserPromptPart(FORGOTTEN))
            begun = True
        response = cast("pai.ModelResponse", said)
        if asked:
            built.append(pai.ModelRequest(asked))
            asked = []
        elif wire.alternates and built and isinstance(before := built[-1], pai.ModelResponse):
            built.pop()
            response = _joined(before, response)
        built.append(response)
    if asked:
        built.append(pai.ModelRequest(asked))
    memo.turn_over()
    return built


def _turns(
    history: History, wire: Wire, sees_images: bool, memo: Memo
) -> Iterator[tuple[str, list[Any] | pai.ModelResponse]]:
    used: dict[str, int] = {}
    for step in turns.steps(history):
        ids = {call.id: _unused(call.id, used) for call in step.calls}
        names = {call.id: turns.legal_name(call.name, _LONGEST_NAME) for call in step.calls}
        for message in step.messages:
            if message.role != "assistant":
                write = partial(_request_parts, message, wire, ids, names, sees_images)
                yield "request", memo.get(message, ids, write)
            elif response := memo.get(message, ids, partial(_response, message, wire, ids)):
                yield "response", response


def _unused(id: str, used: dict[str, int]) -> str:
    """A legal id for a call: no two calls of a conversation may share one."""
    legal = turns.legal_id(id, _LONGEST_ID, _ID_LETTERS)
    fresh, count = legal, used.get(legal, 0)
    while fresh in used:
        count += 1
        fresh = f"{legal[: _LONGEST_ID - 6]}-{count}"
    # Where the next search begins, so that an id used a thousand times costs no more than once.
    used[legal] = count
    used.setdefault(fresh, 0)
    return fresh


# What is sent


def _request_parts(
    message: Message, wire: Wire, ids: dict[str, str], names: dict[str, str], sees_images: bool
) -> list[Any]:
    from pydantic_ai import messages as pai

    if message.role == "system":
        if wire.later_system:
            return [pai.SystemPromptPart(message.text)]
        # Only what stands at the head may speak as the system here, so it is marked instead.
        return [pai.UserPromptPart(f"<system>\n{message.text}\n</system>")]
    parts: list[Any] = [
        pai.ToolReturnPart(
            tool_name=names[result.call_id],
            tool_call_id=ids[result.call_id],
            content=_content(result.content, wire, sees_images) or "(empty)",
            outcome="failed" if result.failed else "success",
        )
        for result in message.results
    ]
    if shown := turns.visible(message):
        parts.append(pai.UserPromptPart(_content(shown, wire, sees_images)))
    return parts


def _content(parts: Sequence[Text | Media], wire: Wire, sees_images: bool) -> Any:
    """Text and media as pydantic-ai takes them: a string where there is only one text."""
    shown = [_shown(part, wire, sees_images) for part in parts]
    if all(isinstance(part, str) for part in shown):
        return "\n".join(shown) if len(shown) != 1 else shown[0]
    return shown


def _shown(part: Text | Media, wire: Wire, sees_images: bool) -> Any:
    if isinstance(part, Text):
        return part.text
    wanted = (part.kind == "image" and sees_images) or (part.kind == "document" and wire.documents)
    return (_file(part) if wanted else None) or media.placeholder(part)


def _file(part: Media) -> Any:
    """An image or document as pydantic-ai's value; None if its data cannot be read."""
    from pydantic_ai import messages as pai

    if media.is_url(part):
        kind = pai.ImageUrl if part.kind == "image" else pai.DocumentUrl
        return kind(part.data)
    try:
        data = base64.b64decode(media.inline_base64(part), validate=True)
    except (binascii.Error, ValueError):
        return None
    return pai.BinaryContent(data, media_type=part.mime) if data and part.mime else None


def _response(message: Message, wire: Wire, ids: dict[str, str]) -> pai.ModelResponse | None:
    from pydantic_ai import messages as pai

    native = turns.native(message, wire.form)
    if native is not None:
        return _with_ids(_adapter().validate_python(native), ids)
    parts: list[Any] = []
    for part in message.parts:
        match part:
            case Thinking(text, signature) if _is_own(message, wire) and signature:
                # Anthropic's encrypted thinking has no text; pydantic-ai knows it by this id.
                id = None if text else "redacted_thinking"
                parts.append(
                    pai.ThinkingPart(text, id=id, signature=signature, provider_name=wire.system)
                )
            case Text(text) if text.strip():
                parts.append(pai.TextPart(text))
            case Media():
                parts.append(pai.TextPart(media.placeholder(part)))
            case ToolCall(id, name, arguments):
                name = turns.legal_name(name, _LONGEST_NAME)
                parts.append(pai.ToolCallPart(name, arguments, tool_call_id=ids[id]))
            case _:
                pass
    if all(isinstance(part, pai.ThinkingPart) for part in parts):
        return None
    return pai.ModelResponse(parts, provider_name=wire.system)


def _is_own(message: Message, wire: Wire) -> bool:
    forms = (wire.form, *wire.kin) if wire.signed else ()
    return any(turns.own_thinking(message, form) for form in forms)


def _with_ids(response: pai.ModelResponse, ids: dict[str, str]) -> pai.ModelResponse:
    from pydantic_ai import messages as pai

    if all(old == new for old, new in ids.items()):
        return response
    parts = [
        replace(part, tool_call_id=ids.get(part.tool_call_id, part.tool_call_id))
        if isinstance(part, pai.ToolCallPart)
        else part
        for part in response.parts
    ]
    return replace(response, parts=parts)


def _joined(first: pai.ModelResponse, second: pai.ModelResponse) -> pai.ModelResponse:
    """Two neighbouring replies as one, of whose reasoning only the newer is left."""
    from pydantic_ai import messages as pai

    thought = [part for part in second.parts if isinstance(part, pai.ThinkingPart)]
    older = [part for part in first.parts if not isinstance(part, pai.ThinkingPart)]
    newer = [part for part in second.parts if not isinstance(part, pai.ThinkingPart)]
    return replace(second, parts=[*thought, *older, *newer])


# What comes back


def to_message(response: pai.ModelResponse, wire: Wire) -> Message:
    """A reply as a message without an ordinal, its native form beside it.

    A reply that says nothing has one empty text, for a message has at least one part.
    """
    parts = tuple(part for one in response.parts if (part := _read(one)) is not None)
    native = cast("dict[str, Any]", _adapter().dump_python(response, mode="json"))
    kept = {key: native[key] for key in _KEPT if native.get(key) is not None}
    kept["parts"] = [_without_empty(part) for part in kept["parts"]]
    unique = _with_ids_of_their_own(parts)
    source = Native(wire.form, kept if unique == parts else None)
    return Message("assistant", unique or (Text(""),), source=source)


def _without_empty(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if value is not None}


def _read(part: pai.ModelResponsePart) -> Part | None:
    from pydantic_ai import messages as pai

    match part:
        case pai.TextPart(content=text) if text.strip():
            return Text(text)
        case pai.ThinkingPart(content=text, signature=signature) if text or signature:
            return Thinking(text, signature or "")
        case pai.ToolCallPart(tool_name=name, args=arguments, tool_call_id=id):
            written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
            return ToolCall(id, name, written or "{}")
        case pai.FilePart(content=content):
            kind = media.kind_of(content.media_type)
            data = base64.b64encode(content.data).decode("ascii")
            return media.from_base64(kind, content.media_type, data)
        case _:
            return None


def _with_ids_of_their_own(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts, calls without an id of their own given one: some servers send the same twice."""
    seen: set[str] = set()
    unique: list[Part] = []
    for index, part in enumerate(parts):
        if isinstance(part, ToolCall):
            if not part.id or part.id in seen:
                part = replace(part, id=f"{part.id or 'call'}-{index}")
            seen.add(part.id)
        unique.append(part)
    return tuple(unique)


@cache
def _adapter() -> TypeAdapter[pai.ModelResponse]:
    from pydantic import TypeAdapter
    from pydantic_ai import messages as pai

    return TypeAdapter(pai.ModelResponse)
