"""The strategies that can be compared: plain functions, a history and a job in, a history out."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from unremember.compression import Job, fit, sliding_window
from unremember.errors import InputError
from unremember.history import History, Step, is_pin
from unremember.messages import Message, Text, ToolResult

Strategy = Callable[[History, Job], History]

FIRST_USER = 0.3
"""Share of a budget that the simple baseline gives to the user's first message."""

HEAD = 2 / 3
"""Share of what is kept of a clipped text that is its head; the rest is its tail."""


def window(history: History, job: Job) -> History:
    """The user's words and the newest steps; what is still too big is then made to fit."""
    return fit(sliding_window(history, job), job)


def head_tail(history: History, job: Job) -> History:
    """The simple baseline: the user's first message, clipped, and as many newest steps as fit.

    Nothing else is kept and nothing is noted.
    """
    if job.weigh(history) <= job.budget.target:
        return history
    steps = list(history.steps)
    first = next((s for s in steps if s.messages[0].role == "user"), None)
    kept: list[Step] = []
    if first:
        room = int(job.budget.target * FIRST_USER)
        kept.append(Step(tuple(_clipped(m, room, job) for m in first.messages)))
    # The oldest first, until the rest fits.
    rest = [step for step in steps if step is not first]
    return _newest(history, kept, rest, job)


def mask(history: History, job: Job) -> History:
    """Tool outputs, the oldest first, give way to a line that says how large they were.

    As many as the budget asks for; then whole steps go, the oldest first, but for the user's words.
    """
    if job.weigh(history) <= job.budget.target:
        return history
    steps = list(history.steps)
    masked = [_masked(step) for step in steps]
    # The fewest that must be masked, found by halves: each further one makes the rest smaller.
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high) // 2
        fits = job.weigh(_built(history, masked[:middle] + steps[middle:])) <= job.budget.target
        low, high = (low, middle) if fits else (middle + 1, high)
    shown = masked[:low] + steps[low:]
    if low < len(steps):
        return _built(history, shown)
    users = [step for step in shown if is_pin(step.messages[0])]
    return _newest(history, users, [s for s in shown if not is_pin(s.messages[0])], job)


STRATEGIES: dict[str, Strategy] = {
    "outline": fit,
    "window": window,
    "head-tail": head_tail,
    "mask": mask,
}
"""The strategies that have a name. `outline` is what `compress` does."""


def find_strategy(name: str) -> Strategy:
    """The strategy with this name, or the function that `module:function` names.

    A module is looked for in the current folder too. An async function is run to its end. Raises
    `InputError` where there is none.
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    module, colon, function = name.partition(":")
    if not colon:
        known = ", ".join(STRATEGIES)
        raise InputError(f"strategy {name!r}: choose among {known}, or name module:function")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        found: Any = getattr(import_module(module), function)
    except Exception as error:
        raise InputError(f"strategy {name!r}: it cannot be imported ({error})") from error
    if not callable(found):
        raise InputError(f"strategy {name!r}: this is no function; it takes a History and a Job")
    return _called(cast("Callable[[History, Job], object]", found), name)


def fingerprint(name: str) -> str:
    """Changes when the code of a strategy does: its name, and what stands in its module's file."""
    if name in STRATEGIES:
        return name
    find_strategy(name)
    path = getattr(sys.modules[name.partition(":")[0]], "__file__", None)
    return f"{name} {sha256(Path(path).read_bytes()).hexdigest()}" if path else name


def _called(found: Callable[[History, Job], object], name: str) -> Strategy:
    def strategy(history: History, job: Job) -> History:
        result = found(history, job)
        if inspect.isawaitable(result):
            result = asyncio.run(_awaited(result))
        if not isinstance(result, History):
            raise InputError(f"strategy {name!r} gave a {type(result).__name__}, not a History")
        return result

    return strategy


async def _awaited(result: Awaitable[object]) -> object:
    return await result


def _built(history: History, steps: Sequence[Step]) -> History:
    messages = [message for step in steps for message in step.messages]
    return History(history.system, messages).numbered_from(history.next_ordinal)


def _newest(history: History, kept: Sequence[Step], rest: Sequence[Step], job: Job) -> History:
    """The kept steps and as many of the newest others as fit; if none does, the newest clipped."""
    target = job.budget.target
    weights = [sum(job.weigh.messages(step.messages)) for step in rest]
    room = target - job.weigh(_built(history, kept))
    first = len(rest)
    while first > 0 and weights[first - 1] <= room:
        first -= 1
        room -= weights[first]
    newest = list(rest[first:])
    if not newest and rest:
        messages = rest[-1].messages
        share = max(0, room) // len(messages)
        newest = [Step(tuple(_clipped(message, share, job) for message in messages))]
    steps = sorted((*kept, *newest), key=lambda step: step.ordinal)
    # What opens a conversation has a weight of its own; `fit` is for that and for the hopeless.
    return fit(_built(history, steps), job)


def _clipped(message: Message, tokens: int, job: Job) -> Message:
    """A message whose texts are cut to head and tail, to about so many tokens; calls stay."""
    weight = job.weigh.message(message)
    if weight <= tokens:
        return message
    keep = tokens / weight
    parts = tuple(
        Text(_ends(part.text, keep))
        if isinstance(part, Text)
        else replace(part, content=(Text(_ends(part.text, keep)),))
        if isinstance(part, ToolResult)
        else part
        for part in message.parts
    )
    return replace(message, parts=parts, source=None)


def _ends(text: str, keep: float) -> str:
    size = int(len(text) * keep * 0.9)
    if size >= len(text):
        return text
    head = int(size * HEAD)
    return f"{text[:head]}\n[cut]\n{text[len(text) - size + head :]}"


def _masked(step: Step) -> Step:
    def masked(message: Message) -> Message:
        parts = tuple(
            replace(part, content=(Text(f"[old output of {len(part.text)} characters elided]"),))
            if isinstance(part, ToolResult) and len(part.text) > 60
            else part
            for part in message.parts
        )
        return message if parts == message.parts else replace(message, parts=parts, source=None)

    return Step(tuple(map(masked, step.messages)))
