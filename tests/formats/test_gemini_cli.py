"""Gemini CLI chats, sessions as lines, and checkpoints, read through the public face."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from unknowns import FIELDS, JSON, WORDS, Object, joined, lines

from unremember import formats
from unremember.messages import Media, Text, Thinking, ToolCall

AT = "2026-01-02T03:04:05.678Z"
HEAD: Object = {"sessionId": "g1", "projectHash": "x", "startTime": AT}


def user(text: object, id: str = "u") -> Object:
    return {"id": id, "timestamp": AT, "type": "user", "content": text}


def gemini(text: str, *calls: Object, id: str = "g", thoughts: object = None) -> Object:
    more = {"toolCalls": list(calls)} if calls else {}
    return {
        "id": id,
        "timestamp": AT,
        "type": "gemini",
        "content": text,
        "thoughts": thoughts,
        **more,
    }


def call(id: str, response: object = None, **fields: object) -> Object:
    given = {"functionResponse": {"id": id, "name": "read_file", "response": response}}
    result = {"result": [given], "status": "success"} if response is not None else {}
    return {"id": id, "name": "read_file", "args": {"path": "a"}, **result, **fields}


def read(document: object, *, whole: bool = False) -> formats.Conversation:
    [conversation] = formats.read(json.dumps(document).encode(), whole=whole)
    assert conversation.format == "gemini-cli"
    return conversation


def texts(conversation: formats.Conversation) -> list[str]:
    return [m.text for m in conversation.history.messages if m.text]


def test_results_inside_calls_become_messages_of_their_own() -> None:
    """A chat's calls and results are one step; a cancelled or missing result is a failed one."""
    image = {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
    seen = call("c3", {"output": "text"})
    seen["result"] = [*seen["result"], image]
    thoughts = [{"subject": "Plan", "description": "look first"}]
    calls = (
        call("c1", {"output": "one"}),
        call("c2", {"error": "no such file"}, status="error"),
        seen,
        call("c4", status="cancelled"),
        call("c5", {"rows": [1]}),
        call("c6", status="executing"),
    )
    info = {"type": "info", "content": "Request cancelled."}
    conversation = read(
        {**HEAD, "messages": [user("go"), gemini("", *calls, thoughts=thoughts), info]}
    )
    _, step = conversation.history.steps
    assert step.messages[0].parts[0] == Thinking("Plan\nlook first")
    assert [r.failed for r in step.results] == [False, True, False, True, False, True]
    assert [r.text for r in step.results][:2] == ["one", "no such file"]
    assert step.results[4].text == '{"rows": [1]}'
    assert isinstance(step.results[2].content[1], Media)
    assert len(conversation.repairs) == 1
    assert conversation.id == "g1"


def test_a_session_as_lines_replaces_and_rewinds() -> None:
    """A later line with an id replaces the earlier; what was rewound is an abandoned branch."""
    data = lines(
        [
            HEAD,
            user("one", "1"),
            gemini("draft", id="2"),
            gemini("answer", id="2"),
            user("wrong", "3"),
            {"$rewindTo": "3"},
            {"$set": {"lastUpdated": AT}},
            user("right", "3"),
        ]
    )
    for whole in (False, True):
        [conversation] = formats.read(data, whole=whole)
        assert conversation.format == "gemini-cli"
        assert texts(conversation) == ["one", "answer", "right"]
    assert [m.text for m in conversation.originals] == ["one", "answer", "wrong", "right"]


def test_a_checkpoint_pairs_responses_by_name_where_ids_are_missing() -> None:
    """Contents as the API takes them: two calls of one tool are answered in order."""

    def asked(name: str) -> Object:
        return {"functionCall": {"name": name, "args": {}}}

    def answered(name: str, output: str) -> Object:
        return {"functionResponse": {"name": name, "response": {"output": output}}}

    contents = [
        {
            "role": "user",
            "parts": [{"text": "This is the Gemini CLI. We are setting up the context"}],
        },
        {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]},
        {"role": "user", "parts": [{"text": "go"}]},
        {
            "role": "model",
            "parts": [{"text": "hm", "thought": True}, asked("ls"), asked("cat"), asked("ls")],
        },
        {"role": "user", "parts": [answered("ls", "1"), answered("cat", "2"), answered("ls", "3")]},
    ]
    saved: list[object] = [contents, {"history": contents}, {"clientHistory": contents}]
    for document in saved:
        conversation = read(document)
        assert [m.kind for m in conversation.history.messages][:3] == ["program", "program", "said"]
        assert [r.text for r in conversation.history.steps[-1].results] == ["1", "2", "3"]
        assert conversation.repairs == ()


def test_an_orphan_is_mended_and_reported_once() -> None:
    """A response to nothing in a checkpoint becomes a note of the program."""
    answer = {"functionResponse": {"name": "ls", "response": {"output": "x"}}}
    conversation = read(
        [{"role": "user", "parts": [{"text": "go"}]}, {"role": "user", "parts": [answer]}]
    )
    assert len(conversation.repairs) == 1
    assert "x" in texts(conversation)[-1]


@st.composite
def chats(draw: st.DrawFn) -> tuple[Object, int]:
    """A chat with unknown fields, parts and messages, and how many unknown parts it has."""
    messages: list[Object] = []
    unknown = 0
    for turn in range(draw(st.integers(1, 4))):
        parts: list[Object] = [{"text": draw(WORDS)}]
        if draw(st.booleans()):
            parts.append({"x_part": draw(JSON)})
            unknown += 1
        messages.append(joined(user(parts, f"u{turn}"), draw(FIELDS)))
        calls = [
            joined(call(f"c{turn}-{place}", {"output": draw(WORDS)}), draw(FIELDS))
            for place in range(draw(st.integers(0, 3)))
        ]
        messages.append(joined(gemini(draw(WORDS), *calls, id=f"g{turn}"), draw(FIELDS)))
        if draw(st.booleans()):
            messages.append({"type": "x_kind", "inner": draw(JSON)})
    return {**HEAD, "messages": messages}, unknown


@settings(max_examples=40)
@given(chats())
def test_unknown_fields_and_parts_are_kept(chat: tuple[Object, int]) -> None:
    """Unknown parts stay as JSON; each message carries its own object with all its fields."""
    document, unknown = chat
    conversation = read(document)
    messages = conversation.history.messages
    assert conversation.repairs == ()
    assert sum(isinstance(p, Media) for m in messages for p in m.parts) == unknown
    calls = [c for m in document["messages"] for c in m.get("toolCalls", [])]
    recorded = [m for m in document["messages"] if m["type"] in ("user", "gemini")] + calls
    assert len(messages) == len(recorded)
    for message in messages:
        assert message.source is not None
        assert message.source.value in recorded
    assert sum(isinstance(p, ToolCall) for m in messages for p in m.parts) == len(calls)
    assert all(isinstance(m.parts[0], Text) for m in messages if m.role == "user")
