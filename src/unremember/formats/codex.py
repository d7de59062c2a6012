"""Codex rollouts: JSON lines in `~/.codex/sessions/…/rollout-*.jsonl`, in both known forms.

What is known of the form:
- A line is `{"timestamp", "type", "payload"}`; in the older form the items stand on the lines
  themselves, behind one line about the session. Items are those of the OpenAI Responses API.
- `event_msg` lines repeat for the screen what the items say, and are no messages; one of them,
  `thread_rolled_back`, takes back the last turns: they become a thread of their own, in no view.
- `compacted` replaces what the model sees next: by its `replacement_history`, whose items are
  matched with what was said before, or, in older versions, by the user's messages and a summary.
- Project instructions and the environment are given as user messages; no user typed them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from unremember.formats.base import Conversation
from unremember.formats.blocks import result
from unremember.formats.moment import moment
from unremember.formats.openai_responses import to_messages
from unremember.formats.shape import Object, as_json, as_list, as_object, as_objects, as_text
from unremember.formats.threads import Said, assemble
from unremember.messages import Message, Text, ToolResult

NAME = "codex"
LINES = True

_ENVELOPES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
_NO_MESSAGES = {"ghost_snapshot", "turn_context", "event_msg", "session_meta", "other"}

_INSTRUCTIONS = re.compile(r"\s*(?:<user_instructions>|# AGENTS\.md instructions)")
_PROGRAM = re.compile(
    r"\s*<(?:environment_context|turn_aborted|permissions instructions|user_shell_command|skill"
    r"|subagent_notification|model_switch|collaboration_mode|personality_spec|hook_prompt)\b"
)
_SUMMARY = re.compile(r"\s*Another language model started to solve this problem and produced")
_FOLDER = re.compile(r"<cwd>([^<]+)</cwd>|Current working directory: (.+)")
_EXIT = re.compile(r"(?:.*\n){0,4}?(?:Exit code:|Process exited with code) (-?\d+)")


@dataclass(slots=True)
class _Log:
    """What was read so far: entries, and items of the newest turn that are not yet messages."""

    entries: list[Said] = field(default_factory=list[Said])
    items: list[tuple[str, Object]] = field(default_factory=list[tuple[str, Object]])
    undone: int = 0


def matches(head: object) -> bool:
    """Whether these first lines are a rollout."""
    lines = as_objects(head)
    return any(_is_ours(line) for line in lines) or bool(lines and _opens_older(lines[0]))


def _opens_older(line: Object) -> bool:
    """Whether it is the first line of the older form, about the session."""
    named = "id" in line and "timestamp" in line and ("instructions" in line or "git" in line)
    return named and "type" not in line and "role" not in line


def _is_ours(line: Object) -> bool:
    envelope = line.get("type") in _ENVELOPES and isinstance(line.get("payload"), dict)
    return envelope or line.get("record_type") == "state"


def read(lines: Iterable[tuple[int, Object]], *, whole: bool = False) -> list[Conversation]:
    """The one conversation of a rollout."""
    log, session, folder = _Log(), "", ""
    for at, kind, payload in _events(lines):
        match kind:
            case "session_meta" if not session:
                session = as_text(payload.get("id"))
                log.entries += _base_instructions(payload)
            case "compacted":
                _compact(log, payload, at)
            case "event_msg" if payload.get("type") == "thread_rolled_back":
                _roll_back(log, payload.get("num_turns"))
            case "response_item" if payload.get("type") not in _NO_MESSAGES:
                log.items.append((at, _with_call_id(payload)))
            case _:
                pass
        folder = folder or as_text(payload.get("cwd"))
    _settle(log)
    folder = folder or _folder_named(log.entries)
    return [assemble(log.entries, form=NAME, whole=whole, id=session, cwd=folder)]


def _events(lines: Iterable[tuple[int, Object]]) -> Iterator[tuple[str, str, Object]]:
    """Each line as time, kind and payload, whichever form it has."""
    for _, line in lines:
        at, kind = as_text(line.get("timestamp")), as_text(line.get("type"))
        if isinstance(line.get("payload"), dict):
            yield at, kind, as_object(line["payload"])
        elif kind == "compacted":
            yield at, kind, line
        elif kind or "role" in line:
            yield at, "response_item", line
        elif "id" in line:
            yield at, "session_meta", line


def _base_instructions(meta: Object) -> Iterator[Said]:
    text = as_text(as_object(meta.get("base_instructions")).get("text"))
    if text.strip():
        yield Said(Message("system", (Text(text),)))


def _with_call_id(item: Object) -> Object:
    """A local shell call of older versions names itself by `id` only; its output by `call_id`."""
    if item.get("type") == "local_shell_call" and not item.get("call_id"):
        return {**item, "call_id": item.get("id")}
    return item


def _settle(log: _Log) -> None:
    """Makes messages of the items read so far."""
    log.entries += (Said(message) for message in _messages(log.items))
    log.items.clear()


def _messages(items: Sequence[tuple[str, Object]]) -> Iterator[Message]:
    times = {id(item): at for at, item in items}
    for message in to_messages(item for _, item in items):
        native: list[Any] = message.source.value if message.source else []
        timed = replace(message, at=moment(times.get(id(native[0])) if native else None))
        yield _labelled(_answered(timed, native))


def _answered(message: Message, native: Sequence[Any]) -> Message:
    """A result with the output that its JSON wraps, and failed if its exit status says so."""
    if not message.is_single_result:
        return message
    id = message.results[0].call_id
    return replace(message, parts=(_result(id, as_object(native[0]).get("output")),))


def _result(id: str, output: object) -> ToolResult:
    said = _unwrapped(output)
    if said and "output" in said:
        about = {name: value for name, value in said.items() if name != "output"}
        status = as_object(said.get("metadata")).get("exit_code")
        content = [said["output"], as_json(about)] if about else said["output"]
        return result(id, content, failed=status not in (None, 0))
    if said and "content" in said:
        return result(id, said["content"], failed=said.get("success") is False)
    status = _EXIT.match(output) if isinstance(output, str) else None
    return result(id, output, failed=bool(status and status[1] != "0"))


def _unwrapped(output: object) -> Object:
    """The object that an output is, or that its text holds; empty if it is none."""
    if isinstance(output, str) and output.startswith('{"output":'):
        try:
            return as_object(json.loads(output))
        except ValueError:
            return {}
    return as_object(output)


def _labelled(message: Message) -> Message:
    """A message of the role user with its kind: typed, an earlier summary, or the program's."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if message.role != "user" or message.kind != "said" or not texts:
        return message
    if _SUMMARY.match(texts[0]):
        return replace(message, kind="summary")
    instructions = any(_INSTRUCTIONS.match(text) for text in texts)
    if all(_PROGRAM.match(text) or _INSTRUCTIONS.match(text) for text in texts):
        return replace(message, kind="program", pinned=instructions)
    return message


