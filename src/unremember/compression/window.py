"""The simplest ways: forget nothing, or all but the newest steps."""

from __future__ import annotations

from dataclasses import replace

from unremember.compression.job import Job
from unremember.history import History, is_pin
from unremember.messages import Message
from unremember.notes import Notes


async def NoCompression(history: History, job: Job) -> History:  # noqa: N802 - a strategy's name
    """Forgets nothing. A history over the limit is then not sent; the user is told."""
    return history


def sliding_window(history: History, job: Job) -> History:
    """Pins, and as many of the newest steps as fit in the target; cuts fall between steps only.

    The newest step stays whatever it weighs: `fit` afterwards guarantees the limit.
    """
    weigh, target = job.weigh, job.budget.target
    if weigh(history) <= target:
        return history
    steps = history.steps
    weights = [sum(weigh.messages(step.messages)) for step in steps]
    pins = [
        [message for message in step.messages if is_pin(message) and not message.results]
        for step in steps
    ]
    pinned = [sum(weigh.messages(own)) for own in pins]
    left = target - weigh.fixed - sum(weigh.messages(history.system)) - sum(pinned)
    first = len(steps)
    while first > 0 and (first == len(steps) or weights[first - 1] - pinned[first - 1] <= left):
        first -= 1
        left -= weights[first] - pinned[first]
    kept: list[Message] = [message for own in pins[:first] for message in own]
    kept += [message for step in steps[first:] for message in step.messages]
    return History(history.system, kept, replace(Notes(), next=history.next_ordinal))
