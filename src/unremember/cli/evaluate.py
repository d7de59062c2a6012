"""`unremember evaluate`: strategies side by side on recorded conversations."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unremember.cli.output import check_target, put, write_whole
from unremember.errors import InputError

if TYPE_CHECKING:
    from unremember.evaluation import Plan, Results
    from unremember.evaluation.replay import Progress
    from unremember.history import History


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command as they were typed."""

    strategy: str
    budgets: str
    cuts: str
    rounds: int
    jobs: int
    output: str | None = None
    no_resume: bool = False
    csv: str | None = None
    html: str | None = None
    as_json: bool = False


def evaluate(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...", show_default=False,
            help="Recorded conversations, or folders of them.",
        ),
    ],
    strategy: Annotated[
        str,
        typer.Option(
            help="Strategies to compare, with commas: outline, window, head-tail, mask, "
            "or module:function for one of your own.",
        ),
    ] = "outline",
    budgets: Annotated[
        str, typer.Option(help="Shares of the tokens before the cut that the result may have.")
    ] = "5%,10%,20%",
    cuts: Annotated[
        str, typer.Option(help="Shares of a recording behind which it is cut.")
    ] = "0.5,0.8",
    rounds: Annotated[
        int,
        typer.Option(help="Compress also in so many rounds up to each cut, and compare."),
    ] = 1,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", show_default=False,
            help="Keep each finished run there. What it holds already is not measured again.",
        ),
    ] = None,
    no_resume: Annotated[
        bool, typer.Option("--no-resume", help="Measure anew what FOLDER holds already.")
    ] = False,
    csv: Annotated[
        str | None,
        typer.Option(metavar="FILE", show_default=False, help="Write the table as CSV."),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", show_default=False,
            help="Write tables and plots as one page for a browser.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every run and the table as JSON.")
    ] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes at a time; 0 is one for each core.")
    ] = 0,
) -> Callable[[], int]:  # fmt: skip
    """Measure on recordings what compression keeps of what was needed next."""
    options = Options(
        strategy, budgets, cuts, rounds, jobs, output, no_resume, csv, html, as_json
    )  # fmt: skip
    return lambda: run(paths, options)


def run(paths: Sequence[str], options: Options) -> int:
    """The command: measures, writes what was asked for, and prints the table."""
    from unremember import evaluation

    plan = plan_of(options)
    if options.jobs < 0:
        raise InputError(f"--jobs {options.jobs}: give 1 or more, or 0 for all cores")
    given = [Path(path) for path in paths]
    inputs = [path for path, _ in evaluation.find_recordings(given)]
    csv = check_target(options.csv, inputs, "--csv") if options.csv is not None else None
    html = check_target(options.html, inputs, "--html") if options.html is not None else None
    if csv and csv == html:
        raise InputError(f"--html {options.html}: this is the CSV file too; choose another file")
    with _bar() as progress:
        results = evaluation.evaluate(
            given,
            plan,
            jobs=options.jobs,
            folder=Path(options.output) if options.output is not None else None,
            resume=not options.no_resume,
            check=breaches,
            progress=progress,
        )
    if not results.runs:
        raise InputError(_nothing(results))
    if csv:
        write_whole(csv, evaluation.as_csv(results.rows).encode("utf-8", "replace"))
    if html:
        from unremember.cli.evaluation_page import page_of

        write_whole(html, page_of(results).encode("utf-8", "replace"))
    if options.as_json:
        put(json.dumps(as_json(results), ensure_ascii=False, indent=2) + "\n", sys.stdout)
    else:
        from unremember.cli.comparison import draw
        from unremember.cli.screen import rendered

        put(rendered(draw(results), sys.stdout), sys.stdout)
    return 0


def plan_of(options: Options) -> Plan:
    """What the options ask for. Raises `InputError` for what is no share, name or number."""
    from unremember.evaluation import Plan

    if not 1 <= options.rounds <= 100:
        raise InputError(f"--rounds {options.rounds}: give a number from 1 to 100")
    return Plan(
        strategies=_listed(options.strategy, "--strategy"),
        budgets=tuple(sorted(_shares(options.budgets, "--budgets"))),
        cuts=tuple(sorted(_shares(options.cuts, "--cuts"))),
        rounds=options.rounds,
    )


def breaches(history: History) -> list[str]:
    """What OpenAI, Anthropic or the Responses API would refuse in a history."""
    from unremember.formats import write
    from unremember.testing import check_anthropic, check_openai, check_responses

    anthropic = write(history, "anthropic")
    return [
        *check_openai(write(history, "openai")),
        *check_anthropic(anthropic["messages"], anthropic.get("system")),
        *check_responses(write(history, "responses")),
    ]


def as_json(results: Results) -> dict[str, Any]:
    """All results as JSON values; shares from 0 to 1."""
    return {
        "plan": asdict(results.plan),
        "table": [asdict(row) for row in results.rows],
        "runs": [asdict(run) for run in results.runs],
        "failed": [asdict(one) for one in results.failed],
        "left_out": [asdict(one) for one in results.left_out],
    }


def _listed(text: str, option: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(filter(None, (word.strip() for word in text.split(",")))))
    if not words:
        raise InputError(f"{option} {text!r}: nothing is named")
    return words


def _shares(text: str, option: str) -> list[float]:
    return [_share(word, option) for word in _listed(text, option)]


def _share(word: str, option: str) -> float:
    number, percent = word.removesuffix("%").strip(), word.endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InputError(f"{option} {word}: give shares between 0 and 1, such as 10% or 0.1")
    return share


def _nothing(results: Results) -> str:
    """Why there is nothing to show, in one line."""
    missing = [*results.failed, *results.left_out]
    more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
    return f"nothing could be measured: {missing[0].recording}: {missing[0].reason}{more}"


@contextmanager
def _bar() -> Generator[Progress]:
    """A bar with the tasks done and the time left; on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda done, of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    columns = (TextColumn("replaying"), BarColumn(), MofNCompleteColumn(), Left())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        bar = shown.add_task("replaying", total=None)
        yield lambda done, of: shown.update(bar, completed=done, total=of)
