"""Whose messages a list holds is told by what only one provider has."""

from __future__ import annotations

from typing import Any

import injected
import pytest
from hypothesis import given

from unremember.formats import anthropic, openai_chat, openai_responses
from unremember.formats.dialect import dialect

PLAIN = {"role": "user", "content": "hello"}


TELLING: list[tuple[Any, str | None]] = [
    ({"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]}, "openai"),
    ({"role": "tool", "tool_call_id": "a", "content": "x"}, "openai"),
    ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, "openai"),
    ({"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}, "anthropic"),
    ({"role": "user", "content": [{"type": "tool_result"}]}, "anthropic"),
    ({"role": "user", "content": [{"type": "image", "source": {}}]}, "anthropic"),
    ({"role": "assistant", "content": [{"type": "thinking"}]}, "anthropic"),
    ({"role": "user", "content": [{"type": "input_text", "text": "a"}]}, "responses"),
    ({"type": "function_call", "call_id": "a"}, "responses"),
    ({"type": "reasoning", "summary": []}, "responses"),
    (PLAIN, "openai"),
    ({"role": "user", "content": [{"type": "text", "text": "a"}]}, "openai"),
    ({"type": "user", "message": {}}, None),
    ({"role": "model", "parts": []}, None),
    ("text", None),
]


@pytest.mark.parametrize(("item", "expected"), TELLING)
def test_one_telling_item_decides(item: object, expected: str | None):
    """One item that only one provider has decides, wherever it stands among plain ones."""
    assert dialect([PLAIN, item, PLAIN]) == expected


def test_nothing_is_nobodys():
    """An empty list is in no form."""
    assert dialect([]) is None


@given(injected.responses())
def test_forms_exclude_each_other(items: list[dict[str, Any]]):
    """A list is taken by one form only."""
    found = [f.NAME for f in (openai_chat, anthropic, openai_responses) if f.matches(items)]
    assert len(found) == 1
