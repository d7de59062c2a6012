"""Asking the user before a tool acts."""

from __future__ import annotations

import os
from collections.abc import Iterable

from unremember.errors import ToolError
from unremember.tools.base import Answer, Approve, Context, Question, approve_all, refuse_all

BRAVE = "UNREMEMBER_BRAVE_MODE"
"""The environment variable that approves everything when it is `true`."""


def choose_approval(ask: Approve | None, *, yes: bool = False) -> Approve:
    """Who answers questions: nobody with `yes` or in brave mode; else `ask`, if there is one."""
    if yes or os.environ.get(BRAVE, "").strip().lower() in ("true", "1", "yes"):
        return approve_all
    return ask or refuse_all


async def allow_command(
    context: Context, command: str, programs: Iterable[str], keys: frozenset[str]
) -> None:
    """Asks before a command, unless the user allowed all that it starts. Raises `ToolError`.

    `keys` name what the command starts (`git status`); empty: it has to be asked each time, and a
    yes for always covers exactly this line.
    """
    always = context.state.always
    if "runs" not in context.asks or command in always or (keys and keys <= always):
        return
    offered = ", ".join(sorted(keys)) or command
    answer = await context.approve(Question("run_command", command, tuple(programs), offered))
    _settle(context, answer, keys or {command}, f"command not allowed: {answer.reason}")


async def allow_write(context: Context, tool: str, name: str, diff: str) -> None:
    """Asks before a file is changed, where the user wants to be asked. Raises `ToolError`."""
    if "writes" not in context.asks or _WRITES in context.state.always:
        return
    answer = await context.approve(Question(tool, name, always=_WRITES, diff=diff))
    _settle(context, answer, {_WRITES}, f"user denied the change of {name}: {answer.reason}")


async def allow_blind_write(context: Context, tool: str, name: str, diff: str) -> None:
    """Asks whether a file may be replaced that the agent did not read. Raises `ToolError`."""
    answer = await context.approve(Question(tool, name, diff=diff, personal=True))
    if answer.verdict == "no":
        raise ToolError(
            f"{name} exists and you have not read it; nothing was written. Read it first, or "
            f"change it with edit_file{f' ({answer.reason})' if answer.reason else ''}"
        )


_WRITES = "changes of files"


def _settle(context: Context, answer: Answer, keys: Iterable[str], refusal: str) -> None:
    match answer.verdict:
        case "yes":
            pass
        case "always":
            context.state.always.update(keys)
        case "no":
            reason = refusal if answer.reason else f"{refusal}the user said no"
            raise ToolError(f"{reason}. Nothing was done; do not try the same in another way")
