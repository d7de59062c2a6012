"""Trajectories of mini-swe-agent, SWE-agent and tau-bench are read as what was said and done."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unremember.formats import (
    anthropic,
    mini_swe_agent,
    openai_chat,
    openai_responses,
    plain_text,
    swe_agent,
    tau_bench,
)
from unremember.history import History
from unremember.messages import Message, Text, ToolCall, ToolResult
from unremember.notes import Notes, OutlineEntry
from unremember.testing import check_anthropic, check_openai, check_responses

DATA = Path(__file__).parents[2] / "../shared/data"
FORMATS = (mini_swe_agent, swe_agent, tau_bench, openai_chat, openai_responses, anthropic)


RECORDED = [
    pytest.param(form, path, id=path.name)
    for form in (mini_swe_agent, swe_agent, tau_bench)
    for path in sorted((DATA / form.NAME).glob("*"))
]


@pytest.mark.skipif(not DATA.exists(), reason="the recorded conversations are not here")
@pytest.mark.parametrize(("form", "path"), RECORDED)
def test_recorded_files(form: ModuleType, path: Path):
    """Each file is taken by its form alone, needs no repair, and is written valid."""
    document = json.loads(path.read_text(encoding="utf-8"))
    assert [f for f in FORMATS if f.matches(document)] == [form]
    for found in form.read(document):
        assert found.repairs == ()
        assert found.format == form.NAME
        assert check_openai(openai_chat.write(found.history)) == []
        assert check_responses(openai_responses.write(found.history)) == []
        made = anthropic.request(found.history)
        assert check_anthropic(made["messages"], made["system"]) == []
        assert "── m1 system" in plain_text.write(found.history)


@pytest.mark.skipif(not DATA.exists(), reason="the recorded conversations are not here")
def test_recorded_tau_bench_messages_come_back_as_they_were():
    """tau-bench's messages are OpenAI's: they are written as the very same objects."""
    [path] = (DATA / "tau-bench").glob("*.json")
    runs = json.loads(path.read_text(encoding="utf-8"))
    conversations = tau_bench.read(runs)
    assert [c.id for c in conversations] == ["0.0", "1.0", "2.0", "3.0", "4.0"]
    for run, found in zip(runs, conversations, strict=True):
        written = openai_chat.write(found.history)
        assert all(a is b for a, b in zip(written, run["traj"], strict=True))


def mini(*messages: dict[str, Any]) -> list[Message]:
    document: dict[str, Any] = {
        "trajectory_format": "mini-swe-agent-1",
        "info": {},
        "messages": list(messages),
    }
    assert mini_swe_agent.matches(document)
    return list(mini_swe_agent.read(document)[0].history.messages)


TASK = {"role": "user", "content": "Fix it."}
ACTION = {"role": "assistant", "content": "THOUGHT: look.\n\n```bash\nls -la\n```"}


def test_mini_text_protocol_is_calls_and_results():
    """A block of shell is a call of `bash`, the next user message what it printed."""
    printed = {"role": "user", "content": "<returncode>1</returncode>", "extra": {"returncode": 1}}
    task, call, result = mini(TASK, ACTION, printed)[:3]
    assert task.kind == "said"
    assert call.text == "THOUGHT: look."
    assert call.calls[0].parsed() == {"command": "ls -la"}
    assert result.results == (
        ToolResult(call.calls[0].id, (Text("<returncode>1</returncode>"),), failed=True),
    )


def test_mini_words_of_the_program_are_not_the_users():
    """A complaint about the form of an answer is the program's, a comment is the user's."""
    no_action = {"role": "assistant", "content": "I think we are done."}
    complaint = {"role": "user", "content": "Please provide exactly one action."}
    comment = {"role": "user", "content": "Interrupted by user: use the other branch"}
    messages = mini(TASK, no_action, complaint, ACTION, comment)
    assert [m.kind for m in messages if m.role == "user"] == ["said", "program", "said"]
    assert messages[-1].text.endswith("use the other branch")
    assert messages[-1].results[0].failed


def test_mini_exit_is_what_the_last_command_printed():
    """The `exit` message answers the call that submitted; one that says nothing is left out."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    asked = {"role": "assistant", "content": "", "tool_calls": [call], "extra": {"cost": 1}}
    *_, result = mini(TASK, asked, {"role": "exit", "content": "diff --git a b"})
    assert result.results == (ToolResult("c1", (Text("diff --git a b"),)),)
    answer = {"role": "tool", "tool_call_id": "c1", "content": "x", "extra": {"returncode": 2}}
    *_, last = mini(TASK, asked, answer, {"role": "exit", "content": ""})
    assert last.results[0].failed


