"""Whether a compression should be attempted, and when to stop trying (rule R8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unremember.errors import CannotCompress
from unremember.tokens import Budget

SHARE = 10
"""One part in so many of the target is what a history must grow, or an attempt must free."""

ATTEMPTS = 2
"""So many attempts in a row that free too little are an error."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known of the attempts so far; a value, so that a checkpoint can keep it.

    `after` is what the history weighed after the last attempt, in tokens; 0 before the first.
    `stalled` counts the attempts in a row that freed too little.
    """

    after: int = 0
    stalled: int = 0

    def allows(self, tokens: int, budget: Budget) -> bool:
        """Whether a history of `tokens` may be compressed early, when something asks for it.

        Over the limit always. Otherwise, after an attempt, only once it grew by a tenth of the
        target: what asks (a number of messages, say) may ask again at once and for ever.
        """
        if tokens > budget.limit or not self.after:
            return True
        return tokens >= self.after + max(1, budget.target // SHARE)

    def tried(
        self, before: int, after: int, budget: Budget, heaviest: Sequence[tuple[str, int]] = ()
    ) -> Progress:
        """The progress after an attempt that brought `before` tokens to `after`.

        One that reaches the target, or frees a tenth of it, did its work. Raises `CannotCompress`
        for the second in a row that did not; `heaviest` are the parts that could not shrink, with
        their tokens.
        """
        if after <= budget.target or before - after >= budget.target / SHARE:
            return Progress(after)
        stalled = self.stalled + 1
        if stalled >= ATTEMPTS:
            raise CannotCompress(_reason(before, after, budget, heaviest))
        return Progress(after, stalled)


def _reason(before: int, after: int, budget: Budget, heaviest: Sequence[tuple[str, int]]) -> str:
    largest = sorted(heaviest, key=lambda part: -part[1])[:3]
    named = ", ".join(f"{name} {tokens:,}" for name, tokens in largest)
    what = f"; what could not shrink: {named}" if named else ""
    return (
        f"{ATTEMPTS} compressions in a row freed too little: the last left {after:,} of "
        f"{before:,} tokens, the target is {budget.target:,}{what}. "
        "Raise the budget, or shorten what is largest."
    )
