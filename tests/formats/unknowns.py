"""Strategies for what a log does not know: fields, parts and lines, with any JSON in them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

Object = dict[str, Any]

_SCALARS: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1.5, "", "x", "테스트가 실패", "🙂", "a\n\nb ", 2**53]
)

JSON: st.SearchStrategy[Any] = st.one_of(
    _SCALARS,
    st.lists(_SCALARS, max_size=2),
    st.dictionaries(st.sampled_from(["type", "text", "k"]), _SCALARS, max_size=2),
)

FIELDS: st.SearchStrategy[Object] = st.dictionaries(
    st.sampled_from(["x_cache", "x_note", "x_trace"]), JSON, max_size=2
)

WORDS = st.one_of(
    st.sampled_from(["hello", "跑一下测试", "고쳐 주세요 🙂", "line\n" * 30, " {not json "]),
    st.text(st.characters(codec="utf-8", exclude_characters="<#$\x00"), min_size=1, max_size=20),
).filter(lambda text: bool(text.strip()))


def joined(*objects: Object) -> Object:
    """One object with the fields of all."""
    return {key: value for one in objects for key, value in one.items()}


def _part(kind: str, inner: object) -> Object:
    return {"type": f"x_{kind}", "inner": inner}


PARTS: st.SearchStrategy[Object] = st.builds(
    joined, st.builds(_part, st.sampled_from(["hologram", "smell"]), JSON), FIELDS
)


def lines(entries: Iterable[object]) -> bytes:
    """Entries as a file of JSON lines."""
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()
