"""`unremember inspect`: where the tokens of a conversation are, and how its context grew."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from unremember import actions
from unremember.cli.fates import describe, speaker
from unremember.cli.output import put
from unremember.cli.progress import Stage, progress
from unremember.cli.sources import Loaded, Source, find_source, load
from unremember.compression import Job, report_on
from unremember.history import History, Repair
from unremember.messages import Message, ToolCall, ToolResult, handle
from unremember.tokens import Budget, Weigher

HEAVIEST = 10


@dataclass(frozen=True, slots=True)
class KindShare:
    """Tokens of one kind of content, and in how many pieces."""

    kind: str
    tokens: int
    pieces: int


@dataclass(frozen=True, slots=True)
class ToolShare:
    """Tokens of the calls of one tool and of their results."""

    name: str
    calls: int
    arguments: int
    results: int

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.arguments + self.results


@dataclass(frozen=True, slots=True)
class Heavy:
    """One of the heaviest messages."""

    handle: str
    tokens: int
    who: str
    title: str


@dataclass(frozen=True, slots=True)
class Point:
    """What the context weighed when the message `ordinal` had been said.

    `compacted` marks where a recorded compaction put its summary in place of what was before.
    """

    ordinal: int
    tokens: int
    compacted: bool = False


@dataclass(frozen=True, slots=True)
class Inspection:
    """Where the tokens of a conversation are. All sizes are in tokens by `counter`.

    `messages` and `tokens` are of the view that was asked for: what the model would see next, or
    the whole log; `logged` are the messages of the whole log. Of `tool_tokens`, the tokens of
    results, `superseded` are in reads of files that were read again or written later, and
    `repeated` in lines that had been seen before.
    """

    loaded: Loaded
    messages: int
    logged: int
    tokens: int
    kinds: tuple[KindShare, ...]
    tools: tuple[ToolShare, ...]
    heaviest: tuple[Heavy, ...]
    tool_tokens: int
    superseded: int
    superseded_reads: int
    repeated: int
    timeline: tuple[Point, ...]
    repairs: tuple[Repair, ...]
    counter: str
    exact: bool


def run(file: str | None, *, whole: bool = False, as_json: bool = False) -> int:
    """The command: inspects and prints."""
    source = find_source(file)
    with progress(stages=3) as stage:
        inspection = inspect(source, whole=whole, stage=stage)
    if as_json:
        put(json.dumps(to_json(inspection), ensure_ascii=False, indent=2) + "\n", sys.stdout)
    else:
        from unremember.cli.overview import draw
        from unremember.cli.screen import rendered

        put(rendered(draw(inspection), sys.stdout), sys.stdout)
    return 0


def inspect(source: Source, *, whole: bool = False, stage: Stage) -> Inspection:
    """Reads a conversation and measures it. Raises `InputError` for what cannot be read."""
    stage("reading")
    loaded = load(source, whole=whole)
    history = loaded.conversation.history
    log = history
    if not whole and any(message.kind == "summary" for message in loaded.conversation.originals):
        log = load(source, whole=True, quiet=True).conversation.history
    stage("counting")
    weigh = Weigher()
    results = _weighed_results(history, weigh)
    superseded = _superseded_reads(history)
    stage("measuring")
    return Inspection(
        loaded=loaded,
        messages=len(history.system) + len(history.messages) + bool(history.notes),
        logged=len(loaded.conversation.originals),
        tokens=weigh(history),
        kinds=_kinds(history, weigh),
        tools=_tools(history, weigh, results),
        heaviest=_heaviest(history, weigh),
        tool_tokens=sum(results.values()),
        superseded=sum(results[ordinal] for ordinal in superseded),
        superseded_reads=len(superseded),
        repeated=_repeated(history, weigh),
        timeline=tuple(_timeline(log, weigh)),
        repairs=loaded.conversation.repairs,
        counter=weigh.counter.name,
        exact=weigh.counter.exact,
    )


def _kinds(history: History, weigh: Weigher) -> tuple[KindShare, ...]:
    # A compression to nothing new: its report has the kinds of what there is.
    report = report_on(history, history, Job(Budget.exactly(1), weigh), seconds=0)
    return tuple(
        KindShare(kind, row.before, row.whole or int(bool(row.before)))
        for kind, row in report.kinds.items()
        if row.before
    )


_UNANSWERED: tuple[int, ToolResult | None] = (0, None)


def _answered(history: History) -> Iterator[tuple[int, ToolCall, int, ToolResult | None]]:
    """Every call with its result, each with its ordinal; oldest first."""
    for step in history.steps:
        results: dict[str, tuple[int, ToolResult | None]] = {
            part.call_id: (ordinal, part)
            for message in step.messages
            for ordinal, part in message.numbered_parts()
            if isinstance(part, ToolResult)
        }
        for ordinal, part in step.messages[0].numbered_parts():
            if isinstance(part, ToolCall):
                place, result = results.get(part.id, _UNANSWERED)
                yield ordinal, part, place, result


def _weighed_results(history: History, weigh: Weigher) -> dict[int, int]:
    """The tokens of every result, by its ordinal."""
    found = {
        ordinal: part
        for message in history.messages
        for ordinal, part in message.numbered_parts()
        if isinstance(part, ToolResult)
    }
    weights = weigh.messages(Message("tool", (part,)) for part in found.values())
    return dict(zip(found, weights, strict=True))


def _tools(history: History, weigh: Weigher, results: dict[int, int]) -> tuple[ToolShare, ...]:
    calls: Counter[str] = Counter()
    arguments: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    answered = list(_answered(history))
    weights = weigh.texts([call.arguments for _, call, _, _ in answered])
    for (_, call, ordinal, _), weight in zip(answered, weights, strict=True):
        calls[call.name] += 1
        arguments[call.name] += weight
        answers[call.name] += results.get(ordinal, 0)
    shares = (ToolShare(name, n, arguments[name], answers[name]) for name, n in calls.items())
    return tuple(sorted(shares, key=lambda share: (-share.tokens, share.name)))


def _superseded_reads(history: History) -> list[int]:
    """The ordinals of results that show files, or lines, which were read again or written later."""
    changed: set[str] = set()
    seen: dict[str, list[tuple[int, int]]] = {}
    found: list[int] = []
    for _, call, ordinal, result in reversed(list(_answered(history))):
        done = actions.read_action(call)
        reads = [action for action in done if action.kind == "read" and action.path]
        if reads and result and len(reads) == len(done):
            later = (
                read.path in changed
                or any(_covers(one, _lines(read)) for one in seen.get(read.path, ()))
                for read in reads
            )
            if all(later):
                found.append(ordinal)
        if not (result and result.failed):
            changed |= {action.path for action in done if action.changes_file}
            for read in reads:
                seen.setdefault(read.path, []).append(_lines(read))
    return found


def _lines(read: actions.Action) -> tuple[int, int]:
    return read.lines or (1, 0)


def _covers(later: tuple[int, int], earlier: tuple[int, int]) -> bool:
    """Whether the lines of a later read hold all of an earlier one; a last line of 0 is the end."""
    if later[0] < 0 or earlier[0] < 0:  # counted from the end: only the same is surely the same
        return later == earlier
    return later[0] <= earlier[0] and (not later[1] or 0 < earlier[1] <= later[1])


def _repeated(history: History, weigh: Weigher) -> int:
    """The tokens of the lines in results that stood in an earlier result too."""
    seen: set[str] = set()
    again: Counter[str] = Counter()
    for message in history.messages:
        for result in message.results:
            for line in result.text.split("\n"):
                key = line.strip()
                if key and key in seen:
                    again[line] += 1
                seen.add(key)
    weights = weigh.texts([line + "\n" for line in again])
    return sum(weight * times for weight, times in zip(weights, again.values(), strict=True))


def _heaviest(history: History, weigh: Weigher) -> tuple[Heavy, ...]:
    messages = [*history.system, *history.messages]
    weights = weigh.messages(messages)
    order = sorted(range(len(messages)), key=lambda index: (-weights[index], index))[:HEAVIEST]
    called = {ordinal: call for _, call, ordinal, result in _answered(history) if result}
    return tuple(_heavy(messages[index], weights[index], called) for index in order)


def _heavy(message: Message, tokens: int, called: dict[int, ToolCall]) -> Heavy:
    """A message in one line: by its words, or by its first call or result where it has none."""
    parts = list(message.numbered_parts())
    words = next((line.strip() for line in message.text.split("\n") if line.strip()), "")
    if not parts or (words and not message.results):
        return Heavy(handle(message.ordinal), tokens, speaker(message), words[:400])
    ordinal, part = parts[0]
    who, title = describe(part, called.get(ordinal))
    if isinstance(part, ToolResult) and (call := called.get(ordinal)):
        title = actions.title(call)
    return Heavy(handle(message.ordinal), tokens, who, title)


def _timeline(log: History, weigh: Weigher) -> Iterator[Point]:
    """How the context grew, message by message. A recorded summary stands for all before it."""
    fixed = sum(weigh.messages(log.system)) + weigh.notes(log.notes)
    tokens = fixed
    for message, weight in zip(log.messages, weigh.messages(log.messages), strict=True):
        compacted = message.kind == "summary"
        tokens = (fixed if compacted else tokens) + weight
        yield Point(message.ordinal, tokens, compacted)


def to_json(inspection: Inspection) -> dict[str, Any]:
    """The inspection as JSON values."""
    loaded = inspection.loaded
    return {
        "file": loaded.source.name,
        "format": loaded.conversation.format,
        "conversation": loaded.conversation.id,
        "number": loaded.number,
        "conversations": loaded.count,
        "messages": inspection.messages,
        "logged": inspection.logged,
        "tokens": inspection.tokens,
        "kinds": _dicts(inspection.kinds),
        "tools": [{**asdict(tool), "tokens": tool.tokens} for tool in inspection.tools],
        "heaviest": _dicts(inspection.heaviest),
        "tool_tokens": inspection.tool_tokens,
        "superseded": inspection.superseded,
        "superseded_reads": inspection.superseded_reads,
        "repeated": inspection.repeated,
        "timeline": [
            {"handle": handle(p.ordinal), "tokens": p.tokens, "compacted": p.compacted}
            for p in inspection.timeline
        ],
        "repairs": _dicts(inspection.repairs),
        "counter": inspection.counter,
        "exact": inspection.exact,
    }


def _dicts(values: Sequence[Any] | Iterable[Any]) -> list[dict[str, Any]]:
    return [asdict(value) for value in values]
