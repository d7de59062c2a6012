"""How a model's tokens are counted, and what a request cost where the provider did not say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from unremember.messages import Message
from unremember.models.base import Model, ModelFacts, Request, ToolSpec, Usage
from unremember.tokens import Counter, Weigher, default_counter


@runtime_checkable
class CountsItself(Protocol):
    """A model with a tokenizer of its own at hand."""

    @property
    def counter(self) -> Counter:
        """Counts as the model does."""
        ...


def counter_of(model: Model) -> Counter:
    """The best counter for a model: its own tokenizer, or o200k with its family's factor."""
    if isinstance(model, CountsItself):
        return model.counter
    return scaled_counter(model.facts)


def scaled_counter(facts: ModelFacts) -> Counter:
    """The default counter with a model's factor; exact only where both are."""
    base = default_counter()
    if facts.counting_factor == 1:
        return base
    name = f"{base.name} x {facts.counting_factor:g}"
    return replace(base, name=name, exact=False, factor=facts.counting_factor)


def counted_usage(request: Request, answer: Message, facts: ModelFacts) -> Usage:
    """Our own count of a request and its answer, marked as such."""
    weigh = Weigher(scaled_counter(facts))
    given = weigh(request.history) + weigh.text(written(request.tools))
    return Usage(given, output_tokens=weigh.message(answer), reported=False)


def written(tools: Sequence[ToolSpec]) -> str:
    """The tools as they are sent; empty if there are none."""
    if not tools:
        return ""
    return json.dumps(
        [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in tools
        ],
        ensure_ascii=False,
        # Without blanks, as the HTTP clients write JSON.
        separators=(",", ":"),
    )
