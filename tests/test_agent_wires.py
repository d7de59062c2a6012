"""The agent against servers that are as strict as the vendors, in the forms they speak."""

from __future__ import annotations

from typing import Any

import pytest

from playing import BUDGET, LIMIT, look, of
from unremember import Budget
from unremember.agent import Agent, Outcome
from unremember.events import CalledModel, Compressed, Event, LimitLearned
from unremember.models import Retry, close_model, open_model
from unremember.strategies import Graph, single_run_strategy_with_history_compression
from unremember.testing import Asked, Cut, EmptyBody, Fail, Say, StrictServer

pytest.importorskip("pydantic_ai")

FORMS = ("openai", "openai-responses", "anthropic")
QUICK = Retry(attempts=4, first=0.01, longest=0.05, deadline=20)


def looks(count: int, first: int = 0) -> list[Say]:
    """Turns that think, say something and look at a page."""
    return [
        Say(f"Page {n} next.", [("look", {"n": n})], thinking=f"What is on {n}?")
        for n in range(first, first + count)
    ]


async def run(
    form: str,
    server: StrictServer,
    task: str = "Read all pages. Never skip one.",
    *,
    streamed: bool = False,
    events: list[Event] | None = None,
    strategy: Graph | None = None,
    budget: Budget = BUDGET,
) -> Outcome[str]:
    """A run of an agent with a model at the server."""
    url = server.url if form == "anthropic" else server.openai_url
    facts: dict[str, Any] = {"context_window": 4_000, "max_output": 500}
    model = open_model(f"{form}:test-model", base_url=url, key="key", retry=QUICK, **facts)
    seen = events if events is not None else []
    agent = Agent(
        model, [look], strategy, system_prompt="Be careful.", budget=budget, emit=seen.append
    )
    try:
        if not streamed:
            return await agent.run(task)
        items = [item async for item in agent.stream(task)]
        assert isinstance(items[-1], Outcome)
        return items[-1]
    finally:
        await close_model(model)


def answered(server: StrictServer) -> list[Asked]:
    """The requests that were not refused."""
    return [asked for asked in server.requests if not asked.refused]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_long_run_is_taken_by_every_vendor(form: str, streamed: bool):
    """Thinking, words and calls over several compressions; no request is refused or too large."""
    events: list[Event] = []
    two = Say("Two at once.", [("look", {"n": 90}), ("look", {"n": 91})])
    with StrictServer([*looks(24), two, Say("All read.")], window=4_000) as server:
        done = await run(form, server, streamed=streamed, events=events)
    assert (done.output, done.turns) == ("All read.", 26)
    assert server.refusals == []
    assert max(asked.input_tokens for asked in server.requests) <= LIMIT
    assert len(of(Compressed, events)) >= 3


@pytest.mark.parametrize("form", FORMS)
async def test_a_window_that_is_smaller_than_said_is_learned(form: str):
    """From the vendor's own words; the request goes again, smaller, and is taken."""
    events: list[Event] = []
    with StrictServer([*looks(24), Say("All read.")], window=2_500) as server:
        done = await run(form, server, events=events)
    assert done.output == "All read."
    assert 1 <= len(of(LimitLearned, events)) <= 2
    assert len(server.refusals) == len(of(LimitLearned, events))


@pytest.mark.parametrize("form", FORMS)
async def test_a_hand_over_is_taken_by_every_vendor(form: str):
    """The request without tools, behind a history full of calls."""
    strategy = single_run_strategy_with_history_compression(max_turns=3)
    with StrictServer([*looks(3), Say("Page 3 is next.")]) as server:
        done = await run(form, server, strategy=strategy)
    assert (done.output, done.finish) == ("Page 3 is next.", "turn limit")
    assert server.refusals == []


@pytest.mark.parametrize("form", FORMS)
async def test_a_provider_that_counts_more_is_believed(form: str):
    """Its counts correct the measure: no request is over the limit as the provider counts."""
    events: list[Event] = []
    with StrictServer([*looks(24), Say("done")], window=4_000, counting_factor=1.4) as server:
        assert (await run(form, server, events=events)).output == "done"
    assert server.refusals == []
    assert max(asked.input_tokens for asked in answered(server)[1:]) <= LIMIT * 1.02
    assert all(event.reported for event in of(CalledModel, events))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_bad_line_is_survived(form: str, streamed: bool):
    """Overload, a cut connection and an empty body are tried again; the run goes on."""
    first, second, third = looks(3)
    script = [first, Fail(503), second, Cut(40), third, EmptyBody(), Say("done")]
    with StrictServer(script) as server:
        assert (await run(form, server, streamed=streamed)).output == "done"
    assert server.refusals == []
