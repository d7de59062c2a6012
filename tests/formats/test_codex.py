"""Codex rollouts in both forms, read through the public face."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unknowns import FIELDS, JSON, PARTS, WORDS, Object, joined, lines

from unremember import formats
from unremember.messages import Message, Thinking

META: Object = {"id": "s1", "cwd": "/repo", "base_instructions": {"text": "You are an agent."}}
AT = "2026-01-02T03:04:05.678Z"


def envelope(kind: str, payload: Object) -> Object:
    return {"timestamp": AT, "type": kind, "payload": payload}


def newer(*items: Object) -> bytes:
    """Items in the form with envelopes; what is no item stands as it is."""
    kinds = ("compacted", "event_msg")
    body = (i if i["type"] in kinds else envelope("response_item", i) for i in items)
    return lines([envelope("session_meta", META), *body])


def older(*items: Object) -> bytes:
    """The same items in the form without envelopes."""
    head = {"id": "s1", "timestamp": AT, "instructions": None}
    return lines([head, {"record_type": "state"}, *items])


def message(role: str, *texts: str) -> Object:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": t} for t in texts]}


def call(id: str) -> Object:
    return {
        "type": "function_call",
        "name": "shell",
        "arguments": '{"command":"ls"}',
        "call_id": id,
    }


def output(id: str, text: object = "ok") -> Object:
    return {"type": "function_call_output", "call_id": id, "output": text}


def reasoning(text: str) -> Object:
    summary = [{"type": "summary_text", "text": text}]
    return {"type": "reasoning", "summary": summary, "encrypted_content": "gAAAA"}


def read(data: bytes, *, whole: bool = False) -> formats.Conversation:
    [conversation] = formats.read(data, whole=whole)
    assert conversation.format == "codex"
    return conversation


def texts(conversation: formats.Conversation) -> list[str]:
    return [m.text for m in conversation.history.messages if m.text]


@pytest.mark.parametrize("form", [newer, older])
def test_reasoning_and_parallel_calls_are_one_message(form: Callable[..., bytes]) -> None:
    """What a model gave back at once is one step, in both forms, results in call order."""
    custom = {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "*** B"}
    conversation = read(
        form(
            message("user", "go"),
            reasoning("hm"),
            message("assistant", "I look."),
            call("c1"),
            custom,
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
            output("c1"),
            message("assistant", "Finished."),
        )
    )
    _, step, last = conversation.history.steps
    assert step.messages[0].parts[0] == Thinking("hm", "gAAAA")
    assert [c.id for c in step.calls] == [r.call_id for r in step.results] == ["c1", "c2"]
    assert step.calls[1].arguments == "*** B"
    assert last.messages[0].text == "Finished."
    assert (conversation.id, conversation.repairs) == ("s1", ())


def test_the_sessions_own_instructions_are_the_system_message() -> None:
    """Base instructions and leading developer messages head the history."""
    conversation = read(newer(message("developer", "Be brief."), message("user", "go")))
    assert [m.text for m in conversation.history.system] == ["You are an agent.", "Be brief."]
    assert conversation.cwd == "/repo"
    assert conversation.history.messages[0].at is not None


def test_project_instructions_are_pinned_and_nobodys_words() -> None:
    """AGENTS.md stays word for word; neither it nor the environment counts as typed."""
    agents = "# AGENTS.md instructions for /repo\nnever push"
    environment = "<environment_context><cwd>/old</cwd></environment_context>"
    data = older(message("user", agents, environment), message("user", environment))
    first, second = read(data).history.messages
    assert (first.kind, first.pinned) == ("program", True)
    assert (second.kind, second.pinned) == ("program", False)
    assert read(data).cwd == "/old"


@pytest.mark.parametrize(
    ("said", "text", "failed"),
    [
        ("plain", "plain", False),
        (
            "Exit code: 2\nWall time: 1\nOutput:\nno",
            "Exit code: 2\nWall time: 1\nOutput:\nno",
            True,
        ),
        (
            json.dumps({"output": "a\nb", "metadata": {"exit_code": 1}}),
            'a\nb\n{"metadata": {"exit_code": 1}}',
            True,
        ),
        ([{"type": "input_text", "text": "listed"}], "listed", False),
        ({"content": "inner", "success": False}, "inner", True),
    ],
)
def test_outputs_in_all_their_shapes(said: object, text: str, failed: bool) -> None:
    """An output is read as its text, and failed if its exit status says so."""
    conversation = read(newer(message("user", "go"), call("c1"), output("c1", said)))
    [result] = conversation.history.messages[-1].results
    assert (result.text, result.failed) == (text, failed)


def test_event_messages_are_no_messages_and_an_aborted_call_is_mended() -> None:
    """Lines for the screen repeat what the items say; a turn that was aborted loads, reported."""
    aborted = envelope("event_msg", {"type": "turn_aborted", "reason": "interrupted"})
    shown = envelope("event_msg", {"type": "user_message", "message": "go"})
    conversation = read(newer(shown, message("user", "go"), call("c1"), aborted))
    assert texts(conversation) == ["go"]
    assert len(conversation.repairs) == 1
    assert conversation.history.messages[-1].results[0].failed


def test_a_replacement_history_is_matched_with_what_was_said() -> None:
    """After a compaction the live view has the very messages that were kept, and the summary."""
    summary = "Another language model started to solve this problem and produced a summary: S"
    kept = [message("user", "again"), message("user", summary)]
    compacted = envelope("compacted", {"message": "S", "replacement_history": kept})
    data = newer(
        message("user", "again"),
        message("assistant", "first"),
        message("user", "again"),
        message("assistant", "second"),
        compacted,
        message("user", "last"),
    )
    live, whole = read(data), read(data, whole=True)
    assert texts(live) == ["again", summary, "last"]
    assert texts(whole) == ["again", "first", "again", "second", summary, "last"]
    assert [m.kind for m in live.history.messages] == ["said", "summary", "said"]
    assert live.originals == whole.originals
    assert live.history.messages[0] == whole.history.messages[2]


def test_a_compaction_without_a_replacement_keeps_the_users_words() -> None:
    """Older versions kept the user's messages and a summary."""
    data = newer(
        message("user", "one"),
        message("assistant", "first"),
        envelope("compacted", {"message": "S"}),
        message("assistant", "after"),
    )
    assert texts(read(data)) == ["one", "S", "after"]
    assert len(read(data).history.system) == 1


