"""`update_plan`: the agent's list of steps, kept by the program and not by its memory."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from unremember.actions import PlanItem
from unremember.prompts import prompt
from unremember.tools.base import Context, Output
from unremember.tools.define import tool


class _Step(BaseModel):
    model_config = ConfigDict(extra="forbid")

    step: str
    status: Literal["open", "doing", "done", "dropped"] = "open"


@tool(effect="reads", description=prompt("update_plan"))
async def update_plan(context: Context, steps: list[_Step]) -> Output:
    """Replaces the plan."""
    items = tuple(
        PlanItem(" ".join(step.step.split()), step.status, ordinal=context.ordinal)
        for step in steps
    )
    context.state.plan = items
    done = sum(item.state == "done" for item in items)
    now = next((item.text for item in items if item.state == "doing"), "")
    return Output(f"plan: {done} of {len(items)} done{f'; now: {now}' if now else ''}")
