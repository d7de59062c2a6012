"""Anthropic turns are read without loss and written as the API takes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import injected
import pytest
from hypothesis import given

from unremember.formats import anthropic
from unremember.history import History
from unremember.messages import Media, Message, Native, Text, Thinking, ToolCall, ToolResult
from unremember.notes import Notes, OutlineEntry, read_block, render
from unremember.testing import check_anthropic, histories

NOTES = Notes((OutlineEntry(2, "Bash ls → ok"),), before=5, next=20)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}


def result(id: str, content: object = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def user(*content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(content)}


def agent(*content: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content)}


THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


@given(injected.anthropic())
def test_round_trip_gives_the_same_objects(turns: list[dict[str, Any]]):
    """What is read and not changed is written as the very turns that were read."""
    [found] = anthropic.read(turns)
    assert found.repairs == ()
    written = anthropic.write(found.history)
    assert len(written) == len(turns)
    assert all(a is b for a, b in zip(written, turns, strict=True))
    assert check_anthropic(turns) == []


@given(histories(characters=4_000))
def test_any_history_is_written_valid(history: History):
    """Whatever a history holds, the Messages API takes what is written of it."""
    made = anthropic.request(history)
    open_end = bool(history.open_calls)
    assert check_anthropic(made["messages"], made.get("system"), allow_open=open_end) == []


@pytest.mark.parametrize("system", ["Be kind.", [{**text("Be kind."), "cache_control": {"x": 1}}]])
def test_a_request_keeps_its_system(system: object):
    """A request's `system` is the history's, and comes back as the object it was."""
    turn = {"role": "user", "content": "go"}
    document = {"system": system, "messages": [turn]}
    assert anthropic.matches(document)
    [found] = anthropic.read(document)
    assert found.history.system[0].text == "Be kind."
    made = anthropic.request(found.history)
    assert made["system"] is system
    assert made["messages"][0] is turn


def test_system_messages_of_other_forms_become_the_system():
    """Several system messages are blocks of `system`, none of them is a turn."""
    history = History(
        (Message("system", (Text("a"),)), Message("system", (Text("b"),))),
        (Message("user", (Text("go"),)),),
    )
    assert anthropic.request(history) == {
        "system": [text("a"), text("b")],
        "messages": [user(text("go"))],
    }


def test_system_turns_among_the_messages_stay():
    """A system message that some proxies take among the turns is not lost."""
    turns = [{"role": "system", "content": "Be kind."}, user(text("go"), result("x"))]
    history = History(
        tuple(anthropic.to_messages(turns[:1])), anthropic.to_messages([user(text("go"))])
    )
    assert anthropic.write(history)[0] is turns[0]


def test_words_typed_beside_results_are_the_users():
    """A turn with results and text is a user message that keeps both; only results are a tool's."""
    both, only = anthropic.to_messages([user(result("a"), text("stop")), user(result("b"))])
    assert (both.role, both.text) == ("user", "stop")
    assert both.results == (ToolResult("a", (Text("ok"),)),)
    assert only.role == "tool"


def test_blocks_find_their_parts():
    """Each kind of block is read; unknown ones keep their JSON."""
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": injected.PNG},
    }
    turns = [
        agent(THINKING, {"type": "redacted_thinking", "data": "xx"}, use("a")),
        user({**result("a", [text("no"), image]), "is_error": True}),
    ]
    asked, answered = anthropic.to_messages(turns)
    assert asked.parts[:2] == (Thinking("hm", "c2ln"), Thinking("", "xx"))
    assert asked.calls == (ToolCall("a", "Bash", '{"command": "ls"}'),)
    picture = Media("image", "image/png", 45, 10, 20, injected.PNG)
    assert answered.results == (ToolResult("a", (Text("no"), picture), failed=True),)


def test_neighbours_of_one_role_are_merged_with_their_own_blocks():
    """Consecutive user messages are one turn; results come first, the blocks are the old ones."""
    turns = [
        user(text("go")),
        agent(use("a"), use("b")),
        user(result("a")),
        user(result("b"), text("and")),
        {"role": "user", "content": "then"},
    ]
    history = History((), anthropic.to_messages(turns))
    written = anthropic.write(history)
    assert written[:2] == turns[:2]
    assert written[0] is turns[0]
    merged = written[2]["content"]
    assert [b.get("text", b["type"]) for b in merged] == ["tool_result"] * 2 + ["and", "then"]
    assert merged[0] is turns[2]["content"][0]
    assert merged[2] is turns[3]["content"][1]
    assert len(written) == 3


def test_results_come_first_when_a_text_was_before_them():
    """A text that stands before the results in their turn is moved behind them."""
    turns = [user(text("go")), agent(use("a")), user(text("so"), result("a"))]
    written = anthropic.write(History((), anthropic.to_messages(turns)))
    assert [block["type"] for block in written[2]["content"]] == ["tool_result", "text"]


