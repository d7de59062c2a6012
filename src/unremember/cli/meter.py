"""The context meter: how full the model's context is, in one line, and by kind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from unremember.agent import Agent
from unremember.cli.config import Price
from unremember.cli.screen import bar, percent, width
from unremember.messages import Message, ToolResult, handle
from unremember.models.base import Usage
from unremember.tokens import Budget, Weigher

COLUMNS = 20
"""Columns of the bar."""

SPARKS = "▁▂▃▄▅▆▇█"


def meter(tokens: int, budget: Budget, cost: str = "") -> str:
    """One line: bar, percent, tokens of the limit, where it will compress, cost."""
    drawn = f"{bar(tokens / budget.limit, COLUMNS):<{COLUMNS}}"
    # Where the bar will compress is a mark in it, while it is not reached.
    at = min(COLUMNS - 1, budget.trigger * COLUMNS // budget.limit)
    if drawn[at] == " ":
        drawn = f"{drawn[:at]}┊{drawn[at + 1 :]}"
    words = f"{tokens:,} of {budget.limit:,} tokens, compresses at {budget.trigger:,}"
    return f"{drawn} {percent(tokens, budget.limit)} · {words}{f' · {cost}' if cost else ''}"


def cost_of(usage: Usage, price: Price | None) -> str:
    """What tokens cost, as a number in the currency of the prices; "" where it is not known."""
    if price is None or not usage.reported:
        return ""
    fresh = usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens
    # A price that is not named is that of plain input: never too little by more than a write.
    cached = price.input if price.cached is None else price.cached
    written = price.input if price.cache_write is None else price.cache_write
    total = fresh * price.input + usage.cached_tokens * cached + usage.cache_write_tokens * written
    return f"cost {(total + usage.output_tokens * price.output) / 1_000_000:.4f}"


def used(usage: Usage, price: Price | None) -> list[str]:
    """Tokens and cost of a conversation, one line each; what is unknown is called so."""
    known = "" if usage.reported else " (our own count: the provider gave none)"
    return [
        f"input  {usage.input_tokens:>12,} tokens{known}",
        f"  cached {usage.cached_tokens:,}, written to the cache {usage.cache_write_tokens:,}",
        f"output {usage.output_tokens:>12,} tokens",
        cost_of(usage, price)
        or "cost unknown: "
        + ("no price is set for this model" if price is None else "the provider counted nothing"),
    ]


def by_kind(agent: Agent[str], weigh: Weigher) -> list[tuple[str, int]]:
    """Tokens of the next request by kind: fixed, yours, work, notes, and what is free.

    Their sum is the limit, as long as nothing is over it: the kinds are scaled to what the
    provider is known to count.
    """
    history = agent.history
    weights = weigh.messages(history.messages)
    pairs = list(zip(history.messages, weights, strict=True))
    yours = sum(w for message, w in pairs if _is_yours(message))
    notes, total, counted = weigh.notes(history.notes), agent.weigh(), weigh(history)
    work = sum(weights) - yours
    raw = {"yours": yours, "work": work, "notes": notes}
    kinds = {name: tokens * total // max(1, counted) for name, tokens in raw.items()}
    fixed = total - sum(kinds.values())
    return [("fixed", fixed), *kinds.items(), ("free", max(0, agent.budget.limit - total))]


def _is_yours(message: Message) -> bool:
    return message.role == "user" and message.kind != "program"


def heaviest(agent: Agent[str], weigh: Weigher) -> str:
    """The heaviest message with its handle; "" where there is none."""
    messages = agent.history.messages
    if not messages:
        return ""
    weight, ordinal = max(
        (w, m.ordinal) for m, w in zip(messages, weigh.messages(messages), strict=True)
    )
    message = next(m for m in messages if m.ordinal == ordinal)
    what = (
        "a tool's result"
        if any(isinstance(p, ToolResult) for p in message.parts)
        else ("yours" if _is_yours(message) else f"the {message.role}'s")
    )
    return f"heaviest: {handle(ordinal)}, {weight:,} tokens, {what}"


def sparkline(values: Sequence[int], top: int) -> str:
    """The values as a row of bars from 0 to `top`, thinned to the width."""
    room = width() - 12
    step = max(1, -(-len(values) // room))
    kept = [
        max(v for _, v in group) for _, group in groupby(enumerate(values), lambda p: p[0] // step)
    ]
    last = len(SPARKS) - 1
    return "".join(SPARKS[min(last, value * last // max(1, top))] for value in kept)
