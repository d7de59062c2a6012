"""OpenAI chat messages are read without loss and written as the API takes them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import injected
import pytest
from hypothesis import given

from unremember.formats import openai_chat
from unremember.history import History
from unremember.messages import Media, Message, Native, Text, Thinking, ToolCall, ToolResult
from unremember.notes import Notes, OutlineEntry, render
from unremember.testing import check_openai, histories

FOLDER = Path(__file__).parents[2] / "../shared/data/openai-messages"


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}


@given(injected.openai())
def test_round_trip_gives_the_same_objects(messages: list[dict[str, Any]]):
    """What is read and not changed is written as the very objects that were read."""
    [found] = openai_chat.read(messages)
    assert found.repairs == ()
    written = openai_chat.write(found.history)
    assert len(written) == len(messages)
    assert all(a is b for a, b in zip(written, messages, strict=True))
    assert check_openai(messages) == []


@given(histories(characters=4_000))
def test_any_history_is_written_valid(history: History):
    """Whatever a history holds, the chat API takes what is written of it."""
    written = openai_chat.write(history)
    assert check_openai(written, allow_open=bool(history.open_calls)) == []


@given(histories(characters=4_000, notes=False))
def test_written_histories_say_the_same(history: History):
    """Texts, calls and results survive being written and read again."""
    again = openai_chat.to_messages(openai_chat.write(history))
    everything = [*history.system, *history.messages]
    assert [c.arguments for m in again for c in m.calls] == [
        c.arguments for m in everything for c in m.calls
    ]
    shown = "\n".join(m.text for m in again)
    assert all(part.text in shown for m in everything for part in m.parts if isinstance(part, Text))


@pytest.mark.skipif(not FOLDER.exists(), reason="the recorded conversations are not here")
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_recorded_requests_round_trip(path: Path):
    """A recorded request and its response come back as they were, and as the API takes them."""
    document = json.loads(path.read_text(encoding="utf-8"))
    assert openai_chat.matches(document)
    [found] = openai_chat.read(document)
    written = openai_chat.write(found.history)
    reply = document["response"]["choices"][0]["message"]
    expected = [*document["messages"], reply]
    assert all(a is b for a, b in zip(written, expected, strict=False))
    assert check_openai(written) == []
    # The call that ended the run was never answered; that is mended and said.
    assert len(written) == len(expected) + 1
    assert len(found.repairs) == 1


def test_roles_and_fields():
    """Each role and field of the API finds its place."""
    items = [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "odd", "n": 1}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "hm"},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
        {"role": "assistant", "content": None, "refusal": "No."},
    ]
    system, user, calls, result, old, answer, refusal = openai_chat.to_messages(items)
    assert system.role == "system"
    assert user.parts == (Text("Hi"), Media("other", data='{"type": "odd", "n": 1}'))
    assert calls.parts == (Thinking("hm"), ToolCall("c1", "ls", '{"a": 1}'))
    assert result.parts == (ToolResult("c1", ()),)
    assert answer.results[0].call_id == old.calls[0].id
    assert refusal.text == "No."


def test_images_are_measured():
    """An inline image has its size in bytes and pixels and keeps its data."""
    url = f"data:image/png;base64,{injected.PNG}"
    part = {"type": "image_url", "image_url": {"url": url}}
    [message] = openai_chat.to_messages([{"role": "user", "content": [part]}])
    assert message.parts == (Media("image", "image/png", 45, 10, 20, url),)


def test_json_lines():
    """Lines of one message each are one conversation; lines with `messages` are one each."""
    lines = [said("user", "a"), said("assistant", "b")]
    assert openai_chat.matches(lines)
    assert len(openai_chat.read(lines)) == 1
    examples = [{"messages": lines}, {"messages": lines[:1]}]
    assert openai_chat.matches(examples)
    assert [len(c.history.messages) for c in openai_chat.read(examples)] == [2, 1]


def test_a_response_is_the_last_message_once():
    """An object's response is appended, unless the messages end with it already."""
    reply = said("assistant", "b")
    for response in (reply, {"choices": [{"message": reply}]}):
        for messages in ([said("user", "a")], [said("user", "a"), reply]):
            [found] = openai_chat.read({"messages": messages, "response": response})
            assert [m.text for m in found.history.messages] == ["a", "b"]


@pytest.mark.parametrize(
    "foreign",
    [
        [],
        "text",
        {"messages": []},
        [{"type": "user", "message": {"role": "user", "content": "x"}}],
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}],
        [{"role": "user", "content": [{"type": "input_text", "text": "a"}]}],
        [{"role": "tourist", "content": "x"}],
    ],
)
def test_other_forms_do_not_match(foreign: object):
    """Lists of another form are not taken for chat messages."""
    assert not openai_chat.matches(foreign)


def test_changed_messages_only_are_built_anew():
    """A changed result is a new object under its call's id; its neighbours stay what they were."""
    items: list[dict[str, Any]] = [
        said("user", "a"),
        {"role": "assistant", "content": None, "tool_calls": [CALL], "x": 1},
        {"role": "tool", "tool_call_id": "c1", "content": "long", "x": 2},
    ]
    user, calls, result = openai_chat.to_messages(items)
    short = replace(result, parts=(ToolResult("c1", (Text("sh"),)),), source=None)
    written = openai_chat.write(History((), (user, calls, short)))
    assert written[0] is items[0]
    assert written[1] is items[1]
    assert written[2] == {"role": "tool", "tool_call_id": "c1", "content": "sh"}


@pytest.mark.parametrize("changed", [0, 1])
def test_an_old_function_call_stays_with_its_result(changed: int):
    """The old form of calls is kept as a pair: if one half is built anew, the other follows."""
    items: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
    ]
    messages = openai_chat.to_messages(items)
    messages[changed] = replace(messages[changed], source=None)
    written = openai_chat.write(History((), messages))
    assert check_openai(written) == []


def test_reasoning_goes_back_only_where_it_came_from():
    """A changed message of this form keeps its reasoning; another provider's is left out."""
    parts = (Thinking("hm", "sig"), Text("so"))
    mine = Message("assistant", parts, source=Native("openai", None))
    theirs = Message("assistant", parts, source=Native("anthropic", None))
    written = openai_chat.write(History((), (mine, theirs)))
    assert written[0]["reasoning_content"] == "hm"
    assert "reasoning_content" not in written[1]


def test_names_and_ids_become_legal():
    """Names and ids that the API refuses are written in letters that it takes, alike in results."""
    call = ToolCall("x" * 50, "functions.run:0", "{}")
    history = History(
        (), (Message("assistant", (call,)), Message("tool", (ToolResult(call.id, ()),)))
    )
    calls, result = openai_chat.write(history)
    assert calls["tool_calls"][0]["function"]["name"] == "functions_run_0"
    assert len(result["tool_call_id"]) == 40
    assert check_openai([calls, result]) == []


def test_notes_stand_before_the_first_message_they_precede():
    """Notes are a user message of their own, never between a call and its result."""
    notes = Notes((OutlineEntry(2, "Bash ls → ok"),), before=8, next=9)
    call = ToolCall("c1", "ls", "{}")
    history = History(
        (),
        (
            Message("user", (Text("first"),), 1),
            Message("assistant", (call,), 6),
            Message("tool", (ToolResult("c1", (Text("x"),)),), 8),
        ),
        notes,
    )
    written = openai_chat.write(history)
    assert [m["role"] for m in written] == ["user", "user", "assistant", "tool"]
    assert written[1]["content"] == render(notes)
    again = openai_chat.to_messages(written)
    assert [m.kind for m in again] == ["said", "program", "said", "said"]
