"""The simplest ways: forget nothing, or all but the newest steps."""

from __future__ import annotations

from dataclasses import replace

from unremember.compression.carry import ledger_now
from unremember.compression.job import Job
from unremember.compression.pins import pins_of, step_weight
from unremember.history import History
from unremember.messages import Message
from unremember.notes import Notes, runs


async def NoCompression(history: History, job: Job) -> History:  # noqa: N802 - a strategy's name
    """Forgets nothing. A history over the limit is then not sent; the user is told."""
    return history


def sliding_window(history: History, job: Job) -> History:
    """Pins, and as many of the newest steps as fit in the target; cuts fall between steps only.

    Nothing is noted of what is forgotten; notes of an earlier compression stay, their ledger
    brought up to date. The newest step stays whatever it weighs: `fit` afterwards guarantees the
    limit.
    """
    weigh, target = job.weigh, job.budget.target
    if weigh(history) <= target:
        return history
    steps = history.steps
    notes = _carried(history)
    pins = [pins_of((step,)) for step in steps]
    pinned = [sum(step_weight(pin, weigh) for pin in own) for own in pins]
    extra = [step_weight(step, weigh) - own for step, own in zip(steps, pinned, strict=True)]
    left = target - weigh(History(history.system, (), notes)) - sum(pinned)
    first = len(steps)
    while first > 0 and (first == len(steps) or extra[first - 1] <= left):
        first -= 1
        left -= extra[first]
    kept: list[Message] = [m for own in pins[:first] for pin in own for m in pin.messages]
    kept += [message for step in steps[first:] for message in step.messages]
    before = steps[first].ordinal if steps else history.next_ordinal
    notes = replace(notes, before=before, kept=runs((*history.system, *kept)))
    return History(history.system, kept, notes)


def _carried(history: History) -> Notes:
    if not history.notes:
        return Notes(next=history.next_ordinal)
    return replace(history.notes, ledger=ledger_now(history), next=history.next_ordinal)
