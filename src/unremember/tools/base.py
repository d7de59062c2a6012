"""What a tool is, what it may reach, and what it gives back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass, field
from typing import Any, Literal

from unremember.actions import PlanItem
from unremember.events import Emit, ignore
from unremember.messages import Media, ToolResult
from unremember.models.base import ToolSpec
from unremember.tokens import Weigher
from unremember.tools.jobs import Jobs
from unremember.tools.sandbox import Sandbox
from unremember.tools.seen import Seen
from unremember.tools.workspace import Workspace

Effect = Literal["reads", "writes", "runs"]
"""The most that a tool can do: look, change files of the workspace, or start programs and more."""

CAP = 4_000
"""Tokens that a result may have by default; large enough for a file of some 400 lines."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool gives back. `diff` is for the user's eyes and is not sent to the model."""

    text: str
    failed: bool = False
    media: tuple[Media, ...] = ()
    diff: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What the user is asked before a tool acts.

    `what` is the command line or the path; `programs` are the programs that a command line really
    starts, empty where it could not be read. `always` says what a yes for always would cover, for
    example `git status`; empty: that answer is not on offer. `personal` marks a question that only
    a person may answer with yes, never a general permission.
    """

    tool: str
    what: str
    programs: tuple[str, ...] = ()
    always: str = ""
    diff: str = ""
    personal: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The user's answer; the model is told the `reason` of a no."""

    verdict: Literal["yes", "always", "no"]
    reason: str = ""


Approve = Callable[[Question], Awaitable[Answer]]


async def approve_all(question: Question) -> Answer:
    """Says yes to everything that needs no person."""
    if question.personal:
        return Answer("no", "nobody is asked in this mode")
    return Answer("yes")


async def refuse_all(question: Question) -> Answer:
    """Says no to everything: there is nobody to ask."""
    return Answer("no", "there is no terminal to ask at, and --yes was not given")


@dataclass(slots=True)
class State:
    """What tools change while an agent runs, beside files: it outlives every compression.

    `folder` is where commands start, relative to the workspace's root. `always` are the commands
    that the user allowed for the whole run.
    """

    plan: tuple[PlanItem, ...] = ()
    folder: str = "."
    always: set[str] = field(default_factory=set[str])
    seen: Seen = field(default_factory=Seen)
    jobs: Jobs = field(default_factory=Jobs)


def _count() -> Callable[[str], int]:
    return Weigher().text


@dataclass(slots=True)
class Context:
    """What a tool may reach. One for each agent; the settings may change between calls.

    `cap` is in tokens, counted by `count`. `recall` brings back what a handle or a query names.
    `stream` takes the output of a command while it runs. `asks` says before which effects the user
    is asked. `visible` are the ordinals of results that the model still sees whole (None: all).
    `ordinal` is that of the result being made; `run_call` sets it in a copy for each call.
    """

    workspace: Workspace
    approve: Approve = refuse_all
    cap: int = CAP
    count: Callable[[str], int] = field(default_factory=_count)
    recall: Callable[[str], str] | None = None
    emit: Emit = ignore
    stream: Callable[[str], None] | None = None
    read_only: bool = False
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    sandbox: Sandbox = field(default_factory=Sandbox)
    sees_images: bool = False
    asks: frozenset[Effect] = frozenset({"runs"})
    visible: Container[int] | None = None
    state: State = field(default_factory=State)
    ordinal: int = 0

    @property
    def plan(self) -> tuple[PlanItem, ...]:
        """The plan as it stands."""
        return self.state.plan

    def sees(self, ordinal: int) -> bool:
        """Whether the model still sees the whole result `ordinal`."""
        return self.visible is None or ordinal in self.visible


Run = Callable[[Context, dict[str, Any]], Awaitable[Output]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: how a model sees it, how it runs (with checked or raw arguments), what it can do.

    `run` raises `ToolError` for what the model can put right.
    """

    spec: ToolSpec
    run: Run
    effect: Effect = "runs"

    @property
    def name(self) -> str:
        """The name by which it is called."""
        return self.spec.name


@dataclass(frozen=True, slots=True)
class Ran:
    """A call that ran: the `result` within the cap, for the history, and the `whole` one, for the
    archive. They are the same where nothing was clipped."""

    result: ToolResult
    whole: ToolResult
    diff: str = ""
    seconds: float = 0.0
