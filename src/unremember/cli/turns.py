"""One turn of an agent at the terminal: shown as it happens, stopped by Ctrl-C, and kept."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol, TypeVar

from unremember.agent import Agent, Outcome
from unremember.cli.live import Live
from unremember.events import Event, RanTool
from unremember.models import close_model
from unremember.models.base import Delta

T = TypeVar("T")

TICK = 0.1
"""Seconds between two pictures of the spinner."""


class Shows(Protocol):
    """Whatever shows a run."""

    def show(self, item: Event | Delta) -> None:
        """Takes what happens."""
        ...


async def turn(
    agent: Agent[str], task: str | None, shows: Shows, live: Live, diffs: list[str]
) -> Outcome[str]:
    """Runs a task, or what is unfinished, and shows it. Raises what `Agent.run` raises."""
    ticking = asyncio.create_task(_tick(live))
    stream = agent.stream(task)
    outcome: Outcome[str] | None = None
    try:
        async for item in stream:
            if isinstance(item, Outcome):
                outcome = item
                continue
            if isinstance(item, RanTool) and item.diff:
                diffs.append(item.diff)
            shows.show(item)
    finally:
        ticking.cancel()
        await stream.aclose()
        live.stop()
        await close_model(agent.model)
    assert outcome is not None, "a stream ends with its outcome or with an error"
    return outcome


async def _tick(live: Live) -> None:
    while True:
        await asyncio.sleep(TICK)
        live.turn()


def run_interruptible(runner: asyncio.Runner, work: Coroutine[Any, Any, T]) -> T:
    """Runs `work`. Ctrl-C once stops it in order, as a `KeyboardInterrupt`; twice ends all."""

    async def main() -> T:
        task = asyncio.ensure_future(work)
        with _on_interrupt(asyncio.get_running_loop(), task.cancel):
            return await task

    try:
        return runner.run(main())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


@contextmanager
def _on_interrupt(loop: asyncio.AbstractEventLoop, stop: Callable[[], object]) -> Generator[None]:
    presses = 0

    def interrupted(number: int, frame: FrameType | None) -> None:
        nonlocal presses
        presses += 1
        if presses > 1:
            # Whatever hangs, the second one ends it; what is on record is on the disk.
            os._exit(130)
        loop.call_soon_threadsafe(stop)

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
