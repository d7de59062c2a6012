"""`unremember compress`: a conversation in, one that fits a budget out, and what became of it."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from unremember import ledger as ledgers
from unremember.cli.fates import Fate, fates
from unremember.cli.output import check_target, put, put_exactly, write_whole
from unremember.cli.progress import Stage, progress
from unremember.cli.sources import Loaded, Source, find_source, load
from unremember.compression import Job, Report, fit, report_on
from unremember.errors import InputError
from unremember.events import Event, Shortened
from unremember.formats import WRITABLE, write
from unremember.history import History
from unremember.messages import handle
from unremember.tokens import Budget, Weigher, parse_tokens

STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command as they were typed."""

    budget: str
    whole: bool = False
    to: str | None = None
    output: str | None = None
    lost: bool = False
    report: str | None = None
    as_json: bool = False


@dataclass(frozen=True)
class Outcome:
    """A compression that was done: what was read, what came of it, and what is to be said of it.

    `form` is the one the result is written in; `shortened` are the user's messages that did not
    fit whole.
    """

    loaded: Loaded
    after: History
    report: Report
    form: str
    shortened: tuple[Shortened, ...] = ()

    @property
    def before(self) -> History:
        """The history as it was read."""
        return self.loaded.conversation.history

    @cached_property
    def fates(self) -> tuple[Fate, ...]:
        """What became of every piece, oldest first."""
        return tuple(fates(self.before, self.after))

    @property
    def lost(self) -> tuple[Fate, ...]:
        """What is not whole any more."""
        return tuple(fate for fate in self.fates if fate.level != "whole")


def run(file: str | None, options: Options) -> int:
    """The command: compresses, writes what was asked for, and prints the report."""
    if options.to is not None and options.to not in WRITABLE:
        raise InputError(f"--to {options.to}: choose one of {', '.join(WRITABLE)}")
    parse_tokens(options.budget, 10**9)  # refused now, not after the reading
    source = find_source(file)
    output, page = _targets(options, source)
    with progress(stages=4) as stage:
        outcome = compress(source, options.budget, whole=options.whole, to=options.to, stage=stage)
        stage("writing")
        if output:
            write_whole(output, written(outcome))
        if page:
            from unremember.cli.page import page_of

            write_whole(page, page_of(outcome).encode("utf-8", "replace"))
    if options.output == STDOUT:
        put_exactly(written(outcome))
    stream = sys.stderr if options.output == STDOUT else sys.stdout
    if options.as_json:
        put(
            json.dumps(as_json(outcome, lost=options.lost), ensure_ascii=False, indent=2) + "\n",
            stream,
        )
    else:
        from unremember.cli.report import draw
        from unremember.cli.screen import rendered

        put(rendered(draw(outcome, options), stream), stream)
    return 0


def _targets(options: Options, source: Source) -> tuple[Path | None, Path | None]:
    """Where result and page are to be written; None where no file is."""
    output = page = None
    if options.output is not None and options.output != STDOUT:
        output = check_target(options.output, source.inputs, "-o")
    if options.report is not None:
        page = check_target(options.report, source.inputs, "--report")
        if page == output:
            raise InputError(
                f"--report {options.report}: this is the output too; choose another file"
            )
    return output, page


def compress(
    source: Source, budget: str, *, whole: bool = False, to: str | None = None, stage: Stage
) -> Outcome:
    """Reads and compresses. A budget in percent is of the tokens before.

    Raises `InputError`, and `BudgetTooSmall` where the budget cannot be met.
    """
    begun = time.perf_counter()
    stage("reading")
    loaded = load(source, whole=whole)
    conversation = loaded.conversation
    history = conversation.history
    stage("counting")
    weigh = Weigher()
    tokens = parse_tokens(budget, weigh(history))
    events: list[Event] = []
    job = Job(Budget.exactly(tokens), weigh, emit=events.append)
    stage("compressing")
    after = fit(history, job)
    seconds = time.perf_counter() - begun
    report = report_on(history, after, job, seconds=seconds, repairs=conversation.repairs)
    shortened = tuple(event for event in events if isinstance(event, Shortened))
    return Outcome(loaded, after, report, to or _form_of(conversation.format), shortened)


def _form_of(read_as: str) -> str:
    """The form of the result where none was named: that of the input if it can be written."""
    return read_as if read_as in WRITABLE else "openai"


def written(outcome: Outcome) -> bytes:
    """The result in its form, as the bytes of a file."""
    value = write(outcome.after, outcome.form)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return (text.rstrip("\n") + "\n").encode("utf-8", "replace")


def as_json(outcome: Outcome, *, lost: bool = False) -> dict[str, Any]:
    """The report as JSON values; `forgotten` are handles, `lost` what each of them was."""
    report, loaded = outcome.report, outcome.loaded
    found: dict[str, Any] = {
        "file": loaded.source.name,
        "format": loaded.conversation.format,
        "conversation": loaded.conversation.id,
        "number": loaded.number,
        "conversations": loaded.count,
        "to": outcome.form,
        "budget": report.budget,
        "tokens_before": report.tokens_before,
        "tokens_after": report.tokens_after,
        "messages_before": report.messages_before,
        "messages_after": report.messages_after,
        "levels": report.levels,
        "kinds": {kind: asdict(row) for kind, row in report.kinds.items()},
        "rules": report.rules,
        "rules_kept": report.rules_kept,
        "shortened": [
            {"handle": handle(one.ordinal), "before": one.before, "after": one.after}
            for one in outcome.shortened
        ],
        "ledger": list(ledgers.lines(report.ledger)),
        "repairs": [{"where": repair.where, "what": repair.what} for repair in report.repairs],
        "forgotten": list(report.forgotten),
        "seconds": round(report.seconds, 3),
        "counter": report.counter,
        "exact": report.exact,
    }
    if lost:
        found["lost"] = [
            {"handle": fate.handle, "level": fate.level, "what": fate.who, "title": fate.title}
            for fate in outcome.lost
        ]
    return found
