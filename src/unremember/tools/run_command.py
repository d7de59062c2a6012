"""`run_command` and `jobs`: shell commands, in the foreground and in the background."""

from __future__ import annotations

import shutil
from typing import Literal

from unremember.actions.shell import split_shell
from unremember.errors import ToolError
from unremember.events import Unconfined
from unremember.prompts import prompt
from unremember.tools.base import Context, Output
from unremember.tools.confirm import allow_command
from unremember.tools.define import tool
from unremember.tools.process import End, Process
from unremember.tools.programs import read_programs

LONGEST_RUN = 3_600
"""Seconds that a command may run in the foreground."""

FIRST_LOOK = 1.0
"""Seconds after which a background job is looked at first: many fail at once."""

# How programs complain about what the sandbox took from them.
_NO_NETWORK = (
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "Name or service not known",
    "getaddrinfo",
)


@tool(effect="runs", description=prompt("run_command"))
async def run_command(
    context: Context,
    command: str,
    timeout: int = 120,  # noqa: ASYNC109 - the model sets it, and it ends a process
    background: bool = False,
) -> Output:
    """Runs a shell command after asking; `timeout` in seconds."""
    if not command.strip():
        raise ToolError("command is empty")
    if not 1 <= timeout <= LONGEST_RUN:
        raise ToolError(f"timeout is in seconds, from 1 to {LONGEST_RUN:,}")
    if target := _bare_cd(command):
        return _go(context, target)
    reading = read_programs(command)
    await allow_command(context, command, reading.programs, reading.keys)
    process = await _start(context, command, live=not background)
    if background:
        return await _in_background(context, command, process)
    ended = await process.wait(timeout, context.cancelled)
    return _report(context, process, ended)


@tool(effect="runs", description=prompt("jobs"))
async def jobs(context: Context, action: Literal["list", "read", "stop"], id: str = "") -> Output:
    """Lists background jobs, reads new output of one, or stops it."""
    known = context.state.jobs
    if action == "list":
        return Output("\n".join(job.summary for job in known.items.values()) or "no jobs")
    job = known.find(id)
    if action == "stop":
        await job.process.stop()
    new = job.process.output.text(job.read).strip("\n")
    job.read = job.process.output.total
    return Output(f"{job.summary}\n{new or '(no new output)'}")


async def _start(context: Context, command: str, *, live: bool) -> Process:
    folder = context.workspace.find(context.state.folder)
    if not folder.is_dir():
        context.state.folder = "."
        raise ToolError(
            f"the folder {context.workspace.show(folder)} is gone; commands start in the "
            "workspace's root again. Nothing was run"
        )
    _announce(context)
    shell = shutil.which("bash") or "/bin/sh"
    words = context.sandbox.wrap([shell, "-c", command], context.workspace)
    try:
        return await Process.start(words, folder, context.stream if live else None)
    except (OSError, ValueError) as error:
        raise ToolError(f"the command could not be started: {error}") from error


def _announce(context: Context) -> None:
    """Says once that commands are not confined, and why."""
    sandbox = context.sandbox
    if not sandbox.announced and (reason := sandbox.absent):
        sandbox.announced = True
        context.emit(Unconfined(reason))


async def _in_background(context: Context, command: str, process: Process) -> Output:
    job = context.state.jobs.add(command, process)
    ended = await process.look(FIRST_LOOK)
    text = process.output.text().strip("\n")
    job.read = process.output.total
    return Output(f"{job.summary}\n{text}".rstrip("\n"), failed=ended and process.status != 0)


def _report(context: Context, process: Process, ended: End) -> Output:
    text = process.output.text().strip("\n")
    lines = f", {text.count(chr(10)) + 1:,} lines" if text else ""
    how = {
        "done": "",
        "timed out": ", timed out: all its processes were ended, the output is partial",
        "cancelled": ", cancelled by the user: all its processes were ended",
    }[ended]
    if ended == "done" and process.left_running:
        how = ", what it left running was ended (use background for servers)"
    status = 124 if ended == "timed out" else process.status
    head = f"Exit code: {status}\nWall time: {process.seconds:.1f} s{lines}{how}"
    hint = _hint(context, text) if status else ""
    where = context.state.folder
    folder = f" in {where}" if where != "." else ""
    return Output(f"{head}{folder}\nOutput:\n{text or '(no output)'}{hint}", failed=bool(status))


def _hint(context: Context, text: str) -> str:
    """Says that the sandbox may be why a command failed."""
    if context.sandbox.absent:
        return ""
    end = text[-20_000:]
    if not context.sandbox.network and any(words in end for words in _NO_NETWORK):
        return "\n[commands have no network here; only the user can allow it]"
    if "Read-only file system" in end:
        return "\n[commands can write in the workspace and /tmp only; only the user can allow more]"
    return ""


def _bare_cd(command: str) -> str:
    """Where a command line goes that is nothing but a `cd`; "" for every other one."""
    commands = split_shell(command[:2_000]).commands
    if len(commands) != 1 or commands[0].outputs or any(sign in command for sign in "$`;&|\n"):
        return ""
    words = commands[0].words
    return (words[1] if len(words) == 2 else "") if words[:1] == ("cd",) else ""


def _go(context: Context, target: str) -> Output:
    """Changes the folder in which commands start; it lasts, also when the history is compressed."""
    real = context.workspace.find(target, context.state.folder)
    if not real.is_dir():
        raise ToolError(f"no such folder: {target}")
    context.state.folder = context.workspace.show(real)
    return Output(
        f"Exit code: 0\nOutput:\ncommands start in {context.state.folder} from now on "
        "(paths of other tools stay relative to the workspace)"
    )
