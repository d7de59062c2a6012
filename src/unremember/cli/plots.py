"""Line charts as SVG inside a page: told apart by marker and dash, and not by colour alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 400, 250
LEFT, RIGHT, TOP, BOTTOM = 44, 16, 14, 40

STYLES = 8
"""How many series look different; further ones begin anew."""

_DASHES = ("", "7 4", "2 3", "10 3 2 3", "4 2", "12 4", "1 4", "6 2 1 2")

# Markers around (0, 0), about 9 pixels wide: circle, square, triangle, diamond, cross, plus,
# triangle upside down, star.
_MARKERS = (
    "M4.5 0A4.5 4.5 0 1 1-4.5 0A4.5 4.5 0 1 1 4.5 0Z",
    "M-4-4H4V4H-4Z",
    "M0-5L5 4H-5Z",
    "M0-5.5L5.5 0L0 5.5L-5.5 0Z",
    "M-4-4L4 4M4-4L-4 4",
    "M0-5V5M-5 0H5",
    "M0 5L5-4H-5Z",
    "M0-5V5M-4.5-2.5L4.5 2.5M4.5-2.5L-4.5 2.5",
)


@dataclass(frozen=True, slots=True)
class Point:
    """A mean at a budget, both shares from 0 to 1, with its interval where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart; `style` is its place among all series of the page."""

    name: str
    style: int
    points: tuple[Point, ...]


def chart(title: str, series: Sequence[Series]) -> str:
    """A chart of shares (in percent, up) over budgets (in percent, to the right)."""
    ticks = sorted({point.x for one in series for point in one.points})
    right = max(ticks, default=1.0) * 1.08
    told = escape(f"{title} over the budget: {'; '.join(map(_told, series))}", quote=True)
    body = [*_axes(ticks, right), *(_line(one, right) for one in series)]
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{told}">{"".join(body)}</svg>'
    )


def sample(style: int) -> str:
    """A short piece of a line, for a legend."""
    return (
        '<svg class="sample" viewBox="0 0 44 14" aria-hidden="true">'
        f'<g class="s{style % STYLES}"><path d="M2 7H42" {_dash(style)}/>'
        f"{_marker(style, 22, 7, '')}</g></svg>"
    )


def _x(x: float, right: float) -> float:
    return LEFT + x / right * (WIDTH - LEFT - RIGHT)


def _y(y: float) -> float:
    return TOP + (1 - y) * (HEIGHT - TOP - BOTTOM)


def _axes(ticks: Iterable[float], right: float) -> Iterable[str]:
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield f'<text class="tick up" x="{LEFT - 6}" y="{y + 4:.1f}">{percent}</text>'
    for share in ticks:
        x = _x(share, right)
        yield f'<path class="grid" d="M{x:.1f} {_y(0)}v5"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{_y(0) + 18:.1f}">{share * 100:g}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text class="tick" x="{middle}" y="{HEIGHT - 6}">budget, % of the tokens before</text>'


def _line(series: Series, right: float) -> str:
    spots = [(_x(p.x, right), _y(p.y), p) for p in series.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in spots)
    drawn = [f'<path d="M{path}" {_dash(series.style)}/>'] if len(spots) > 1 else []
    for x, y, point in spots:
        if point.low is not None and point.high is not None:
            low, high = _y(point.low), _y(point.high)
            drawn.append(f'<path class="whisker" d="M{x:.1f} {low:.1f}V{high:.1f}"/>')
        drawn.append(_marker(series.style, x, y, f"{series.name}: {_says(point)}"))
    return f'<g class="s{series.style % STYLES}">{"".join(drawn)}</g>'


def _marker(style: int, x: float, y: float, title: str) -> str:
    shape = _MARKERS[style % STYLES]
    told = f"<title>{escape(title)}</title>" if title else ""
    return f'<path class="marker" transform="translate({x:.1f} {y:.1f})" d="{shape}">{told}</path>'


def _dash(style: int) -> str:
    dashes = _DASHES[style % STYLES]
    return f'stroke-dasharray="{dashes}"' if dashes else ""


def _told(series: Series) -> str:
    return f"{series.name} {', '.join(map(_says, series.points))}"


def _says(point: Point) -> str:
    return f"{100 * point.y:.1f} % at {point.x * 100:g} %"
