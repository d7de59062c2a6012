"""Claude Code sessions, read through the public face."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from unknowns import FIELDS, JSON, PARTS, WORDS, Object, joined, lines

from unremember import formats
from unremember.messages import Media, Message, Text, Thinking, ToolCall, ToolResult


class Session:
    """Writes lines as Claude Code does: each hangs on the one before, unless a parent is given."""

    def __init__(self, session: str = "s1") -> None:
        self.session, self.lines, self.last = session, list[Object](), ""

    def line(self, kind: str, parent: str | None = None, **fields: Any) -> str:
        """Adds one line and gives its uuid back."""
        uuid = f"{self.session}-u{len(self.lines)}"
        self.lines.append(
            {
                "parentUuid": (self.last if parent is None else parent) or None,
                "isSidechain": False,
                "sessionId": self.session,
                "cwd": "/repo",
                "type": kind,
                "uuid": uuid,
                "timestamp": f"2026-01-02T03:04:{len(self.lines) % 60:02}.000Z",
                **fields,
            }
        )
        self.last = uuid
        return uuid

    def user(self, content: object, parent: str | None = None, **fields: Any) -> str:
        """A user's line."""
        return self.line("user", parent, message={"role": "user", "content": content}, **fields)

    def assistant(self, id: str, *blocks: Object, **fields: Any) -> str:
        """A line of the assistant's message `id`."""
        message = {"role": "assistant", "id": id, "model": "m", "content": list(blocks)}
        return self.line("assistant", message=message, **fields)

    def result(self, call: str, content: object = "ok", **fields: Any) -> str:
        """A line with the result of a call."""
        return self.user(
            [{"type": "tool_result", "tool_use_id": call, "content": content, **fields}]
        )

    def compact(self, summary: str, **metadata: Any) -> None:
        """A boundary and the summary that follows it."""
        self.line(
            "system",
            "",
            subtype="compact_boundary",
            logicalParentUuid=self.last,
            compactMetadata={"trigger": "auto", **metadata},
        )
        self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def read(self, *, whole: bool = False) -> formats.Conversation:
        """What the face reads from it."""
        [conversation] = formats.read(lines(self.lines), whole=whole)
        return conversation


def text(words: str, **more: Any) -> Object:
    return {"type": "text", "text": words, **more}


def call(id: str, **more: Any) -> Object:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}, **more}


def said(conversation: formats.Conversation) -> list[str]:
    return [message.text for message in conversation.history.messages if message.text]


def test_lines_of_one_message_are_one_step_with_its_results_in_call_order() -> None:
    """Calls and results of one message id, mixed over many lines, come out as one whole step."""
    log = Session()
    log.user("go")
    log.assistant("a1", {"type": "thinking", "thinking": "hm", "signature": "sig"})
    log.assistant("a1", call("c1"))
    log.result("c1")
    log.assistant("a1", call("c2"))
    log.assistant("a1", call("c3"))
    log.result("c3", is_error=True)
    log.line("progress", data={"type": "hook_progress"})
    log.result("c2", [text("two"), {"type": "tool_reference", "tool_name": "X"}])
    log.assistant("a2", text("done"))
    conversation = log.read()

    user, step, answer = conversation.history.steps
    assert step.messages[0].parts[0] == Thinking("hm", "sig")
    assert [c.id for c in step.calls] == ["c1", "c2", "c3"]
    assert [(r.call_id, r.failed) for r in step.results] == [
        ("c1", False),
        ("c2", False),
        ("c3", True),
    ]
    assert isinstance(step.results[1].content[1], Media)
    assert (user.messages[0].text, answer.messages[0].text) == ("go", "done")
    assert conversation.repairs == ()
    assert (conversation.id, conversation.cwd) == ("s1", "/repo")
    assert user.messages[0].at == datetime(2026, 1, 2, 3, 4, 0, tzinfo=UTC)


