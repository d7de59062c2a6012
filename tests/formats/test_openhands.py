"""OpenHands event logs in all their shapes, read through the public face."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from unknowns import FIELDS, JSON, WORDS, Object, joined, lines

from unremember import formats

AT = "2026-01-02T03:04:05.678901"


def numbered(*events: Object) -> list[Object]:
    return [{"id": place, "timestamp": AT, **event} for place, event in enumerate(events)]


def user(text: str) -> Object:
    return {"source": "user", "action": "message", "args": {"content": text}}


def action(kind: str = "run", **args: Any) -> Object:
    return {"source": "agent", "action": kind, "args": {"command": "ls", "thought": "", **args}}


def observation(cause: int, content: str = "ok", kind: str = "run", **extras: Any) -> Object:
    return {
        "source": "agent",
        "observation": kind,
        "content": content,
        "cause": cause,
        "extras": extras,
    }


def metadata(answer: str, call: str, *calls: str, text: str = "") -> Object:
    """What the program keeps of the model's answer with its calls."""
    function = {"name": "execute_bash", "arguments": '{"command":  "ls"}'}
    asked = [{"id": id, "type": "function", "function": function} for id in calls or (call,)]
    message = {"role": "assistant", "content": text, "tool_calls": asked}
    response = {"id": answer, "choices": [{"message": message}]}
    return {
        "tool_call_metadata": {
            "function_name": "execute_bash",
            "tool_call_id": call,
            "model_response": response,
            "total_calls_in_response": len(asked),
        }
    }


def read(document: object, *, whole: bool = False) -> formats.Conversation:
    [conversation] = formats.read(json.dumps(document).encode(), whole=whole)
    assert conversation.format == "openhands"
    return conversation


def texts(conversation: formats.Conversation) -> list[str]:
    return [m.text for m in conversation.history.messages if m.text]


def test_cause_links_an_observation_to_its_action() -> None:
    """Observations in any order find their action; what is for the screen is no message."""
    events = numbered(
        {"source": "agent", "action": "system", "args": {"content": "Be kind.", "tools": []}},
        user("go"),
        {
            "source": "environment",
            "action": "change_agent_state",
            "args": {"agent_state": "running"},
        },
        {
            "source": "environment",
            "observation": "agent_state_changed",
            "content": "",
            "extras": {},
        },
        action(thought="I look."),
        action("read", path="a.py"),
        observation(5, "file", "read"),
        observation(4, "listing", metadata={"exit_code": 1}),
        {"source": "agent", "action": "finish", "args": {"final_thought": "Done."}},
    )
    for document in (events, {"history": events}, {"trajectory": events}):
        conversation = read(document)
        assert [m.text for m in conversation.history.system] == ["Be kind."]
        assert texts(conversation) == ["go", "I look.", "Done."]
        results = [r for m in conversation.history.messages for r in m.results]
        assert [(r.text, r.failed) for r in results] == [("listing", True), ("file", False)]
        assert conversation.repairs == ()
        assert conversation.history.messages[0].at is not None


def test_calls_of_one_answer_are_one_message_with_the_models_own_words() -> None:
    """With tool call metadata, ids, names and arguments are those that the model wrote."""
    both = ("c1", "c2")
    conversation = read(
        numbered(
            user("go"),
            {**action(), **metadata("r1", "c1", *both, text="I look.")},
            {**action(), **metadata("r1", "c2", *both)},
            {**observation(1, "one"), **metadata("r1", "c1", *both)},
            {**observation(2, "two"), **metadata("r1", "c2", *both)},
            {**action(), **metadata("r2", "c3")},
            {**observation(5, "no", "error"), **metadata("r2", "c3")},
        )
    )
    _, first, second = conversation.history.steps
    assert [c.id for c in first.calls] == ["c1", "c2"]
    assert first.calls[0].arguments == '{"command":  "ls"}'
    assert first.messages[0].text == "I look."
    assert [r.text for r in first.results] == ["one", "two"]
    assert second.results[0].failed
    assert conversation.repairs == ()


def test_a_condensation_hides_what_it_forgot() -> None:
    """Live is what was not forgotten and the last summary; the whole log has everything."""
    forget = {"forgotten_event_ids": [1, 2], "summary": "S1", "summary_offset": 1}
    more = {"forgotten_events_start_id": 4, "forgotten_events_end_id": 5, "summary": "S2"}
    events = numbered(
        user("go"),
        action(),
        observation(1, "old"),
        {"source": "agent", "action": "condensation", "args": forget},
        action(),
        observation(4, "older"),
        {"source": "agent", "action": "condensation", "args": more},
        action(),
        observation(7, "new"),
    )
    live, whole = read(events), read(events, whole=True)
    assert texts(live) == ["go", "S2"]
    assert [r.text for m in live.history.messages for r in m.results] == ["new"]
    assert texts(whole) == ["go", "S1", "S2"]
    assert live.originals == whole.originals


