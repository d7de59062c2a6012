"""Counting prompts, and remembering them: how much of one stood at the beginning of another."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil

from unremember.formats.media import from_base64, from_url
from unremember.formats.shape import Object, as_list, as_object, as_text
from unremember.testing.wire.base import Piece
from unremember.tokens import PER_MESSAGE, Counter, weigh_media

CALL = 3
"""Tokens around a call's name and arguments."""

# Fields that steer and are not read by the model.
_SILENT = frozenset(
    {"type", "role", "id", "call_id", "tool_call_id", "tool_use_id", "status", "cache_control",
     "detail", "phase", "strict", "annotations", "logprobs"}
)  # fmt: skip
_MEDIA = frozenset({"image", "image_url", "document", "file", "audio"})
_SEALED = frozenset({"signature", "encrypted_content", "data"})


class Prompts:
    """The prompts a server has seen, by the digests of their beginnings.

    A prompt is cached piece by piece; two prompts share what is the same byte for byte from the
    start. Below `least` tokens nothing is cached, as with the vendors.
    """

    def __init__(self, counter: Counter, factor: float, least: int) -> None:
        self.counter = counter
        self.factor = factor
        self.least = least
        self._tokens: dict[bytes, int] = {}
        self._seen: set[bytes] = set()

    def text(self, text: str) -> int:
        """Tokens of one text."""
        return ceil(self.counter.count([text])[0] * self.factor)

    def look_up(self, root: str, pieces: Iterable[Piece], *, automatic: bool) -> Looked:
        """Counts a prompt and finds its cached beginning.

        `root` separates what never shares a cache, such as two models.
        """
        pieces = list(pieces)
        marks = {place for place, piece in enumerate(pieces) if automatic or piece.marked}
        last = max(marks, default=-1)
        digest = hashlib.sha256(root.encode())
        total = cached = marked = newest = 0
        fresh: list[bytes] = []
        for place, piece in enumerate(pieces):
            text = _bytes(piece.value)
            newest = self._weigh(piece, text)
            total += newest
            digest.update(hashlib.sha256(text).digest())
            here = digest.digest()
            # What lies behind the last mark is not looked for: nobody asked for it.
            if here in self._seen and place <= last:
                cached = total
            if place in marks:
                marked = total
                fresh.append(here)
        written = 0 if automatic or marked < self.least else max(0, marked - cached)
        cached = cached if cached >= self.least else 0
        return Looked(total, cached, written, newest, tuple(fresh))

    def remember(self, looked: Looked) -> None:
        """From now on the beginnings of this prompt are cached: it was answered."""
        self._seen.update(looked.beginnings)

    def _weigh(self, piece: Piece, text: bytes) -> int:
        key = hashlib.sha256(text).digest() + piece.tokens.to_bytes(4, "big")
        if key not in self._tokens:
            texts: list[str] = []
            extra = piece.tokens
            for leaf in _leaves(piece.value):
                if isinstance(leaf, str):
                    texts.append(leaf)
                else:
                    extra += leaf
            counted = sum(self.counter.count(texts)) if texts else 0
            self._tokens[key] = ceil((counted + extra) * self.factor)
        return self._tokens[key]


@dataclass(frozen=True, slots=True)
class Looked:
    """Tokens of a prompt: all, those read from the cache, and those written to it by a mark.

    `newest` are those of its last piece, `beginnings` the digests of what can be cached of it.
    """

    total: int = 0
    cached: int = 0
    written: int = 0
    newest: int = 0
    beginnings: tuple[bytes, ...] = ()


def message(value: object, *, calls: int = 0, marked: bool = False) -> Piece:
    """A piece that is a whole message."""
    return Piece(value, PER_MESSAGE + CALL * calls, marked)


def tool(spec: Object, schema: str) -> Piece:
    """A piece that is a tool: its name, its description and its schema under the key `schema`."""
    inner = as_object(spec.get("function")) or spec
    written = json.dumps(inner.get(schema), ensure_ascii=False, separators=(",", ":"))
    shown = {k: inner.get(k) for k in ("name", "description")} | {"parameters": written}
    return Piece(shown, marked="cache_control" in spec)


def _bytes(value: object) -> bytes:
    return json.dumps(_unmarked(value), ensure_ascii=False).encode("utf-8", "replace")


def _unmarked(value: object) -> object:
    """Without cache marks: to move a mark does not break a cache."""
    if entries := as_list(value):
        return list(map(_unmarked, entries))
    if fields := as_object(value):
        return {k: _unmarked(v) for k, v in fields.items() if k != "cache_control"}
    return value


def _leaves(value: object) -> Iterator[str | int]:
    """The texts in a piece that a model reads, and the tokens of what is no text."""
    if isinstance(value, str):
        yield value
    for entry in as_list(value):
        yield from _leaves(entry)
    yield from _leaves_of_object(as_object(value))


def _leaves_of_object(value: Object) -> Iterator[str | int]:
    kind = as_text(value.get("type"))
    if kind.removeprefix("input_") in _MEDIA:
        yield _weigh_media(kind, value)
        return
    for name, inner in value.items():
        if name in _SEALED:
            # Sealed reasoning is about as long as what it hides, and read only in part.
            yield len(as_text(inner)) // 16
        elif name == "input" and isinstance(inner, dict):
            yield json.dumps(inner, ensure_ascii=False)
        elif name not in _SILENT:
            yield from _leaves(inner)


def _weigh_media(kind: str, part: Object) -> int:
    """Tokens of a picture, a sound or a document by its size, wherever its data stands."""
    named = as_object(part.get("source")) or as_object(part.get(kind)) or part
    data = next(
        (as_text(named[k]) for k in ("data", "url", "image_url", "file_data") if k in named), ""
    )
    what = "image" if "image" in kind else "audio" if "audio" in kind else "document"
    if "://" in data[:20] or data.startswith("data:"):
        return weigh_media(from_url(what, data))
    return weigh_media(from_base64(what, as_text(named.get("media_type")), data))