@pytest.mark.parametrize("before", [1, 3, 5, 20])
def test_notes_are_a_block_of_their_own(before: int):
    """Wherever notes stand, they are one whole block of a user turn and outside every result."""
    turns = [user(text("go")), agent(use("a")), user(result("a")), agent(text("done"))]
    messages = [replace(m, ordinal=n) for n, m in enumerate(anthropic.to_messages(turns), start=1)]
    messages[2] = replace(messages[2], ordinal=4)
    messages[3] = replace(messages[3], ordinal=5)
    notes = replace(NOTES, before=before)
    written = anthropic.write(History((), messages, notes))
    blocks = [b for turn in written if turn["role"] == "user" for b in turn["content"]]
    assert [b for b in blocks if b.get("text") == render(notes)]
    assert check_anthropic(written) == []
    again = anthropic.to_messages(written)
    assert [read_block(m.text) for m in again if m.kind == "program"] == [notes]


def test_notes_inside_other_text_are_not_recognised():
    """Only a whole block is a note: a user or a tool that quotes one says something else."""
    quoted = f"Look: {render(NOTES)}"
    for turn in (user(text(quoted)), user(result("a", render(NOTES)))):
        assert all(m.kind == "said" for m in anthropic.to_messages([turn]))


def test_a_user_opens_the_conversation():
    """Where only the model's words are left, a line of the program comes before them."""
    written = anthropic.write(History((), (Message("assistant", (Text("done"),)),)))
    assert written == [user(text(anthropic.FORGOTTEN)), agent(text("done"))]


def test_merged_assistant_turns_begin_with_the_newest_thinking():
    """Of merged assistant messages only the newest reasoning is left, and it comes first."""
    old = {**THINKING, "thinking": "old"}
    turns = [user(text("go")), agent(old, text("a")), agent(THINKING, use("b")), user(result("b"))]
    written = anthropic.write(History((), anthropic.to_messages(turns)))
    assert written[1]["content"] == [THINKING, text("a"), use("b")]
    assert written[1]["content"][0] is THINKING
    assert check_anthropic(written) == []


def test_thinking_of_another_provider_is_left_out():
    """Only reasoning that this API signed is sent to it."""
    parts = (Thinking("hm", "c2ln"), Text("so"))
    go = Message("user", (Text("go"),))
    mine = Message("assistant", parts, source=Native("anthropic", None))
    theirs = Message("assistant", parts, source=Native("openai", None))
    assert anthropic.write(History((), (go, mine, go)))[1] == agent(THINKING, text("so"))
    assert anthropic.write(History((), (go, theirs, go)))[1] == agent(text("so"))


def test_blank_texts_are_never_written():
    """Empty text blocks, which the API refuses, are left out, in old and in new turns."""
    turns = [user(text("go")), agent(text(""), use("a")), user(result("a", ""), text(" \n"))]
    written = anthropic.write(History((), anthropic.to_messages(turns)))
    assert check_anthropic(written) == []
    assert written[1]["content"] == [use("a")]
    assert written[1]["content"][0] is turns[1]["content"][1]


def test_white_space_at_the_very_end_is_cut():
    """The last text of an assistant that has the last word does not end in white space."""
    turns = [user(text("go")), agent(text("done\n"))]
    written = anthropic.write(History((), anthropic.to_messages(turns)))
    assert written[1] == agent(text("done"))
    assert turns[1] == agent(text("done\n"))


def test_ids_are_legal_and_used_once():
    """Ids that come again, or that the API refuses, are written anew, alike in their results."""
    step = (
        Message("assistant", (ToolCall("call:1", "f", "{}"),)),
        Message("tool", (ToolResult("call:1", ()),)),
    )
    written = anthropic.write(History((), (Message("user", (Text("go"),)), *step, *step)))
    assert check_anthropic(written) == []
    assert written[1]["content"][0]["id"] != written[3]["content"][0]["id"]


def test_a_failure_is_marked():
    """A failed result says so in the field that this API has for it."""
    history = History(
        (),
        (
            Message("user", (Text("go"),)),
            Message("assistant", (ToolCall("a", "f", "not json"),)),
            Message("tool", (ToolResult("a", (Text("no"),), failed=True),)),
        ),
    )
    written = anthropic.write(history)
    assert written[1]["content"][0]["input"] == {"input": "not json"}
    assert written[2]["content"][0]["is_error"] is True


def test_a_later_system_message_is_marked_as_such():
    """A system message inside the conversation is no user's words: it is tagged."""
    history = History(
        (), (Message("user", (Text("go"),)), Message("system", (Text("Now be brief."),)))
    )
    [turn] = anthropic.write(history)
    assert turn["content"][1]["text"] == "<system>\nNow be brief.\n</system>"
