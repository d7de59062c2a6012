"""One run: a cut, a way to compress it and a budget in; the columns of the result out."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from unremember.compression import Job
from unremember.errors import UnrememberError
from unremember.evaluation.columns import Check, Source, measure, sent_tokens, source_of
from unremember.evaluation.recordings import Unusable, cut_at, parts_of
from unremember.evaluation.strategies import Strategy, find_strategy
from unremember.formats import read, write
from unremember.history import History
from unremember.messages import Message
from unremember.tokens import Budget, Weigher

Carry = Literal["memory", "file", "archive"]
"""How a history comes from one round to the next: as it is; written as OpenAI chat and read again;
or as it is, with everything that was said at hand, as an archive gives it."""

CARRIES: tuple[Carry, ...] = ("memory", "file", "archive")

SMALLEST_BUDGET = 500
"""Tokens: a share of a small history may leave no room for a prompt."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a cut is compressed: with which strategy, and in how many rounds."""

    strategy: str
    rounds: int = 1
    carry: Carry = "memory"

    def __str__(self) -> str:
        if self.rounds == 1:
            return self.strategy
        return f"{self.strategy} ×{self.rounds} {self.carry}"


@dataclass(frozen=True, slots=True)
class Run:
    """A run that was done. `budget` and `cut` are shares, `limit` and `tokens` are tokens.

    `columns` are shares from 0 to 1; one with nothing to measure is missing. `refused` is what
    providers would refuse in the result.
    """

    recording: str
    format: str
    cut: float
    way: str
    budget: float
    limit: int
    tokens: int
    over: bool
    refused: tuple[str, ...]
    seconds: float
    columns: dict[str, float] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Missing:
    """A run that was not done, and why: it could not be measured, or (`failed`) it went wrong."""

    recording: str
    reason: str
    failed: bool = False
    way: str = ""
    budget: float = 0.0
    cut: float = 0.0


Outcome = Run | Missing


@dataclass(frozen=True, slots=True)
class Wanted:
    """A way and a budget, and the key under which its outcomes are kept."""

    way: Way
    budget: float
    key: str


@dataclass(frozen=True, slots=True)
class Task:
    """What one worker does at a time: one file at one cut, in all ways that are still wanted."""

    path: Path
    name: str
    cut: float
    wanted: tuple[Wanted, ...]


def carry_out(task: Task, check: Check | None = None) -> dict[str, list[Outcome]]:
    """The outcomes of a task by key. What goes wrong in it becomes an outcome too."""
    outcomes: dict[str, list[Outcome]] = {wanted.key: [] for wanted in task.wanted}
    try:
        conversations = read(task.path, whole=True, name=task.name)
    except Exception as error:  # noqa: BLE001 - it is listed
        # Whatever a broken file does to its reader: the other files are measured all the same.
        missing = Missing(task.name, _why(error), failed=True)
        return {key: [missing] for key in outcomes}
    for number, conversation in enumerate(conversations, start=1):
        name = f"{task.name}#{number}" if len(conversations) > 1 else task.name
        try:
            source = source_of(cut_at(conversation, task.cut), Weigher())
        except Unusable as unusable:
            missing = Missing(name, str(unusable), cut=task.cut)
            for found in outcomes.values():
                found.append(missing)
            continue
        for wanted in task.wanted:
            outcome = _outcome(source, wanted, name, conversation.format, check)
            outcomes[wanted.key].append(outcome)
    return outcomes


def _outcome(source: Source, wanted: Wanted, name: str, form: str, check: Check | None) -> Outcome:
    way = str(wanted.way)
    missing = Missing(name, "", True, way, wanted.budget, source.cut.share)
    limit = max(SMALLEST_BUDGET, int(wanted.budget * source.tokens))
    if sum(Weigher().messages(source.cut.before.system)) > limit / 2:
        reason = "the system prompt outweighs half of the budget"
        return replace(missing, reason=reason, failed=False)
    # A new weigher for each: what one run has counted must not make the next one faster.
    weigh = Weigher()
    try:
        begun = time.perf_counter()
        after = _compress(source, wanted.way, Job(Budget.exactly(limit), weigh))
        seconds = time.perf_counter() - begun
        sent = sent_tokens(write(after, "openai"), weigh)
        return Run(
            recording=name,
            format=form,
            cut=source.cut.share,
            way=way,
            budget=wanted.budget,
            limit=limit,
            tokens=sent,
            over=sent > limit or weigh(after) > limit,
            refused=tuple(check(after)) if check else (),
            seconds=seconds,
            columns=measure(source, after, limit, weigh),
        )
    except Exception as error:  # noqa: BLE001 - it is listed
        # A strategy may be anybody's; one that fails is listed and the others go on.
        return replace(missing, reason=_why(error))


def _compress(source: Source, way: Way, job: Job) -> History:
    strategy = find_strategy(way.strategy)
    before = source.cut.before
    if way.rounds == 1:
        return strategy(before, job)
    return compress_in_rounds(before, strategy, job, way.rounds, way.carry)


def compress_in_rounds(
    before: History, strategy: Strategy, job: Job, rounds: int, carry: Carry
) -> History:
    """Compresses what was said so far, goes on with the recording, compresses again, and so on.

    The budget is the same in all rounds: what is smaller stays as it is.
    """
    said = list(before.system)
    if carry == "archive":
        job = replace(job, originals=lambda: tuple(said))
    history = History(before.system)
    for part in parts_of(before, rounds):
        said += part
        history = strategy(history.add(*_numbered(part, carry)), job)
        if carry == "file":
            history = _through_a_file(history)
    return history


def _numbered(part: Sequence[Message], carry: Carry) -> Iterator[Message]:
    """Messages to be added: those that follow a file are numbered on from what was read."""
    return (replace(m, ordinal=0) if carry == "file" else m for m in part)


def _through_a_file(history: History) -> History:
    data = json.dumps(write(history, "openai"), ensure_ascii=False).encode("utf-8", "replace")
    return read(data)[0].history


def _why(error: Exception) -> str:
    """One line: our own errors speak for themselves, others with their kind."""
    text = " ".join(str(error).split())[:300]
    return text if isinstance(error, UnrememberError) else f"{type(error).__name__}: {text}"
