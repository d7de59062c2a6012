"""The result of an evaluation as one page for a browser: complete in itself, without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

from unremember.cli.page import text
from unremember.cli.plots import Point, Series, chart, sample
from unremember.evaluation import ALL, COLUMNS, Mean, Missing, Results, Row

CHARTS = tuple(column for column in COLUMNS if column != "size")
"""The columns that have a chart."""

CANNOT_SEE = (
    "These columns tell whether something is still there, not whether an agent finds and uses it. "
    "Decisions and their reasons are not measured. What the recorded agent did is taken as what "
    "was needed; another agent might have gone another way, and what it can bring back by handle "
    "counts here as lost."
)


def page_of(results: Results) -> str:
    """The whole page."""
    style = "".join(
        files("unremember.cli").joinpath(name).read_text("utf-8")
        for name in ("page.css", "evaluation.css")
    )
    body = "\n".join(
        (
            _head(results),
            _charts(results),
            _table("All recordings", [row for row in results.rows if row.format == ALL]),
            *(
                _table(form, [row for row in results.rows if row.format == form])
                for form in dict.fromkeys(r.format for r in results.rows if r.format != ALL)
            ),
            _columns(),
            _missing("What failed", results.failed),
            _missing("Left out", results.left_out),
        )
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Unremember: evaluation</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _head(results: Results) -> str:
    recordings = len({run.recording for run in results.runs})
    cuts = len({(run.recording, run.cut) for run in results.runs})
    return f"""<h1>What is kept of what was needed next</h1>
<p>{recordings:,} recorded conversations, cut at {cuts:,} places; what stood before each cut was
compressed, and compared with what the recorded agent used after it.</p>
<p class="soft">{CANNOT_SEE}</p>"""


def _charts(results: Results) -> str:
    ways = [str(way) for way in results.plan.ways]
    rows = [row for row in results.rows if row.format == ALL]
    legend = "".join(
        f"<li>{sample(style)}<span>{text(way)}</span></li>" for style, way in enumerate(ways)
    )
    figures = "".join(
        f"<figure><figcaption>{column}<span>{text(COLUMNS[column])}</span></figcaption>"
        f"{chart(column, series)}</figure>"
        for column in CHARTS
        if (series := _series(column, ways, rows))
    )
    return (
        f'<ul class="legend">{legend}</ul><div class="charts">{figures}</div>'
        '<p class="soft">In percent. Upright lines hold 95 % of the means of recordings drawn '
        "anew.</p>"
    )


def _series(column: str, ways: Sequence[str], rows: Sequence[Row]) -> list[Series]:
    found: list[Series] = []
    for style, way in enumerate(ways):
        points = tuple(
            Point(row.budget, mean.value, mean.low, mean.high)
            for row in rows
            if row.way == way and (mean := row.columns.get(column))
        )
        if points:
            found.append(Series(way, style, points))
    return found


def _table(title: str, rows: Iterable[Row]) -> str:
    heads = ("strategy", "budget", "cuts", *COLUMNS, "over", "refused", "seconds")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(map(_row, rows))
    return (
        f'<h2>{text(title)}</h2><div class="scroll" tabindex="0"><table><thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: Row) -> str:
    cells = [
        f"{row.budget * 100:g} %",
        f"{row.runs:,}",
        *(_cell(row.columns.get(column)) for column in COLUMNS),
        f"{row.over:,}",
        f"{row.refused:,}",
        f"{row.seconds:.2f}",
    ]
    values = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row">{text(row.way)}</th>{values}</tr>'


def _cell(mean: Mean | None) -> str:
    if mean is None:
        return "–"
    value = f"{100 * mean.value:.1f}"
    if mean.low is None or mean.high is None:
        return value
    return f"{value} <small>{100 * mean.low:.0f}–{100 * mean.high:.0f}</small>"


def _columns() -> str:
    rows = "".join(
        f'<tr><th scope="row">{column}</th><td style="text-align:left;white-space:normal">'
        f"{text(meaning)}</td></tr>"
        for column, meaning in COLUMNS.items()
    )
    return f"<h2>The columns</h2><table><tbody>{rows}</tbody></table>"


def _missing(title: str, missing: Sequence[Missing]) -> str:
    if not missing:
        return ""
    items = "".join(f"<li>{text(_told(one))}</li>" for one in missing)
    return f'<h2>{title}</h2><ul class="plain">{items}</ul>'


def _told(one: Missing) -> str:
    cut = f", cut at {one.cut * 100:g} %" if one.cut else ""
    way = f", {one.way} at {one.budget * 100:g} %" if one.way else ""
    return f"{one.recording}{cut}{way}: {one.reason}"
