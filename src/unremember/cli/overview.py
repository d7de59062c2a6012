"""The drawing of an inspection: tables, and the context over time."""

from __future__ import annotations

from itertools import pairwise

from rich.console import Group, RenderableType
from rich.text import Text

from unremember.cli.inspect import Inspection, Point
from unremember.cli.report import repairs_block
from unremember.cli.screen import bar, headed, line, percent, plural, stack, table, width
from unremember.messages import handle

TOOLS = 10
HEIGHT = 6
"""Lines of the drawing of the context."""

_ROWS = " ▁▂▃▄▅▆▇█"


def draw(inspection: Inspection) -> Group:
    """The whole inspection, in 80 columns."""
    return stack(
        (
            _title(inspection),
            _kinds(inspection),
            _tools(inspection),
            _heaviest(inspection),
            _shares(inspection),
            _context(inspection),
            repairs_block(inspection.repairs),
            line(_counter(inspection)),
        )
    )


def _title(inspection: Inspection) -> Group:
    loaded = inspection.loaded
    which = f"#{loaded.number}" if loaded.count > 1 else ""
    about = f" · {loaded.conversation.format}"
    name, room = loaded.source.name + which, width() - len(about)
    shown = name if len(name) <= room else "…" + name[-max(8, room - 1) :]
    sizes = f"{inspection.tokens:,} tokens in {plural(inspection.messages, 'message')}"
    if inspection.logged > inspection.messages:
        sizes += f"; the log holds {plural(inspection.logged, 'message')} (--all)"
    return Group(line(shown + about, style="bold"), line(sizes))


def _kinds(inspection: Inspection) -> RenderableType:
    most = max((kind.tokens for kind in inspection.kinds), default=1)
    rows = (
        (
            kind.kind,
            f"{kind.pieces:,}",
            f"{kind.tokens:,}",
            percent(kind.tokens, inspection.tokens),
            bar(kind.tokens / most, 24),
        )
        for kind in inspection.kinds
    )
    return table(("by kind", "pieces", "tokens", "share", ""), rows, first=20)


def _tools(inspection: Inspection) -> RenderableType | None:
    if not inspection.tools:
        return None
    rows = [
        (
            tool.name,
            f"{tool.calls:,}",
            f"{tool.arguments:,}",
            f"{tool.results:,}",
            percent(tool.tokens, inspection.tokens),
        )
        for tool in inspection.tools[:TOOLS]
    ]
    drawn = table(("by tool", "calls", "arguments", "results", "share"), rows, first=20)
    left = len(inspection.tools) - len(rows)
    return Group(drawn, line(f"… and {left} more (--json)", style="dim")) if left else drawn


def _heaviest(inspection: Inspection) -> Group:
    wide = max((len(heavy.handle) for heavy in inspection.heaviest), default=0)
    return headed(
        "heaviest messages",
        *(
            line(f"{heavy.handle:<{wide}} {heavy.tokens:>8,}  {heavy.who}: {heavy.title}")
            for heavy in inspection.heaviest
        ),
    )


def _shares(inspection: Inspection) -> Group:
    tools = inspection.tool_tokens
    if not tools:
        return headed("no tool results")
    superseded = f"{percent(inspection.superseded, tools):>5} are superseded"
    reads = plural(inspection.superseded_reads, "read")
    return headed(
        f"of {tools:,} tokens of tool results",
        Text(f"{superseded}: {reads} of files that were read again or written later"),
        Text(f"{percent(inspection.repeated, tools):>5} are lines that had been seen before"),
    )


def _counter(inspection: Inspection) -> str:
    exact = "" if inspection.exact else ", an estimate from above: the exact count needs toktok-rs"
    return f"counted with {inspection.counter}{exact}"


def _context(inspection: Inspection) -> Group | None:
    """The context over time: a column for some messages, its height the most it weighed."""
    points = inspection.timeline
    if not points:
        return None
    top = max(point.tokens for point in points)
    label = f"{top:,} "
    buckets = _buckets(points, width() - len(label) - 1)
    heights = [max(p.tokens for p in bucket) * HEIGHT * 8 // max(top, 1) for bucket in buckets]
    drawn: list[RenderableType] = []
    for row in range(HEIGHT - 1, -1, -1):
        edge = label if row == HEIGHT - 1 else "0 ".rjust(len(label)) if not row else ""
        signs = "".join(_ROWS[min(8, max(0, height - row * 8))] for height in heights)
        drawn.append(Text(f"{edge:>{len(label)}}│{signs}".rstrip()))
    marks = "".join("▲" if any(p.compacted for p in bucket) else "─" for bucket in buckets)
    first, last = handle(points[0].ordinal), handle(points[-1].ordinal)
    room = max(len(buckets) - len(first), len(last) + 1)
    drawn += [
        Text(" " * len(label) + "└" + marks),
        Text(" " * len(label) + " " + f"{first}{last:>{room}}"),
    ]
    if compacted := [handle(point.ordinal) for point in points if point.compacted]:
        drawn.append(line(f"▲ {plural(len(compacted), 'compaction')}: {', '.join(compacted)}", 2))
    return headed("context over time, in tokens", *drawn)


def _buckets(points: tuple[Point, ...], columns: int) -> list[tuple[Point, ...]]:
    """The points in at most so many groups of about the same size, in order."""
    count = min(columns, len(points))
    edges = [index * len(points) // count for index in range(count + 1)]
    return [points[a:b] for a, b in pairwise(edges)]