def test_what_a_delegate_does_is_in_no_view() -> None:
    """Between a delegation and its observation another agent works."""
    events = numbered(
        user("go"),
        action("delegate", agent="Browser"),
        action(),
        observation(2, "inner"),
        observation(1, "outer", "delegate"),
    )
    conversation = read(events, whole=True)
    assert [r.text for m in conversation.history.messages for r in m.results] == ["outer"]
    assert len(conversation.originals) == 5


def test_the_old_form_of_pairs_and_flat_events() -> None:
    """Without ids and sources: the user opens, and an observation answers the action before it."""
    opening = {"action": "message", "content": "go", "wait_for_response": False}
    run = {"action": "run", "command": "ls", "thought": "I look.", "is_confirmed": "confirmed"}
    seen = {"observation": "run", "content": "a.py", "command": "ls", "exit_code": 0}
    nothing = {"observation": "null", "content": ""}
    reply = {"action": "message", "content": "Which one?"}
    answer = {"action": "message", "content": "The first."}
    finish: Object = {"action": "finish", "outputs": {}, "thought": "Done."}
    flat: list[Object] = [opening, run, seen, reply, answer, finish]
    pairs = [
        [opening, nothing],
        [run, seen],
        [reply, nothing],
        [answer, nothing],
        [finish, nothing],
    ]
    histories: list[object] = [flat, pairs]
    for history in histories:
        conversation = read({"history": history})
        assert texts(conversation) == ["go", "I look.", "Which one?", "The first.", "Done."]
        roles = [m.role for m in conversation.history.messages]
        assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
        assert conversation.history.messages[1].calls[0].parsed() == {"command": "ls"}


def test_a_file_of_lines_holds_one_conversation_a_line_or_one_event_a_line() -> None:
    """Resolver output gives many conversations, an event stream as lines one."""
    log = numbered(user("go"), action(), observation(1))
    many = formats.read(lines([{"instance_id": "a", "history": log}, {"history": log}]))
    [one] = formats.read(lines(log))
    assert [c.id for c in many] == ["a", "line 2"]
    assert many[0].history == many[1].history == one.history


def test_what_the_program_looked_up_or_the_user_ran_is_nobodys_words() -> None:
    """Instructions of the repository are pinned; a command of the user is the program's report."""
    extras = {"recall_type": "workspace_context", "repo_instructions": "never push"}
    conversation = read(
        numbered(
            user("go"),
            {"source": "user", "action": "recall", "args": {"query": "go"}},
            {
                "source": "environment",
                "observation": "recall",
                "content": "Added",
                "extras": extras,
            },
            {"source": "user", "action": "run", "args": {"command": "git status"}},
            observation(3, "clean"),
        )
    )
    assert texts(conversation) == ["go", "never push", "$ git status", "clean"]
    assert [m.kind for m in conversation.history.messages] == ["said"] + ["program"] * 3
    assert [p.text for p in conversation.history.pins] == ["go", "never push"]


def test_orphans_are_mended_and_reported_once() -> None:
    """An action that was never answered and an observation of a lost call load."""
    lost = {**observation(90, "kept"), **metadata("r9", "c9")}
    conversation = read(numbered(user("go"), action(), user("stop"), lost))
    assert len([r for r in conversation.repairs if "no result" in r.what]) == 1
    assert len([r for r in conversation.repairs if "c9" in r.what]) == 1
    assert "kept" in texts(conversation)[-1]


@st.composite
def logs(draw: st.DrawFn) -> list[Object]:
    """Whole turns with unknown fields, actions of unknown kinds and events that are neither."""
    events: list[Object] = []
    for _ in range(draw(st.integers(1, 4))):
        events.append(joined(user(draw(WORDS)), draw(FIELDS)))
        for _ in range(draw(st.integers(0, 3))):
            place = len(events)
            kind = draw(st.sampled_from(["run", "x_dance"]))
            events.append(joined(action(kind, x_new=draw(JSON)), draw(FIELDS)))
            events.append(joined(observation(place, draw(WORDS), kind), draw(FIELDS)))
        if draw(st.booleans()):
            events.append({"x_event": draw(JSON)})
    return numbered(*events)


@settings(max_examples=40)
@given(logs())
def test_unknown_fields_and_events_are_kept(events: list[Object]) -> None:
    """Unknown actions are calls with all their arguments; messages carry their own events."""
    conversation = read(events)
    assert conversation.repairs == ()
    recorded = [event for event in events if "x_event" not in event]
    carried: list[Object] = []
    for message in conversation.history.messages:
        assert message.source is not None
        carried += message.source.value
    assert carried == recorded
    calls = [call.parsed() for m in conversation.history.messages for call in m.calls]
    given = [event["args"] for event in recorded if event.get("action") in ("run", "x_dance")]
    for call, args in zip(calls, given, strict=True):
        # What says nothing (null, empty) is no argument.
        assert call.get("x_new") == args["x_new"] or args["x_new"] in (None, "", [])