def test_what_was_typed_beside_a_result_is_the_users_and_comes_after_all_results() -> None:
    """Text in the same line as a tool result stays a pin and parts no call from its result."""
    log = Session()
    log.user("go")
    log.assistant("a1", call("c1"))
    log.assistant("a1", call("c2"))
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "no"}
    log.user([result, text("use tabs instead")])
    log.result("c2")
    messages = log.read().history.messages

    assert [m.role for m in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert [pin.text for pin in log.read().history.pins] == ["go", "use tabs instead"]


def test_the_live_view_begins_at_the_last_boundary_and_the_whole_log_has_everything() -> None:
    """A recorded compaction hides what came before it; handles are the same in both views."""
    log = Session()
    log.user("first")
    log.compact("summary one")
    log.assistant("a1", text("middle"))
    log.compact("summary two")
    log.user("last")
    live, whole = log.read(), log.read(whole=True)

    assert said(live) == ["summary two", "last"]
    assert said(whole) == ["first", "summary one", "middle", "summary two", "last"]
    assert [m.kind for m in live.history.messages] == ["summary", "said"]
    assert live.originals == whole.originals == tuple(whole.history.messages)


def test_a_boundary_can_name_what_it_preserves() -> None:
    """Preserved messages, named as a segment or one by one, stay in the live view."""
    segment, named = Session(), Session()
    for log in (segment, named):
        log.user("old")
        first = log.user("kept one")
        last = log.assistant("a1", text("kept two"))
        log.line("system", subtype="turn_duration")
        if log is segment:
            log.compact("summary", preservedSegment={"headUuid": first, "tailUuid": last})
        else:
            log.compact("summary", preservedMessages={"uuids": [first, last]})
        assert said(log.read()) == ["kept one", "kept two", "summary"]


def test_a_boundary_that_nothing_follows_hides_nothing() -> None:
    """A crash between boundary and summary leaves the conversation as it was."""
    log = Session()
    log.user("first")
    log.compact("summary")
    del log.lines[-1]
    assert said(log.read()) == ["first"]


def test_of_two_typed_messages_under_one_parent_the_last_is_live() -> None:
    """An abandoned branch and all that followed from it are among the originals only."""
    log = Session()
    log.user("start")
    fork = log.assistant("a1", text("asked"))
    log.user("wrong way", fork)
    log.assistant("a2", call("c1"))
    log.user("right way", fork)
    log.assistant("a3", text("good"))
    for whole in (False, True):
        conversation = log.read(whole=whole)
        assert said(conversation) == ["start", "asked", "right way", "good"]
        assert conversation.repairs == ()
        assert "wrong way" in [m.text for m in conversation.originals]


def test_sidechains_are_in_no_view_but_among_the_originals() -> None:
    """What a sub-agent said is never part of the main conversation, not even with the same ids."""
    log = Session()
    log.user("go")
    task = log.assistant("a1", call("c1"))
    log.user("sub task", "", isSidechain=True)
    log.assistant("b1", call("c1"), isSidechain=True)
    log.user([{"type": "tool_result", "tool_use_id": "c1", "content": "inner"}], isSidechain=True)
    log.last = task
    log.result("c1", "outer")
    for whole in (False, True):
        conversation = log.read(whole=whole)
        assert [r.text for m in conversation.history.messages for r in m.results] == ["outer"]
        assert len(conversation.originals) == 6


def test_the_file_of_a_sub_agent_is_its_own_conversation() -> None:
    """Where all lines are a sidechain, that is the conversation asked for."""
    log = Session()
    log.user("sub task", isSidechain=True, agentId="x")
    log.assistant("b1", text("found"), isSidechain=True, agentId="x")
    assert said(log.read()) == ["sub task", "found"]


def test_resumed_copies_are_read_once() -> None:
    """The same uuids again, or copied lines under another session id, do not double anything."""
    log = Session()
    log.user("go")
    log.assistant("a1", call("c1"))
    log.result("c1")
    log.assistant("a2", text("done"))
    expected = said(log.read())
    same = [{**line, "sessionId": "s2"} for line in log.lines]
    renamed = [
        {
            **line,
            "sessionId": "s2",
            "uuid": "n" + line["uuid"],
            "parentUuid": f"n{line['parentUuid']}",
        }
        for line in log.lines
    ]
    for copies in (log.lines[:2], same, renamed, same[:2]):
        again = Session()
        again.lines = [*log.lines, *copies]
        conversation = again.read()
        assert said(conversation) == expected
        assert conversation.repairs == ()


def test_what_the_program_wrote_is_told_from_what_was_typed() -> None:
    """Caveats, commands, interruptions and made-up answers are neither user's nor model's words."""
    log = Session()
    log.user("Caveat: stay calm", isMeta=True)
    log.user("<command-name>/exit</command-name>\n<command-args></command-args>")
    log.user("<local-command-stdout>Bye</local-command-stdout>")
    log.user([text("[Request interrupted by user for tool use]")])
    log.line("attachment", attachment={"type": "todo_reminder", "content": "todo"})
    log.line("attachment", attachment={"type": "queued_command", "prompt": "also do this"})
    log.user("<command-name>/fix</command-name>\n<command-args>never push</command-args>")
    log.line("queue-operation", operation="enqueue", content="x")
    log.line("file-history-snapshot", snapshot={})
    log.line(
        "assistant", message={"role": "assistant", "model": "<synthetic>", "content": [text("No")]}
    )
    kinds = [(m.role, m.kind) for m in log.read().history.messages]
    assert kinds == [("user", "program")] * 5 + [("user", "said")] * 2 + [("assistant", "program")]


def test_orphans_are_mended_and_reported_once() -> None:
    """A call without a result and a result without a call load, with one repair each."""
    log = Session()
    log.user("go")
    log.assistant("a1", call("lost"))
    log.assistant("a2", text("next"))
    log.result("unknown", "kept text")
    for whole in (False, True):
        conversation = log.read(whole=whole)
        assert len([r for r in conversation.repairs if "lost" in str(r)]) == 1
        assert len([r for r in conversation.repairs if "unknown" in str(r)]) == 1
        assert len(conversation.repairs) == 2
        assert "kept text" in said(conversation)[-1]


def thinking(words: str) -> Object:
    return {"type": "thinking", "thinking": words, "signature": "s"}


BLOCKS = st.one_of(
    st.builds(joined, st.builds(text, WORDS), FIELDS),
    st.builds(joined, st.builds(thinking, WORDS), FIELDS),
    st.builds(joined, st.just({"type": "redacted_thinking", "data": "opaque"}), FIELDS),
    PARTS,
)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Session, list[Object]]:
    """A session of whole turns with unknown fields, parts and lines; and its blocks in order."""
    log, blocks = Session(), list[Object]()

    def add(block: Object) -> Object:
        blocks.append(block)
        return block

    for turn in range(draw(st.integers(1, 4))):
        log.user([add(text(draw(WORDS), **draw(FIELDS)))], **draw(FIELDS))
        for block in draw(st.lists(BLOCKS, max_size=3)):
            log.assistant(f"a{turn}", add(block), **draw(FIELDS))
        log.assistant(f"a{turn}", add(text(draw(WORDS))))
        ids = [f"c{turn}-{place}" for place in range(draw(st.integers(0, 3)))]
        for id in ids:
            log.assistant(f"a{turn}", add(call(id, **draw(FIELDS))))
            if draw(st.booleans()):
                log.line(draw(st.sampled_from(["x_line", "progress"])), data=draw(JSON))
        results = {id: {**draw(FIELDS), "content": [draw(PARTS)]} for id in ids}
        for id in draw(st.permutations(ids)):
            log.result(id, **results[id])
        blocks += ({"type": "tool_result", "tool_use_id": id, **results[id]} for id in ids)
        log.assistant(f"b{turn}", add(text(draw(WORDS))))
    log.user([add(text("and then?"))])
    return log, blocks


