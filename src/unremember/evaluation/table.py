"""From runs to a table: means, and intervals that say how far they can be trusted."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from unremember.evaluation.columns import COLUMNS
from unremember.evaluation.runs import Run

ALL = "all"
"""Stands for the recordings of every format together."""

SAMPLES = 500
"""How often the recordings are drawn anew for an interval."""

SEED = 20_240
"""The draws are the same each time, so that two tables of the same runs are the same."""

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over runs. `low` and `high` hold 95 % of the means of recordings drawn anew with
    replacement; None where there is one recording only."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """The means of one way at one budget, over the recordings of one format or of all.

    `over` are runs over the budget, `refused` requests that a provider would refuse.
    """

    format: str
    way: str
    budget: float
    runs: int
    recordings: int
    over: int
    refused: int
    seconds: float
    columns: dict[str, Mean] = field(hash=False)


def rows_of(runs: Iterable[Run]) -> list[Row]:
    """A row for every format (then all), budget and way, in the order in which ways first occur."""
    groups: dict[tuple[str, float, str], list[Run]] = {}
    for run in runs:
        for form in (run.format, ALL):
            groups.setdefault((form, run.budget, run.way), []).append(run)
    order = sorted(groups, key=lambda group: (group[0] == ALL, group[0], group[1]))
    return [_row(*group, groups[group]) for group in order]


def _row(form: str, budget: float, way: str, runs: Sequence[Run]) -> Row:
    return Row(
        form,
        way,
        budget,
        len(runs),
        len({run.recording for run in runs}),
        sum(run.over for run in runs),
        sum(bool(run.refused) for run in runs),
        sum(run.seconds for run in runs) / len(runs),
        {column: mean for column in COLUMNS if (mean := _mean(runs, column))},
    )


def _mean(runs: Iterable[Run], column: str) -> Mean | None:
    """The mean of a column over all runs that have it.

    The cuts of one recording are alike, so recordings are drawn, each with all of its cuts.
    """
    sums: dict[str, tuple[float, int]] = {}
    for run in runs:
        if column in run.columns:
            total, count = sums.get(run.recording, (0.0, 0))
            sums[run.recording] = (total + run.columns[column], count + 1)
    if not sums:
        return None
    each = list(sums.values())
    value = _ratio(each)
    if len(each) == 1:
        return Mean(value)
    draw = random.Random(SEED)
    means = sorted(_ratio(draw.choices(each, k=len(each))) for _ in range(SAMPLES))
    outside = int(SAMPLES * (1 - CONFIDENCE) / 2)
    return Mean(value, means[outside], means[-1 - outside])


def _ratio(sums: Iterable[tuple[float, int]]) -> float:
    totals, counts = zip(*sums, strict=True)
    return sum(totals) / sum(counts)


def as_csv(rows: Iterable[Row]) -> str:
    """The table as CSV: a line a row, a mean and its interval in three fields, in percent."""
    shares = [f"{column}{end}" for column in COLUMNS for end in ("", "_low", "_high")]
    fields = ("format", "strategy", "budget", "cuts", "recordings", *shares)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow((*fields, "over", "refused", "seconds"))
    for row in rows:
        named = (row.format, row.way, f"{row.budget * 100:g}", row.runs, row.recordings)
        values = [text for column in COLUMNS for text in _fields(row.columns, column)]
        writer.writerow((*named, *values, row.over, row.refused, f"{row.seconds:.3f}"))
    return buffer.getvalue()


def _fields(columns: Mapping[str, Mean], column: str) -> tuple[str, str, str]:
    mean = columns.get(column)
    if mean is None:
        return "", "", ""
    low, high = ("" if end is None else f"{100 * end:.2f}" for end in (mean.low, mean.high))
    return f"{100 * mean.value:.2f}", low, high