def test_turns_that_were_rolled_back_are_in_no_view() -> None:
    """Undone turns are among the originals only."""
    undo = envelope("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
    data = newer(
        message("user", "one"),
        message("assistant", "first"),
        message("user", "wrong"),
        call("c1"),
        undo,
        message("user", "right"),
    )
    for whole in (False, True):
        conversation = read(data, whole=whole)
        assert texts(conversation) == ["one", "first", "right"]
        assert conversation.repairs == ()
        assert "wrong" in [m.text for m in conversation.originals]


@st.composite
def rollouts(draw: st.DrawFn) -> list[Object]:
    """Items of whole turns with unknown fields, parts and items."""
    items: list[Object] = []

    def add(item: Object) -> None:
        items.append(joined(item, draw(FIELDS)))

    for turn in range(draw(st.integers(1, 4))):
        asked = message("user", draw(WORDS))
        asked["content"] += draw(st.lists(PARTS, max_size=1))
        add(asked)
        for block in draw(
            st.lists(st.sampled_from(["reasoning", "search", "unknown"]), max_size=2)
        ):
            unknown = {"type": "x_item", "inner": draw(JSON)}
            search = {"type": "web_search_call", "status": "completed"}
            known = {"reasoning": reasoning("hm"), "search": search, "unknown": unknown}
            add(known[block])
        add(message("assistant", draw(WORDS)))
        ids = [f"c{turn}-{place}" for place in range(draw(st.integers(0, 3)))]
        for id in ids:
            add(call(id))
        for id in ids:
            add(output(id, draw(st.sampled_from(["ok", "Exit code: 1\nno"]))))
        add(message("assistant", draw(WORDS)))
    return items


@settings(max_examples=40)
@given(rollouts(), st.booleans())
def test_unknown_fields_and_items_survive_a_round_trip(items: list[Object], old: bool) -> None:
    """Every item is written back for the Responses API as it was recorded, in order."""
    meta = {"id": "s1", "cwd": "/repo"}
    body = [envelope("response_item", item) for item in items]
    data = older(*items) if old else lines([envelope("session_meta", meta), *body])
    conversation = read(data)
    assert conversation.repairs == ()
    assert formats.write(conversation.history, "responses") == items


def test_messages_carry_their_items() -> None:
    """Each message knows the items that it was read from."""
    item = message("user", "go")
    [said] = read(newer(item)).history.messages
    assert isinstance(said, Message)
    assert said.source is not None
    assert (said.source.format, said.source.value) == ("responses", [item])
