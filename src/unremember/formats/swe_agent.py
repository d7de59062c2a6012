"""SWE-agent: one `.traj` with `history`, or only `trajectory` where no history was kept.

A history's entry has a role, a content, and, where they apply, `thought`, `action`,
`message_type`, `is_demo`. Newer ones have real tool calls; otherwise an action is a call of the
tool `action` here and the entry after it its result. Ids of calls may come twice in a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from unremember.formats import openai_chat
from unremember.formats.base import Conversation, conversation
from unremember.formats.shape import Object, as_list, as_object, as_objects, as_text
from unremember.messages import Message, Native, Text, ToolCall, ToolResult

NAME = "swe-agent"


def matches(head: object) -> bool:
    """Whether a document is a trajectory of this agent."""
    fields = as_object(head)
    history, steps = as_objects(fields.get("history")), as_objects(fields.get("trajectory"))
    if steps and not ("action" in steps[0] and "observation" in steps[0]):
        return False
    told = any("message_type" in entry or "thought" in entry for entry in history)
    return bool(steps) or (told and "info" in fields)


def read(document: object, *, whole: bool = False) -> list[Conversation]:
    """The one conversation in a document; `whole` makes no difference, nothing is dropped here."""
    fields = as_object(document)
    history, steps = as_objects(fields.get("history")), as_objects(fields.get("trajectory"))
    messages = _from_history(history)
    if not any(message.calls for message in messages):
        # Some files keep a shortened history; the steps then tell what was done.
        opening = [m for m in messages if m.role in ("system", "user")]
        messages = [*opening[: _opening_length(opening)], *_from_steps(steps)]
    elif steps and messages[-1].calls and steps[-1].get("action") == history[-1].get("action"):
        # A history ends with the call that ended the run; what came of it is in the steps.
        messages.append(_result(messages[-1].calls[-1], steps[-1]))
    return [conversation(messages, form=NAME, id=_task(fields), cwd=_folder(steps))]


def _opening_length(messages: Sequence[Message]) -> int:
    """How many messages there are up to and with the first that a user said."""
    said = (i for i, m in enumerate(messages, start=1) if m.role == "user" and m.kind == "said")
    return next(said, len(messages))


def _task(document: Object) -> str:
    problem = as_object(as_object(document.get("replay_config")).get("problem_statement"))
    return as_text(problem.get("id")) or as_text(document.get("environment"))


def _folder(steps: Iterable[Object]) -> str:
    """The folder that the first step left the shell in."""
    for step in steps:
        state = step.get("state")
        try:
            known: object = json.loads(state) if isinstance(state, str) else state
        except ValueError:
            continue
        if folder := as_text(as_object(known).get("working_dir")):
            return folder
    return ""


def _from_history(history: Iterable[Object]) -> list[Message]:
    messages: list[Message] = []
    open_calls: tuple[ToolCall, ...] = ()
    asked = False
    for index, entry in enumerate(history):
        message = _read(entry, index, open_calls)
        if message.role == "user" and message.kind == "program" and not asked:
            # The task is an "observation" too: what the agent saw first.
            message = replace(message, kind="said")
        asked = asked or (message.role == "user" and message.kind == "said")
        answered = {result.call_id for result in message.results}
        open_calls = tuple(call for call in open_calls if call.id not in answered) + message.calls
        messages.append(message)
    return messages


def _read(entry: Object, index: int, open_calls: Sequence[ToolCall]) -> Message:
    source = Native(NAME, entry)
    content = openai_chat.read_content(entry.get("content"))
    role = entry.get("role")
    if entry.get("is_demo"):
        return Message("user", openai_chat.said(content), kind="demo", source=source)
    if role == "system":
        return Message("system", openai_chat.said(content), source=source)
    if role == "assistant":
        return _action(entry, index)
    answered = _answered(entry, open_calls)
    if answered:
        return Message("tool", (ToolResult(answered, content),), source=source)
    kind = "program" if entry.get("message_type") == "observation" else "said"
    return Message("user", openai_chat.said(content), kind=kind, source=source)


def _answered(entry: Object, open_calls: Sequence[ToolCall]) -> str:
    """The id of the call that an entry answers; empty if it answers none."""
    named = as_list(entry.get("tool_call_ids")) or [entry.get("tool_call_id")]
    if entry.get("role") == "tool" and as_text(named[0]):
        return as_text(named[0])
    return open_calls[0].id if open_calls else ""


def _action(entry: Object, index: int) -> Message:
    source = Native(NAME, entry)
    [message] = openai_chat.to_messages([entry])
    if message.calls:
        return replace(message, source=source)
    action = as_text(entry.get("action"))
    if not action.strip():
        return replace(message, source=source)
    thought = as_text(entry.get("thought")).strip()
    return Message("assistant", (*_thought(thought), _call(action, index)), source=source)


def _thought(text: str) -> tuple[Text, ...]:
    return (Text(text),) if text else ()


def _call(action: str, index: int) -> ToolCall:
    arguments = json.dumps({"command": action.removesuffix("\n")}, ensure_ascii=False)
    return ToolCall(f"action-{index}", "action", arguments)


def _from_steps(steps: Iterable[Object]) -> Iterator[Message]:
    for index, step in enumerate(steps):
        source = Native(NAME, step)
        thought = as_text(step.get("thought")) or as_text(step.get("response"))
        action = as_text(step.get("action"))
        if not action.strip():
            if thought.strip():
                yield Message("assistant", _thought(thought.strip()), source=source)
            continue
        call = _call(action, index)
        yield Message("assistant", (*_thought(thought.strip()), call), source=source)
        yield _result(call, step)


def _result(call: ToolCall, step: Object) -> Message:
    observation = as_text(step.get("observation"))
    content = (Text(observation),) if observation else ()
    return Message("tool", (ToolResult(call.id, content),), source=Native(NAME, step))
