"""One short line for a tool call, and a few words for what came of it."""

from __future__ import annotations

import re

from unremember.actions.action import Action
from unremember.actions.calls import read_action, shell_text
from unremember.actions.names import tool_kind
from unremember.actions.plans import PlanItem, read_plan
from unremember.actions.results import (
    exit_status,
    has_failed,
    is_unknown,
    squeeze,
    telling_line,
    was_refused,
)
from unremember.actions.shell import split_shell
from unremember.actions.testruns import TestRun, read_tests
from unremember.messages import ToolCall, ToolResult

LONGEST_TITLE = 100
LONGEST_OUTCOME = 80
"""Characters of a title and of an outcome."""

_LEADING_CD = re.compile(r"\s*(?:cd|pushd)\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)\s*(?:&&|;|\n)\s*")
_NOISE = re.compile(r"\s*2>&1|\s*2>\s*/dev/null|\s*>\s*/dev/null|\s*\|\s*(?:head|tail)\b[^|;&\n]*$")
_TEXT_VALUE = re.compile(
    r"\$\(cat <<-?\s*['\"]?(\w+)['\"]?\n\s*([^\n]*)\n.*?\n\s*\1\s*\)", re.DOTALL
)
_FRAME = re.compile(
    r"\A\s*<returncode>-?\d+</returncode>|</?(?:output|warning|elided_chars)>"
    r"|\[Command finished with exit code -?\d+\]"
    r"|^Command exited with code \d+$|^Exit code:? \d+$|^Wall time: [^\n]*$|^Output:$"
    r"|^Chunk ID: [^\n]*$|^Process exited with code \d+$"
    r"|<system-reminder>.*?</system-reminder>",
    re.MULTILINE | re.DOTALL,
)


_NOTHING = re.compile(
    r"(?:no (?:matches|files|results|match)(?: were)? found|found 0 )[^\n]*\Z", re.IGNORECASE
)


def shorten_command(text: str, most: int = 0) -> str:
    """The telling part of a shell command, on one line: no leading `cd`, no here-documents, no
    redirections of standard error, no `| head` at its end. `most` is in characters; 0: no cut."""
    if "\n" in text:
        text = _TEXT_VALUE.sub(lambda found: found[2], text[:50_000])
        text = split_shell(text).shown
    text = text[:20_000].strip()
    while (found := _LEADING_CD.match(text)) and found.end() < len(text):
        text = text[found.end() :]
    for _ in range(3):
        shorter = _NOISE.sub("", text).strip()
        if shorter == text or not shorter:
            break
        text = shorter
    text = _one_line(text)
    return squeeze(text, most) if most else " ".join(text.split())


def _one_line(text: str) -> str:
    """Lines joined by `; ` where a line is a command of its own; comments left out."""
    joined = ""
    for line in map(str.strip, text.split("\n")):
        if line and not line.startswith("#"):
            goes_on = not joined or joined.endswith(
                ("&&", "||", "|", ";", "(", "{", "\\", " do", " then")
            )
            between = "" if not joined else " " if goes_on else "; "
            joined = joined.removesuffix("\\") + between + line
    return joined


def title(call: ToolCall) -> str:
    """What a tool call does, in one line of at most `LONGEST_TITLE` characters."""
    kind = tool_kind(call.name)
    actions = read_action(call)
    if kind == "code":
        return squeeze(f"run code: {actions[-1].command}", LONGEST_TITLE)
    if kind == "plan":
        return squeeze(_plan_title(call), LONGEST_TITLE)
    if (
        kind == "shell"
        and (text := shell_text(call))
        and (actions[0].path or actions[0].kind != "edit")
    ):
        return squeeze(f"$ {shorten_command(text)}", LONGEST_TITLE)
    return squeeze(_named(actions) or f"{call.name}({_brief(call)})", LONGEST_TITLE)


def _named(actions: tuple[Action, ...]) -> str:
    first = actions[0]
    more = f" (+{len(actions) - 1})" if len({a.path for a in actions}) > 1 else ""
    match first.kind:
        case "read" | "write" | "edit" if first.path:
            verb = first.effect or first.kind
            times = f" x{len(actions)}" if len(actions) > 1 and not more else ""
            where = f" {_range(first.lines)}" if first.lines else ""
            room = LONGEST_TITLE - len(verb) - len(where) - len(times) - len(more) - 1
            return f"{verb} {shorten_path(first.path, room)}{where}{times}{more}"
        case "edit" if first.lines:
            return f"edit lines {_range(first.lines)} of the open file"
        case "edit":
            return "edit the open file"
        case "search" | "list" if not first.query and not first.path:
            return ""
        case "list":
            return f"list {first.path} {first.query}".rstrip()
        case "search":
            return f"search {first.query!r}" + (f" in {first.path}" if first.path else "")
        case "delegate" | "fetch":
            return f"{first.kind}: {first.query}"
        case "run" | "test" if first.command:
            return first.command
        case _:
            return ""


