"""What is really sent, measured from outside, and the recorded conversations to measure it on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from unremember import Budget, BudgetTooSmall, History, Job, Weigher, fit, write
from unremember.events import Event
from unremember.testing import check_anthropic, check_openai, check_responses, histories

DATA = Path(__file__).parents[1] / "../shared/data"
RECORDINGS = sorted(p for p in DATA.glob("*/*") if p.suffix in (".json", ".jsonl", ".traj"))

FORMS = ("openai", "anthropic", "responses")

# One for all tests: loading the tables of the counter takes half a second.
WEIGH = Weigher()


# What is sent


def texts_sent(form: str, written: Any) -> list[str]:
    """Every text in a written request: contents, names and arguments."""
    match form:
        case "openai":
            return [text for message in written for text in _openai(message)]
        case "anthropic":
            turns = [{"content": written.get("system", "")}, *written["messages"]]
            return [text for turn in turns for text in _anthropic(turn["content"])]
        case _:
            return [text for item in written for text in _responses(item)]


def tokens_sent(form: str, written: Any) -> int:
    """The exact count of a written request: its texts, and 4 tokens for each message."""
    listed = written["messages"] if form == "anthropic" else written
    calls = ("function_call", "function_call_output", "reasoning")
    messages = sum(item.get("type") not in calls for item in listed)
    return sum(WEIGH.texts(texts_sent(form, written))) + 4 * messages


def _openai(message: Any) -> Iterator[str]:
    yield from _contents(message.get("content"))
    yield message.get("reasoning_content") or ""
    calls: list[Any] = message.get("tool_calls") or []
    for call in calls:
        yield call["function"]["name"]
        yield call["function"]["arguments"]


def _anthropic(content: Any) -> Iterator[str]:
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            yield block
            continue
        yield from (block.get(key) or "" for key in ("text", "thinking", "name"))
        yield from _leaves(block.get("input"))
        if block.get("type") == "tool_result":
            yield from _contents(block.get("content"))


def _responses(item: Any) -> Iterator[str]:
    yield from _contents(item.get("content"))
    yield from (item.get(key) or "" for key in ("name", "arguments", "input"))
    yield from _contents(item.get("output"))
    yield from _contents(item.get("summary"))


def _contents(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in cast("list[Any]", content) if isinstance(content, list) else []:
        yield part.get("text") or ""


def _leaves(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, inner in cast("dict[str, Any]", value).items():
                yield key
                yield from _leaves(inner)
        case list():
            for inner in cast("list[Any]", value):
                yield from _leaves(inner)
        case None:
            pass
        case _:
            yield json.dumps(value)


def breaches(history: History) -> list[str]:
    """What any of the three providers would refuse; calls at the very end may wait."""
    anthropic = write(history, "anthropic")
    return [
        *check_openai(write(history, "openai"), allow_open=True),
        *check_responses(write(history, "responses"), allow_open=True),
        *check_anthropic(anthropic["messages"], anthropic.get("system"), allow_open=True),
    ]


# Rules as properties


class Case:
    """A generated history and a budget for it, and what came of fitting the one to the other."""

    def __init__(self, history: History, budget: Budget) -> None:
        self.history = history
        self.events: list[Event] = []
        self.job = Job(budget, WEIGH, emit=self.events.append)
        self.before = WEIGH(history)
        self.too_small: BudgetTooSmall | None = None
        self.after = history
        try:
            self.after = fit(history, self.job)
        except BudgetTooSmall as error:
            self.too_small = error

    @property
    def had_to(self) -> bool:
        """Whether the history was larger than the target."""
        return self.before > self.job.budget.target


def _budget(target: int, quarters: int) -> Budget:
    """A budget whose limit is so many quarters above its target."""
    limit = target + target * quarters // 4
    return Budget(limit, limit, target)


BUDGETS = st.builds(
    _budget, st.sampled_from((40, 120, 400, 1_000, 2_500, 6_000)), st.sampled_from((0, 0, 1, 4))
)

SHARE = 0.3
"""At least so many of the cases must have had something to compress."""


def rule(
    *, examples: int = 30, characters: int = 8_000, fits: bool = True
) -> Callable[[Callable[[Case], None]], Callable[[], None]]:
    """A property of every compressed history; with `fits` only where the budget could be met."""

    def made(holds: Callable[[Case], None]) -> Callable[[], None]:
        def test() -> None:
            seen = [0, 0]

            @settings(
                max_examples=examples,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            )
            @given(histories(characters=characters), BUDGETS)
            def property_of_cases(history: History, budget: Budget) -> None:
                case = Case(history, budget)
                seen[case.had_to] += 1
                event("had to be compressed" if case.had_to else "fitted already")
                event("too small a budget" if case.too_small else "a possible budget")
                if not (fits and case.too_small):
                    holds(case)

            property_of_cases()
            assert seen[True] >= SHARE * sum(seen)

        test.__name__, test.__doc__ = holds.__name__, holds.__doc__
        test.__module__ = holds.__module__
        return test

    return made


def needs_recordings(paths: Sequence[Path] = RECORDINGS) -> pytest.MarkDecorator:
    """Skips where the recorded conversations are not there."""
    return pytest.mark.skipif(not paths, reason="the recorded conversations are not here")
