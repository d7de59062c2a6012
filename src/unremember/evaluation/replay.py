"""Replaying recordings: which files, which runs, on how many cores; and all outcomes together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from unremember.errors import InputError
from unremember.evaluation.columns import Check
from unremember.evaluation.finished import Finished, key_of
from unremember.evaluation.pool import run_all
from unremember.evaluation.runs import (
    CARRIES,
    Missing,
    Outcome,
    Run,
    Task,
    Wanted,
    Way,
    carry_out,
)
from unremember.evaluation.strategies import find_strategy
from unremember.evaluation.table import Row, rows_of

RECORDED = (".json", ".jsonl", ".traj", ".ndjson")
"""Endings of the files in a folder that are taken for recordings."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be measured. Budgets and cuts are shares of the tokens and of the content.

    With more than one round each strategy also compresses in so many rounds, in each of the ways
    that a history can come from one round to the next.
    """

    strategies: tuple[str, ...] = ("outline",)
    budgets: tuple[float, ...] = (0.05, 0.1, 0.2)
    cuts: tuple[float, ...] = (0.5, 0.8)
    rounds: int = 1

    @property
    def ways(self) -> tuple[Way, ...]:
        """Every way in which a cut is compressed."""
        return tuple(
            way
            for strategy in self.strategies
            for way in (
                Way(strategy),
                *(Way(strategy, self.rounds, carry) for carry in CARRIES if self.rounds > 1),
            )
        )


@dataclass(frozen=True)
class Results:
    """All that came of an evaluation: the runs, what is missing and why, and the table."""

    plan: Plan
    runs: tuple[Run, ...]
    missing: tuple[Missing, ...]
    rows: tuple[Row, ...]

    @property
    def failed(self) -> tuple[Missing, ...]:
        """What went wrong: broken files, strategies that raised, workers that died."""
        return tuple(one for one in self.missing if one.failed)

    @property
    def left_out(self) -> tuple[Missing, ...]:
        """What nothing could be measured on, such as a short recording."""
        return tuple(one for one in self.missing if not one.failed)


Progress = Callable[[int, int], None]
"""Told how many tasks are done, of how many."""


def _unseen(done: int, of: int) -> None:
    pass


def evaluate(
    paths: Iterable[Path],
    plan: Plan = Plan(),
    *,
    jobs: int = 0,
    folder: Path | None = None,
    resume: bool = True,
    check: Check | None = None,
    progress: Progress = _unseen,
) -> Results:
    """Replays recordings (files, or folders of them) as planned, on `jobs` cores (0: all).

    With a `folder`, each run is kept there once it is done, and those that were done before are
    not done again unless `resume` is False. `check` says what providers would refuse; it travels
    to other processes, so it must be a function of a module. Works in processes of its own: a
    script calls it below `if __name__ == "__main__":`.

    Raises `InputError` for a path that is not there and a strategy that does not exist. A file
    that cannot be read, and whatever else goes wrong on the way, is listed in the results.
    """
    for strategy in plan.strategies:
        find_strategy(strategy)
    finished = Finished(folder) if folder else None
    outcomes: list[Outcome] = []
    tasks: list[Task] = []
    for path, name in find_recordings(paths):
        try:
            content = path.read_bytes()
        except OSError as error:
            outcomes.append(Missing(name, f"it cannot be read ({error.strerror})", failed=True))
            continue
        for cut in plan.cuts:
            task = _task(path, name, content, cut, plan)
            old = {w.key: finished.get(w.key) for w in task.wanted} if finished and resume else {}
            outcomes += [one for found in old.values() for one in found or ()]
            wanted = tuple(w for w in task.wanted if old.get(w.key) is None)
            if wanted:
                tasks.append(Task(path, name, cut, wanted))
    progress(0, len(tasks))
    for done, (found, keys) in enumerate(_carried_out(tasks, jobs, check), start=1):
        outcomes += found
        for key, kept in keys.items():
            if finished:
                finished.add(key, kept)
        progress(done, len(tasks))
    return _results(plan, outcomes)


def _task(path: Path, name: str, content: bytes, cut: float, plan: Plan) -> Task:
    wanted = (
        Wanted(way, budget, key_of(content, cut, way, budget))
        for way in plan.ways
        for budget in plan.budgets
    )
    return Task(path, name, cut, tuple(wanted))


def _carried_out(
    tasks: Sequence[Task], jobs: int, check: Check | None
) -> Iterator[tuple[list[Outcome], dict[str, list[Outcome]]]]:
    """For each task all of its outcomes, and the same by key."""
    work = partial(carry_out, check=check)
    for task, by_key in run_all(work, tasks, jobs or os.cpu_count() or 1):
        if by_key is None:
            reason = "the worker that compressed it died (killed, or out of memory)"
            yield [Missing(task.name, reason, failed=True, cut=task.cut)], {}
        else:
            yield [one for found in by_key.values() for one in found], by_key


def _results(plan: Plan, outcomes: Iterable[Outcome]) -> Results:
    """Puts what was done in any order into the order of the plan; a reason counts once."""
    ways = [str(way) for way in plan.ways]
    unique = dict.fromkeys(one for one in outcomes if isinstance(one, Missing))
    runs = sorted(
        (one for one in outcomes if isinstance(one, Run)),
        key=lambda run: (run.recording, run.cut, run.budget, ways.index(run.way)),
    )
    missing = sorted(unique, key=lambda one: (one.recording, one.cut, one.budget, one.way))
    return Results(plan, tuple(runs), tuple(missing), tuple(rows_of(runs)))


def find_recordings(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """The files that paths mean, each once, with the name to call it by.

    Of a folder those with the ending of a recording, at any depth. Raises `InputError` for a path
    that does not exist and a folder without recordings.
    """
    found: dict[Path, str] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.suffix in RECORDED and p.is_file())
            if not inside:
                raise InputError(f"{path}: this folder holds no file {', '.join(RECORDED)}")
            found.update({p: str(p.relative_to(path)) for p in inside if p not in found})
        elif path.exists():
            found.setdefault(path, str(path))
        else:
            raise InputError(f"{path}: there is no such file or folder; name recordings")
    return list(found.items())
