"""From settings and flags to an agent that works in a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from unremember.agent import Agent
from unremember.archive import Archive
from unremember.cli.config import Merged, Settings, load, user_file
from unremember.cli.output import say
from unremember.cli.store import open_archive
from unremember.errors import InputError
from unremember.events import Emit
from unremember.models import Model, open_model
from unremember.strategies import (
    Graph,
    HistoryCompressionConfig,
    single_run_strategy,
    single_run_strategy_with_history_compression,
)
from unremember.tokens import parse_tokens
from unremember.tools import Approve, Context, Sandbox, Workspace, choose_approval, coding_tools
from unremember.tools.base import State
from unremember.tools.confirm import BRAVE
from unremember.tools.kit import SMALL_WINDOW, system_prompt

COMPRESSING = "single_run_with_history_compression"
STRATEGIES = (COMPRESSING, "single_run")


@dataclass(frozen=True, slots=True)
class Flags:
    """The options that `run`, `resume` and the chat share, as they were typed."""

    model: str | None = None
    retrieval_model: str | None = None
    strategy: str | None = None
    budget: str | None = None
    yes: bool = False
    add_dir: tuple[str, ...] = ()
    no_archive: bool = False
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class Setup:
    """An agent and what it was made of; `base_url` is kept for other models of the same server."""

    agent: Agent[str]
    settings: Settings
    archive: Archive
    base_url: str = ""


def settings_for(flags: Flags) -> Settings:
    """The settings of this folder with the flags over them. Raises `InputError`."""
    merged: Merged = load(Path.cwd()).with_flags(
        model=flags.model,
        retrieval_model=flags.retrieval_model,
        strategy=flags.strategy,
        budget=flags.budget,
    )
    settings = merged.settings
    if not settings.model:
        raise InputError(
            "no model is set; name one with -m PROVIDER:MODEL, for example -m ollama:qwen3, or "
            f'write model = "…" in {user_file()} (unremember --help lists everything else)'
        )
    return settings


def set_up(flags: Flags, ask: Approve | None, stream: Callable[[str], None], emit: Emit) -> Setup:
    """An agent for the current folder, its model opened and its archive too.

    `ask` is None where nobody can be asked. Raises `InputError`, `ModelError`, `ArchiveError`.
    """
    settings = settings_for(flags)
    model = open_model(settings.model, base_url=flags.base_url)
    budget = tokens_of(settings, model)
    strategy = strategy_of(settings, flags.base_url)
    context = _context(flags, settings, ask, stream)
    small = (budget or model.facts.context_window) < SMALL_WINDOW
    archive = open_archive(kept=not flags.no_archive, retention_days=settings.retention_days)
    agent = Agent(
        model,
        coding_tools(lean=small),
        strategy,
        archive,
        system_prompt(str(context.workspace.root), lean=small),
        budget=budget,
        context=context,
        emit=emit,
    )
    tell_assumptions(model, budget)
    return Setup(agent, settings, archive, flags.base_url)


def tokens_of(settings: Settings, model: Model) -> int | None:
    """The budget in tokens; None: from the model's window. Raises `InputError`."""
    if settings.budget is None:
        return None
    return parse_tokens(str(settings.budget), model.facts.context_window)


def tell_assumptions(model: Model, budget: int | None) -> None:
    """Says so where a model's window is assumed and not known."""
    if not model.facts.known and budget is None:
        window = model.facts.context_window
        say(f"{model.name}: its window is not known; {window:,} tokens are assumed (-b sets it)")


def strategy_of(settings: Settings, base_url: str) -> Graph:
    """The strategy by its name. Raises `InputError` for an unknown one."""
    match settings.strategy or COMPRESSING:
        case "single_run":
            return single_run_strategy()
        case name if name == COMPRESSING:
            other = settings.retrieval_model
            retrieval = open_model(other, base_url=base_url) if other else None
            config = HistoryCompressionConfig(retrieval_model=retrieval)
            return single_run_strategy_with_history_compression(config)
        case name:
            raise InputError(f"there is no strategy {name!r}; there are {', '.join(STRATEGIES)}")


def _context(
    flags: Flags, settings: Settings, ask: Approve | None, stream: Callable[[str], None]
) -> Context:
    allowed = settings.permissions
    extra = tuple(Path(folder).expanduser() for folder in flags.add_dir)
    # A person at a terminal sees each change before it is made; without one there is only --yes.
    sees_changes = ask is not None and allowed.writes == "ask" and not _approves_all(flags)
    return Context(
        Workspace(Path.cwd(), extra),
        approve=choose_approval(ask, yes=flags.yes),
        stream=stream,
        sandbox=Sandbox(
            network=allowed.network,
            writable=tuple(folder.expanduser() for folder in allowed.folders),
        ),
        asks=frozenset({"runs", "writes"}) if sees_changes else frozenset({"runs"}),
        state=State(always=set(allowed.commands)),
    )


def _approves_all(flags: Flags) -> bool:
    return flags.yes or os.environ.get(BRAVE, "").strip().lower() in ("true", "1", "yes")


def somebody_is_there() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()
