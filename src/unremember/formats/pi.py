"""pi sessions: JSON lines in `~/.pi/agent/sessions/…`, of all versions.

What is known of the form:
- The first line, `session`, has the id and the folder. Newer versions give each entry an `id` and
  a `parentId`: the path from the last entry to the root is live, what hangs beside it is an
  abandoned branch. Without ids the order in the file counts.
- `compaction` holds a summary; what the model sees next is the summary, the entries from
  `firstKeptEntryId` (before: `firstKeptEntryIndex`, counted over all lines) on, and what follows.
- `bashExecution` is a command that the user ran; `custom_message` is an extension's. Both go to
  the model as user messages that no user wrote. Changes of model or level are no messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unremember.formats.base import Conversation
from unremember.formats.blocks import arguments, result, shown
from unremember.formats.moment import moment
from unremember.formats.shape import Object, as_list, as_object, as_objects, as_text
from unremember.formats.threads import Said, assemble
from unremember.messages import Kind, Message, Native, Part, Role, Text, Thinking, ToolCall

NAME = "pi"
LINES = True

_ENTRIES = {"session", "message", "compaction", "model_change", "thinking_level_change"}


def matches(head: object) -> bool:
    """Whether these first lines are a pi session."""
    lines = as_objects(head)
    typed = [line for line in lines if line.get("type") in _ENTRIES]
    return any(line["type"] == "session" and "id" in line for line in typed) or any(
        line["type"] == "message" and as_text(as_object(line.get("message")).get("role"))
        for line in typed
    )


def read(lines: Iterable[tuple[int, Object]], *, whole: bool = False) -> list[Conversation]:
    """The one conversation of a session file."""
    entries = [_slim(line) for _, line in lines]
    header = next((entry for entry in entries if entry.get("type") == "session"), Object())
    lanes = _lanes(entries)
    live = _live(entries, lanes)
    said = (
        Said(message, live[place], lanes[place])
        for place, entry in enumerate(entries)
        for message in _messages(entry)
    )
    id, folder = as_text(header.get("id")), as_text(header.get("cwd"))
    return [assemble(said, form=NAME, whole=whole, id=id, cwd=folder)]


def _slim(entry: Object) -> Object:
    """An entry without what is for the screen only: details, often larger than the result."""
    message = as_object(entry.get("message"))
    if "details" not in message and "usage" not in message:
        return entry
    kept = {name: value for name, value in message.items() if name not in ("details", "usage")}
    return {**entry, "message": kept}


def _lanes(entries: Sequence[Object]) -> list[str]:
    """The thread of each entry: "" on the path to the last entry, else its abandoned branch."""
    parents = {as_text(e.get("id")): as_text(e.get("parentId")) for e in entries if "parentId" in e}
    if not parents:
        return [""] * len(entries)
    path: set[str] = set()
    leaf = next(reversed(parents))
    while leaf and leaf not in path:
        path.add(leaf)
        leaf = parents.get(leaf, "")
    lane_of = dict.fromkeys(path, "")
    branches = 0
    for id, parent in parents.items():
        if id not in path:
            branches += not lane_of.get(parent)
            lane_of[id] = lane_of.get(parent) or f"abandoned branch {branches}"
    return [lane_of.get(as_text(entry.get("id")), "") for entry in entries]


def _live(entries: Sequence[Object], lanes: Sequence[str]) -> list[bool]:
    """Which entries the model sees next, by the last compaction on the path."""
    places = [
        place
        for place, entry in enumerate(entries)
        if entry.get("type") == "compaction" and not lanes[place]
    ]
    last = places[-1] if places else -1
    first = _first_kept(entries, last) if places else 0
    return [
        (place >= first and place not in places and not _is_private(entry)) or place == last
        for place, entry in enumerate(entries)
    ]


def _first_kept(entries: Sequence[Object], compaction: int) -> int:
    named, index = (entries[compaction].get(f"firstKeptEntry{kind}") for kind in ("Id", "Index"))
    for place, entry in enumerate(entries[:compaction]):
        if (named and entry.get("id") == named) or (not named and place == index):
            return place
    return compaction


def _is_private(entry: Object) -> bool:
    """Whether the user ran a command for their own eyes only (`!!`)."""
    return as_object(entry.get("message")).get("excludeFromContext") is True


def _messages(entry: Object) -> Iterator[Message]:
    at = moment(entry.get("timestamp"))
    id = as_text(entry.get("id"))
    match entry:
        case {"type": "message", "message": dict()}:
            said = as_object(entry["message"])
            role, kind, parts = _read_message(said)
            source = Native(NAME, said)
        case {"type": "compaction" | "branch_summary", "summary": str(text)}:
            role, kind, parts = "user", "summary", (Text(text),)
            source = Native(NAME, entry)
        case {"type": "custom_message"}:
            role, kind, parts = "user", "program", tuple(_parts(entry.get("content")))
            source = Native(NAME, entry)
        case _:
            return
    if parts:
        yield Message(role, parts, id=id, at=at, kind=kind, source=source)


def _read_message(said: Object) -> tuple[Role, Kind, tuple[Part, ...]]:
    content = said.get("content")
    match said.get("role"):
        case "user":
            return "user", "said", tuple(_parts(content))
        case "assistant":
            return "assistant", "said", tuple(_parts(content))
        case "toolResult":
            call, failed = as_text(said.get("toolCallId")), said.get("isError") is True
            return "tool", "said", (result(call, content, failed=failed),)
        case "bashExecution":
            return "user", "program", (Text(_executed(said)),)
        case "branchSummary" | "compactionSummary":
            return "user", "summary", (Text(as_text(said.get("summary"))),)
        case _:
            return "user", "program", tuple(_parts(content))


def _executed(said: Object) -> str:
    status = said.get("exitCode")
    lines = [f"$ {as_text(said.get('command'))}", as_text(said.get("output"))]
    lines += [f"[exit status {status}]"] if status else []
    lines += ["[cancelled]"] if said.get("cancelled") is True else []
    return "\n".join(line for line in lines if line)


def _parts(content: object) -> Iterator[Part]:
    """The parts of a content; blank texts, which aborted answers leave, are none."""
    blocks = [content] if isinstance(content, str) else as_list(content)
    for block in blocks:
        match block:
            case {"type": "thinking", "thinking": str(text)}:
                yield Thinking(text, as_text(as_object(block).get("thinkingSignature")))
            case {"type": "toolCall", "id": str(id), "name": str(name)}:
                yield ToolCall(id, name, arguments(as_object(block).get("arguments")))
            case _:
                part = shown(block)
                if not isinstance(part, Text) or part.text.strip():
                    yield part
