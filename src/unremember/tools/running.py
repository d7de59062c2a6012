"""Running one tool call: whatever happens becomes a result that the model can act on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from time import monotonic

from unremember.actions import tool_kind
from unremember.compression.clip import clip_text
from unremember.errors import ToolError, UnrememberError
from unremember.messages import Text, ToolCall, ToolResult
from unremember.tools.arguments import parse, refuse_marks
from unremember.tools.base import Context, Output, Ran, Tool


async def run_call(
    call: ToolCall, tools: Mapping[str, Tool], context: Context, ordinal: int
) -> Ran:
    """Runs a call; `ordinal` is that of its result, whose handle stands where text is left out.

    Never raises but for cancellation: an unknown tool, wrong arguments, a refusal and a fault in
    the tool all become failed results.
    """
    started = monotonic()
    output = await _attempt(call, tools, replace(context, ordinal=ordinal))
    text = output.text.encode("utf-8", "replace").decode("utf-8") or "(no output)"
    whole = ToolResult(call.id, (Text(text), *output.media), output.failed)
    capped = clip_text(text, context.cap, context.count, ordinal)
    result = whole if capped == text else replace(whole, content=(Text(capped), *output.media))
    return Ran(result, whole, output.diff, monotonic() - started)


async def _attempt(call: ToolCall, tools: Mapping[str, Tool], context: Context) -> Output:
    try:
        tool = _find(call.name, tools)
        if context.cancelled.is_set():
            raise ToolError("cancelled by the user before it ran")
        if context.read_only and tool.effect != "reads":
            raise ToolError(
                "command not allowed: this is read-only mode, nothing may be written or run until "
                "the user ends it. Go on by reading, and say what you would do"
            )
        if tool.name != "recall":
            refuse_marks(call)
        return await tool.run(context, parse(call))
    except UnrememberError as error:
        return Output(str(error), failed=True)
    except Exception as error:  # noqa: BLE001 - a user's tool may fail in any way; the run goes on
        return Output(f"{call.name} failed: {type(error).__name__}: {error}", failed=True)


def _find(name: str, tools: Mapping[str, Tool]) -> Tool:
    """The tool of this name. Raises `ToolError` that names the nearest one."""
    if name in tools:
        return tools[name]
    close = get_close_matches(name, tools, n=1)
    # Models know the tools of other programs: `bash` is meant for run_command.
    kind = tool_kind(name)
    close += [known for known in tools if kind and tool_kind(known) == kind]
    hint = f"did you mean {close[0]}? " if close else ""
    raise ToolError(f"there is no tool {name!r}; {hint}Tools: {', '.join(tools)}")
