"""A progress bar for work that takes over a second, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

Stage = Callable[[str], None]
"""Says what begins now."""

PATIENCE = 1.0
"""Seconds after which the bar appears."""


@contextmanager
def progress(stages: int) -> Generator[Stage]:
    """Gives a function to call at the beginning of each of `stages` stages."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    bar = _Bar(stages)
    timer = Timer(PATIENCE, bar.show)
    timer.daemon = True
    timer.start()
    try:
        yield bar.begin
    finally:
        timer.cancel()
        bar.close()


class _Bar:
    """The state of the bar: the timer's thread shows it, the main thread tells it of stages."""

    def __init__(self, stages: int) -> None:
        self._stages = stages
        self._begun = 0
        self._label = ""
        self._lock = Lock()
        self._closed = False
        self._progress: Progress | None = None

    def begin(self, label: str) -> None:
        with self._lock:
            self._begun += 1
            self._label = label
            if self._progress:
                self._draw(self._progress)

    def show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        shown = Progress(*columns, console=console, transient=True)
        with self._lock:
            if self._closed:
                return
            shown.add_task(self._label, total=self._stages)
            self._draw(shown)
            shown.start()
            self._progress = shown

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._progress:
                self._progress.stop()

    def _draw(self, shown: Progress) -> None:
        # The stage that runs counts half: nobody knows how far it is.
        shown.update(shown.task_ids[0], description=self._label, completed=self._begun - 0.5)