def test_mini_over_the_responses_api():
    """Whole responses among the messages are read as their items."""
    call = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"}
    output: dict[str, Any] = {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "x",
        "extra": {},
    }
    messages = mini(TASK, {"object": "response", "output": [call]}, output)
    assert [m.role for m in messages] == ["user", "assistant", "tool"]


def swe(*history: dict[str, Any], steps: tuple[dict[str, Any], ...] = ()) -> list[Message]:
    document: dict[str, Any] = {"history": list(history), "trajectory": list(steps), "info": {}}
    assert swe_agent.matches(document)
    return list(swe_agent.read(document)[0].history.messages)


def test_swe_actions_are_calls():
    """A thought with an action is text and a call; the observation after it is its result."""
    task = {"role": "user", "content": "Fix it.", "message_type": "observation"}
    action = {"role": "assistant", "content": "…", "thought": "Look.\n", "action": "ls -F\n"}
    seen = {"role": "user", "content": [{"type": "text", "text": "a.py"}]}
    task_read, call, result = swe(task, action, seen)
    assert task_read.kind == "said"
    assert call.text == "Look."
    assert call.calls == (ToolCall("action-1", "action", '{"command": "ls -F"}'),)
    assert result.results == (ToolResult("action-1", (Text("a.py"),)),)


def test_swe_demonstrations_are_no_conversation():
    """Demonstration entries of all roles are marked, and no user's words."""
    demo = {"role": "assistant", "content": "…", "action": "ls", "thought": "", "is_demo": True}
    first, task = swe(demo, {"role": "user", "content": "Fix it."})
    assert (first.role, first.kind, first.calls) == ("user", "demo", ())
    assert task.kind == "said"


def test_swe_steps_stand_in_for_a_history_without_actions():
    """Where the history holds no action, the steps tell what was done."""
    step = {
        "action": "ls",
        "observation": "a.py",
        "thought": "Look.",
        "state": {"working_dir": "/w"},
    }
    task = {"role": "user", "content": "Fix it.", "message_type": "observation"}
    document: dict[str, Any] = {
        "history": [task],
        "trajectory": [step, {**step, "action": ""}],
        "info": {},
    }
    [found] = swe_agent.read(document)
    assert found.cwd == "/w"
    assert [m.role for m in found.history.messages] == ["user", "assistant", "tool", "assistant"]


def test_plain_text_shows_who_said_what():
    """A transcript has a handle for each message, call and result, and the notes."""
    history = History(
        (Message("system", (Text("Be kind."),), 1),),
        (
            Message("user", (Text("go"),), 9),
            Message("assistant", (Text("I look."), ToolCall("a", "Bash", '{"command": "ls"}')), 10),
            Message("tool", (ToolResult("a", (Text("no"),), failed=True),), 12),
        ),
        Notes((OutlineEntry(2, "Bash pwd → ok"),), before=10, next=13),
    )
    shown = plain_text.write(history)
    headings = [line for line in shown.splitlines() if line.startswith("──")]
    assert headings == [
        "── m1 system",
        "── m9 user",
        "── user (program)",
        "── m10 assistant",
        "── m11 calls Bash",
        "── m12 result, failed",
    ]
    assert "m2 Bash pwd → ok" in shown
