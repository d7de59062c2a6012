"""A real folder, and hands that may do everything in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hands import Hands

from unremember.events import Event
from unremember.tools import Context, Sandbox, Workspace, approve_all


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
async def hands(root: Path) -> AsyncIterator[Hands]:
    """Hands that may do everything, without a sandbox."""
    events: list[Event] = []
    context = Context(
        Workspace(root), approve=approve_all, emit=events.append, sandbox=Sandbox(wanted=False)
    )
    yield Hands(context, root, events)
    await context.state.jobs.stop_all()
