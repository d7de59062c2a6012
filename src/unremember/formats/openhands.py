"""OpenHands event logs: a list of events, a trajectory with `history`, resolver output as JSON
lines, and the old form that pairs each action with its observation.

What is known of the forms:
- An action of the agent is a tool call; the observation whose `cause` is the action's id is its
  result. Without `cause` an observation answers the newest open action.
- `tool_call_metadata` has the model's own words, name, arguments and call id; actions of one
  `model_response` are one assistant message. Without it the action's arguments are the call's.
- A condensation (`forgotten_event_ids`, or a range, and a `summary`) is what the model sees next.
- What a delegate does stands between the delegation and its observation; the agent that delegated
  never saw it: it is a thread of its own, in no view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from unremember.formats.base import Conversation
from unremember.formats.blocks import arguments, shown
from unremember.formats.media import from_url
from unremember.formats.moment import moment
from unremember.formats.shape import Object, as_list, as_object, as_objects, as_text
from unremember.formats.threads import Said, assemble
from unremember.messages import Kind, Message, Native, Part, Role, Text, ToolCall, ToolResult

NAME = "openhands"
LINES = True

_NO_MESSAGES = {
    "null",
    "agent_state_changed",
    "change_agent_state",
    "condensation_request",
    "recall",
}
_FLAT_ACTIONS = {"message", "run", "run_ipython", "read", "write", "browse", "finish", "delegate"}
_HEAD = 20
_FAILED = {"error", "user_rejected"}

# What stands beside an action's arguments in the old flat form, or is for the program only.
_NO_ARGUMENTS = {
    "id", "timestamp", "source", "message", "action", "cause", "thought", "timeout", "blocking",
    "is_input", "hidden", "confirmation_state", "is_confirmed", "security_risk", "keep_prompt",
    "kernel_init_code", "include_extra", "llm_metrics", "tool_call_metadata", "is_static",
}  # fmt: skip


def matches(head: object) -> bool:
    """Whether a document, or the first lines of one, is an event log."""
    return any(_is_event(event) for log in _logs(head)[:1] for event in log[:_HEAD])


def _is_event(event: Object) -> bool:
    action = event.get("action")
    known = isinstance(event.get("args"), dict) or action in _FLAT_ACTIONS
    return isinstance(event.get("observation"), str) or (isinstance(action, str) and known)


def _logs(head: object) -> list[list[Object]]:
    """The event logs in a document: it is one, it holds one, or it is a list of such."""
    held = as_object(head)
    if held:
        return [_flat(as_list(held.get("history") or held.get("trajectory")))]
    listed = as_list(head)
    if any("history" in line for line in as_objects(listed)):
        return [_flat(as_list(line.get("history"))) for line in as_objects(listed)]
    return [_flat(listed)]


def _flat(events: Sequence[Any]) -> list[Object]:
    """The events of a log one after another, whether they stand in pairs or not."""
    if events and isinstance(events[0], list):
        return [event for pair in events for event in as_objects(pair)]
    return as_objects(list(events))


def read(
    source: Iterator[tuple[int, Object]] | list[Any] | Object, *, whole: bool = False
) -> list[Conversation]:
    """The conversations of a document, or of `(line number, line)` pairs: one for each log."""
    if not isinstance(source, Iterator):
        return [_conversation(log, whole, _name(source)) for log in _logs(source)]
    conversations: list[Conversation] = []
    events: list[Object] = []
    for number, line in source:
        if "history" in line:
            name = _name(line) or f"line {number}"
            conversations.append(_conversation(_flat(as_list(line["history"])), whole, name))
        else:
            events.append(line)
    return [*conversations, *([_conversation(events, whole, "")] if events else [])]


def _name(log: object) -> str:
    return as_text(as_object(log).get("instance_id"))


@dataclass(slots=True)
class _Entry:
    """A message in the making: its events, and whose thread it belongs to."""

    role: Role
    parts: list[Part]
    events: list[Object]
    ids: set[int]
    kind: Kind = "said"
    pinned: bool = False
    lane: str = ""


@dataclass(slots=True)
class _Log:
    """What was read so far. `calls` are ids of calls by the id of their action, oldest first."""

    entries: list[_Entry] = field(default_factory=list[_Entry])
    calls: dict[int, str] = field(default_factory=dict[int, str])
    forgotten: set[int] = field(default_factory=set[int])
    summary: _Entry | None = None


def _conversation(events: Sequence[Object], whole: bool, name: str) -> Conversation:
    log = _Log()
    lanes = _delegations(events)
    for place, event in enumerate(events):
        id, lane = _id(event, place), lanes.get(place, "")
        if isinstance(event.get("observation"), str):
            _observe(log, event, id, lane)
        elif isinstance(event.get("action"), str):
            _act(log, event, id, lane)
    said = (Said(_message(e), _is_live(log, e), e.lane) for e in log.entries)
    return assemble(said, form=NAME, whole=whole, id=name)


def _id(event: Object, place: int) -> int:
    id = event.get("id")
    return id if isinstance(id, int) else place


def _message(entry: _Entry) -> Message:
    return Message(
        entry.role,
        tuple(entry.parts),
        id=str(min(entry.ids)),
        at=moment(entry.events[0].get("timestamp")),
        kind=entry.kind,
        pinned=entry.pinned,
        source=Native(NAME, entry.events),
    )


def _is_live(log: _Log, entry: _Entry) -> bool:
    if entry.kind == "summary":
        return entry is log.summary
    return not entry.ids <= log.forgotten


def _delegations(events: Sequence[Object]) -> dict[int, str]:
    """The places of what delegates did, with the name of their thread."""
    lanes: dict[int, str] = {}
    opened = -1
    for place, event in enumerate(events):
        if event.get("action") == "delegate" and opened < 0:
            opened = place
        elif event.get("observation") == "delegate" and opened >= 0:
            lanes |= dict.fromkeys(range(opened + 1, place), f"delegate {opened}")
            opened = -1
    return lanes


# Actions


def _act(log: _Log, event: Object, id: int, lane: str) -> None:
    kind, given = as_text(event.get("action")), _arguments(event)
    entry = _Entry("user", [], [event], {id}, lane=lane)
    match kind:
        case "condensation":
            _condense(log, given, entry)
        case "system":
            entry.role, entry.parts = "system", _texts(given.get("content"))
        case "message":
            entry.role = _speaker(log, event)
            entry.parts = _texts(given.get("content"), event.get("content"), event.get("message"))
            images = given.get("image_urls") or given.get("images_urls")
            entry.parts += (from_url("image", url) for url in as_list(images) if as_text(url))
        case "finish" | "reject":
            entry.role = "assistant"
            entry.parts = _thoughts(event) or _texts(event.get("message"))
        case _ if kind in _NO_MESSAGES:
            pass
        case _ if event.get("source") == "user":
            entry.kind, entry.parts = "program", [Text(f"$ {_spoken_arguments(given)}")]
        case _:
            _call(log, event, id, entry)
            return
    log.entries += [entry] if entry.parts else []


def _arguments(event: Object) -> Object:
    """An action's arguments: under `args`, or beside the action in the old flat form."""
    return as_object(event.get("args")) or event


