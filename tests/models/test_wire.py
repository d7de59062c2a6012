"""Histories as requests: whatever a history holds, the strictest provider takes it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from opening import FORMS, READ_FILE, opened, said

from unremember.history import History
from unremember.messages import Media, Message, Text, Thinking, ToolCall, ToolResult
from unremember.models import Request
from unremember.notes import Notes, OutlineEntry, render
from unremember.testing import Say, StrictServer, histories

# A PNG of one pixel.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    "RU5ErkJggg=="
)


async def send(form: str, history: History, **overrides: Any) -> dict[str, Any]:
    """The body that a history becomes. The server refuses what the vendor would."""
    with StrictServer([Say("Done.")], complete=False, window=4_000_000) as server:
        async with opened(form, server, **overrides) as model:
            await model.request(Request(history, (READ_FILE,)))
        assert server.refusals == []
        return server.requests[0].body


def ended_by_user(history: History) -> History:
    """A history that a model is asked to go on from: its last word is not the model's."""
    if history.messages and history.messages[-1].role != "assistant":
        return history
    return history.add(Message("user", (Text("Go on."),)))


@pytest.mark.parametrize("form", FORMS)
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(history=histories(characters=2_000, notes=True, pending=False))
def test_any_history_is_a_legal_request(form: str, history: History):
    """Pairs, roles, ids, names and notes of any history are as the provider wants them."""
    asyncio.run(send(form, ended_by_user(history)))


@pytest.mark.parametrize("form", FORMS)
async def test_notes_are_a_user_part_before_the_newest_steps(form: str):
    """Notes stand where the history has them, in a user's turn, and in no tool result."""
    notes = Notes((OutlineEntry(2, "read_file a.py: 3 lines"),), before=5, next=9)
    call = Message("assistant", (ToolCall("c1", "read_file", '{"path": "b.py"}'),), ordinal=5)
    result = Message("tool", (ToolResult("c1", (Text("x = 1"),)),), ordinal=7)
    first = Message("user", (Text("Fix it."),), ordinal=1)
    history = History((Message("system", (Text("Be brief."),)),), [first, call, result], notes)
    body = await send(form, history)
    turns = body.get("messages") or body["input"]
    holding = [turn for turn in turns if "<unremember-notes>" in json.dumps(turn)]
    assert [turn["role"] for turn in holding] == ["user"]
    assert render(notes) in [text for turn in holding for text in texts_of(turn["content"])], (
        "as a whole text of its own"
    )
    if form == "anthropic":
        assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]


def texts_of(content: Any) -> list[str]:
    """The texts in a content, which is a string or a list of parts."""
    return [content] if isinstance(content, str) else [part.get("text", "") for part in content]


@pytest.mark.parametrize("form", FORMS)
async def test_thinking_of_others_stays_here(form: str):
    """Reasoning that another provider signed is not shown to this one."""
    thought = Message("assistant", (Thinking("SECRET", "signed-elsewhere"), Text("Hello.")))
    body = await send(form, said().add(thought, Message("user", (Text("Go on."),))))
    assert "SECRET" not in json.dumps(body)
    assert "signed-elsewhere" not in json.dumps(body)


@pytest.mark.parametrize("form", FORMS)
async def test_a_failed_result_is_sent(form: str):
    """The text of a failed result arrives, marked as failed where the provider has a mark."""
    call = Message("assistant", (ToolCall("c1", "read_file", '{"path": "a.py"}'),))
    result = Message("tool", (ToolResult("c1", (Text("no such file"),), failed=True),))
    body = await send(form, said().add(call, result))
    assert "no such file" in json.dumps(body)
    if form == "anthropic":
        assert body["messages"][-1]["content"][0]["is_error"] is True


@pytest.mark.parametrize("form", FORMS)
async def test_images_go_to_models_that_see(form: str):
    """An image is sent to a model that sees, and named in a line to one that does not."""
    image = Media("image", "image/png", size=70, width=1, height=1, data=PIXEL)
    history = History().add(Message("user", (Text("What is this?"), image)))
    assert PIXEL in json.dumps(await send(form, history, sees_images=True))
    blind = json.dumps(await send(form, history, sees_images=False), ensure_ascii=False)
    assert PIXEL not in blind
    assert "[image not shown 1×1]" in blind


async def test_later_system_messages_are_marked_where_only_the_head_may_be_the_system():
    """A system message among the others does not become the user's words unmarked."""
    later = Message("system", (Text("The mode is now read-only."),))
    history = said().add(later, Message("user", (Text("Go on."),)))
    body = await send("anthropic", history)
    assert "read-only" not in json.dumps(body["system"])
    assert "<system>\\nThe mode is now read-only.\\n</system>" in json.dumps(body["messages"])
    body = await send("openai", history)
    assert [turn["role"] for turn in body["messages"]] == ["system", "user", "system", "user"]


@pytest.mark.parametrize("form", FORMS)
async def test_reused_ids_are_told_apart(form: str):
    """Two calls of a conversation with one id are two calls for every provider."""
    history = said()
    for text in ("one", "two"):
        call = Message("assistant", (ToolCall("same id!", "read_file", '{"path": "a.py"}'),))
        result = Message("tool", (ToolResult("same id!", (Text(text),)),))
        history = history.add(call, result)
    await send(form, history)


async def test_replies_can_be_stored_and_sent_again():
    """A reply's native form is JSON: it survives storing, and goes back the same."""
    with StrictServer([Say("Look.", [("read_file", {"path": "a.py"})], thinking="Hm.")]) as server:
        async with opened("anthropic", server, model="claude-sonnet-5") as model:
            reply = await model.request(Request(said(), (READ_FILE,)))
    source = reply.message.source
    assert source
    stored = replace(source, value=json.loads(json.dumps(source.value)))
    assert stored.value == source.value
    assert reply.message.ordinal == 0


async def test_a_user_opens_the_conversation():
    """Where only the model's words are left, or the user's are blank, a user still begins."""
    reply = Message("assistant", (Text("Hello."),))
    for opening in ((), (Message("user", (Text("  "),)),)):
        body = await send("anthropic", ended_by_user(History().add(*opening, reply)))
        assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]


async def test_a_request_is_the_same_however_often_it_was_sent():
    """What is remembered between requests changes nothing in them, ids told apart included."""
    history = said()
    for text in ("one", "two", "three"):
        call = Message("assistant", (ToolCall("same", "read_file", '{"path": "a.py"}'),))
        result = Message("tool", (ToolResult("same", (Text(text),)),))
        history = history.add(call, result)
    shorter = History(history.system, history.messages[-2:])
    with StrictServer([Say("Done.")] * 4) as server:
        async with opened("anthropic", server) as model:
            for sent in (history, shorter, history, history):
                await model.request(Request(sent, (READ_FILE,)))
        assert server.refusals == []
        first, _, third, fourth = (asked.body["messages"] for asked in server.requests)
    assert first == third == fourth
