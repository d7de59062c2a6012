"""A strategy of one's own: make a plan, do a step, assess it, and plan anew where that is needed.

    python examples/plan_and_execute.py            # the model's turns are played from a script
    python examples/plan_and_execute.py --drawing  # the graph, as Mermaid text

Each step is done by a ready strategy, the single run with compression, as a node of this one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Literal

from unremember import History, Message, Text, ToolCall
from unremember.agent import Agent
from unremember.models.scripted import Scripted
from unremember.strategies import (
    END,
    Edge,
    Graph,
    Limits,
    Node,
    Session,
    ask_for,
    program_message,
    single_run_strategy_with_history_compression,
)
from unremember.tools import tool


@dataclass(frozen=True)
class Plan:
    """What is left to do, in order, and what the last step came to."""

    steps: list[str]
    verdict: Literal["", "done", "again", "plan anew"] = ""


@dataclass(frozen=True)
class Assessment:
    """What is to happen after a step, and why."""

    verdict: Literal["done", "again", "plan anew"]
    reason: str


async def plan(history: History, session: Session) -> Plan:
    """Asks for the steps. A value of a type is asked for by `ask_for`, which checks it."""
    return Plan(await ask_for(session, list[str], "Which steps lead there? One line each."))


def begin_step(plan: Plan, session: Session) -> History:
    """What the strategy inside begins with: the conversation, and the step to do now."""
    return session.add(program_message(f"Do this step now, and no other: {plan.steps[0]}"))


def end_step(plan: Plan, history: History) -> Plan:
    """What goes on after the strategy inside: the plan."""
    return plan


async def assess(plan: Plan, session: Session) -> Plan:
    """Asks whether the step is done; if so, it leaves the plan."""
    asked = f"Is this step done: {plan.steps[0]}"
    verdict = (await ask_for(session, Assessment, asked)).verdict
    steps = plan.steps[1:] if verdict == "done" else plan.steps
    return Plan(steps, verdict)


async def plan_anew(plan: Plan, session: Session) -> Plan:
    """Asks for other steps in place of those that are left."""
    steps = await ask_for(session, list[str], "Which steps are left now? One line each.")
    return replace(plan, steps=steps)


async def report(plan: Plan, session: Session) -> History:
    """Asks for the answer to the user."""
    await ask_for(session, str, "All steps are done. Tell the user what came of them.")
    return session.history


STRATEGY = Graph(
    "plan_and_execute",
    nodes=(
        Node("plan", plan),
        Node(
            "do_step",
            single_run_strategy_with_history_compression(max_turns=50),
            into=begin_step,
            out=end_step,
        ),
        Node("assess", assess),
        Node("plan_anew", plan_anew),
        Node("report", report),
    ),
    edges=(
        Edge("plan", "do_step", resumes=True),
        Edge("do_step", "assess", resumes=True),
        Edge("assess", "plan_anew", lambda plan: plan.verdict == "plan anew", "plan anew"),
        Edge("assess", "report", lambda plan: not plan.steps, "nothing left"),
        Edge("assess", "do_step", label="next step, or again", resumes=True),
        Edge("plan_anew", "do_step", resumes=True),
        Edge("report", END),
    ),
    limits=Limits(visits=200),
)


SHELVES = {"oats": 2, "apples": 0, "pears": 5}


@tool(effect="reads")
def count(what: str) -> str:
    """How many of something are on the shelf."""
    return f"{SHELVES[what]} {what}"


def calls(what: str) -> Message:
    """An answer of the model that counts something."""
    return Message("assistant", (ToolCall(f"count-{what}", "count", f'{{"what": "{what}"}}'),))


SCRIPT = (
    '{"answer": ["count the oats", "count the apples"]}',
    calls("oats"),
    "There are two.",
    '{"verdict": "done", "reason": "two oats were counted"}',
    calls("apples"),
    "There are none; pears would do.",
    '{"verdict": "plan anew", "reason": "no apples are left"}',
    '{"answer": ["count the pears"]}',
    calls("pears"),
    "There are five.",
    '{"verdict": "done", "reason": "five pears were counted"}',
    "Breakfast can be made of two oats and five pears.",
)


def main() -> None:
    """Plays the script through the strategy."""
    with Scripted(SCRIPT) as model:
        agent = Agent(model, [count], STRATEGY, system_prompt="You keep the pantry.")
        outcome = agent.run_sync("What can I have for breakfast?")
    for message in agent.history.messages:
        if isinstance(message.parts[0], Text):
            speaker = "program" if message.kind == "program" else message.role
            print(f"{speaker:>9}: {message.text.splitlines()[0]}")
    print(f"{outcome.turns} turns: {outcome.output}")


if __name__ == "__main__":
    print(STRATEGY.to_mermaid()) if "--drawing" in sys.argv else main()
