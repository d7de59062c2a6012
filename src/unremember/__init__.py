"""Unremember teaches agents to forget, and to be able to take it back.

`compress(messages, budget=…)` makes a list of messages fit a token budget; see the README.
Importing this package does no work: each name is loaded on its first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unremember.agent import Agent
    from unremember.compression import Compress, Job, NoCompression, Report, fit, sliding_window
    from unremember.concepts import Concept, Fact, FactType
    from unremember.errors import (
        ArchiveError,
        BudgetTooSmall,
        CannotCompress,
        InputError,
        InvalidHistory,
        UnknownFormat,
        UnknownHandle,
        UnrememberError,
    )
    from unremember.formats import Conversation, read, write
    from unremember.history import History, Repair, Step
    from unremember.ledger import Ledger
    from unremember.library import Compression, acompress, compress
    from unremember.messages import Media, Message, Text, Thinking, ToolCall, ToolResult
    from unremember.notes import Notes
    from unremember.tokens import Budget, Counter, Meter, Weigher

__all__ = [
    "Agent",
    "ArchiveError",
    "Budget",
    "BudgetTooSmall",
    "CannotCompress",
    "Compress",
    "Compression",
    "Concept",
    "Conversation",
    "Counter",
    "Fact",
    "FactType",
    "History",
    "InputError",
    "InvalidHistory",
    "Job",
    "Ledger",
    "Media",
    "Message",
    "Meter",
    "NoCompression",
    "Notes",
    "Repair",
    "Report",
    "Step",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "UnknownFormat",
    "UnknownHandle",
    "UnrememberError",
    "Weigher",
    "acompress",
    "compress",
    "fit",
    "read",
    "sliding_window",
    "write",
]

# Where each public name lives. Loaded on first use, because a command line that only shows its
# help must not wait for the whole engine.
_HOMES = {
    name: module
    for module, names in {
        "agent": "Agent",
        "compression": "Compress Job NoCompression Report fit sliding_window",
        "concepts": "Concept Fact FactType",
        "errors": "ArchiveError BudgetTooSmall CannotCompress InputError InvalidHistory "
        "UnknownFormat UnknownHandle UnrememberError",
        "formats": "Conversation read write",
        "history": "History Repair Step",
        "ledger": "Ledger",
        "library": "Compression acompress compress",
        "messages": "Media Message Text Thinking ToolCall ToolResult",
        "notes": "Notes",
        "tokens": "Budget Counter Meter Weigher",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
