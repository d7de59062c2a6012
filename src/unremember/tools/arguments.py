"""Checking the arguments that a model wrote: one readable line for each fault."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from unremember.actions import squeeze
from unremember.compression import CLIP_MARK
from unremember.errors import ToolError
from unremember.messages import ToolCall

LONGEST_VALUE = 60
"""Characters of a wrong value that are quoted."""


def parse(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call as a dict. Raises `ToolError` for what is no JSON object."""
    if not call.arguments.strip():
        return {}
    try:
        value: object = json.loads(call.arguments, strict=False)
    except ValueError as error:
        raise ToolError(
            f"the arguments of {call.name} are no valid JSON ({error}); nothing was done. "
            "Send the call again with one JSON object"
        ) from None
    if not isinstance(value, dict):
        raise ToolError(
            f"the arguments of {call.name} must be one JSON object, not "
            f"{squeeze(call.arguments, LONGEST_VALUE)}"
        )
    return cast("dict[str, Any]", value)


def refuse_marks(call: ToolCall) -> None:
    """Raises `ToolError` if the arguments hold the mark of something left out of the history."""
    text = call.arguments
    if "\\u" in text:
        text += json.dumps(call.parsed(), ensure_ascii=False)
    if found := CLIP_MARK.search(text):
        handle = found[0].rpartition("· ")[2].removesuffix(" …]")
        raise ToolError(
            f"the arguments hold the mark {found[0]!r}: text that was left out of the history to "
            f"save room. Nothing was done. Get it by recall with {handle}, then write it in full"
        )


def check(model: type[BaseModel], arguments: dict[str, Any]) -> BaseModel:
    """The arguments as `model` wants them. Raises `ToolError` with one line for each fault."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
    lines = dict.fromkeys(_fault(fault, model) for fault in faults)
    raise ToolError("wrong arguments:\n" + "\n".join(f"- {line}" for line in lines))


def _fault(fault: ErrorDetails, model: type[BaseModel]) -> str:
    where = ".".join(map(str, fault["loc"])) or "arguments"
    match fault["type"]:
        case "missing":
            return f"{where}: is missing"
        case "extra_forbidden":
            names = list(model.model_fields)
            close = get_close_matches(where, names, n=1, cutoff=0.4)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"
            return f"{where}: there is no such argument; {hint}"
        case _:
            value = squeeze(json.dumps(fault["input"], default=str), LONGEST_VALUE)
            return f"{where}: {fault['msg'][0].lower()}{fault['msg'][1:]} (got {value})"
