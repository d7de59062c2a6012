"""The result of an evaluation, drawn in 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from unremember.cli.screen import cut, headed, line, plural, stack, table
from unremember.evaluation import ALL, COLUMNS, Mean, Missing, Results, Row

SIDE_BY_SIDE = 4
"""Strategies that fit beside one another."""

WIDEST = 14
"""Columns of a terminal for a strategy's name."""

SHOWN = 10
"""Failures that are listed; the others are counted."""

Block = tuple[Sequence[str], dict[str, Row]]
"""Some ways side by side, and the row of each that has one."""


def draw(results: Results) -> RenderableType:
    """Tables for all recordings at each budget, then by format, then what went wrong."""
    budgets = results.plan.budgets
    return stack(
        [
            *(block for budget in budgets for block in _all(results, budget)),
            *_by_format(results),
            _failures(results.failed),
            _left_out(results.left_out),
        ]
    )


def percent(share: float) -> str:
    """A budget as somebody would type it."""
    return f"{share * 100:g} %"


def interval(mean: Mean | None) -> str:
    """A mean in percent, with its interval where there is one."""
    if mean is None:
        return "–"
    # "100.0" would make four columns too wide.
    text = f"{100 * mean.value:.1f}".replace("100.0", "100")
    if mean.low is None or mean.high is None:
        return text
    return f"{text} ({100 * mean.low:.0f}–{100 * mean.high:.0f})"


def _all(results: Results, budget: float) -> Iterator[RenderableType]:
    rows = {r.way: r for r in results.rows if r.format == ALL and r.budget == budget}
    for ways in _abreast(results):
        shown = [rows[way] for way in ways if way in rows]
        if not shown:
            continue
        runs = max(row.runs for row in shown)
        recordings = max(row.recordings for row in shown)
        lines = [(column, *(interval(r.columns.get(column)) for r in shown)) for column in COLUMNS]
        lines += [
            ("over the budget", *(f"{row.over:,}" for row in shown)),
            ("refused", *(f"{row.refused:,}" for row in shown)),
            ("seconds", *(f"{row.seconds:.2f}" for row in shown)),
        ]
        yield headed(
            f"budget {percent(budget)}: {plural(runs, 'cut')} of "
            f"{plural(recordings, 'recording')} (in percent, with 95 % intervals)",
            table(("", *(_name(row.way) for row in shown)), lines, first=15),
        )


def _by_format(results: Results) -> Iterator[RenderableType]:
    formats = list(dict.fromkeys(row.format for row in results.rows if row.format != ALL))
    found = {(row.format, row.budget, row.way): row for row in results.rows}
    for ways in _abreast(results):
        lines = [
            (f"{form}, {percent(budget)}", *map(_recall_and_line, rows))
            for form in formats
            for budget in results.plan.budgets
            if any(rows := [found.get((form, budget, way)) for way in ways])
        ]
        yield headed("recall / line, by format", table(("", *map(_name, ways)), lines))


def _recall_and_line(row: Row | None) -> str:
    if row is None:
        return "–"
    means = (row.columns.get("recall"), row.columns.get("line"))
    return " / ".join("–" if mean is None else f"{100 * mean.value:.0f}" for mean in means)


def _failures(failed: Sequence[Missing]) -> RenderableType | None:
    if not failed:
        return None
    shown = [line(f"{_where(one)}: {one.reason}", indent=2) for one in failed[:SHOWN]]
    if len(failed) > SHOWN:
        shown.append(line(f"and {len(failed) - SHOWN:,} more; --json lists them", indent=2))
    return headed(f"{len(failed):,} failed", *shown)


def _where(one: Missing) -> str:
    cut = f" at {percent(one.cut)}" if one.cut else ""
    return f"{one.recording}{cut}{f' ({one.way})' if one.way else ''}"


def _left_out(left_out: Sequence[Missing]) -> RenderableType | None:
    if not left_out:
        return None
    cuts = Counter(one.recording for one in left_out)
    return line(
        f"left out, too little to measure: {plural(len(left_out), 'cut')} of "
        f"{plural(len(cuts), 'recording')} (--json says why)",
        style="dim",
    )


def _abreast(results: Results) -> Iterator[list[str]]:
    ways = [str(way) for way in results.plan.ways]
    for start in range(0, len(ways), SIDE_BY_SIDE):
        yield ways[start : start + SIDE_BY_SIDE]


def _name(way: str) -> str:
    strategy, rounds, rest = way.partition(" ×")
    return cut(strategy, WIDEST) + (f"\n×{rest}" if rounds else "")
