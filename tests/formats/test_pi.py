"""pi sessions of all versions, read through the public face."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from unknowns import FIELDS, JSON, PARTS, WORDS, Object, joined, lines

from unremember import formats
from unremember.messages import Media, Text, Thinking, ToolCall, ToolResult

AT = "2026-01-02T03:04:05.678Z"
HEAD: Object = {"type": "session", "id": "p1", "timestamp": AT, "cwd": "/repo"}


def entry(message: Object, **fields: Any) -> Object:
    return {"type": "message", "timestamp": AT, "message": message, **fields}


def user(text: str, **fields: Any) -> Object:
    return entry({"role": "user", "content": [{"type": "text", "text": text}]}, **fields)


def assistant(*blocks: Object, stop: str = "stop", **fields: Any) -> Object:
    return entry({"role": "assistant", "content": list(blocks), "stopReason": stop}, **fields)


def text(words: str) -> Object:
    return {"type": "text", "text": words}


def call(id: str) -> Object:
    return {"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": "ls"}}


def result(id: str, *blocks: Object, failed: bool = False, **fields: Any) -> Object:
    message = {"role": "toolResult", "toolCallId": id, "toolName": "bash", "isError": failed}
    return entry({**message, "content": list(blocks) or [text("ok")]}, **fields)


def chained(*entries: Object) -> list[Object]:
    """Entries with ids, each under the one before unless it names its parent."""
    linked: list[Object] = []
    for place, one in enumerate(entries):
        parent = f"e{place - 1}" if place else None
        linked.append({"parentId": parent, "id": f"e{place}", **one})
    return linked


def read(*entries: Object, whole: bool = False) -> formats.Conversation:
    [conversation] = formats.read(lines([HEAD, *entries]), whole=whole)
    assert conversation.format == "pi"
    return conversation


def texts(conversation: formats.Conversation) -> list[str]:
    return [m.text for m in conversation.history.messages if m.text]


def test_a_session_without_ids_is_read_in_file_order() -> None:
    """Calls, results, media and thinking become parts; other lines are no messages."""
    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"}
    image = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    conversation = read(
        {"type": "model_change", "provider": "p", "modelId": "m"},
        user("go"),
        assistant(thought, text("I look."), call("c1"), call("c2"), stop="toolUse"),
        result("c1", text("one"), image),
        {"type": "thinking_level_change", "thinkingLevel": "off"},
        result("c2", failed=True),
        assistant(stop="aborted"),
        assistant(text(""), stop="aborted"),
    )
    _, step = conversation.history.steps
    assert step.messages[0].parts[0] == Thinking("hm", "sig")
    assert [r.failed for r in step.results] == [False, True]
    assert isinstance(step.results[0].content[1], Media)
    assert conversation.repairs == ()
    assert (conversation.id, conversation.cwd) == ("p1", "/repo")
    assert step.messages[0].at is not None


def test_what_hangs_beside_the_path_to_the_last_entry_is_an_abandoned_branch() -> None:
    """Only the path from the last entry to the root is in a view."""
    entries = chained(
        user("start"),
        user("wrong"),
        assistant(call("c1")),
        {**user("right"), "parentId": "e0"},
        {"type": "branch_summary", "fromId": "e2", "summary": "tried wrong"},
        assistant(text("good")),
    )
    for whole in (False, True):
        conversation = read(*entries, whole=whole)
        assert texts(conversation) == ["start", "right", "tried wrong", "good"]
        assert conversation.repairs == ()
        assert "wrong" in [m.text for m in conversation.originals]


def test_a_compaction_keeps_what_it_names() -> None:
    """Live are the last summary and what is kept from an entry on, named by id or index."""
    ids = chained(
        user("one"),
        {"type": "compaction", "summary": "S1", "firstKeptEntryId": "e0"},
        user("two"),
        user("three"),
        {"type": "compaction", "summary": "S2", "firstKeptEntryId": "e3"},
        user("four"),
    )
    # Lines are counted with the header.
    indices = [
        user("one"),
        user("two"),
        {"type": "compaction", "summary": "S", "firstKeptEntryIndex": 2},
    ]
    assert texts(read(*ids)) == ["three", "S2", "four"]
    assert texts(read(*ids, whole=True)) == ["one", "S1", "two", "three", "S2", "four"]
    assert texts(read(*indices)) == ["two", "S"]
    assert read(*ids).history.messages[1].kind == "summary"


def test_commands_that_the_user_ran_are_the_programs_words() -> None:
    """A command and its output reach the model; one for the user's own eyes does not."""
    ran = {"role": "bashExecution", "command": "ls", "output": "a.py", "exitCode": 1}
    secret = {"role": "bashExecution", "command": "env", "output": "x", "excludeFromContext": True}
    note = {"type": "custom_message", "customType": "x", "content": "hint", "display": True}
    conversation = read(user("go"), entry(ran), entry(secret), note)
    assert texts(conversation) == ["go", "$ ls\na.py\n[exit status 1]", "hint"]
    assert [m.kind for m in conversation.history.messages] == ["said", "program", "program"]


def test_orphans_are_mended_and_reported_once() -> None:
    """An aborted call and a result without a call load, with one repair each."""
    conversation = read(user("go"), assistant(call("c1"), stop="aborted"), result("gone"))
    assert len(conversation.repairs) == 2


BLOCKS = st.one_of(
    st.builds(joined, st.builds(text, WORDS), FIELDS),
    st.builds(joined, st.just({"type": "thinking", "thinking": "hm"}), FIELDS),
    PARTS,
)


@st.composite
def sessions(draw: st.DrawFn) -> list[Object]:
    """Whole turns with unknown fields, parts and lines; with and without ids."""
    entries: list[Object] = []
    for turn in range(draw(st.integers(1, 4))):
        blocks = [text(draw(WORDS)), *draw(st.lists(PARTS, max_size=1))]
        entries.append(entry(joined({"role": "user", "content": blocks}, draw(FIELDS))))
        ids = [f"c{turn}-{place}" for place in range(draw(st.integers(0, 3)))]
        said = [*draw(st.lists(BLOCKS, min_size=1, max_size=3)), *(call(id) for id in ids)]
        entries.append(joined(assistant(*said), draw(FIELDS)))
        entries += (
            result(id, *draw(st.lists(BLOCKS, max_size=1))) for id in draw(st.permutations(ids))
        )
        if draw(st.booleans()):
            entries.append({"type": "x_line", "inner": draw(JSON)})
    return chained(*entries) if draw(st.booleans()) else entries


@settings(max_examples=40)
@given(sessions())
def test_unknown_fields_and_parts_are_kept(entries: list[Object]) -> None:
    """Every block is one part, unknown ones as JSON; each message carries its own object."""
    conversation = read(*entries)
    assert conversation.repairs == ()
    recorded = [one["message"] for one in entries if one["type"] == "message"]
    messages = list(conversation.history.messages)
    for message in messages:
        assert message.source is not None
        assert message.source.value in recorded
    assert len(messages) == len(recorded)
    blocks = [b for m in recorded if m["role"] != "toolResult" for b in m["content"]]
    parts = [p for m in messages for p in m.parts if not isinstance(p, ToolResult)]
    kinds = {"text": Text, "thinking": Thinking, "toolCall": ToolCall}
    assert [type(part) for part in parts] == [kinds.get(block["type"], Media) for block in blocks]
