"""Entries as bytes, and back: JSON, compressed when that pays.

Any text survives byte for byte, lone surrogates included. Within an entry each longer text is
stored once, although a message and its native form (`Message.source`) both hold it.
"""

from __future__ import annotations

import json
import types
import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from unremember.archive.entries import (
    Answered,
    CallFinished,
    CallStarted,
    Compressed,
    Entry,
    Failed,
    Opened,
    Purged,
    Reached,
    Said,
    Undone,
)
from unremember.errors import InputError
from unremember.notes import Notes

# pydantic takes longer to import than all the rest; only who opens an archive pays for it.
if TYPE_CHECKING:
    from pydantic import TypeAdapter

KINDS: dict[str, type[Entry]] = {
    kind.__name__: kind
    for kind in (
        Opened,
        Said,
        CallStarted,
        CallFinished,
        Answered,
        Compressed,
        Failed,
        Reached,
        Undone,
        Purged,
    )
}

COMPRESS_FROM = 200
"""In bytes. Shorter entries hardly shrink."""

POOL_FROM = 32
"""In characters. A shorter text costs little more than a reference to it."""

MARK = "\0"
"""Begins a reference to a pooled text. Texts that begin with it are pooled, also short ones."""


_E = TypeVar("_E", bound=Entry)


class Damaged(ValueError):
    """The bytes are no entry."""


@cache
def _adapter(kind: type[_E]) -> TypeAdapter[tuple[_E]]:
    # Parts are told apart by their fields, so an unknown field must not be overlooked. In a tuple,
    # because pydantic takes a config for a bare dataclass from nowhere else than the class itself.
    from pydantic import ConfigDict, TypeAdapter

    config = ConfigDict(extra="forbid")
    return TypeAdapter(cast("type[tuple[_E]]", types.GenericAlias(tuple, (kind,))), config=config)


@cache
def _notes_adapter() -> TypeAdapter[Notes]:
    from pydantic import TypeAdapter

    return TypeAdapter(Notes)


def kind_of(entry: Entry) -> str:
    """The name under which an entry is stored."""
    return type(entry).__name__


def encode(entry: Entry) -> bytes:
    """An entry as bytes; `kind_of` must be stored beside them.

    Raises `InputError` when the native form of a message is no JSON.
    """
    value: tuple[object] = _adapter(type(entry)).dump_python((entry,))
    pool: dict[str, int] = {}
    tree = _pooled(value[0], pool)
    text = json.dumps(
        [tree, list(pool)], ensure_ascii=False, separators=(",", ":"), default=_as_json
    )
    # Not JSON's own escapes: they would read two lone surrogates in a row as one character.
    body = text.encode("utf-8", "surrogatepass")
    return body if len(body) < COMPRESS_FROM else zlib.compress(body)


def decode(kind: str, body: bytes) -> Entry:
    """The inverse of `encode`. Raises `Damaged` when the bytes are no such entry."""
    # pydantic's own error is a ValueError as well.
    try:
        raw = body if body.startswith(b"[") else zlib.decompress(body)
        tree, pool = json.loads(raw.decode("utf-8", "surrogatepass"))
        return _built(KINDS[kind], _unpooled(tree, pool) if pool else tree)
    except (ValueError, LookupError, TypeError, zlib.error) as error:
        raise Damaged(f"{type(error).__name__} in an entry of kind {kind}") from error


def _built(kind: type[Entry], tree: dict[str, Any]) -> Entry:
    if kind is not Compressed:
        return _adapter(kind).validate_python((tree,))[0]
    # Notes change from release to release: what an earlier one noted beside is left out.
    notes = _notes_adapter().validate_python(tree.pop("notes"))
    return replace(_adapter(Compressed).validate_python((tree,))[0], notes=notes)


def _as_json(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise InputError(
        f"a message's native form holds a {type(value).__name__}; only parsed JSON can be stored"
    )


def _pooled(value: object, pool: dict[str, int]) -> object:
    match value:
        case str() if len(value) >= POOL_FROM or value.startswith(MARK):
            return f"{MARK}{pool.setdefault(value, len(pool))}"
        case list() | tuple():
            return [_pooled(item, pool) for item in cast("Sequence[object]", value)]
        case dict():
            items = cast("dict[str, object]", value).items()
            return {key: _pooled(item, pool) for key, item in items}
        case _:
            return value


def _unpooled(value: Any, pool: list[str]) -> Any:
    match value:
        case str() if value.startswith(MARK):
            return pool[int(value[1:])]
        case list():
            return [_unpooled(item, pool) for item in cast("list[object]", value)]
        case dict():
            items = cast("dict[str, object]", value).items()
            return {key: _unpooled(item, pool) for key, item in items}
        case _:
            return value
