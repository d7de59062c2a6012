"""Whatever a request looks like, the server answers it: with words, or with a refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asking import LEAST, Object, post
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unremember.formats.shape import as_list, as_object
from unremember.testing import Say, StrictServer

SCHEMA: Object = {"type": "object", "properties": {"a": {"type": "array", "items": {}}}}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
TEXT = {"type": "text", "text": "x"}

# A request of each form in which much is used.
FULL: dict[str, Object] = {
    "chat": LEAST["chat"] | {
        "messages": [
            {"role": "system", "content": [TEXT]},
            {"role": "user", "content": [TEXT, {"type": "image_url", "image_url": {"url": "x://"}}]},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
        "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 50, "stop": ["x"],
    },
    "responses": LEAST["responses"] | {
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": [TEXT]},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": SCHEMA}],
        "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
        "instructions": "x", "include": ["reasoning.encrypted_content"], "max_output_tokens": 50,
    },
    "messages": LEAST["messages"] | {
        "system": [{**TEXT, "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [
                TEXT, {"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [TEXT]}]},
        ],
        "tools": [{"name": "f", "input_schema": SCHEMA}],
        "tool_choice": {"type": "auto"},
        "thinking": {"type": "adaptive"},
    },
}  # fmt: skip

STRANGE: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 1.5, "", "x", [], [1], [[]], {}, {"x": 1}, "\ud800", "type"]
)


def places(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything inside a value."""
    for key, inner in (*as_object(value).items(), *enumerate(as_list(value))):
        yield (*at, key)
        yield from places(inner, (*at, key))


def put(value: Any, path: tuple[Any, ...], new: object) -> Any:
    """A copy of `value` with `new` at a path."""
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


@pytest.fixture(scope="module")
def server() -> Iterator[StrictServer]:
    with StrictServer(lambda _: Say("Yes.")) as server:
        yield server


@pytest.mark.parametrize("form", FULL)
def test_the_whole_request_is_legal(server: StrictServer, form: str):
    """What the next test spoils is legal before."""
    got = post(server, form, FULL[form])
    assert got.status == 200, got.raw


@pytest.mark.parametrize("form", FULL)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_nothing_goes_unanswered(server: StrictServer, form: str, data: st.DataObject):
    """A request with anything strange at any place is answered or refused, never dropped."""
    body = FULL[form]
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(list(places(body))))
        body = put(body, path, data.draw(STRANGE))
    assert post(server, form, body).status in (200, 400, 401, 404)
