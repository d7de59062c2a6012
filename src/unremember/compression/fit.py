"""Making a history fit: whatever it is, the result weighs at most the target, and little less.

Without a model. The system prompt is never touched; the user's words stay within half the target;
the newest steps stay whole; of the older ones, the lines most likely to be needed stay in the
outline, under the call they came from; the ledger says what holds now. What is left out is in the
archive, or in the report, by its handle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from unremember.compression.carry import ledger_now, trim_facts, trim_ledger
from unremember.compression.carry_out import WASTE, Done, carry_out
from unremember.compression.floor import fixed_parts
from unremember.compression.job import Job
from unremember.compression.pins import (
    HEAD_AND_TAIL,
    SHARE,
    grow_pins,
    keep_pins,
    pins_of,
    step_weight,
    step_weights,
)
from unremember.compression.plan import Plan, report_cuts
from unremember.compression.shrink import shrink_step
from unremember.errors import BudgetTooSmall, InvalidHistory
from unremember.history import History, Step
from unremember.ledger import Ledger
from unremember.notes import Notes
from unremember.tokens import Weigher

TAIL = 0.1
"""Share of the target up to which the newest steps stay whole."""

NEWEST = (0.1, 0.4, 1 / 50_000)
"""Share of the room that the very newest step may take before it is clipped: from the first to the
second number, growing with each token of the target by the third. The agent is about to act on it,
but in a small target a single large result would push out everything else."""

LEDGER = 0.04
"""Share of the target that the ledger may take."""

FACTS = 0.15
"""Share of what the fixed part leaves that the facts may take."""

HARDLY = 16
"""Tokens that are worth no further round: a mark alone takes as many."""

GROWTHS = 8
"""How often the newest steps may grow to use a target up."""


def fit(history: History, job: Job) -> History:
    """The history in at most `job.budget.target` tokens; unchanged where it fits already.

    Raises `BudgetTooSmall` where what cannot be forgotten (system prompt, tool schemas, the user's
    first and latest message cut to a line, the newest step clipped) outweighs the limit.
    """
    if job.weigh(history) <= job.budget.target:
        return history
    done = decide(history, job)
    report_cuts(done.plan, job)
    return done.history


def decide(history: History, job: Job) -> Done:
    """What `fit` does with a history that is too big, and why: the plan and the choice of lines.

    Raises as `fit` does.
    """
    for plan in _plans(from_originals(history, job), job):
        done = carry_out(plan, job)
        if done.weight <= plan.target:
            return _use_up(done, job)
    raise BudgetTooSmall(fixed_parts(history, job.weigh), job.budget.limit)


def from_originals(history: History, job: Job) -> History:
    """The history as it was said, where somebody kept that: a compression starts from it anew.

    What was kept at each earlier compression would otherwise be chosen among what the one before
    had kept. Facts and ledger stay as they are. A history with messages that are not among the
    originals, such as a summary, is taken as it is.
    """
    if not history.notes:
        return history
    originals = {m.ordinal: m for m in job.originals() if m.ordinal < history.next_ordinal}
    if any(m.ordinal not in originals for m in (*history.system, *history.messages)):
        return history
    fixed = {message.ordinal for message in history.system}
    said = [originals[ordinal] for ordinal in sorted(originals.keys() - fixed)]
    notes = Notes(ledger=history.notes.ledger, facts=history.notes.facts, next=history.notes.next)
    try:
        return History(history.system, said, notes).numbered_from(history.next_ordinal)
    except InvalidHistory:
        # A log with abandoned branches; what the model saw last is sound.
        return history


def _use_up(done: Done, job: Job) -> Done:
    """Where the outline could not use the target up, more of the newest steps stays."""
    best, share, target = done, 1.0, done.plan.target
    for _ in range(GROWTHS):
        unused = target - done.weight
        if unused <= max(target * WASTE, HARDLY):
            break
        again = carry_out(
            _grown(done.plan, done.history.notes, int(unused * share), job.weigh), job
        )
        if again.weight > target:
            share /= 2
            continue
        # At first it may weigh less: the outline drops what stands in a step now.
        done = again
        if done.weight > best.weight:
            best = done
    return best


def _grown(plan: Plan, notes: Notes, room: int, weigh: Weigher) -> Plan:
    """The plan with about `room` tokens more: of clipped new steps, of older steps, of pins."""
    tail: list[Step] = []
    for clipped, whole in zip(reversed(plan.tail), reversed(plan.originals), strict=True):
        before = step_weight(clipped, weigh)
        grown = clipped if clipped is whole else shrink_step(whole, before + room, weigh, full=True)
        fits = step_weight(grown, weigh) <= before + room
        tail.insert(0, grown if fits else clipped)
        room += before - step_weight(tail[0], weigh)
    old, stay = list(plan.old), plan.pinned.stay
    freed = _outline_weights(notes, weigh)
    while old and room > 0:
        step = old[-1]
        # What the outline says of a step is not needed beside the step.
        there = room + sum(n for ordinal, n in freed.items() if step.ordinal <= ordinal < step.end)
        there += sum(weigh.messages(stay[m.ordinal] for m in step.messages if m.ordinal in stay))
        grown = shrink_step(step, there, weigh, full=True)
        if step_weight(grown, weigh) > there:
            break
        room = there - step_weight(grown, weigh)
        tail.insert(0, grown)
        old.pop()
    moved = [m for pin in pins_of(plan.old[len(old) :]) for m in pin.messages]
    before = plan.pinned.tokens
    before -= sum(weigh.messages(stay[m.ordinal] for m in moved if m.ordinal in stay))
    pinned = keep_pins(old, plan.pinned.pool + max(0, room), plan.target, weigh)
    pinned = grow_pins(pinned, old, before + room - pinned.tokens, weigh)
    return replace(plan, old=tuple(old), tail=tuple(tail), pinned=pinned)


def _outline_weights(notes: Notes, weigh: Weigher) -> dict[int, int]:
    """Tokens of each entry of an outline, by its ordinal."""
    texts = ["\n ".join([e.title, *(x.text for x in e.excerpts)]) for e in notes.outline]
    weights = weigh.texts(texts)
    return {entry.ordinal: n + 4 for entry, n in zip(notes.outline, weights, strict=True)}


@dataclass(frozen=True, slots=True)
class _Shares:
    """How a target is divided: pins and ledger of the target, the newest step of what is free."""

    pins: float
    newest: float
    ledger: float = 0.0
    notes: bool = True


def _divisions(target: int) -> tuple[_Shares, ...]:
    """Ever harder ways to divide a target; the later ones are for limits near the floor."""
    return (
        _Shares(0.5, _newest_share(target), LEDGER),
        _Shares(0.4, 0.3),
        _Shares(0.3, 0.4, notes=False),
        _Shares(0.15, 0.2, notes=False),
    )


def _plans(history: History, job: Job) -> Iterator[Plan]:
    ledger = ledger_now(history)
    # Below the target where possible; where the fixed part leaves too little, up to the limit.
    for target in dict.fromkeys((job.budget.target, job.budget.limit)):
        for shares in _divisions(target):
            yield _divided(history, target, shares, ledger, job.weigh)
        yield _barest(history, target, job.weigh)


def _divided(
    history: History, target: int, shares: _Shares, ledger: Ledger, weigh: Weigher
) -> Plan:
    free = _free(history, target, weigh)
    pool = min(int(target * shares.pins), int(free * 0.6))
    share = int(free * shares.newest)
    tail = _newest_whole(history.steps, weigh, min(share, int(target * TAIL)))
    old = history.steps[: len(history.steps) - len(tail)]
    # What the user said last takes its part of what is set aside for pins.
    words = _words_room(old, tail, pool, target, weigh)
    pinned = keep_pins(old, pool - words, target, weigh)
    room = max(0, min(share + words, free - pinned.tokens))
    return Plan(
        history,
        target,
        old,
        tuple(shrink_step(step, room, weigh) for step in tail),
        pinned,
        trim_ledger(ledger, int(target * shares.ledger), weigh),
        trim_facts(history.notes.facts, int(free * FACTS) if shares.notes else 0, weigh),
        shares.notes,
    )


def _barest(history: History, target: int, weigh: Weigher) -> Plan:
    """The newest step as small as it gets, and of the pins what still fits."""
    old, newest = history.steps[:-1], history.steps[-1:]
    tail = tuple(shrink_step(step, 0, weigh, thinking=False) for step in newest)
    pool = _free(history, target, weigh) - sum(step_weight(step, weigh) for step in tail)
    pinned = keep_pins(old, max(0, pool), target, weigh)
    return Plan(history, target, old, tail, pinned, Ledger(), notes_allowed=False)


def _free(history: History, target: int, weigh: Weigher) -> int:
    """Tokens of the target that the fixed part leaves."""
    return max(0, target - weigh.fixed - sum(weigh.messages(history.system)))


def _words_room(
    old: Sequence[Step], tail: Sequence[Step], pool: int, target: int, weigh: Weigher
) -> int:
    """Tokens of `pool` for the user's words in the newest steps: all if the older leave them."""
    words = sum(step_weight(pin, weigh) for pin in pins_of(tail))
    older = sum(min(HEAD_AND_TAIL, weight) for weight in step_weights(pins_of(old), weigh))
    return min(words, pool, max(target // SHARE, pool - older))


def _newest_share(target: int) -> float:
    least, most, growth = NEWEST
    return min(most, least + target * growth)


def _newest_whole(steps: tuple[Step, ...], weigh: Weigher, share: int) -> tuple[Step, ...]:
    """The newest steps that together weigh at most `share`, and at least the newest one."""
    kept = used = 0
    while kept < len(steps):
        used += step_weight(steps[-kept - 1], weigh)
        if kept and used > share:
            break
        kept += 1
    return steps[len(steps) - kept :]
