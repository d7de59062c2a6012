"""Running the calls of an answer: on record before and after, their results given all together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from unremember.actions import tool_kind
from unremember.archive import Answered, CallFinished, CallStarted
from unremember.events import RanTool
from unremember.history import History
from unremember.messages import Text, ToolCall, ToolResult
from unremember.strategies.session import Session
from unremember.tools import Ran, run_call


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A call with its own ordinal and the one that its result will have."""

    call: ToolCall
    ordinal: int
    result: int


async def run_calls(session: Session, *, parallel: bool) -> History:
    """Runs the open calls of the history and gives it with all their results, in call order.

    With `parallel`, calls run at the same time, but for those that write files or run commands:
    what was asked for after an edit may depend on it, so these run alone and in order.
    """
    calls = list(_open_calls(session.history))
    finished: dict[int, ToolResult] = {}
    for group in _groups(session, calls, parallel):
        # On disk before anything runs: who resumes must know what may have had an effect.
        session.record.write(*(CallStarted(one.ordinal) for one in group))
        for one in group:
            session.instructions.touch(one.call, session.context.state.folder)
        results = await asyncio.gather(
            *(_run(session, one, alone=len(group) == 1) for one in group)
        )
        finished |= {one.result: result for one, result in zip(group, results, strict=True)}
    ordinals = tuple(one.result for one in calls)
    at = datetime.now(UTC)
    session.record.write(Answered(ordinals, at))
    return session.answer(tuple(finished[ordinal] for ordinal in ordinals), at)


def _open_calls(history: History) -> Iterator[_Numbered]:
    message = next(message for message in reversed(history.messages) if message.calls)
    ordinals = {part.id: o for o, part in message.numbered_parts() if isinstance(part, ToolCall)}
    for place, call in enumerate(history.open_calls):
        yield _Numbered(call, ordinals[call.id], history.next_ordinal + place)


def _groups(
    session: Session, calls: Sequence[_Numbered], parallel: bool
) -> Iterator[list[_Numbered]]:
    """The calls in order, those that may run at the same time together."""
    group: list[_Numbered] = []
    for one in calls:
        alone = not parallel or _stands_alone(session, one.call)
        if group and alone:
            yield group
            group = []
        group.append(one)
        if alone:
            yield group
            group = []
    if group:
        yield group


def _stands_alone(session: Session, call: ToolCall) -> bool:
    tool = session.tools.get(call.name)
    return (tool is not None and tool.effect == "writes") or tool_kind(call.name) == "shell"


async def _run(session: Session, one: _Numbered, *, alone: bool) -> ToolResult:
    try:
        ran = await run_call(one.call, session.tools, session.context, one.result)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # The tool gave up by itself; nobody stopped the run.
        ran = _gave_up(one.call)
    ran = _with_note(session, one.call, ran)
    tool = session.tools.get(one.call.name)
    shown = ran.result if ran.result != ran.whole else None
    entry = CallFinished(ran.whole, one.result, ran.seconds, shown)
    # A look at something is lost without harm; an effect must be known even if another call hangs.
    if alone or (tool and tool.effect == "reads"):
        session.record.put(entry)
    else:
        session.record.write(entry)
    if shown is None:
        session.whole.add(one.result)
    failed = ran.result.failed
    session.emit(
        RanTool(one.result, one.call.name, one.call.arguments, failed, ran.seconds, ran.diff)
    )
    return ran.result


def _gave_up(call: ToolCall) -> Ran:
    result = ToolResult(call.id, (Text(f"{call.name} was cancelled from inside"),), failed=True)
    return Ran(result, result)


def _with_note(session: Session, call: ToolCall, ran: Ran) -> Ran:
    tool = session.tools.get(call.name)
    changed = tool is not None and tool.effect == "writes" and not ran.result.failed
    note = session.repeats.note(call, changed=changed)
    if not note:
        return ran
    added = (Text(note),)
    return replace(
        ran,
        result=replace(ran.result, content=(*ran.result.content, *added)),
        whole=replace(ran.whole, content=(*ran.whole.content, *added)),
    )