def _compact(log: _Log, payload: Object, at: str) -> None:
    """Replaces what is live by what the compaction left."""
    _settle(log)
    summary = as_text(payload.get("message"))
    if as_list(payload.get("replacement_history")):
        items = [(at, item) for item in as_objects(payload["replacement_history"])]
        left = [_as_summary(message, summary) for message in _messages(items)]
        stays = _recognised(log.entries, left)
        new = [message for message, place in zip(left, stays, strict=True) if place < 0]
    else:
        # What older versions did: the user's words stay, all else becomes the summary.
        stays = [place for place, e in enumerate(log.entries) if _is_typed(e) or e.message.pinned]
        new = [Message("user", (Text(summary),), at=moment(at), kind="summary")] if summary else []
    kept = set(stays)
    for place, entry in enumerate(log.entries):
        keep = place in kept or _is_base(entry.message)
        log.entries[place] = replace(entry, live=keep)
    log.entries += (Said(message) for message in new)


def _is_base(message: Message) -> bool:
    """Whether it is the session's own instructions, which every request carries."""
    return message.role == "system" and message.source is None


def _as_summary(message: Message, summary: str) -> Message:
    """A message of a replacement history, marked if it is what the compaction wrote."""
    items = as_objects(message.source.value) if message.source else []
    opaque = any(str(item.get("type")).startswith("compaction") for item in items)
    if opaque or (summary and summary in message.text):
        return replace(message, kind="summary")
    return message


def _recognised(entries: Sequence[Said], left: Sequence[Message]) -> list[int]:
    """For each message that a compaction left, its place in the log; -1 if it is new."""
    places: dict[tuple[str, object], list[int]] = {}
    for place, entry in enumerate(entries):
        if not entry.lane:
            places.setdefault((entry.message.role, entry.message.parts), []).append(place)
    found: list[int] = []
    for message in reversed(left):  # the same words twice are the newest two
        known = places.get((message.role, message.parts))
        found.append(known.pop() if known else -1)
    return found[::-1]


def _roll_back(log: _Log, turns: object) -> None:
    """Takes the last turns out of the main thread: from the user's message that opened them."""
    _settle(log)
    opened = [place for place, entry in enumerate(log.entries) if _is_typed(entry)]
    if not isinstance(turns, int) or turns < 1 or not opened:
        return
    log.undone += 1
    for place in range(opened[-min(turns, len(opened))], len(log.entries)):
        if not log.entries[place].lane:
            lane = f"rolled back {log.undone}"
            log.entries[place] = replace(log.entries[place], lane=lane)


def _is_typed(entry: Said) -> bool:
    return entry.message.role == "user" and entry.message.kind == "said" and not entry.lane


def _folder_named(entries: Sequence[Said]) -> str:
    """The working directory that older versions name in the environment's message only."""
    for entry in entries:
        if entry.message.kind == "program":
            found = _FOLDER.search(entry.message.text)
            if found:
                return (found[1] or found[2]).strip()
    return ""
