"""Making a history fit: whatever it is, the result weighs at most the target, and little less.

Without a model. The system prompt is never touched; the user's words stay within half the target;
the newest steps stay whole; of the older ones, the lines most likely to be needed stay in the
outline, under the call they came from; the ledger says what holds now. What is left out is in the
archive, or in the report, by its handle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from unremember import ledger as ledgers
from unremember.actions import is_error_line
from unremember.compression.choose import Chooser
from unremember.compression.clip import clip_text
from unremember.compression.job import Job
from unremember.compression.material import LONG, Origin, call_text, gather
from unremember.compression.outline import one_line, outline_of
from unremember.compression.pins import Pinned, keep_pins, shorten
from unremember.compression.worth import chances
from unremember.errors import BudgetTooSmall
from unremember.events import Shortened
from unremember.history import History, Step, is_pin
from unremember.ledger import Ledger
from unremember.messages import Message, Text, ToolResult
from unremember.notes import Notes, OutlineEntry, runs
from unremember.tokens import PER_MESSAGE, Weigher

TAIL = 0.1
"""Share of the target up to which the newest steps stay whole."""

NEWEST = (0.1, 0.4, 1 / 50_000)
"""Share of the room that the very newest step may take before it is clipped: from the first to the
second number, growing with each token of the target by the third. The agent is about to act on it,
but in a small target a single large result would push out everything else."""

LEDGER = 0.04
"""Share of the target that the ledger may take."""

ERRORS = 12
"""How many of the newest distinct error lines are kept before anything else."""

ERROR_SHARE = 0.15
"""Share of the target they may take together."""

WASTE = 0.02
"""Share of the target that may stay unused when something was left out."""


def fit(history: History, job: Job) -> History:
    """The history in at most `job.budget.target` tokens; unchanged where it fits already.

    Raises `BudgetTooSmall` where what cannot be forgotten (system prompt, tool schemas, the user's
    first and latest message cut to a line, the newest step clipped) outweighs the limit.
    """
    if job.weigh(history) <= job.budget.target:
        return history
    for plan in _plans(history, job):
        fitted = _carry_out(plan, job)
        if job.weigh(fitted) <= plan.target:
            plan, fitted = _use_up(plan, fitted, job)
            _report(plan, job)
            return fitted
    raise BudgetTooSmall(_floor(history, job), job.budget.limit)


def _use_up(plan: Plan, fitted: History, job: Job) -> tuple[Plan, History]:
    """Where the outline could not use the target up, more of the newest steps stay whole."""
    for _ in range(8):
        unused = plan.target - job.weigh(fitted)
        if unused <= plan.target * WASTE or not plan.old or not plan.notes_allowed:
            break
        grown = _with_longer_tail(plan, unused, job)
        again = _carry_out(grown, job)
        if job.weigh(again) > plan.target:
            break
        plan, fitted = grown, again
    return plan, fitted


def _with_longer_tail(plan: Plan, room: int, job: Job) -> Plan:
    """At least one more step stays whole, and as many as surely fit in `room` tokens more."""
    old = list(plan.old)
    tail = list(plan.tail)
    while old and (len(tail) == len(plan.tail) or _weight(old[-1], job.weigh) <= room):
        room -= _weight(old[-1], job.weigh)
        tail.insert(0, old.pop())
    pool = plan.pinned.pool
    pinned = keep_pins([m for step in old for m in step.messages], pool, plan.target, job.weigh)
    return replace(plan, old=tuple(old), tail=tuple(tail), pinned=pinned)


@dataclass(frozen=True, slots=True)
class Plan:
    """What stays whole: cut pins, the steps of the tail, perhaps clipped, and the rest to choose from."""

    history: History
    target: int
    old: tuple[Step, ...]
    tail: tuple[Step, ...]
    pinned: Pinned
    ledger: Ledger
    notes_allowed: bool = True


def _plans(history: History, job: Job) -> Iterator[Plan]:
    """Ever harder ways to divide the target; the later ones are for limits near the floor."""
    weigh, budget = job.weigh, job.budget
    fixed = weigh.fixed + sum(weigh.messages(history.system))
    steps = history.steps
    ledger = _ledger_now(history)
    # Below the target where possible; where the fixed part leaves too little, up to the limit.
    for target in dict.fromkeys((budget.target, budget.limit)):
        free = target - fixed
        if free <= 0:
            continue
        for pool_share, newest, ledger_share, notes in (
            (0.5, _newest_share(target), LEDGER, True),
            (0.4, 0.3, 0.0, True),
            (0.3, 0.4, 0.0, False),
            (0.15, 0.2, 0.0, False),
        ):
            pool = min(int(target * pool_share), int(free * 0.6))
            tail = _newest_whole(steps, weigh, int(target * TAIL), int(free * newest))
            old = steps[: len(steps) - len(tail)]
            pinned = keep_pins([m for step in old for m in step.messages], pool, target, weigh)
            room = max(0, min(int(free * newest), free - pinned.tokens))
            tail = (
                tuple(_clip_step(step, room // len(tail), weigh, ledger) for step in tail)
                if (tail and sum(_weight(step, weigh) for step in tail) > room)
                else tail
            )
            yield Plan(
                history, target, old, tail, pinned,
                _trim_ledger(ledger, int(target * ledger_share), weigh), notes,
            )  # fmt: skip


def _newest_share(target: int) -> float:
    least, most, growth = NEWEST
    return min(most, least + target * growth)


def _newest_whole(
    steps: tuple[Step, ...], weigh: Weigher, share: int, most: int
) -> tuple[Step, ...]:
    """The newest steps that stay: as many as fit in `share`, and at least the newest one."""
    if not steps:
        return ()
    kept = 1
    used = _weight(steps[-1], weigh)
    while kept < len(steps):
        used += _weight(steps[-kept - 1], weigh)
        if used > share:
            break
        kept += 1
    return steps[len(steps) - kept :]


def _weight(step: Step, weigh: Weigher) -> int:
    return sum(weigh.messages(step.messages))


def _clip_step(step: Step, room: int, weigh: Weigher, ledger: Ledger) -> Step:
    """A step in about `room` tokens: its results first, then arguments, then words are clipped."""
    messages: list[Message] = []
    weights = weigh.messages(step.messages)
    over = sum(weights) - room
    if over <= 0:
        return step
    for message, weight in zip(step.messages, weights, strict=True):
        share = max(24, weight - over * weight // sum(weights))
        messages.append(clip_message(message, min(weight, share), weigh))
    return Step(tuple(messages))


def clip_message(message: Message, limit: int, weigh: Weigher) -> Message:
    """A message in about `limit` tokens, its calls and results paired as before."""
    if weigh.message(message) <= limit:
        return message
    if is_pin(message) and not message.results:
        return shorten(message, limit, weigh)
    from unremember.compression.shrink import shrink_parts

    return replace(message, parts=shrink_parts(message, limit, weigh), source=None)


def _ledger_now(history: History) -> Ledger:
    """The ledger brought up to the newest step."""
    since = history.notes.next
    return ledgers.extend(history.notes.ledger, (s for s in history.steps if s.ordinal >= since))


def _trim_ledger(ledger: Ledger, share: int, weigh: Weigher) -> Ledger:
    """The most valuable records of a ledger within `share` tokens."""
    if not share or not ledger:
        return Ledger()
    low, high = 0, len(ledgers.lines(ledger))
    while low < high:
        middle = (low + high + 1) // 2
        if weigh.text("\n".join(ledgers.lines(ledgers.trim(ledger, middle)))) <= share:
            low = middle
        else:
            high = middle - 1
    return ledgers.trim(ledger, low)


def _carry_out(plan: Plan, job: Job) -> History:
    """Chooses lines until the result weighs the target, by exact counts."""
    bare = _assemble(plan, (), ())
    if not plan.notes_allowed or job.weigh(bare) >= plan.target:
        return _without_notes(plan) if not plan.notes_allowed else bare
    material = gather(plan.history.steps, plan.history.notes.outline, _whole(plan))
    chooser = Chooser(material, chances(material), job.weigh.texts, _cut_texts(plan))
    _take_errors(chooser, int(plan.target * ERROR_SHARE))
    _take_dropped_pins(plan, chooser)
    return _fill_exactly(plan, job, chooser, job.weigh(bare))


def _fill_exactly(plan: Plan, job: Job, chooser: Chooser, bare: int) -> History:
    """Fills, weighs, corrects the allowance by what was really used, and takes back what is over."""
    allowance = plan.target - bare
    result = _assemble(plan, (), ())
    for _ in range(6):
        before = len(chooser.taken)
        chooser.fill(allowance)
        result = _chosen(plan, chooser)
        unused = plan.target - job.weigh(result)
        if unused < 0 or unused <= plan.target * WASTE:
            break
        if len(chooser.taken) == before and unused < plan.target * WASTE * 2:
            break
        allowance = chooser.spent + unused
    while chooser.taken and job.weigh(result) > plan.target:
        over = job.weigh(result) - plan.target
        freed = 0
        while chooser.taken and freed < over:
            freed += chooser.taken[-1].cost
            chooser.take_back()
        result = _chosen(plan, chooser)
    return result


def _whole(plan: Plan) -> set[int]:
    """Ordinals of messages that stay as they are: of the newest steps, and of pins that were not cut."""
    said = {message.ordinal: message for message in plan.history.messages}
    tail = {m.ordinal for step in plan.tail for m in step.messages if m is said[m.ordinal]}
    return tail | (plan.pinned.stay.keys() - plan.pinned.cut.keys())


def _cut_texts(plan: Plan) -> list[str]:
    """What still stands of messages that were cut: it need not be kept again."""
    whole = _whole(plan)
    texts = [plan.pinned.stay[ordinal].text for ordinal in plan.pinned.cut]
    for message in (message for step in plan.tail for message in step.messages):
        if message.ordinal not in whole:
            texts += [message.text, *map(call_text, message.calls)]
            texts += [result.text for result in message.results]
    return texts


def _take_errors(chooser: Chooser, share: int) -> None:
    """Takes the newest distinct error lines first."""
    material = chooser.material
    newest = sorted(
        (line for line in range(len(material.texts)) if material.origin[line] is Origin.RESULT),
        key=lambda line: (-material.entries[material.entry[line]].ordinal, -material.place[line]),
    )
    found = 0
    for line in newest:
        if found >= ERRORS or chooser.spent >= share:
            return
        if names_an_error(material.texts[line]):
            found += 1
            if not chooser.is_taken(line) and chooser.spent + chooser.cost(line) <= share:
                chooser.take(line, "error")


_ERROR_NAME = re.compile(
    r"(?:Error|Exception|Failure|\b[Ee]rror(?:\[\w+\])?)\s*[:(]|\b[Ff]atal:"
    r"|(?i:exit|return)[ _]?(?:code|status)\W{0,3}[1-9]"
)


def names_an_error(line: str) -> bool:
    """Whether a line reports an error or, in code, names one."""
    return len(line) <= LONG and (is_error_line(line) or _ERROR_NAME.search(line) is not None)


def _take_dropped_pins(plan: Plan, chooser: Chooser) -> None:
    """A user message that did not fit becomes a line of the outline."""
    dropped = {pin.ordinal for pin in plan.pinned.dropped}
    room = plan.target // 4
    for line, number in enumerate(chooser.material.entry):
        entry = chooser.material.entries[number]
        if entry.ordinal in dropped and entry.origin is Origin.USER and chooser.spent < room:
            dropped.discard(entry.ordinal)
            chooser.take(line, "user")


def _chosen(plan: Plan, chooser: Chooser) -> History:
    return _assemble(plan, outline_of(chooser.material, chooser.lines()), tuple(chooser.names()))


def _assemble(plan: Plan, outline: tuple[OutlineEntry, ...], names: tuple[str, ...]) -> History:
    """The history that a plan, an outline and an index of names make."""
    history = plan.history
    messages = _messages(plan)
    kept = (*history.system, *messages)
    notes = Notes(
        outline=outline,
        names=names,
        ledger=plan.ledger,
        facts=history.notes.facts,
        before=plan.tail[0].ordinal if plan.tail else history.next_ordinal,
        kept=runs(kept),
        next=history.next_ordinal,
    )
    return History(history.system, messages, notes)


def _without_notes(plan: Plan) -> History:
    return History(plan.history.system, _messages(plan), Notes(next=plan.history.next_ordinal))


def _messages(plan: Plan) -> tuple[Message, ...]:
    """Pins of the forgotten steps in their order, then the newest steps."""
    pins = (plan.pinned.stay[ordinal] for ordinal in sorted(plan.pinned.stay))
    return (*pins, *(message for step in plan.tail for message in step.messages))


def _report(plan: Plan, job: Job) -> None:
    for ordinal, before in plan.pinned.cut.items():
        job.emit(Shortened(ordinal, before, job.weigh.message(plan.pinned.stay[ordinal])))
    for pin in plan.pinned.dropped:
        job.emit(Shortened(pin.ordinal, job.weigh.message(pin), 0))


def _floor(history: History, job: Job) -> list[tuple[str, int]]:
    """The parts that cannot be forgotten, with their weights."""
    weigh = job.weigh
    parts = [("tool schemas", weigh.fixed)] if weigh.fixed else []
    parts.append(("system prompt", sum(weigh.messages(history.system))))
    pins = [words for words in history.pins]
    if pins:
        shortest = (
            weigh.message(shorten(pin, 24, weigh))
            for pin in {id(p): p for p in (pins[0], pins[-1])}.values()
        )
        parts.append(("user messages", sum(shortest)))
    if history.steps:
        parts.append(
            ("newest step", _weight(_clip_step(history.steps[-1], 24, weigh, Ledger()), weigh))
        )
    return [part for part in parts if part[1]]