def shorten_path(path: str, most: int) -> str:
    """A path cut on its left to at most `most` characters: its end says which file it is."""
    if len(path) <= most:
        return path
    kept = path[-max(most - 2, 1) :]
    return "…/" + (kept.partition("/")[2] or kept)


def _range(lines: tuple[int, int]) -> str:
    return f"{lines[0]}-{lines[1] or ''}"


def _plan_title(call: ToolCall) -> str:
    items = read_plan(call, "", ())
    if not items:
        return f"plan: {call.name}"
    if len(items) == 1:
        return f"plan: {items[0].state} {items[0].text or '#' + items[0].id}"
    done = sum(item.state == "done" for item in items)
    now: PlanItem | None = next((item for item in items if item.state == "doing"), None)
    return f"plan {done}/{len(items)} done" + (f", now: {now.text}" if now else "")


def _brief(call: ToolCall) -> str:
    arguments = call.parsed()
    shown = (
        f"{key}={value}" if not isinstance(value, dict | list) else f"{key}=…"
        for key, value in arguments.items()
    )
    return ", ".join(squeeze(text, 60) for text in shown)


def outcome(call: ToolCall, result: ToolResult) -> str:
    """What came of a call, in at most `LONGEST_OUTCOME` characters."""
    output = tool_kind(call.name) in ("shell", "code")
    return squeeze(_outcome(read_action(call), result, output=output), LONGEST_OUTCOME)


def _outcome(actions: tuple[Action, ...], result: ToolResult, *, output: bool) -> str:
    if is_unknown(result):
        return "outcome unknown"
    kinds = {action.kind for action in actions}
    status = exit_status(result)
    if kinds & {"run", "test", "other"} and (run := _tests(actions, result)):
        return str(run) if run.failed or not status else f"exit {status}: {run}"
    body = strip_frame(result.text)
    searched = kinds <= {"search", "list"}
    if (
        searched
        and (not body or _NOTHING.match(body) or (status == 1 and len(body) < 20))
        and not was_refused(result)
    ):
        return "not found"
    if (errors := body.count("error TS")) > 1:
        return f"{errors} type errors: {telling_line(body)}"
    if has_failed(result, output=output and not kinds <= {"edit"}):
        why = telling_line(body) or _first_words(body)
        return (
            (f"exit {status}: {why}" if why else f"exit {status}")
            if status
            else f"failed: {why}".rstrip(": ")
        )
    if kinds <= {"edit", "write", "plan"}:
        return "ok"
    # The status of a pipe is its last command's; an error it let through is still the outcome.
    if kinds & {"run", "test"} and (error := telling_line(body)):
        return error
    return "passed" if "test" in kinds and status == 0 else _measure(body)


def _first_words(body: str) -> str:
    lines = (line.strip() for line in body[:2_000].split("\n"))
    return next((line for line in lines if len(line) > 8), body[:LONGEST_OUTCOME].strip())


def _tests(actions: tuple[Action, ...], result: ToolResult) -> TestRun | None:
    if any(action.is_test for action in actions):
        return read_tests(result.text)
    run = read_tests(result.text[-4_000:]) if any(a.kind == "run" for a in actions) else None
    return run if run and (run.passed or run.failed) else None


def strip_frame(text: str) -> str:
    """An output without what its tool put around it; of a long one the ends only are cleaned."""
    if len(text) > 4_000:
        return (
            _FRAME.sub("", text[:2_000]) + text[2_000:-2_000] + _FRAME.sub("", text[-2_000:])
        ).strip()
    return _FRAME.sub("", text).strip()


def _measure(body: str) -> str:
    if not body or body == "(no output)":
        return "ok"
    lines = body.count("\n") + 1
    return (
        body
        if lines == 1 and len(body) <= 60
        else f"{lines:,} lines"
        if lines > 1
        else f"{len(body):,} characters"
    )
