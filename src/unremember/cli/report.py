"""The report of a compression on the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from unremember import ledger as ledgers
from unremember.cli.compress import STDOUT, Options, Outcome
from unremember.cli.screen import bar, headed, line, percent, plural, stack, table, uncut, width
from unremember.compression import KindRow
from unremember.messages import handle

LEDGER_LINES = 8
REPAIR_LINES = 5

LEVEL_NAMES = {"whole": "whole", "clipped": "clipped", "line": "a line", "gone": "gone"}


def draw(outcome: Outcome, options: Options) -> Group:
    """The whole report, in 80 columns."""
    return stack(
        (
            _title(outcome),
            _bars(outcome),
            _kinds(outcome),
            Group(*(line(text) for text in _sentences(outcome))),
            _ledger(outcome),
            _repairs(outcome),
            _lost(outcome) if options.lost else None,
            Group(*(uncut(text) for text in _endings(outcome, options))),
        )
    )


def _title(outcome: Outcome) -> Text:
    conversation = outcome.loaded.conversation
    which = f"#{outcome.loaded.number}" if outcome.loaded.count > 1 else ""
    # The end of a long path says more than its beginning.
    about = f" · {conversation.format} · {plural(outcome.report.messages_before, 'message')}"
    name, room = outcome.loaded.source.name + which, width() - len(about)
    shown = name if len(name) <= room else "…" + name[-max(8, room - 1) :]
    return line(shown + about, style="bold")


def _bars(outcome: Outcome) -> Group:
    report = outcome.report
    before, after = f"{report.tokens_before:,}", f"{report.tokens_after:,}"
    columns = width() - len("before  ") - len(before) - len("  tokens") - 1
    share = report.tokens_after / max(report.tokens_before, 1)
    rows = (
        ("before", 1.0 if report.tokens_before else 0.0, before, "red"),
        ("after", share, after, "green"),
    )
    drawn: list[RenderableType] = []
    for name, part, tokens, style in rows:
        text = Text(f"{name:<8}")
        text.append(f"{bar(part, columns):<{columns}}", style=style)
        drawn.append(text.append(f" {tokens:>{len(before)}} tokens"))
    return Group(*drawn, line(_sizes(outcome), indent=8, style="dim"))


def _sizes(outcome: Outcome) -> str:
    report = outcome.report
    left = percent(report.tokens_after, report.tokens_before)
    messages = f"{report.messages_before:,} → {plural(report.messages_after, 'message')}"
    return f"budget {report.budget:,} · {left} left · {messages}"


def _kinds(outcome: Outcome) -> RenderableType:
    rows = [
        (kind, *_cells(row))
        for kind, row in outcome.report.kinds.items()
        if row.before or row.after
    ]
    return table(("tokens of", "before", "after", *LEVEL_NAMES.values()), rows, first=20)


def _cells(row: KindRow) -> tuple[str, ...]:
    counts = (row.whole, row.clipped, row.line, row.gone)
    return (f"{row.before:,}", f"{row.after:,}", *(f"{n:,}" if n else "·" for n in counts))


def _sentences(outcome: Outcome) -> Iterator[str]:
    report = outcome.report
    if not outcome.lost:
        yield "It fits already: nothing was forgotten."
        return
    yield "steps: " + ", ".join(
        f"{count:,} {LEVEL_NAMES[level]}" for level, count in report.levels.items() if count
    )
    if report.rules:
        kept = "all" if report.rules == report.rules_kept else f"{report.rules_kept:,}"
        yield f"rules of yours kept word for word: {kept} of {report.rules:,}"
    cut = [handle(one.ordinal) for one in outcome.shortened if one.after]
    dropped = [handle(one.ordinal) for one in outcome.shortened if not one.after]
    if cut:
        yield f"messages of yours that were cut: {', '.join(cut)}"
    if dropped:
        yield f"messages of yours that became a line or went: {', '.join(dropped)}"


def _ledger(outcome: Outcome) -> Group | None:
    """The most valuable lines of the ledger; internal marks are left out."""
    ledger = outcome.report.ledger
    every = [text for text in ledgers.lines(ledger) if not text.startswith("marks ")]
    if not every:
        return None
    shown = [
        text
        for text in ledgers.lines(ledgers.trim(ledger, LEDGER_LINES))
        if not text.startswith("marks ")
    ]
    drawn = [line(text, indent=2) for text in shown]
    if len(every) > len(shown):
        drawn.append(line(f"… and {len(every) - len(shown):,} more (--json)", 2, "dim"))
    return headed("ledger: what holds now", *drawn)


def _repairs(outcome: Outcome) -> Group | None:
    return repairs_block(outcome.report.repairs)


def repairs_block(repairs: tuple[object, ...]) -> Group | None:
    """The faults that were mended in what was read; None if there were none."""
    if not repairs:
        return None
    drawn = [line(str(repair), indent=2) for repair in repairs[:REPAIR_LINES]]
    if len(repairs) > REPAIR_LINES:
        drawn.append(line(f"… and {len(repairs) - REPAIR_LINES:,} more (--json)", 2, "dim"))
    return headed(f"{plural(len(repairs), 'fault')} repaired", *drawn)


def _lost(outcome: Outcome) -> Group:
    if not outcome.lost:
        return headed("what went", line("nothing", indent=2))
    wide = max(len(fate.handle) for fate in outcome.lost)
    return headed(
        "what went: handle, what stays of it, what it was",
        *(
            line(f"{fate.handle:<{wide}} {LEVEL_NAMES[fate.level]:<7} {fate.who}: {fate.title}")
            for fate in outcome.lost
        ),
    )


def _endings(outcome: Outcome, options: Options) -> Iterator[str]:
    report = outcome.report
    counter = f"counted with {report.counter}"
    exact = "" if report.exact else ", an estimate from above: the exact count needs toktok-rs"
    yield f"{report.seconds:.1f} s · {counter}{exact}"
    if options.output is None:
        how = "add -o FILE, or -o - for standard output"
        yield f"The result ({outcome.form}) was not written: {how}."
    elif options.output != STDOUT:
        yield f"The result ({outcome.form}) is in {options.output}"
    if options.report is not None:
        yield f"The page is in {options.report}"
    if lost := outcome.lost:
        argument = outcome.loaded.source.argument
        file = f" {shlex.quote(argument)}" if argument else ""
        example = next((fate for fate in lost if fate.level == "gone"), lost[0])
        yield f"To bring an original back: unremember recall {example.handle}{file}"
