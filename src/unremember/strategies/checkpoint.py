"""The checkpoint: before each call of the model the history is measured and made to fit.

After the tools ran and before their results are sent, with the results inside the history; so one
huge result is seen before it is sent, and no call is ever open when something is compressed.
"""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import replace
from time import perf_counter

from unremember.archive import Failed
from unremember.compression import Job, fit
from unremember.errors import BudgetTooSmall, CannotCompress, OverLimit, UnrememberError
from unremember.events import Compressed, Counted, Event, Refused
from unremember.history import History
from unremember.strategies.config import HistoryCompressionConfig
from unremember.strategies.session import Session


async def checkpoint(history: History, session: Session) -> History:
    """The node: says what the user wrote meanwhile, and makes the history fit.

    Raises `BudgetTooSmall`, `CannotCompress` and `OverLimit`; the history then stays as it was.
    """
    session.commit(history)
    session.refresh()
    session.deliver()
    await make_fit(session)
    if session.deliver():
        await make_fit(session)
    budget = session.room.budget
    session.emit(Counted(session.measure(), budget.limit, budget.trigger))
    return session.history


async def make_fit(session: Session) -> None:
    """Compresses the history if that is due: asked for, too big, or over the limit."""
    tokens, budget, config = session.measure(), session.room.budget, session.compression
    if config.is_off and session.asked is None:
        if tokens > budget.limit:
            raise OverLimit(tokens, budget.limit)
        return
    reason = _reason(session, tokens)
    if not reason:
        return
    focus, session.asked = session.asked, None
    if focus is None and not session.progress.allows(tokens, budget):
        return
    if config.is_off:
        config = HistoryCompressionConfig()
    try:
        session.room.check_fixed(session.history)
        await _compress(session, config, reason, focus or "")
    except (BudgetTooSmall, CannotCompress) as error:
        session.record.write(Failed("compression", str(error)))
        raise


def _reason(session: Session, tokens: int) -> str:
    """Why to compress now; "" if there is no reason."""
    budget = session.room.budget
    if session.asked is not None:
        return "asked for by the user"
    if tokens > budget.limit:
        return "over the limit"
    if tokens > budget.trigger:
        return "over the trigger"
    return "too big" if session.compression.is_history_too_big(session.history) else ""


async def _compress(
    session: Session, config: HistoryCompressionConfig, reason: str, focus: str
) -> None:
    begun = perf_counter()
    before, tokens = session.history, session.measure()
    # Reported from here and not from the thread that does the work.
    events: list[Event] = []
    job = Job(
        budget=session.room.in_own_count(),
        weigh=session.room.weigh,
        originals=session.record.originals,
        focus=focus,
        emit=events.append,
    )
    after, way = await _smaller(session, config, job)
    for event in events:
        session.emit(event)
    left = session.room.measure(after)
    heaviest = session.room.fixed_parts(before)
    progress = session.progress.tried(tokens, min(left, tokens), session.room.budget, heaviest)
    if left < tokens:
        seconds = perf_counter() - begun
        session.replace(after, session.entry_for(after, way, tokens, left, reason))
        session.emit(Compressed(tokens, left, way, reason, seconds=seconds))
    elif after is not before:
        session.emit(Refused(way, f"it would not be smaller than {tokens:,} tokens", left))
    session.progress = progress
    if session.measure() > session.room.budget.limit:
        raise session.room.too_small(session.history)


async def _smaller(
    session: Session, config: HistoryCompressionConfig, job: Job
) -> tuple[History, str]:
    """The history made smaller in the chosen way, then made to fit; and the name of the way."""
    history, ways = session.history, [config.name]
    if config.compression_strategy is not fit:
        history = await _chosen_way(session, config, job)
        ways = [config.name] if history is not session.history else []
    try:
        fitted = await asyncio.to_thread(fit, history, job)
    except BudgetTooSmall:
        raise session.room.too_small(session.history) from None
    if fitted is not history and "fit" not in ways:
        ways.append("fit")
    return fitted, ", then ".join(ways or ["fit"])


async def _chosen_way(session: Session, config: HistoryCompressionConfig, job: Job) -> History:
    """What the user's way makes of the history; the history itself where it failed (rule R5)."""
    history = session.history
    try:
        made = config.compression_strategy(history, job)
        smaller = await made if inspect.isawaitable(made) else made
    except Exception as error:  # noqa: BLE001 - whatever a strategy raises, the run goes on without it
        why = str(error) if isinstance(error, UnrememberError) else repr(error)
        session.record.put(Failed(f"compression by {config.name}", why))
        session.emit(Refused(config.name, why))
        return history
    if job.weigh(smaller) < job.weigh(history):
        return (
            smaller if smaller.system == history.system else replace(smaller, system=history.system)
        )
    if smaller is not history:
        session.emit(Refused(config.name, "its result is not smaller", job.weigh(smaller)))
    return history
