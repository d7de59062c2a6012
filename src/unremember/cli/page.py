"""The report of a compression as one page for a browser: complete in itself, without scripts.

Everything that came from the conversation is escaped, and the page forbids itself to load anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files

from unremember import ledger as ledgers
from unremember.cli.compress import Outcome
from unremember.cli.fates import Fate
from unremember.compression import KINDS

# Not by colour alone: each level has a sign and its word.
LEVELS = {
    "whole": "● whole",
    "clipped": "◐ clipped",
    "line": "‒ a line",
    "gone": "○ gone",
}

_NOT_IN_HTML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")


def page_of(outcome: Outcome) -> str:
    """The whole page."""
    name = text(outcome.loaded.source.name)
    style = files("unremember.cli").joinpath("page.css").read_text("utf-8")
    body = "\n".join(
        (
            _summary(outcome),
            _bars(outcome),
            _kinds(outcome),
            _list("Ledger: what holds now", _ledger_lines(outcome)),
            _list("Faults repaired", map(str, outcome.report.repairs)),
            _pieces(outcome.fates),
        )
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Unremember: {name}</title>
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


def text(value: str) -> str:
    """A text for the page: escaped; signs that HTML forbids or that reorder a line are replaced."""
    return escape(_REORDERING.sub("\ufffd", _NOT_IN_HTML.sub("\ufffd", value)))


def _summary(outcome: Outcome) -> str:
    report, loaded = outcome.report, outcome.loaded
    counter = report.counter if report.exact else f"{report.counter}, an estimate from above"
    rules = f"{report.rules_kept:,} of {report.rules:,} rules of yours stay word for word. "
    return f"""<h1>{text(loaded.source.name)}</h1>
<p>{report.tokens_before:,} tokens became {report.tokens_after:,}, within a budget of
{report.budget:,}; {report.messages_before:,} messages became {report.messages_after:,}.
{rules if report.rules else ""}</p>
<p class="soft">Read as {text(loaded.conversation.format)}, counted with {text(counter)},
in {report.seconds:.1f} seconds.</p>"""


def _bars(outcome: Outcome) -> str:
    report = outcome.report
    whole = max(report.tokens_before, report.tokens_after, 1)
    before = [(kind, report.kinds[kind].before) for kind in KINDS]
    after = [(kind, report.kinds[kind].after) for kind in KINDS]
    rows = (
        _bar("before", report.tokens_before, before, whole),
        _bar("after", report.tokens_after, after, whole),
    )
    return f'<div class="bars">{"".join(rows)}</div>'


def _bar(name: str, tokens: int, parts: list[tuple[str, int]], whole: int) -> str:
    shown = [(index, kind, size) for index, (kind, size) in enumerate(parts) if size]
    told = ", ".join(f"{kind} {size:,}" for _, kind, size in shown)
    segments = "".join(
        f'<span class="k{index}" style="width:{100 * size / whole:.3f}%" '
        f'title="{text(kind)}: {size:,} tokens"></span>'
        for index, kind, size in shown
    )
    label = text(f"{name}: {tokens:,} tokens: {told}")
    return (
        f'<span>{name}</span><div class="bar" role="img" aria-label="{label}">{segments}</div>'
        f'<span class="number">{tokens:,}</span>'
    )


def _kinds(outcome: Outcome) -> str:
    rows = "".join(
        f'<tr><th scope="row"><span class="swatch k{index}"></span>{text(kind)}</th>'
        + "".join(
            f"<td>{count:,}</td>"
            for count in (row.before, row.after, row.whole, row.clipped, row.line, row.gone)
        )
        + "</tr>"
        for index, kind in enumerate(KINDS)
        if (row := outcome.report.kinds[kind]).before or row.after
    )
    heads = "".join(
        f'<th scope="col">{head}</th>'
        for head in ("tokens of", "before", "after", "whole", "clipped", "a line", "gone")
    )
    return (
        "<h2>By kind</h2>"
        f'<div class="scroll" tabindex="0"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _ledger_lines(outcome: Outcome) -> Iterator[str]:
    return (line for line in ledgers.lines(outcome.report.ledger) if not line.startswith("marks "))


def _list(title: str, lines: Iterable[str]) -> str:
    """A titled list of lines; nothing where there are none."""
    items = "".join(f"<li><code>{text(line)}</code></li>" for line in lines)
    return f'<h2>{title}</h2><ul class="plain">{items}</ul>' if items else ""


def _pieces(every: Iterable[Fate]) -> str:
    choices = (("all", "all"), ("lost", "what is not whole"), ("gone", "gone"), ("whole", "whole"))
    radios = "".join(
        f'<label><input type="radio" name="show" id="show-{value}"'
        f"{' checked' if value == 'all' else ''}> {label}</label>"
        for value, label in choices
    )
    items = "\n".join(_piece(fate) for fate in every)
    return f"""<h2>What was kept, and what went</h2>
<p class="soft">Each message, call and result in order. Open one to read its original.</p>
<fieldset class="filter"><legend>Show</legend>{radios}</fieldset>
<ol class="pieces">
{items}
</ol>"""


def _piece(fate: Fate) -> str:
    left = f"<h3>What stays</h3>{_pre(fate.left)}" if fate.left else ""
    return (
        f'<li class="{fate.level}"><details><summary><code>{fate.handle}</code>'
        f"<span>{LEVELS[fate.level]}</span><span>{text(fate.who)}</span>"
        f"<span>{text(fate.title)}</span></summary>"
        f"{left}<h3>Original</h3>{_pre(fate.original)}</details></li>"
    )


def _pre(value: str) -> str:
    # A line break right behind the tag would be swallowed. A tab stop lets the keyboard scroll.
    return f'<pre tabindex="0">\n{text(value)}</pre>'
