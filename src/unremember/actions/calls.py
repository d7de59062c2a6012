"""Reads a tool call as actions, by the tool's name and its arguments."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from unremember.actions.action import Action, clean_path
from unremember.actions.commands import directory_of, read_shell
from unremember.actions.inline import code_writes
from unremember.actions.names import (
    AFTER,
    BEFORE,
    CHANGING,
    COMMANDS,
    PATHS,
    QUERIES,
    VERBS,
    tool_kind,
)
from unremember.actions.patches import patched_files
from unremember.messages import ToolCall

Arguments = Mapping[str, Any]

_SWE_EDIT = re.compile(r"edit\s+(\d+):(\d+)\b")
_SWE = re.compile(
    r"\s*(open|goto|scroll_up|scroll_down|create|edit|insert|append|str_replace|search_dir"
    r"|search_file|find_file|submit"
    r"|exit_cost|exit_context|skip|filemap)\b(.*)",
    re.DOTALL,
)


# A call is asked about several times in a row: for its title, its outcome, the ledger.
@lru_cache(maxsize=256)
def read_action(call: ToolCall) -> tuple[Action, ...]:
    """What a tool call does, in order. Never raises; at least one action."""
    actions = tuple(_read(call))
    return actions or (Action("other", command=_first(call.parsed(), COMMANDS)[:200]),)


def _read(call: ToolCall) -> Iterator[Action]:
    arguments = call.parsed()
    match tool_kind(call.name):
        case "shell":
            yield from read_command(
                shell_text(call), cwd=_first(arguments, ("workdir", "cwd", "working_directory"))
            )
        case "read":
            yield from _read_files(arguments)
        case "write":
            for path in _paths(arguments):
                yield Action("write", path)
        case "edit":
            yield from _edits(arguments)
        case "list":
            yield Action(
                "list",
                _path(arguments),
                query=_first(arguments, ("pattern", "glob", "glob_pattern", "file_name")),
            )
        case "search":
            yield Action("search", _path(arguments), query=_first(arguments, QUERIES))
        case "plan":
            yield Action("plan")
        case "delegate":
            yield Action(
                "delegate",
                query=_first(
                    arguments, ("description", "subject", "prompt", "task", "objective", "input")
                ),
            )
        case "fetch":
            yield Action("fetch", query=_first(arguments, ("url", "query", "prompt", "code")))
        case "editor":
            yield from _editor(arguments)
        case "patch":
            yield from patched_files(_first(arguments, ("input", "patch", "diff", "content")))
        case "code":
            code = _first(arguments, ("code", "input", "script", "source"))
            yield from code_writes(code)
            yield Action("run", command=code)
        case "delete":
            for path in _paths(arguments):
                yield Action("write", path, effect="delete", side_effects=True)
        case "quiet":
            yield Action("other", query=_first(arguments, ("query", "skill", "message")))
        case _:
            yield from _unknown(call.name, arguments)


@lru_cache(maxsize=64)
def shell_text(call: ToolCall) -> str:
    """The text that a call gives to a shell; "" if it gives none."""
    arguments = call.parsed()
    value: object = next((arguments[key] for key in COMMANDS if key in arguments), "")
    if isinstance(value, Mapping):
        value = cast("Mapping[str, object]", value).get("command", "")
    if not isinstance(value, list):
        return str(value)
    words = [str(word) for word in cast("list[object]", value)]
    if (
        len(words) >= 3
        and re.fullmatch(r"(?:.*/)?(?:ba|z|da)?sh", words[0])
        and re.fullmatch(r"-\w*c", words[1])
    ):
        return words[2]
    if words[:1] == ["apply_patch"] and len(words) > 1:
        return f"apply_patch <<'EOF'\n{words[1]}\nEOF"
    return " ".join(
        word if re.fullmatch(r"[\w@%+=:,./-]+", word) else json.dumps(word) for word in words
    )


def read_command(text: str, cwd: str = "") -> tuple[Action, ...]:
    """What a shell command, or one of the file commands of SWE-agent, does."""
    found = _SWE.match(text)
    if found and (actions := tuple(_swe(found[1], found[2].strip(), text))):
        return actions
    if "*** Begin Patch" in text:
        patch = tuple(patched_files(text[text.index("*** Begin Patch") :]))
        if patch:
            return patch
    actions = read_shell(text)
    if not actions and text.strip():
        actions = (Action("other", command=text.strip()[:200], cwd=directory_of(text)),)
    if cwd.startswith("/"):
        actions = tuple(a if a.cwd else _at(a, cwd) for a in actions)
    return actions


def _at(action: Action, cwd: str) -> Action:
    return replace(action, cwd=clean_path(cwd))


def _swe(name: str, rest: str, text: str) -> Iterator[Action]:
    """The file commands of SWE-agent; the file of `edit`, `goto` … is named in the result only."""
    words = [clean_path(word) for word in rest.split("\n")[0].split()]
    match name:
        case "open" if words:
            yield Action("read", words[0])
        case "goto" | "scroll_up" | "scroll_down":
            yield Action("read")
        case "create" if words:
            yield Action("write", words[0])
        case "edit" | "insert" | "append" | "str_replace":
            found = _SWE_EDIT.match(text.strip())
            lines = (int(found[1][:9]), int(found[2][:9])) if found else None
            yield Action("edit", lines=lines)
        case "search_dir" | "search_file":
            yield Action(
                "search", words[1] if len(words) > 1 else "", query=words[0] if words else ""
            )
        case "find_file":
            yield Action(
                "list", words[1] if len(words) > 1 else "", query=words[0] if words else ""
            )
        case "submit" | "exit_cost" | "exit_context" | "skip":
            yield Action("other", command=text.strip()[:200])
        case _:
            pass


def _first(arguments: Arguments, keys: tuple[str, ...]) -> str:
    for key in keys:
        value: object = arguments.get(key)
        if isinstance(value, str) and value:
            return value
        if (
            isinstance(value, list)
            and value
            and all(isinstance(v, str) for v in cast("list[object]", value))
        ):
            return " ".join(cast("list[str]", value))
    return ""


def _paths(arguments: Arguments) -> list[str]:
    for key in PATHS:
        value: object = arguments.get(key)
        if isinstance(value, str) and value and "\n" not in value:
            return [clean_path(value)]
        if isinstance(value, list) and value:
            found: list[str] = []
            for item in cast("list[object]", value):
                if isinstance(item, str):
                    found.append(clean_path(item))
                elif isinstance(item, dict):
                    found += _paths(cast("dict[str, Any]", item))
            return found
    text = arguments.get("input")
    return [clean_path(text)] if isinstance(text, str) and re.fullmatch(r"\S{1,300}", text) else []


def _path(arguments: Arguments) -> str:
    return next(iter(_paths(arguments)), "")


def _read_files(arguments: Arguments) -> Iterator[Action]:
    lines = read_range(arguments)
    for path in _paths(arguments):
        yield Action("read", path, lines)


def read_range(arguments: Arguments) -> tuple[int, int] | None:
    """The lines that the arguments of a reading tool ask for; None: the whole file."""

    def number(*keys: str) -> int | None:
        for key in keys:
            value: object = arguments.get(key)
            if isinstance(value, int | float) or (
                isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value)
            ):
                return int(value)
        return None

    span: object = (
        arguments.get("view_range") or arguments.get("line_range") or arguments.get("range")
    )
    if isinstance(span, list):
        ends = [v for v in cast("list[object]", span) if isinstance(v, int)]
        if len(ends) == 2:
            return (ends[0], max(ends[1], 0))
    first = number(
        "start_line", "line_start", "start", "start_line_one_indexed", "StartLine", "from_line"
    )
    last = number(
        "end_line", "line_end", "end", "end_line_one_indexed_inclusive", "EndLine", "to_line"
    )
    if first is not None or last is not None:
        return (first or 1, max(last or 0, 0))
    offset, limit = number("offset", "line"), number("limit", "max_lines", "num_lines")
    if offset is None and limit is None:
        return None
    start = max(offset or 1, 1)
    return (start, start + limit - 1 if limit and limit > 0 else 0)


def _edits(arguments: Arguments) -> Iterator[Action]:
    paths = _paths(arguments)
    pieces: object = arguments.get("edits")
    if isinstance(pieces, list) and pieces:
        for piece in cast("list[object]", pieces):
            if isinstance(piece, dict):
                inner = cast("dict[str, Any]", piece)
                for path in paths or _paths(inner):
                    yield _edit(path, inner)
        return
    for path in paths:
        yield _edit(path, arguments)
    if not paths and "*** Begin Patch" in _first(arguments, ("diff", "patch", "input")):
        yield from patched_files(_first(arguments, ("diff", "patch", "input")))


def _edit(path: str, arguments: Arguments) -> Action:
    before = next((arguments[k] for k in BEFORE if isinstance(arguments.get(k), str)), None)
    after = next((arguments[k] for k in AFTER if isinstance(arguments.get(k), str)), None)
    if before is None or after is None or before == after:
        return Action("edit", path)
    return Action(
        "edit", path, digest=_digest(path, before, after), undo=_digest(path, after, before)
    )


def _digest(path: str, before: str, after: str) -> str:
    """Names the replacement of one text by another in a file; seven hexadecimal digits."""
    value = zlib.crc32(
        f"{path.rpartition('/')[2]}\0{before}\0{after}".encode(errors="surrogatepass")
    )
    return f"{value & 0xFFFFFFF:07x}"


def _editor(arguments: Arguments) -> Iterator[Action]:
    """The editor tool with sub-commands."""
    path = _path(arguments)
    match arguments.get("command"):
        case "view":
            # That it is a directory only the result can say.
            yield Action("read", path, read_range(arguments))
        case "create":
            yield Action("write", path)
        case "undo_edit":
            yield Action("write", path, effect="restore")
        case _:
            yield _edit(path, arguments)


def _unknown(name: str, arguments: Arguments) -> Iterator[Action]:
    words = [
        w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name.rpartition("__")[2])
    ]
    verb = next((w for w in words if w in VERBS or w in CHANGING), "")
    path = next((p for p in _paths(arguments) if re.search(r"[/.]", p)), "")
    command = _first(arguments, ("command", "cmd", "CommandLine", "shell_command"))
    if command:
        yield from read_command(command)
    elif path and verb in ("delete", "remove"):
        yield Action("write", path, effect="delete", side_effects=True)
    elif path and verb in VERBS:
        kind = VERBS[verb]
        yield (
            _edit(path, arguments) if kind == "edit" else Action(kind, path, read_range(arguments))
        )
    elif verb in CHANGING and words[0] not in (
        "get",
        "list",
        "search",
        "find",
        "read",
        "query",
        "check",
        "calculate",
    ):
        shown = json.dumps(dict(arguments), ensure_ascii=False, default=str)
        yield Action("run", path, command=f"{name}({shown})", side_effects=True)
    else:
        kind = VERBS.get(verb, "other")
        yield Action(
            kind if kind in ("search", "list") else "other", path, query=_first(arguments, QUERIES)
        )
