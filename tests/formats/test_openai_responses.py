"""OpenAI Responses items are read without loss and written as the API takes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import injected
import pytest
from hypothesis import given

from unremember.formats import openai_responses
from unremember.history import History
from unremember.messages import Media, Message, Native, Text, Thinking, ToolCall, ToolResult
from unremember.testing import check_responses, histories

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "ls", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}


@given(injected.responses())
def test_round_trip_gives_the_same_objects(items: list[dict[str, Any]]):
    """What is read and not changed is written as the very items that were read."""
    [found] = openai_responses.read(items)
    assert found.repairs == ()
    written = openai_responses.write(found.history)
    assert len(written) == len(items)
    assert all(a is b for a, b in zip(written, items, strict=True))
    assert check_responses(items) == []


@given(histories(characters=4_000))
def test_any_history_is_written_valid(history: History):
    """Whatever a history holds, the Responses API takes what is written of it."""
    written = openai_responses.write(history)
    assert check_responses(written, allow_open=bool(history.open_calls)) == []


def test_what_a_model_gave_at_once_is_one_message():
    """Reasoning, words and calls up to the first output are one assistant message."""
    words = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I"}],
    }
    second = {**CALL, "call_id": "c2", "id": "fc_2"}
    items = [{"role": "user", "content": "go"}, REASONING, words, CALL, second, OUTPUT]
    messages = openai_responses.to_messages([*items, {**OUTPUT, "call_id": "c2"}])
    assert [m.role for m in messages] == ["user", "assistant", "tool", "tool"]
    assert messages[1].parts == (
        Thinking("hm", "rs_1"),
        Text("I"),
        ToolCall("c1", "ls", "{}"),
        ToolCall("c2", "ls", "{}"),
    )


def test_an_object_is_instructions_input_and_output():
    """A request together with its response is one conversation, the instructions first."""
    document = {"instructions": "Be kind.", "input": "go", "output": [REASONING, CALL]}
    assert openai_responses.matches(document)
    [found] = openai_responses.read(document)
    assert [m.text for m in found.history.system] == ["Be kind."]
    assert [m.role for m in found.history.messages] == ["user", "assistant", "tool"]
    assert check_responses(openai_responses.write(found.history)) == []


def test_items_of_unknown_kinds_are_kept():
    """Built-in tools and references are parts of what the model gave, as their JSON."""
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    [message] = openai_responses.to_messages([search, {"type": "item_reference", "id": "x"}])
    assert message.role == "assistant"
    assert all(isinstance(part, Media) and part.kind == "other" for part in message.parts)


def test_built_in_calls_are_calls():
    """A call of a built-in tool that waits for an output is a call, under the tool's own name."""
    shell = {"type": "local_shell_call", "call_id": "c1", "action": {"command": ["ls"]}}
    output = {"type": "local_shell_call_output", "call_id": "c1", "output": "a.py"}
    asked, answer = openai_responses.to_messages([shell, output])
    assert asked.calls == (ToolCall("c1", "local_shell", '{"command": ["ls"]}'),)
    assert answer.results == (ToolResult("c1", (Text("a.py"),)),)


@pytest.mark.parametrize("changed", [0, 1])
@pytest.mark.parametrize("kind", sorted(injected.CALLS))
def test_a_pair_stays_of_one_kind(kind: str, changed: int):
    """If a call or its output is built anew, the other half is of the same kind still."""
    items = [
        {"type": kind, "call_id": "c1", **injected.CALLS[kind]},
        {"type": f"{kind}_output", "call_id": "c1", "output": "x"},
    ]
    messages = openai_responses.to_messages(items)
    messages[changed] = replace(messages[changed], source=None)
    assert check_responses(openai_responses.write(History((), messages))) == []


def test_dangling_reasoning_is_left_out():
    """Reasoning that nothing of the model follows is not sent: the API would refuse it."""
    messages = openai_responses.to_messages(
        [REASONING, {"role": "user", "content": "go"}, REASONING]
    )
    assert openai_responses.write(History((), messages)) == [{"role": "user", "content": "go"}]


def test_encrypted_reasoning_goes_back_only_where_it_came_from():
    """A changed message of this form keeps its encrypted reasoning; others lose theirs."""
    parts = (Thinking("hm", "gAAAA"), Text("so"))
    mine = Message("assistant", parts, source=Native("responses", None))
    theirs = Message("assistant", parts, source=Native("anthropic", None))
    written = openai_responses.write(History((), (mine, theirs)))
    assert [item["type"] for item in written] == ["reasoning", "message", "message"]
    assert written[0]["encrypted_content"] == "gAAAA"


def test_results_of_a_failed_tool_keep_their_text():
    """This form has no mark for a failure; the text says it."""
    history = History(
        (),
        (
            Message("assistant", (ToolCall("c1", "ls", "{}"),)),
            Message("tool", (ToolResult("c1", (Text("no such file"),), failed=True),)),
        ),
    )
    assert openai_responses.write(history)[1]["output"] == "no such file"
