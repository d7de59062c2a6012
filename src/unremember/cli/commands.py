"""The commands of the agent and their options. Parsing only, as in `app`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

Work = Callable[[], int]

Model = Annotated[
    str | None,
    typer.Option(
        "--model", "-m", metavar="MODEL", show_default=False,
        help="PROVIDER:MODEL, such as anthropic:claude-sonnet-5, ollama:qwen3 or gguf:PATH.",
    ),
]  # fmt: skip
RetrievalModel = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", show_default=False,
        help="The model for a way to compress that asks one. [default: the agent's own]",
    ),
]  # fmt: skip
Strategy = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", show_default=False,
        help="single_run_with_history_compression (the default), or single_run: never compress.",
    ),
]  # fmt: skip
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget", "-b", show_default=False,
        help="No request is larger: 20000, 20k, or 25% of the window. [default: the window]",
    ),
]  # fmt: skip
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Approve every command and change of files.")
]
AddDir = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIR", show_default=False,
        help="A further folder that the agent may read and write; may be given several times.",
    ),
]  # fmt: skip
NoArchive = Annotated[
    bool, typer.Option("--no-archive", help="Keep nothing of the conversation on disk.")
]
BaseUrl = Annotated[
    str, typer.Option(metavar="URL", show_default=False, help="Another server for the provider.")
]


def run(
    task: Annotated[
        str, typer.Argument(metavar="TASK|-", help="What is to be done; - reads it from input.")
    ],
    model: Model = None,
    retrieval_model: RetrievalModel = None,
    strategy: Strategy = None,
    budget: Budget = None,
    yes: Yes = False,
    add_dir: AddDir = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what happens as JSON, one event a line.")
    ] = False,
    patch_out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", show_default=False, help="Write what changed in the folder as a diff."
        ),
    ] = None,
    no_archive: NoArchive = False,
    base_url: BaseUrl = "",
) -> Work:
    """Do a task in this folder with an agent."""

    def work() -> int:
        from unremember.cli import run as command
        from unremember.cli.agents import Flags

        extra = tuple(add_dir or ())
        flags = Flags(model, retrieval_model, strategy, budget, yes, extra, no_archive, base_url)
        said = sys.stdin.read() if task == "-" else task
        return command.run(said, command.Options(flags, as_json, patch_out))

    return work


def config(
    trust: Annotated[
        bool, typer.Option("--trust", help="Trust this repository's .unremember.toml first.")
    ] = False,
) -> Work:
    """Show the settings in force, and where each came from."""

    def work() -> int:
        from unremember.cli import settings

        return settings.run(trust=trust)

    return work


def resume(
    id: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", show_default=False,
            help="A conversation, by the beginning of its id. Left out: the last of this folder.",
        ),
    ] = None,
    fork: Annotated[
        bool, typer.Option("--fork", help="Go on with a copy; the old one stays as it is.")
    ] = False,
    model: Model = None,
    retrieval_model: RetrievalModel = None,
    strategy: Strategy = None,
    budget: Budget = None,
    yes: Yes = False,
    add_dir: AddDir = None,
    base_url: BaseUrl = "",
) -> Work:  # fmt: skip
    """Go on with an earlier conversation."""

    def work() -> int:
        from unremember.cli import chat as command
        from unremember.cli.agents import Flags

        extra = tuple(add_dir or ())
        flags = Flags(model, retrieval_model, strategy, budget, yes, extra, False, base_url)
        return command.resume(id, flags, fork=fork)

    return work


def ls(
    everywhere: Annotated[
        bool, typer.Option("--all", help="Those of all folders, not only of this one.")
    ] = False,
) -> Work:
    """List the conversations that are kept."""

    def work() -> int:
        from unremember.cli import conversations

        return conversations.ls(everywhere=everywhere)

    return work


def purge(
    id: Annotated[
        str | None, typer.Argument(metavar="[ID]", show_default=False, help="The conversation.")
    ] = None,
    older_than: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS", min=1, show_default=False, help="All that were unused for so long."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> Work:
    """Remove conversations for good."""

    def work() -> int:
        from unremember.cli import conversations

        return conversations.purge(id, older_than, yes=yes)

    return work


def doctor() -> Work:
    """Show what is installed, and whether it works."""

    def work() -> int:
        from unremember.cli import doctor as command

        return command.run()

    return work


def chat(
    model: str | None,
    retrieval_model: str | None,
    strategy: str | None,
    budget: str | None,
    yes: bool,
    add_dir: tuple[str, ...],
    no_archive: bool,
    base_url: str,
) -> Work:
    """The work of `unremember` without a command."""

    def work() -> int:
        from unremember.cli import chat as command
        from unremember.cli.agents import Flags

        flags = Flags(model, retrieval_model, strategy, budget, yes, add_dir, no_archive, base_url)
        return command.run(flags)

    return work


def add_to(app: typer.Typer) -> None:
    """Makes these functions commands of `app`."""
    for command in (run, resume, ls, purge, config, doctor):
        app.command()(command)
