"""Many tasks on all cores, of which any may kill its worker."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import NoReturn, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def run_all(work: Callable[[T], R], tasks: Iterable[T], jobs: int) -> Iterator[tuple[T, R | None]]:
    """Does the work on every task in `jobs` processes, and gives each with its result when done.

    None stands for the result of a task whose worker died (out of memory, killed, crashed). Which
    of several it was nobody can tell, so those that ran when a worker died run again, each alone.
    `work` and the tasks travel between processes; what `work` raises is raised here.
    """
    waiting, suspects = deque(tasks), deque[T]()
    while waiting:
        lost = yield from _until_broken(work, waiting, min(jobs, len(waiting)))
        suspects.extend(lost)
    while suspects:
        alone = deque([suspects.popleft()])
        for task in (yield from _until_broken(work, alone, 1)):
            yield task, None


def _until_broken(
    work: Callable[[T], R], waiting: deque[T], jobs: int
) -> Generator[tuple[T, R], None, list[T]]:
    """Takes tasks off the queue until it is empty or a worker dies; gives back those then lost."""
    # A new interpreter for each worker: copies of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    running: dict[Future[R], T] = {}
    with ProcessPoolExecutor(jobs, context, initializer=_end_quietly) as pool:
        try:
            while waiting or running:
                # No more than can run at once: so all that are handed out are suspects.
                while waiting and len(running) < jobs:
                    running[pool.submit(work, waiting[0])] = waiting[0]
                    waiting.popleft()
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    yield running.pop(future), result
        except BrokenProcessPool:
            pass
    return list(running.values())


def _end_quietly() -> None:
    """Ctrl-C reaches every process of a terminal; the workers end without a traceback each."""

    def end(*_: object) -> NoReturn:
        os._exit(130)

    signal.signal(signal.SIGINT, end)
