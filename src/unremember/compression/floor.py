"""What cannot be forgotten, part by part: the floor of every compression (rule R1)."""

from __future__ import annotations

from unremember.compression.pins import LEAST, pins_of, step_weight
from unremember.compression.shrink import shrink_step
from unremember.history import History
from unremember.tokens import Weigher


def fixed_parts(history: History, weigh: Weigher) -> list[tuple[str, int]]:
    """The parts of a history that no compression makes smaller, with their weights in tokens."""
    newest = history.steps[-1:]
    pins = pins_of(history.steps[:-1])
    ends = pins if len(pins) < 2 else [pins[0], pins[-1]]
    # Weighed as a history: what opens a conversation without its beginning counts as well.
    bare = [m for s in newest for m in shrink_step(s, 0, weigh, thinking=False).messages]
    parts = [
        ("tool schemas", weigh.fixed),
        ("system prompt", sum(weigh.messages(history.system))),
        ("user messages", sum(step_weight(shrink_step(pin, LEAST, weigh), weigh) for pin in ends)),
        ("newest step", weigh(History((), bare)) - weigh.fixed),
    ]
    return [part for part in parts if part[1]]
