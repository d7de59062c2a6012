# ruff: noqa: T201
"""What a turn costs beside the model and the tools: milliseconds, appends, and how they grow.

    python benchmarks/agent.py [turns]

The model's turns are played from a script and the tool gives back a text that was made before, so
what is measured is the program alone, in processor time, since machines are shared. Beside it stand
the appends to the archive on disk (flushed) and what compressing takes on average. Ratios are
within one run: turn 400 beside turn 40, each as the median of the 20 turns around it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import process_time

from unremember import Budget, Message, Text, ToolCall
from unremember.agent import Agent
from unremember.archive import Entry, SqliteArchive
from unremember.events import Compressed, Event
from unremember.models import ModelFacts, Reply, Request, Usage
from unremember.models.scripted import Scripted
from unremember.tools import tool

AROUND = 10
"""Turns before and after the one that is looked at."""


@dataclass(slots=True)
class Clock:
    """Seconds of each turn: when it began, in appends, and in compressions."""

    began: list[float] = field(default_factory=list[float])
    appends: list[float] = field(default_factory=list[float])
    written: list[int] = field(default_factory=list[int])
    compressing: list[float] = field(default_factory=list[float])

    def turn(self) -> None:
        """A turn begins."""
        self.began.append(process_time())
        self.appends.append(0.0)
        self.written.append(0)
        self.compressing.append(0.0)

    def watch(self, event: Event) -> None:
        """Takes the time of a compression."""
        if isinstance(event, Compressed) and self.compressing:
            self.compressing[-1] += event.seconds


class TimedArchive(SqliteArchive):
    """The archive on disk, timed."""

    clock: Clock

    def append(self, conversation: str, *entries: Entry) -> int:
        """Appends, and takes the time."""
        begun = process_time()
        number = super().append(conversation, *entries)
        if self.clock.appends:
            self.clock.appends[-1] += process_time() - begun
            self.clock.written[-1] += 1
        return number


PAGES = [
    "\n".join(f"{n}:{i} def handle_{n}_{i}(value): return {n * i}" for i in range(18))
    for n in range(50)
]


@tool(effect="reads")
async def look(n: int) -> str:
    """Looks at page n."""
    return PAGES[n % len(PAGES)]


def turns(count: int, clock: Clock) -> Iterator[Callable[[Request], Reply | str]]:
    """Answers that call the tool; each begins a turn of the clock."""

    def answer(n: int) -> Callable[[Request], Reply | str]:
        call = ToolCall(f"c{n}", "look", f'{{"n": {n}}}')

        def say(request: Request) -> Reply:
            clock.turn()
            # Without counting: that would be the model's work.
            return Reply(Message("assistant", (Text(f"Page {n}."), call)), Usage(reported=False))

        return say

    yield from map(answer, range(count))
    yield lambda request: "done"


def run(count: int, budget: Budget, folder: Path) -> Clock:
    """Plays a run of so many turns in a budget; gives its clock."""
    clock = Clock()
    facts = ModelFacts(context_window=budget.limit + 500, max_output=500, known=True)
    with TimedArchive(folder / f"{budget.limit}.db") as archive:
        archive.clock = clock
        agent = Agent(
            Scripted(turns(count, clock), facts=facts),
            [look],
            archive=archive,
            system_prompt="You are careful. " * 60,
            budget=budget,
            emit=clock.watch,
        )
        agent.run_sync("Look at every page.")
    return clock


def show(name: str, clock: Clock, at: int) -> float:
    """Prints a line about the turns around `at`; gives the milliseconds of all the rest."""
    places = range(max(0, at - AROUND), min(len(clock.began) - 1, at + AROUND))
    rest = [
        clock.began[n + 1] - clock.began[n] - clock.appends[n]
        for n in places
        if not clock.compressing[n]
    ]
    appends = [clock.appends[n] for n in places]
    compressing = sum(clock.compressing[n] for n in places) / len(places)
    most = max(clock.written[n] for n in places)
    line = f"{name:<16} turn {at:>4}: {median(rest) * 1e3:5.2f} ms"
    line += f", {most} appends at most, {median(appends) * 1e3:5.2f} ms"
    print(f"{line}, compressing {compressing * 1e3:5.2f} ms a turn")
    return median(rest) * 1e3


def main() -> None:
    """Runs in three budgets and prints the table."""
    last = int(sys.argv[1]) if len(sys.argv) > 1 else 420
    late, early = last - 20, 40
    with tempfile.TemporaryDirectory() as folder:
        for name, limit in (
            ("window 4,000", 3_500),
            ("window 32,000", 28_000),
            ("200,000", 180_000),
        ):
            budget = Budget(limit, limit * 6 // 7, limit // 2)
            clock = run(last, budget, Path(folder))
            first, then = show(name, clock, early), show(name, clock, late)
            print(f"{'':<16} turn {late} / turn {early}: {then / first:.2f}\n")


if __name__ == "__main__":
    main()
