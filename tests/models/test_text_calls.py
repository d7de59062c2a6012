"""Calls that a model wrote into its text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opening import READ_FILE

from unremember.messages import Message, Text, ToolCall
from unremember.models import Reply, ToolSpec
from unremember.models.schema import fits
from unremember.models.text_calls import call_schema, take_text_calls

CALL = '{"name": "read_file", "arguments": {"path": "a.py"}}'
LIST = ToolSpec("list_directory", "Lists.", {"type": "object", "properties": {}})


def taken(text: str) -> Reply:
    """The reply of a model that said `text`."""
    return take_text_calls(Reply(Message("assistant", (Text(text),))), (READ_FILE, LIST))


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"\n  {CALL}\n",
        f"```json\n{CALL}\n```",
        f"```\n{CALL}\n```",
        f"Let me look.\n\n```json\n{CALL}\n```\n",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}",
        f"[{CALL}]",
        '{"name": "read_file", "parameters": {"path": "a.py"}}',
        '{"type": "function", "function": {"name": "read_file", "arguments": {"path": "a.py"}}}',
        '{"function": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}',
        '{"tool": "read_file", "args": {"path": "a.py"}}',
    ],
)
def test_a_fitting_call_counts(text: str):
    """Bare, fenced or tagged, in the spellings that models use: it is a call, and noted."""
    reply = taken(text)
    assert [(c.name, c.parsed()) for c in reply.message.calls] == [("read_file", {"path": "a.py"})]
    assert reply.finish == "calls"
    assert reply.notes == ("a call written as text was taken as a call of read_file",)
    assert CALL not in reply.message.text


@pytest.mark.parametrize(
    "text",
    [
        "Just text.",
        '{"path": "a.py"}',
        '{"name": "delete_file", "arguments": {"path": "a.py"}}',
        '{"name": "read_file", "arguments": {}}',
        '{"name": "read_file", "arguments": {"path": 3}}',
        '{"name": "read_file", "arguments": {"path": "a.py", "mode": "r"}}',
        '{"name": "read_file"}',
        '{"name": "read_file", "arguments": "a.py"}',
        f"You could answer {CALL}, for example.",
        f"```json\n{CALL[:-3]}\n```",
        "[]",
        "[" * 50_000,
        "",
    ],
)
def test_what_does_not_fit_stays_text(text: str):
    """Another tool, other arguments, an example in a sentence, broken JSON: nothing is called."""
    reply = taken(text)
    assert reply.message.calls == ()
    assert reply.message.text == text
    assert reply.notes == ()


def test_a_real_call_stands_alone():
    """Where the model made a real call, JSON in its text is text."""
    message = Message("assistant", (Text(CALL), ToolCall("c1", "list_directory", "{}")))
    reply = Reply(message, finish="calls")
    assert take_text_calls(reply, (READ_FILE, LIST)) is reply


def test_several_calls_and_the_words_between():
    """All calls of one answer count, in order, and what was said around them stays."""
    text = f"First.\n<tool_call>{CALL}</tool_call>\nThen.\n<tool_call>{CALL}</tool_call>"
    parts = taken(text).message.parts
    assert [part.id if isinstance(part, ToolCall) else part for part in parts] == [
        Text("First."),
        "text-call-1",
        Text("Then."),
        "text-call-2",
    ]


def test_the_schema_of_a_call_admits_calls_only():
    """What fits the schema that forces a call is read as a call."""
    schema = call_schema((READ_FILE, LIST))
    assert fits(json.loads(CALL), schema)
    assert not fits({"name": "read_file", "arguments": {}}, schema)
    assert not fits({"name": "other", "arguments": {}}, schema)


SCHEMAS: list[tuple[object, list[object], list[object]]] = [
    ({"type": "string"}, ["", "x"], [1, None, True]),
    ({"type": "integer"}, [1, 2.0], [1.5, True, "1"]),
    ({"type": "number", "minimum": 1, "exclusiveMaximum": 3}, [1, 2.5], [0, 3]),
    ({"type": ["string", "null"]}, ["x", None], [1]),
    ({"enum": ["a", 1]}, ["a", 1], ["b", True]),
    ({"const": True}, [True], [1]),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, ["x", 1], [None]),
    ({"oneOf": [{"minimum": 1}, {"maximum": 3}]}, [0, 4], [2]),
    ({"not": {"type": "string"}}, [1], ["x"]),
    ({"type": "string", "pattern": "^a", "maxLength": 2}, ["ab"], ["b", "abc"]),
    ({"type": "array", "items": {"type": "integer"}, "minItems": 1}, [[1]], [[], ["x"]]),
    ({"type": "array", "uniqueItems": True}, [[1, 2]], [[1, 1]]),
    ({"prefixItems": [{"type": "string"}], "items": False}, [["x"], []], [[1], ["x", 1]]),
    ({"type": "object"}, [{}, {"any": 1}], [[]]),
    ({"properties": {"a": {"type": "string"}}}, [{}, {"a": "x"}], [{"b": 1}, {"a": 1}]),
    ({"additionalProperties": {"type": "integer"}}, [{"a": 1}], [{"a": "x"}]),
    (
        {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}},
        [{"a": 1}],
        [{"a": "x"}],
    ),
    ({"$ref": "#/$defs/missing"}, [], [1]),
    ({"$ref": "#"}, [], [1]),
]


@pytest.mark.parametrize(("schema", "good", "bad"), SCHEMAS)
def test_schemas(schema: object, good: list[object], bad: list[object]):
    """The keywords that tools' schemas use mean what they mean."""
    assert [value for value in good if not fits(value, schema)] == []
    assert [value for value in bad if fits(value, schema)] == []


@given(st.text(alphabet='{}[]",:namergutsdfil_e`<>/ \n', max_size=200))
def test_any_text_is_survived(text: str):
    """Whatever a model writes is either calls that fit or its own text."""
    reply = taken(text)
    assert reply.message.calls or reply.message.text == text
