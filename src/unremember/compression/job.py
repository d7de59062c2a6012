"""What every way of forgetting is given, and the one type they all have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from unremember.events import Emit, ignore
from unremember.history import History
from unremember.messages import Message
from unremember.tokens import Budget, Weigher

Originals = Callable[[], tuple[Message, ...]]
"""Gives every message as it was said, oldest first; () when nobody kept them."""


def no_originals() -> tuple[Message, ...]:
    """For a history without an archive."""
    return ()


@dataclass(frozen=True, slots=True)
class Job:
    """One compression to do: how large the result may be, how to weigh it, where to report.

    `focus` is what the user wants remembered above all.
    """

    budget: Budget
    weigh: Weigher = field(default_factory=Weigher)
    originals: Originals = no_originals
    focus: str = ""
    emit: Emit = ignore


Compress = Callable[[History, Job], Awaitable[History]]
"""A compression strategy: history in, smaller history out. Without a model: plain functions."""
