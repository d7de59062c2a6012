"""Asking the model: one request that fits, its answer, and what the provider's refusal teaches."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from time import perf_counter
from typing import Any

from unremember.errors import ContextTooLong, ModelError
from unremember.events import CalledModel, LimitLearned, PrefixBroken
from unremember.history import repair
from unremember.messages import Message, Text, ToolCall
from unremember.models.base import Reply, Request
from unremember.strategies.checkpoint import make_fit
from unremember.strategies.session import Session

NOTHING = "[no words, but a call, which was not allowed]"
"""Stands where a model that could only answer in words made a call instead."""


async def ask(
    session: Session, *, tools: bool = True, schema: dict[str, Any] | None = None
) -> Reply:
    """Sends the history and gives the answer, which is not in the history yet.

    What is over the limit is compressed first. A refusal as too long lowers the limit, and the
    smaller history is sent once more. An answer with nothing in it is asked for once more.
    Without `tools` they are shown, but none may be called.
    Raises `ModelError`s, and what `make_fit` raises.
    """
    reply = await _ask_fitting(session, tools, schema)
    if not _says_something(reply):
        reply = await _ask_fitting(session, tools, schema)
    if _says_something(reply):
        return reply
    why = "refused to answer" if reply.finish == "refused" else "gave no answer, twice"
    raise ModelError(f"{session.model.name} {why}; try again, or take another model")


def _says_something(reply: Reply) -> bool:
    """Thinking alone is no answer, and no provider takes it back as one."""
    return any(isinstance(part, ToolCall) for part in reply.message.parts) or bool(
        reply.message.text.strip()
    )


async def _ask_fitting(session: Session, tools: bool, schema: dict[str, Any] | None) -> Reply:
    session.refresh()
    await _guard(session)
    try:
        return await _send(session, _request(session, tools, schema))
    except ContextTooLong as refusal:
        before = session.room.budget.limit
        budget = session.room.learn(refusal, session.measure())
        session.emit(LimitLearned(before, budget.limit, str(refusal)))
    await _guard(session)
    return await _send(session, _request(session, tools, schema))


async def _guard(session: Session) -> None:
    """Nothing over the limit is ever sent, whatever a strategy forgot."""
    if session.measure() > session.room.budget.limit:
        await make_fit(session)


def _request(session: Session, tools: bool, schema: dict[str, Any] | None) -> Request:
    facts, limit = session.model.facts, session.room.budget.limit
    reserve = facts.context_window - limit
    output = min(facts.max_output, reserve) if reserve > 0 else None
    return Request(
        history=session.history,
        tools=session.specs,
        max_output=output,
        schema=schema or session.schema,
        no_calls=not tools,
    )


async def _send(session: Session, request: Request) -> Reply:
    _tell_break(session, request)
    session.turns += 1
    counted, begun = session.measure(), perf_counter()
    reply = await _reply(session, request)
    session.sent, session.finish = request, reply.finish
    if request.schema == session.schema:
        session.room.observe(request.history, reply.usage)
    session.usage += reply.usage
    session.emit(
        CalledModel(
            model=reply.model or session.model.name,
            finish=reply.finish,
            counted=counted,
            input_tokens=reply.usage.input_tokens,
            cached_tokens=reply.usage.cached_tokens,
            cache_write_tokens=reply.usage.cache_write_tokens,
            output_tokens=reply.usage.output_tokens,
            reported=reply.usage.reported,
            seconds=perf_counter() - begun,
            notes=reply.notes,
        )
    )
    return reply


async def _reply(session: Session, request: Request) -> Reply:
    if session.on_delta is None:
        return await session.model.request(request)
    reply: Reply | None = None
    stream = session.model.stream(request)
    try:
        async for piece in stream:
            if isinstance(piece, Reply):
                reply = piece
            else:
                session.on_delta(piece)
    finally:
        # At once, not when it is collected: the connection must not outlive a stopped run.
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
    if reply is None:
        raise ModelError(f"{session.model.name} ended its answer without a result; try again")
    return reply


def _tell_break(session: Session, request: Request) -> None:
    """Emits why a request does not begin with the whole one before it, where it does not."""
    before = session.sent
    if before is None:
        return
    if request.tools != before.tools:
        session.emit(PrefixBroken("another set of tools"))
    elif request.history.system != before.history.system:
        session.emit(PrefixBroken("the project instructions changed"))
    elif not request.history.extends(before.history):
        session.emit(PrefixBroken("a compression"))


def as_said(reply: Reply) -> Message:
    """The message of an answer, as a history takes it: no two calls in it share an id."""
    return repair([reply.message], close=False)[0][0]


def without_calls(reply: Reply) -> Message:
    """The message of an answer that may not call anything, even if it did."""
    message = as_said(reply)
    if not message.calls:
        return message
    parts = tuple(part for part in message.parts if not isinstance(part, ToolCall))
    said = any(isinstance(part, Text) and part.text.strip() for part in parts)
    return replace(message, parts=parts if said else (*parts, Text(NOTHING)), source=None)
