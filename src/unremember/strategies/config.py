"""When to compress early, how, and with which model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unremember.compression import Compress, Job, NoCompression, fit
from unremember.history import History
from unremember.messages import Media, Message, Part, Text, Thinking, ToolCall, ToolResult
from unremember.models.base import Model

MANY_MESSAGES = 200
MANY_CHARACTERS = 200_000
"""The thresholds of the reference's coding agent; it was tuned for windows of 200,000 tokens."""


def never(history: History) -> bool:
    """Leaves it to the budget when to compress."""
    return False


def CODE_AGENT_HISTORY_TOO_BIG(history: History) -> bool:  # noqa: N802 - the reference's name
    """More than 200 messages, or more than 200,000 characters in them."""
    messages = (*history.system, *history.messages)
    return len(messages) > MANY_MESSAGES or sum(map(_characters, messages)) > MANY_CHARACTERS


def _characters(message: Message) -> int:
    return sum(map(_length, message.parts))


def _length(part: Part) -> int:
    match part:
        case Text(text) | Thinking(text):
            return len(text)
        case ToolCall(_, name, arguments):
            return len(name) + len(arguments)
        case ToolResult():
            return len(part.text)
        case Media():
            return 0


@dataclass(frozen=True, slots=True)
class HistoryCompressionConfig:
    """When to compress early, how, and who answers the questions of a way that asks a model.

    Above the trigger of the budget a compression is due in any case, and nothing over its limit is
    ever sent. `retrieval_model` None is the agent's own model. With `NoCompression` compression is
    off: a history over the limit is not sent, and `OverLimit` says what can be done.
    """

    is_history_too_big: Callable[[History], bool] = never
    compression_strategy: Compress | Callable[[History, Job], History] = fit
    retrieval_model: Model | None = None

    @property
    def is_off(self) -> bool:
        """Whether nothing is to be compressed."""
        return self.compression_strategy is NoCompression

    @property
    def name(self) -> str:
        """The way to compress, for reports."""
        way = self.compression_strategy
        return getattr(way, "__name__", type(way).__name__)
