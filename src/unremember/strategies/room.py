"""How much room a run has: its budget, and what the next request weighs."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from unremember.compression.floor import fixed_parts
from unremember.errors import BudgetTooSmall, ContextTooLong
from unremember.history import History
from unremember.messages import Message
from unremember.models.base import Model, ToolSpec, Usage
from unremember.models.counting import counter_of, written
from unremember.strategies.instructions import without_instructions
from unremember.tokens import Budget, Meter, Weigher

PLAUSIBLE = (0.4, 3.0)
"""The provider's count may be so many times ours; beyond, it counts something else."""

LESS = 0.9
"""The limit as a share of a request that was refused as too long, where no number was named."""


class Room:
    """Measures histories for one model and one set of tools, against a budget.

    With an exact counter the larger of its count and the anchored estimate decides; otherwise the
    estimate alone, which the provider's own counts correct.
    """

    def __init__(
        self, model: Model, tools: tuple[ToolSpec, ...], budget: Budget, schema: str = ""
    ) -> None:
        self.budget = budget
        self.weigh = Weigher(counter_of(model))
        self.weigh.fixed = self.weigh.text(written(tools) + schema)
        self._meter = Meter(self.weigh)
        self._measured: tuple[History, int] | None = None

    def measure(self, history: History) -> int:
        """Tokens of the next request that would carry `history`."""
        if self._measured is None or self._measured[0] is not history:
            estimate = self._meter(history)
            exact = self.weigh.counter.exact
            self._measured = history, max(estimate, self.weigh(history)) if exact else estimate
        return self._measured[1]

    def observe(self, history: History, usage: Usage) -> None:
        """Takes in what the provider counted for a request with `history` and all tools."""
        low, high = PLAUSIBLE
        counted = self.weigh(history)
        if usage.reported and low * counted <= usage.input_tokens <= high * counted:
            self._meter.observe(history, usage.input_tokens)
            self._measured = None

    def in_own_count(self) -> Budget:
        """The budget for who weighs with `weigh`, which does not know the provider's counts."""
        ratio = self._meter.ratio
        scale = max(1.0, ratio) if self.weigh.counter.exact else ratio
        return _scaled(self.budget, 1 / scale)

    def learn(self, refusal: ContextTooLong, sent: int) -> Budget:
        """The smaller budget after a request of `sent` tokens was refused as too long."""
        stated = Budget.of_window(max(2, refusal.limit or 0)).limit
        # A number that would have let this request pass does not count the way we do.
        limit = stated if refusal.limit and stated < sent else max(1, int(sent * LESS))
        self.budget = _scaled(self.budget, limit / self.budget.limit)
        return self.budget

    def check_fixed(self, history: History) -> None:
        """Raises `BudgetTooSmall` where what nobody can forget is over the limit already."""
        bare = History(system=history.system)
        if self.weigh(bare) > self.in_own_count().limit:
            raise self.too_small(history)

    def too_small(self, history: History) -> BudgetTooSmall:
        """The error that names the largest parts of what cannot be forgotten."""
        return BudgetTooSmall(self.fixed_parts(history), self.budget.limit)

    def fixed_parts(self, history: History) -> list[tuple[str, int]]:
        """What cannot be forgotten, with the weights in tokens."""
        said = without_instructions(history.system)
        ours: list[Message] = [message for message in history.system if message not in said]
        parts = fixed_parts(replace(history, system=said), self.weigh)
        return [*parts, ("project instructions", sum(self.weigh.messages(ours)))]


def _scaled(budget: Budget, scale: float) -> Budget:
    limit = max(1, int(budget.limit * scale))
    trigger = min(limit, ceil(budget.trigger * scale))
    return Budget(limit, max(1, trigger), max(1, min(trigger, int(budget.target * scale))))
