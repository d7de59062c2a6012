"""What the wire formats have in common: the terms of a server, an answer, a refusal, a stream."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from unremember.formats.shape import Object, as_list, as_objects
from unremember.messages import ToolCall
from unremember.models.base import Usage
from unremember.testing.turns import Ending, Form

Flavour = Literal["vendor", "llama.cpp", "ollama"]


class Refused(Exception):
    """A request that the vendor would not take; `kind` and `code` are in its own vocabulary."""

    def __init__(
        self,
        message: str,
        status: int = 400,
        *,
        kind: str = "",
        code: str | None = None,
        param: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.message = message
        self.status = status
        self.kind = kind
        self.code = code
        self.param = param
        self.extra = dict(extra or {})
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Seal:
    """Signs reasoning so that only this server's own is taken back, unchanged."""

    secret: bytes

    def close(self, text: str) -> str:
        """An opaque string that holds `text` and proves who sealed it."""
        plain = text.encode("utf-8", "replace")
        return base64.b64encode(self._mark(plain) + plain).decode()

    def open(self, sealed: object) -> str | None:
        """What was sealed; None if somebody else sealed it or it was changed."""
        try:
            raw = base64.b64decode(str(sealed), validate=True)
        except ValueError:
            return None
        mark, plain = raw[:32], raw[32:]
        return plain.decode() if hmac.compare_digest(mark, self._mark(plain)) else None

    def _mark(self, plain: bytes) -> bytes:
        return hmac.digest(self.secret, plain, hashlib.sha256)


@dataclass(slots=True)
class Store:
    """What the Responses API keeps of its own answers: items, conversations, and which item
    belongs to which reasoning."""

    items: dict[str, Object] = field(default_factory=dict[str, Object])
    conversations: dict[str, list[Object]] = field(default_factory=dict[str, list[Object]])
    reasons: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Terms:
    """What a server demands. `models` empty: every name is served; `key` empty: any key will do."""

    models: tuple[str, ...]
    key: str
    window: int
    max_output: int
    flavour: Flavour
    seal: Seal
    store: Store


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says, ready to be written. `usage` None: the numbers are left out."""

    id: str
    model: str
    text: str
    thinking: str
    calls: tuple[ToolCall, ...]
    ending: Ending
    usage: Usage | None
    thinking_tokens: int
    request: Object
    terms: Terms


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a prompt in the order in which it is cached: tools, system prompt, messages.

    `value` is its JSON. `tokens` are those besides its texts. `marked`: a cache mark stands on it.
    """

    value: object
    tokens: int = 0
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """A wire format. `check` raises `Refused`; `cap` is the output cap that a request asks for;
    `automatic` says whether prompts are cached without marks."""

    form: Form
    automatic: bool
    check: Callable[[Object, Mapping[str, str], Terms], None]
    pieces: Callable[[Object, Terms], list[Piece]]
    cap: Callable[[Object], int | None]
    too_long: Callable[[int, int, int, Terms], Refused]
    error: Callable[[Refused, Terms], Object]
    error_event: Callable[[Refused, Terms], bytes]
    whole: Callable[[Answer], Object]
    stream: Callable[[Answer], Iterator[bytes]]
    error_kind: Callable[[int], Refused]


def as_bytes(value: object) -> bytes:
    """JSON with characters as they are: so a stream can be split inside of them."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def event(data: object, name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + as_bytes(data) + b"\n\n"


def fragments(text: str, size: int = 5) -> Iterator[str]:
    """A text in small pieces; those of a JSON text end inside of its escapes as well."""
    return (text[at : at + size] for at in range(0, len(text), size))


def tear(data: bytes) -> Iterator[bytes]:
    """An event in the pieces that a network may make of it: torn inside the first character that
    has several bytes, inside the first escape, and between its last line breaks."""
    inside = next((at + 1 for at, byte in enumerate(data) if byte >= 0xC0), 0)
    escape = data.find(b"\\") + 1
    places = sorted({0, inside, escape, len(data) - 1, len(data)})
    for start, end in pairwise(places):
        yield data[start:end]


def require_whole_number(body: Object, field: str, least: int = 1) -> int | None:
    """The whole number in a field, None if it is absent. Raises `Refused`."""
    value = body.get(field)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise Refused(f"{field}: expected a whole number of at least {least}", param=field)
    return value


def require_between(body: Object, field: str, most: float) -> None:
    """Refuses a number outside of 0 to `most`."""
    value = body.get(field)
    if value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= most:
        raise Refused(f"{field}: expected a number from 0 to {most}", param=field)


def require_known(fields: Mapping[str, Any], known: frozenset[str], at: str = "") -> None:
    """Refuses a field that the API does not have."""
    for name in fields:
        if name not in known:
            place = f"{at}.{name}" if at else name
            raise Refused(f"{place}: this field is not known here", param=place)


def require_flag(body: Object, field: str) -> None:
    """Refuses a field that is neither true nor false nor absent."""
    if not isinstance(body.get(field), bool | None):
        raise Refused(f"{field}: expected true or false", param=field)


def require_objects(value: object, field: str) -> list[Object]:
    """The objects of a list, none if it is absent. Refuses what is no list of objects."""
    if value is None:
        return []
    objects = as_objects(value)
    if value != [] and (not objects or len(objects) != len(as_list(value))):
        raise Refused(f"{field}: expected a list of objects", param=field)
    return objects
