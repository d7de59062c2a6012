"""Agents for the tests: scripted models, small tools, and the window of the fault cases."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from unremember import Budget, History, Message, Text, ToolCall, Weigher, write
from unremember.agent import Agent
from unremember.archive import Archive
from unremember.events import Event
from unremember.models import ModelFacts, Request
from unremember.models.counting import written
from unremember.models.scripted import Scripted, Turn
from unremember.strategies import Graph
from unremember.testing import check_anthropic, check_openai, check_responses
from unremember.tools import Context, Tool, Workspace, approve_all, tool

WINDOW, RESERVE, TRIGGER = 4_000, 500, 3_000
LIMIT = WINDOW - RESERVE
BUDGET = Budget(LIMIT, TRIGGER, TRIGGER // 2)
SMALL = ModelFacts(context_window=WINDOW, max_output=RESERVE, known=True)

# One for all tests: loading the tables of the counter takes half a second.
WEIGH = Weigher()

E = TypeVar("E")


def words(tokens: int, about: str = "word") -> str:
    """A text of about so many tokens, each line of it different."""
    line = "{about} {n} is written in the file of the day and counted there"
    lines: list[str] = []
    while WEIGH.text("\n".join(lines)) < tokens:
        lines += [line.format(about=about, n=len(lines) + i) for i in range(max(1, tokens // 200))]
    return "\n".join(lines)


def call(name: str, id: str = "c1", **arguments: Any) -> ToolCall:
    return ToolCall(id, name, json.dumps(arguments))


def calls(*made: ToolCall, text: str = "") -> Message:
    """An answer of the model with calls, and with text beside them."""
    return Message("assistant", (*([Text(text)] if text else []), *made))


@tool(effect="reads")
def look(n: int) -> str:
    """Looks at page n: about 300 tokens."""
    return "\n".join(
        f"page {n} line {i}: def handle_{n}_{i}(value): return {n * i}" for i in range(18)
    )


def model(*turns: Turn, facts: ModelFacts = SMALL) -> Scripted:
    return Scripted(turns, facts=facts)


def agent(
    model: Scripted,
    *tools: Tool,
    strategy: Graph | None = None,
    archive: Archive | None = None,
    folder: Path | None = None,
    events: list[Event] | None = None,
    system: str = "You are careful.",
    budget: Budget | None = BUDGET,
) -> Agent[str]:
    """An agent of the window of the fault cases; with a `folder`, that is its workspace."""
    context = Context(Workspace(folder), approve=approve_all) if folder else None
    return Agent(
        model,
        tools,
        strategy,
        archive,
        system,
        budget=budget,
        context=context,
        emit=(events if events is not None else []).append,
    )


def weight(request: Request) -> int:
    """Tokens of a request, counted from outside."""
    return WEIGH(request.history) + WEIGH.text(written(request.tools))


def breaches(history: History) -> list[str]:
    """What the strictest providers would refuse of a request with this history."""
    messages = write(history, "openai")
    turns = write(history, "anthropic")
    items = write(history, "responses")
    found = check_openai(messages) + check_anthropic(turns["messages"], turns.get("system"))
    return found + check_responses(items)


def check_requests(requests: Iterable[Request], limit: int = LIMIT) -> None:
    """Every request is within the limit and would be taken by every provider."""
    for request in requests:
        assert weight(request) <= limit
        assert breaches(request.history) == []


def of(kind: type[E], events: Sequence[object]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def texts(history: History) -> str:
    """Everything in a history as one text, notes included."""
    parts = [message.text for message in (*history.system, *history.messages)]
    parts += [result.text for message in history.messages for result in message.results]
    return "\n".join(parts) + json.dumps(write(history, "openai"), ensure_ascii=False)