def _texts(*candidates: object) -> list[Part]:
    """The first of these that is a text, as the one part; none if there is none."""
    texts = [Text(text) for text in candidates if isinstance(text, str) and text.strip()]
    return [*texts[:1]]


def _speaker(log: _Log, event: Object) -> Role:
    """Who says a message. The old form names nobody: the user opens, and answers the agent."""
    if event.get("source") in ("user", "agent"):
        return "user" if event["source"] == "user" else "assistant"
    last = next((e for e in reversed(log.entries) if e.role in ("user", "assistant")), None)
    asked = last is not None and last.role == "assistant"
    return "assistant" if last and not (asked and not _calls(last)) else "user"


def _calls(entry: _Entry) -> list[ToolCall]:
    return [part for part in entry.parts if isinstance(part, ToolCall)]


def _condense(log: _Log, given: Object, entry: _Entry) -> None:
    first, last = given.get("forgotten_events_start_id"), given.get("forgotten_events_end_id")
    if isinstance(first, int) and isinstance(last, int):
        log.forgotten |= {i for e in log.entries for i in e.ids if first <= i <= last}
    log.forgotten |= {i for i in as_list(given.get("forgotten_event_ids")) if isinstance(i, int)}
    entry.kind, entry.parts = "summary", _texts(given.get("summary"))
    # A later summary covers what the earlier one said.
    log.summary = entry if entry.parts else log.summary


def _thoughts(event: Object) -> list[Part]:
    """What the agent said beside a call: its thought, the model's own words, a closing thought."""
    given = _arguments(event)
    said = [
        given.get("thought") or _model_message(event).get("content"),
        given.get("final_thought"),
    ]
    texts = [part for thought in said for part in _words(thought)]
    return list(dict.fromkeys(texts))


