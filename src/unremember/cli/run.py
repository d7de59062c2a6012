"""`unremember run TASK`: the agent in the current folder, from a task to its outcome."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from unremember.agent import Outcome
from unremember.cli.agents import Flags, Setup, set_up, somebody_is_there
from unremember.cli.confirm import asker
from unremember.cli.live import JsonLines, Live
from unremember.cli.meter import cost_of, meter
from unremember.cli.output import say
from unremember.cli.patch import patch_of
from unremember.cli.turns import run_interruptible, turn
from unremember.errors import InputError, UnrememberError
from unremember.events import Unconfined, ignore

UNFINISHED = 1


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `run` beside those that it shares."""

    flags: Flags
    as_json: bool = False
    patch_out: str | None = None


def run(task: str, options: Options) -> int:
    """The command. 0: done; 1: the agent handed over unfinished.

    Whatever ends it, the conversation and the patch so far are kept.
    """
    if not task.strip():
        raise InputError("TASK is empty; say what is to be done")
    live = Live(quiet=options.as_json)
    ask = asker(live) if somebody_is_there() and not options.as_json else None
    shows = JsonLines() if options.as_json else live
    diffs: list[str] = []
    with patch_of(options.patch_out, Path.cwd()) as write_patch:
        made = set_up(options.flags, ask, live.output, ignore)
        with made.archive, asyncio.Runner() as runner:
            announce(made, shows)
            try:
                outcome = run_interruptible(runner, turn(made.agent, task, shows, live, diffs))
            except (KeyboardInterrupt, UnrememberError) as error:
                if options.as_json:
                    shows_error(error)
                # What ended the run is the error to report.
                with suppress(UnrememberError):
                    write_patch(diffs)
                    _tell_kept(made, options)
                raise
            finally:
                runner.run(made.agent.context.state.jobs.stop_all())
            write_patch(diffs)
            return _end(outcome, made, live, options)


def announce(made: Setup, shows: JsonLines | Live) -> None:
    """Says before anything runs that commands are not confined."""
    sandbox = made.agent.context.sandbox
    if not sandbox.announced and (reason := sandbox.absent):
        sandbox.announced = True
        shows.show(Unconfined(reason))


def meter_of(made: Setup) -> str:
    """The meter of what the next request would weigh."""
    agent = made.agent
    price = made.settings.prices.get(agent.model.name)
    return meter(agent.weigh(), agent.budget, cost_of(agent.usage, price))


def _end(outcome: Outcome[str], made: Setup, live: Live, options: Options) -> int:
    unfinished = outcome.finish in ("turn limit", "length")
    if options.as_json:
        JsonLines().write("Outcome", asdict(outcome))
    else:
        live.line(meter_of(made))
    if unfinished:
        why = "the limit of turns" if outcome.finish == "turn limit" else "the output cap"
        say(f"not finished: the agent stopped at {why}{_go_on(made, options)}")
    return UNFINISHED if unfinished else 0


def shows_error(error: BaseException) -> None:
    """The error as the last line of JSON."""
    name = type(error).__name__
    JsonLines().write("Error", {"kind": name, "message": str(error)})


def _tell_kept(made: Setup, options: Options) -> None:
    if going_on := _go_on(made, options):
        say(f"stopped{going_on}")


def _go_on(made: Setup, options: Options) -> str:
    if options.flags.no_archive:
        return ""
    known = any(info.id == made.agent.conversation for info in made.archive.conversations())
    return f"; to go on: unremember resume {made.agent.conversation}" if known else ""
