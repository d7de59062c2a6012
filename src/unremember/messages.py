"""What is said in a conversation, as plain frozen values.

No provider and no framework appears here. A `Message` has a role and parts; a part is one of
`Text`, `Thinking`, `ToolCall`, `ToolResult`, `Media`. Each message, and each call and result in
it, has an *ordinal* in its conversation, written as a *handle* (`m41`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, cast

Role = Literal["system", "user", "assistant", "tool"]

Kind = Literal["said", "summary", "program", "demo"]
"""Why a message is there: somebody said it; an earlier compaction of another program wrote it;
the program around the agent put it in (a hook, a reminder); it is a demonstration."""

MediaKind = Literal["image", "audio", "video", "document", "other"]


@dataclass(frozen=True, slots=True)
class Text:
    """Something written: by the user, by the agent, or in a tool's result."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's reasoning.

    `signature` is what the provider needs to accept it back: a signature, or the whole
    encrypted content; it is opaque and never counted by its characters alone.
    """

    text: str
    signature: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to run a tool. `arguments` is the raw string that the model wrote, usually JSON."""

    id: str
    name: str
    arguments: str

    def parsed(self) -> dict[str, Any]:
        """The arguments as a dict; text that is no JSON object comes back under the key `input`."""
        try:
            value: object = json.loads(self.arguments)
        except ValueError:
            return {"input": self.arguments}
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {"input": value}


@dataclass(frozen=True, slots=True)
class Media:
    """An image, a sound, a film, a document, or a part of a kind that is not known here.

    `size` is in bytes, `width` and `height` in pixels (0: unknown). `data` is a URL or base64 and
    is never counted by its length, except for the kind "other", where it is the part's JSON.
    """

    kind: MediaKind
    mime: str = ""
    size: int = 0
    width: int = 0
    height: int = 0
    data: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back for the call `call_id`; `failed` when it was an error."""

    call_id: str
    content: tuple[Text | Media, ...]
    failed: bool = False

    @property
    def text(self) -> str:
        """The written content, parts joined by a line break."""
        return "\n".join(part.text for part in self.content if isinstance(part, Text))


Part = Text | Thinking | ToolCall | ToolResult | Media


@dataclass(frozen=True, slots=True)
class Native:
    """The message as it stood in its own form; `value` is parsed JSON and must not be changed."""

    format: str
    value: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    `ordinal` is given when it is said (0: not yet). A message takes the next ordinal and each of
    its calls and results one more; a message that is one single result *is* that result and takes
    one in all. `pinned` marks what must be kept word for word besides the user's own words.
    """

    role: Role
    parts: tuple[Part, ...]
    ordinal: int = 0
    id: str = ""
    at: datetime | None = None
    kind: Kind = "said"
    pinned: bool = False
    source: Native | None = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        """The written parts (not thinking, not results), joined by a line break."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in it, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results in it, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def span(self) -> int:
        """How many ordinals it takes."""
        numbered = sum(isinstance(part, ToolCall | ToolResult) for part in self.parts)
        return 1 if self.is_single_result else 1 + numbered

    @property
    def is_single_result(self) -> bool:
        """Whether it is one tool result and nothing else."""
        return len(self.parts) == 1 and isinstance(self.parts[0], ToolResult)

    def numbered_parts(self) -> Iterator[tuple[int, ToolCall | ToolResult]]:
        """Its calls and results with their ordinals."""
        ordinal = self.ordinal - self.is_single_result
        for part in self.parts:
            if isinstance(part, ToolCall | ToolResult):
                ordinal += 1
                yield ordinal, part


_HANDLE = re.compile(r"(?:a\d+\.)?m([1-9]\d{0,8})")


def handle(ordinal: int) -> str:
    """The handle of an ordinal: `handle(41) == "m41"`."""
    return f"m{ordinal}"


def parse_handle(text: str) -> int | None:
    """The ordinal in a handle such as `m41`, or None if `text` is none."""
    found = _HANDLE.fullmatch(text.strip())
    return int(found[1]) if found else None


def number(messages: Iterable[Message], first: int = 1) -> list[Message]:
    """Gives every message without an ordinal the next one, beginning at `first`."""
    numbered: list[Message] = []
    for message in messages:
        if not message.ordinal:
            message = replace(message, ordinal=first)
        first = max(first, message.ordinal + message.span)
        numbered.append(message)
    return numbered


def find(messages: Iterable[Message], ordinal: int) -> Message | ToolCall | ToolResult | None:
    """What the handle of `ordinal` names among `messages`; None if nothing does."""
    for message in messages:
        if message.ordinal <= ordinal < message.ordinal + message.span:
            parts = dict(message.numbered_parts())
            return (
                message
                if ordinal == message.ordinal and not message.is_single_result
                else parts[ordinal]
            )
    return None