def _words(content: object) -> list[Part]:
    if isinstance(content, str):
        return _texts(content)
    return [part for part in map(shown, as_list(content)) if not _is_blank(part)]


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def _metadata(event: Object) -> Object:
    return as_object(event.get("tool_call_metadata"))


def _model_message(event: Object) -> Object:
    """The answer of the model that an action was read from."""
    choices = as_objects(as_object(_metadata(event).get("model_response")).get("choices"))
    return as_object(choices[0].get("message")) if choices else {}


def _call(log: _Log, event: Object, id: int, entry: _Entry) -> None:
    """Adds a call: to the message that has the other calls of the same answer, or as a new one."""
    metadata, given = _metadata(event), _arguments(event)
    call_id = as_text(metadata.get("tool_call_id")) or f"event-{id}"
    asked = next(
        (
            as_object(call.get("function"))
            for call in as_objects(_model_message(event).get("tool_calls"))
            if call.get("id") == call_id
        ),
        Object(),
    )
    own = {k: v for k, v in given.items() if k not in _NO_ARGUMENTS and v not in (None, "", [])}
    name = as_text(metadata.get("function_name")) or as_text(event.get("action"))
    call = ToolCall(call_id, name, arguments(asked.get("arguments", own)))
    log.calls[id] = call_id
    together = _same_answer(log, event, entry.lane)
    if together:
        together.parts.append(call)
        together.events.append(event)
        together.ids.add(id)
        return
    entry.role, entry.parts = "assistant", [*_thoughts(event), call]
    log.entries.append(entry)


def _same_answer(log: _Log, event: Object, lane: str) -> _Entry | None:
    """The message made of the same answer of the model, if its calls are the newest."""
    answer = as_text(as_object(_metadata(event).get("model_response")).get("id"))
    spoken = next((e for e in reversed(log.entries) if e.role == "assistant"), None)
    if not answer or not spoken or spoken.lane != lane or not _calls(spoken):
        return None
    other = as_object(_metadata(spoken.events[0]).get("model_response")).get("id")
    return spoken if other == answer else None


def _spoken_arguments(given: Object) -> str:
    return as_text(given.get("command")) or as_text(given.get("code")) or arguments(given)


# Observations


def _observe(log: _Log, event: Object, id: int, lane: str) -> None:
    kind = as_text(event.get("observation"))
    entry = _Entry("user", [], [event], {id}, kind="program", lane=lane)
    if kind == "recall":
        entry.pinned, entry.parts = _recalled(as_object(event.get("extras")))
    elif kind == "condense":
        entry.kind, entry.parts = "summary", _texts(event.get("content"))
        log.summary = entry
    elif kind not in _NO_MESSAGES:
        call = _call_answered(log, event)
        text = _texts(event.get("content"), event.get("message"))
        if call:
            content = tuple(part for part in text if isinstance(part, Text))
            entry.role, entry.kind = "tool", "said"
            entry.parts = [ToolResult(call, content, _has_failed(event))]
        else:
            entry.parts = text
    log.entries += [entry] if entry.parts else []


def _call_answered(log: _Log, event: Object) -> str:
    """The call that an observation answers; empty if it answers none."""
    named = as_text(_metadata(event).get("tool_call_id"))
    cause = event.get("cause")
    if named:
        log.calls = {id: call for id, call in log.calls.items() if call != named}
        return named
    if isinstance(cause, int):
        return log.calls.pop(cause, "")
    return log.calls.popitem()[1] if log.calls else ""


def _has_failed(event: Object) -> bool:
    extras = as_object(event.get("extras"))
    inner = as_object(extras.get("metadata")).get("exit_code")
    status = next((s for s in (inner, extras.get("exit_code"), event.get("exit_code")) if s), 0)
    # -1 stands for a command that still runs.
    return event.get("observation") in _FAILED or status not in (0, -1)


def _recalled(extras: Object) -> tuple[bool, list[Part]]:
    """What was looked up for the agent: instructions of the repository (pinned), and knowledge."""
    instructions = as_text(extras.get("repo_instructions"))
    knowledge = [as_text(k.get("content")) for k in as_objects(extras.get("microagent_knowledge"))]
    texts = [text for text in (instructions, *knowledge) if text.strip()]
    return bool(instructions), [Text(text) for text in texts]