@settings(max_examples=40)
@given(sessions())
def test_unknown_fields_and_parts_survive_a_round_trip(
    session: tuple[Session, list[Object]],
) -> None:
    """Every block is written back for Anthropic as it was recorded, in order, nothing added."""
    log, blocks = session
    conversation = log.read()
    written = formats.write(conversation.history, "anthropic")["messages"]
    given = [block for turn in written for block in turn["content"]]
    assert given == blocks
    assert conversation.repairs == ()


@settings(max_examples=40)
@given(sessions())
def test_every_part_is_read(session: tuple[Session, list[Object]]) -> None:
    """Known blocks become their own parts, unknown ones are kept as JSON, none is dropped."""
    log, blocks = session
    parts = [part for message in log.read().history.messages for part in message.parts]
    kinds = {
        "text": Text,
        "thinking": Thinking,
        "redacted_thinking": Thinking,
        "tool_use": ToolCall,
        "tool_result": ToolResult,
    }
    assert [type(part) for part in parts] == [kinds.get(block["type"], Media) for block in blocks]


def test_a_message_is_immutable_and_knows_where_it_is_from() -> None:
    """Each message carries its own turn in Anthropic's form."""
    log = Session()
    log.user("go")
    [message] = log.read().history.messages
    assert isinstance(message, Message)
    assert message.source is not None
    assert message.source.format == "anthropic"
    assert message.source.value == {"role": "user", "content": "go"}
