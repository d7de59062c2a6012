"""Asking the person at the terminal before a tool acts."""

from __future__ import annotations

import asyncio
import signal
import sys

from unremember.cli.live import Live
from unremember.cli.output import one_line
from unremember.tools import Answer, Approve, Question

SETTLE = 0.05
"""Seconds in which what happened before the question reaches the screen."""


def asker(live: Live) -> Approve:
    """Gives the function that asks: yes, always, no, or a reason why not."""

    async def ask(question: Question) -> Answer:
        await asyncio.sleep(SETTLE)
        live.stop()
        if question.diff:
            live.diff(question.diff)
        live.line(f"? {question.tool}: {one_line(question.what)}")
        if question.programs and question.programs != (question.what,):
            live.line(f"  it starts: {', '.join(map(one_line, question.programs))}")
        always = f", [a]lways for {one_line(question.always)}" if question.always else ""
        sys.stderr.write(f"  [y]es{always}, [n]o, or why not: ")
        sys.stderr.flush()
        return _understood(_typed(), always=bool(question.always))

    return ask


def _typed() -> str:
    """What is typed; Ctrl-C stops the turn, as it does while nothing is asked."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return sys.stdin.readline()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, before)
        signal.raise_signal(signal.SIGINT)
        raise asyncio.CancelledError from None
    finally:
        signal.signal(signal.SIGINT, before)


def _understood(typed: str, *, always: bool) -> Answer:
    match typed.strip().lower():
        case "y" | "yes":
            return Answer("yes")
        case "a" | "always" if always:
            return Answer("always")
        case "" | "n" | "no":
            return Answer("no")
        case _:
            return Answer("no", typed.strip())
