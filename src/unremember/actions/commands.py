"""Reads shell text as actions: what it reads, writes, changes, runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from unremember.actions.action import Action, clean_path
from unremember.actions.effects import SILENT
from unremember.actions.programs import (
    READERS,
    SEARCHERS,
    head_or_tail,
    operands,
    read_program,
    sed_ranges,
)
from unremember.actions.shell import Simple, split_shell

_ASSIGNMENT = re.compile(r"\w+\+?=")
_WRAPPERS: dict[str, int] = {
    # program that runs another one: how many plain words of its own come first
    "sudo": 0, "doas": 0, "env": 0, "nohup": 0, "nice": 0, "time": 0, "exec": 0,
    "timeout": 1, "gtimeout": 1, "stdbuf": 0, "xvfb-run": 0, "setsid": 0, "unbuffer": 0,
    "chroot": 1,
    "npx": 0, "bunx": 0, "pnpx": 0, "uvx": 0, "pipx": 1, "strace": 0, "caffeinate": 0, "ionice": 0,
    "xargs": 0,
}  # fmt: skip
_TAKES_VALUE = frozenset(
    ("-n", "-u", "-s", "-k", "-g", "-I", "-P", "-L", "--signal", "-p", "--package")
)
_RUN_PREFIXES = frozenset(
    ("uv run", "poetry run", "pipenv run", "hatch run", "pdm run", "rye run", "bundle exec",
     "pnpm exec", "pnpm dlx", "yarn dlx", "npm exec", "mise exec", "conda run", "bun x",
     "dotenv run")
)  # fmt: skip
_SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "fish"))
_NULLS = ("/dev/", "&")


def read_shell(text: str, depth: int = 0) -> tuple[Action, ...]:
    """What a piece of shell text does, in order; a bare `cd` gives nothing."""
    where = ""
    actions: list[Action] = []
    for simple in split_shell(text).commands:
        words = unwrap(simple.words)
        if words[:1] in (("cd",), ("pushd",)):
            where = _go(where, words[1] if len(words) > 1 else "~")
            continue
        if (
            simple.piped
            and actions
            and not simple.outputs
            and (seen := _through_filter(actions[-1], words))
        ):
            actions[-1] = seen
            continue
        actions += [_placed(action, where) for action in _read_simple(simple, words, depth)]
    return tuple(actions)


def directory_of(text: str) -> str:
    """The absolute directory that shell text goes to first, if it does."""
    for simple in split_shell(text[:2000]).commands[:2]:
        if (
            simple.words[:1] == ("cd",)
            and len(simple.words) > 1
            and simple.words[1].startswith("/")
        ):
            return clean_path(simple.words[1])
    return ""


def _go(where: str, target: str) -> str:
    if target.startswith(("/", "~", "$")) or target == "-" or not where:
        return clean_path(target)
    return clean_path(f"{where}/{target}")


def _placed(action: Action, where: str) -> Action:
    """The action with its path seen from where the conversation is, not from after a `cd`."""
    if not where:
        return action
    if where.startswith(("/", "~")):
        return replace(action, cwd=where)
    if where.startswith(("$", "-")):
        return action

    def seen(path: str) -> str:
        return (
            clean_path(f"{where}/{path}") if path and not path.startswith(("/", "~", "$")) else path
        )

    return replace(action, path=seen(action.path), to=seen(action.to))


def unwrap(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of the command that really runs: without assignments, `sudo`, `uv run`, …"""
    for _ in range(8):
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        if not words:
            return words
        program = words[0].rpartition("/")[2]
        if " ".join((program, *words[1:2])) in _RUN_PREFIXES:
            words = _without_flags(words[2:], 0)
        elif program in _WRAPPERS and len(words) > 1:
            words = _without_flags(words[1:], _WRAPPERS[program])
        else:
            return words
    return words


def _without_flags(words: tuple[str, ...], plain: int) -> tuple[str, ...]:
    at = 0
    while at < len(words):
        word = words[at]
        if word.startswith("-"):
            at += 2 if word in _TAKES_VALUE or word in ("--with", "--extra", "--directory") else 1
        elif plain:
            plain -= 1
            at += 1
        else:
            break
    return words[at:]


def _read_simple(simple: Simple, words: tuple[str, ...], depth: int) -> Iterator[Action]:
    written = [
        (sign, clean_path(path)) for sign, path in simple.outputs if not path.startswith(_NULLS)
    ]
    if words:
        program = words[0].rpartition("/")[2]
        if program in _SHELLS and depth < 4 and (inner := _inline_shell(words, simple.body)):
            yield from read_shell(inner, depth + 1)
        elif written and program in READERS | SILENT | {"tee"} and not operands(words):
            pass  # `cat > f`: the redirection is the act
        else:
            yield from read_program(program, words, simple)
    for sign, path in written:
        yield Action("edit" if sign == ">>" else "write", path, command=" ".join(words[:3]))


def _inline_shell(words: tuple[str, ...], body: str) -> str:
    for at, word in enumerate(words[1:3], start=1):
        if re.fullmatch(r"-[a-z]*c", word) and at + 1 < len(words):
            return words[at + 1]
    return body if len(words) == 1 or words[1] in ("-s", "-") else ""


def _through_filter(seen: Action, words: tuple[str, ...]) -> Action | None:
    """What is left of a read after `| head -40` or `| grep x`; None when it is no filter."""
    program = words[0].rpartition("/")[2] if words else ""
    if program in ("cat", "less", "more", "nl") and not operands(words):
        return seen
    if seen.kind != "read":
        quiet = (
            program in SEARCHERS
            or program in READERS
            or program in ("sort", "uniq", "wc", "cut", "tr")
        )
        quiet = quiet or (
            program in ("sed", "awk", "column", "xargs") and seen.kind in ("search", "list")
        )
        return seen if quiet else None
    if program in ("head", "tail"):
        return replace(seen, lines=head_or_tail(program, words)) if seen.lines is None else seen
    if program == "sed":
        ranges = sed_ranges(next((w for w in words[1:] if not w.startswith("-")), ""))
        return (
            replace(seen, lines=ranges[0])
            if len(ranges) == 1
            else replace(seen, kind="search", lines=None)
        )
    if program in SEARCHERS or program in (
        "awk",
        "wc",
        "sort",
        "uniq",
        "cut",
        "jq",
        "python3",
        "tr",
        "python",
    ):
        return replace(seen, kind="search", lines=None, query=" ".join(words[1:3])[:80])
    return None
