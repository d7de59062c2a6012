"""The commands and their options. Parsing only: each command gives back the work to do.

The work is then done outside the parser, so that there is one place where an error becomes one
line and an exit status.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, cast

import typer

from unremember.cli import commands
from unremember.cli.evaluate import evaluate
from unremember.cli.output import abandon_stdout, one_line
from unremember.errors import BudgetTooSmall, CannotCompress, OverLimit, UnrememberError

Work = Callable[[], int]
"""Does what a command line asks for, and gives the exit status."""

NOTHING_FOUND = 1
BAD_INPUT = 2
BUDGET_TOO_SMALL = 3
FAULT = 70
"""A fault of the program itself (EX_SOFTWARE)."""
INTERRUPTED = 130

# Typer brings its own copy of click since 0.26; older versions import it. Both name it the same.
_UsageError = cast(
    "type[Exception]",
    next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException"),
)

app = typer.Typer(
    add_completion=False,
    # Without rich the help comes up in half the time, and in any width.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE|-]",
        show_default=False,
        help="A recorded conversation, or - for standard input; FILE#2 is the second one in "
        "a file. Left out: the newest conversation that Claude Code or Codex had in this folder.",
    ),
]
Whole = Annotated[
    bool, typer.Option("--all", help="The whole log, also what earlier compactions had dropped.")
]


@app.callback(invoke_without_command=True)
def unremember(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
    model: commands.Model = None,
    retrieval_model: commands.RetrievalModel = None,
    strategy: commands.Strategy = None,
    budget: commands.Budget = None,
    yes: commands.Yes = False,
    add_dir: commands.AddDir = None,
    no_archive: commands.NoArchive = False,
    base_url: commands.BaseUrl = "",
) -> Work | None:
    """Compress the history of an LLM agent to a token budget, with nothing lost.

    Without a command: a chat with the coding agent in this folder.
    """
    if version:
        from importlib.metadata import version as installed

        sys.stdout.write(f"unremember {installed('unremember')}\n")
        raise typer.Exit
    extra = tuple(add_dir or ())
    given = (model, retrieval_model, strategy, budget, yes, extra, no_archive, base_url)
    if context.invoked_subcommand is None:
        return commands.chat(*given)
    if any(given):
        name = context.invoked_subcommand
        raise typer.BadParameter(f"options stand behind the command: unremember {name} …")
    return None


@app.command()
def compress(
    budget: Annotated[
        str,
        typer.Option(
            "--budget", "-b", show_default=False,
            help="How large the result may be: 20000, 20k, 1.5M tokens, or 25% of what it is now.",
        ),
    ],
    file: File = None,
    whole: Whole = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORM", show_default=False,
            help="Form of the result: openai, anthropic, responses or text. "
            "[default: that of the input, or openai]",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="OUT|-", show_default=False,
            help="Write the result there; - is standard output. Without it the report is all.",
        ),
    ] = None,
    lost: Annotated[bool, typer.Option("--lost", help="List what went, by handle.")] = False,
    report: Annotated[
        str | None,
        typer.Option(
            "--report", metavar="FILE.html", show_default=False,
            help="Write the report, with all originals, as one page for a browser.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> Work:  # fmt: skip
    """Make a conversation fit a token budget."""

    def work() -> int:
        from unremember.cli import compress as command

        options = command.Options(budget, whole, to, output, lost, report, as_json)
        return command.run(file, options)

    return work


@app.command()
def inspect(
    file: File = None,
    whole: Whole = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    why: Annotated[
        str | None,
        typer.Option(
            "--why", metavar="HANDLE", show_default=False,
            help="Say why something would be kept or go, instead of the overview.",
        ),
    ] = None,
    budget: Annotated[
        str, typer.Option("--budget", "-b", help="The budget that --why asks about.")
    ] = "20k",
) -> Work:  # fmt: skip
    """Show where the tokens of a conversation are, or why something would go."""

    def work() -> int:
        if why is not None:
            from unremember.cli import why as reasons

            return reasons.run(file, why, budget, whole=whole, as_json=as_json)
        from unremember.cli import inspect as command

        return command.run(file, whole=whole, as_json=as_json)

    return work


@app.command()
def recall(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="HANDLE|QUERY",
            show_default=False,
            help="A handle such as m41 prints the original, byte for byte; "
            "any other text is searched for in all originals.",
        ),
    ],
    file: File = None,
) -> Work:
    """Bring back exact originals."""

    def work() -> int:
        from unremember.cli import recall as command

        return command.run(wanted, file)

    return work


commands.add_to(app)


app.command()(evaluate)


def run(arguments: Sequence[str]) -> int:
    """Does what the arguments ask for. Every error becomes one line on standard error.

    The exit status is 0; 1 where `recall` finds nothing or an agent hands over unfinished; 2 for
    bad input; 3 where the budget cannot be met; 130 when interrupted.
    """
    try:
        return _finished(_parse(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Who reads has enough, as `head` does.
        abandon_stdout()
        return 0
    except _UsageError as error:
        return _fail(f"{_what(error)} (see {_command(error)} --help)", BAD_INPUT)
    except (BudgetTooSmall, CannotCompress, OverLimit) as error:
        return _fail(str(error), BUDGET_TOO_SMALL)
    except UnrememberError as error:
        return _fail(str(error), BAD_INPUT)
    except OSError as error:
        abandon_stdout()
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", BAD_INPUT)
    except Exception as error:
        if os.environ.get("UNREMEMBER_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {error}"
        return _fail(
            f"this is a fault of unremember, please report it: {what} "
            "(UNREMEMBER_TRACEBACK=1 shows where)",
            FAULT,
        )


def _parse(arguments: Sequence[str]) -> Work:
    command = typer.main.get_command(app)
    parse = partial(command.main, prog_name="unremember", standalone_mode=False)
    work: object = parse(args=list(arguments))
    if callable(work):
        return cast("Work", work)
    status = work if isinstance(work, int) else 0
    return lambda: status


def _finished(work: Work) -> int:
    status = work()
    # Here and not at the interpreter's end, where a full disk would be a traceback.
    sys.stdout.flush()
    return status


def _what(error: Exception) -> str:
    message = cast("str", getattr(error, "format_message", error.__str__)())
    return message[:1].lower() + message[1:].rstrip(".")


def _command(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return cast("str", getattr(context, "command_path", "unremember"))


def _fail(message: str, status: int) -> int:
    sys.stderr.write(f"unremember: {one_line(message)}\n")
    return status
