"""Unremember teaches agents to forget, and to be able to take it back.

`compress(messages, budget=…)` makes a list of messages fit a token budget; see the README.
Importing this package does no work: tables, stores and providers load on first use.
"""

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
