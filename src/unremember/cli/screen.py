"""What all drawings share: 80 columns, colours only where wanted, plain tables and bars."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from unremember.cli.output import one_line

WIDTH = 80
"""Columns of a drawing at most; fewer on a narrower terminal."""

EIGHTHS = " ▏▎▍▌▋▊▉█"


def width() -> int:
    """Columns to draw in."""
    return max(40, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


def rendered(drawing: RenderableType, stream: TextIO) -> str:
    """A drawing as text for a stream; coloured if that is a terminal and NO_COLOR is not set."""
    terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
    buffer = StringIO()
    console = Console(
        file=buffer,
        width=width(),
        force_terminal=terminal,
        no_color=bool(os.environ.get("NO_COLOR")) or not terminal,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    console.print(drawing)
    # A table pads each line to its width.
    return "\n".join(line.rstrip() for line in buffer.getvalue().split("\n"))


def stack(blocks: Iterable[RenderableType | None]) -> Group:
    """Blocks below one another, a blank line between them; None are left out."""
    shown: list[RenderableType] = []
    for block in blocks:
        if block is not None:
            shown += [Text(""), block] if shown else [block]
    return Group(*shown)


def headed(title: str, *lines: RenderableType) -> Group:
    """Lines below a title."""
    return Group(Text(title, style="bold"), *lines)


def line(text: str, indent: int = 0, style: str = "") -> Text:
    """A text on one line, cut with an ellipsis where it is too long."""
    room = width() - indent
    return Text(" " * indent + cut(one_line(text), room), style=style)


def uncut(text: str) -> Text:
    """A line that is wider than the drawing if need be: what somebody will copy."""
    return Text(one_line(text), no_wrap=True, overflow="ignore")


def cut(text: str, room: int) -> str:
    """A text in at most `room` columns of a terminal."""
    if cell_len(text) <= room:
        return text
    return set_cell_size(text, room - 1).rstrip() + "…"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, first: int = 0) -> Table:
    """A plain table: the first column is text (`first` columns wide at least), the others numbers.

    A column without a name holds bars.
    """
    drawn = Table(
        box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_edge=False
    )
    for index, column in enumerate(columns):
        if index == 0:
            drawn.add_column(column, min_width=first, overflow="ellipsis", no_wrap=True)
        else:
            drawn.add_column(column, justify="right" if column else "left", no_wrap=True)
    for row in rows:
        drawn.add_row(*(Text(one_line(cell)) for cell in row))
    return drawn


def bar(share: float, columns: int) -> str:
    """A bar of `share` (0 to 1) of so many columns; what is more than nothing can be seen."""
    eighths = round(min(max(share, 0.0), 1.0) * columns * 8)
    eighths = max(1, eighths) if share > 0 else 0
    full, rest = divmod(eighths, 8)
    return "█" * full + (EIGHTHS[rest] if rest else "")


def percent(part: int, whole: int) -> str:
    """A share in percent, without rounding something to nothing or to all."""
    if not part or not whole:
        return "0 %"
    if part < whole and part * 200 >= whole * 199:
        return f"{part * 1000 // whole / 10:g} %"
    return "<1 %" if part * 200 < whole else f"{round(100 * part / whole)} %"


def plural(count: int, word: str) -> str:
    """A count with its word: `1 message`, `2,000 messages`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
