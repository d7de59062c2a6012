"""What a compression did, as data: sizes, kinds, levels, and what was forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from unremember.compression.job import Job
from unremember.compression.material import words_of
from unremember.compression.rules import is_rule, sentences
from unremember.history import History, Repair, is_pin
from unremember.ledger import Ledger
from unremember.messages import Message, Part, ToolCall, ToolResult, handle
from unremember.notes import render
from unremember.tokens import Weigher

Level = Literal["whole", "clipped", "line", "gone"]
"""What became of a step: it stays; lines of it do; one line tells of it; the archive has it."""

Kind = Literal[
    "system prompt",
    "your messages",
    "agent's words",
    "call arguments",
    "tool results",
    "earlier summaries",
    "notes",
]

KINDS: tuple[Kind, ...] = (
    "system prompt", "your messages", "agent's words", "call arguments", "tool results",
    "earlier summaries", "notes",
)  # fmt: skip


@dataclass(slots=True)
class KindRow:
    """One kind of content: tokens before and after, and how many pieces stand at each level."""

    before: int = 0
    after: int = 0
    whole: int = 0
    clipped: int = 0
    line: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a compression did. Sizes are in tokens by `counter`; `seconds` is wall time.

    `forgotten` maps the handles of what is not whole any more to the original: a `Message`, a
    `ToolCall` or a `ToolResult`. `rules` are the user's sentences with an obligation, `rules_kept`
    how many of them still stand word for word.
    """

    tokens_before: int
    tokens_after: int
    budget: int
    messages_before: int
    messages_after: int
    levels: dict[Level, int]
    kinds: dict[Kind, KindRow]
    rules: int
    rules_kept: int
    seconds: float
    counter: str
    exact: bool
    ledger: Ledger
    forgotten: Mapping[str, Message | ToolCall | ToolResult] = field(repr=False)
    repairs: tuple[Repair, ...] = ()


def report_on(
    before: History, after: History, job: Job, *, seconds: float, repairs: tuple[Repair, ...] = ()
) -> Report:
    """Compares two histories, the second compressed from the first."""
    weigh = job.weigh
    stays = {message.ordinal: message for message in (*after.system, *after.messages)}
    excerpted = {entry.ordinal: bool(entry.excerpts) for entry in after.notes.outline}
    levels: Counter[Level] = Counter()
    kinds: dict[Kind, KindRow] = {kind: KindRow() for kind in KINDS}
    forgotten: dict[str, Message | ToolCall | ToolResult] = {}
    for step in before.steps:
        levels[_step_level(step.messages, stays, excerpted)] += 1
    for message in (*before.system, *before.messages):
        kept = stays.get(message.ordinal)
        for part, ordinal, weight in _weighed(message, weigh):
            row = kinds[_kind(message, part)]
            row.before += weight
            level = _part_level(part, ordinal, message, kept, excerpted)
            setattr(row, level, getattr(row, level) + 1)
        if kept is not message:
            forgotten.update(_originals(message, kept))
    for message in (*after.system, *after.messages):
        for part, _, weight in _weighed(message, weigh):
            kinds[_kind(message, part)].after += weight
    kinds["notes"].before, kinds["notes"].after = (
        weigh.notes(before.notes),
        weigh.notes(after.notes),
    )
    rules, kept_rules = _rules(before, after)
    return Report(
        tokens_before=weigh(before),
        tokens_after=weigh(after),
        budget=job.budget.target,
        messages_before=len(before.system) + len(before.messages) + bool(before.notes),
        messages_after=len(after.system) + len(after.messages) + bool(after.notes),
        levels={level: levels[level] for level in ("whole", "clipped", "line", "gone")},
        kinds=kinds,
        rules=rules,
        rules_kept=kept_rules,
        seconds=seconds,
        counter=weigh.counter.name,
        exact=weigh.counter.exact,
        ledger=after.notes.ledger,
        forgotten=forgotten,
        repairs=repairs,
    )


def _weighed(message: Message, weigh: Weigher) -> list[tuple[Part, int, int]]:
    """The parts of a message with ordinals and weights; the first bears what the message costs."""
    ordinals = {id(part): ordinal for ordinal, part in message.numbered_parts()}
    weights = weigh.messages([Message(message.role, (part,)) for part in message.parts])
    own = weigh.message(message) - sum(weights)
    return [
        (part, ordinals.get(id(part), message.ordinal), weight + (own if index == 0 else 0))
        for index, (part, weight) in enumerate(zip(message.parts, weights, strict=True))
    ]


def _kind(message: Message, part: Part) -> Kind:
    match part:
        case ToolCall():
            return "call arguments"
        case ToolResult():
            return "tool results"
        case _ if message.role == "system":
            return "system prompt"
        case _ if message.kind == "summary":
            return "earlier summaries"
        case _ if message.role == "user":
            return "your messages" if message.kind == "said" else "tool results"
        case _:
            return "agent's words"


def _part_level(
    part: Part, ordinal: int, message: Message, kept: Message | None, excerpted: Mapping[int, bool]
) -> Level:
    if kept is not None and any(part is own or part == own for own in kept.parts):
        return "whole"
    if kept is not None:
        return "clipped"
    # A call and its result share an entry under the call's ordinal; the result comes right after.
    mine = excerpted.get(
        ordinal, excerpted.get(ordinal - 1) if isinstance(part, ToolResult) else None
    )
    return "gone" if mine is None else "clipped" if mine else "line"


def _step_level(
    messages: tuple[Message, ...], stays: Mapping[int, Message], excerpted: Mapping[int, bool]
) -> Level:
    kept = [stays.get(message.ordinal) for message in messages]
    if all(a is b for a, b in zip(messages, kept, strict=True)):
        return "whole"
    told = [
        excerpted[o]
        for m in messages
        for o in range(m.ordinal, m.ordinal + m.span)
        if o in excerpted
    ]
    if any(told) or any(kept):
        return "clipped"
    return "line" if told else "gone"


def _originals(
    message: Message, kept: Message | None
) -> dict[str, Message | ToolCall | ToolResult]:
    """What a handle brings back of a message that is not whole any more."""
    found: dict[str, Message | ToolCall | ToolResult] = {}
    if not message.is_single_result:
        found[handle(message.ordinal)] = message
    for ordinal, part in message.numbered_parts():
        if kept is None or all(part is not own for own in kept.parts):
            found[handle(ordinal)] = part
    return found


def _rules(before: History, after: History) -> tuple[int, int]:
    """How many sentences of the user state a rule, and how many of them still stand."""
    texts = [
        words.text
        for message in before.messages
        if is_pin(message) and (words := words_of(message))
    ]
    stated = {
        s.strip()
        for text in texts
        for line in text.split("\n")
        for s in sentences(line)
        if is_rule(s)
    }
    now = "\n".join([message.text for message in after.messages] + [render(after.notes)])
    return len(stated), sum(rule in now for rule in stated)
