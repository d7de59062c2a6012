"""The archive: the append-only log of everything said and done.

`SqliteArchive` keeps it in one file, `MemoryArchive` in memory; both are an `Archive`. What the
model sees next is computed from the entries by `view`. A compression is one more entry
(`compressed` makes it); only the user's own `purge` removes anything.
"""

from unremember.archive.base import (
    Archive,
    ConversationInfo,
    Found,
    Handles,
    OlderThan,
    Original,
    Purge,
    WholeConversation,
    new_id,
)
from unremember.archive.entries import (
    Answered,
    CallFinished,
    CallStarted,
    Compressed,
    Entry,
    Failed,
    Logged,
    Opened,
    Purged,
    Reached,
    Said,
    Undone,
    compressed,
)
from unremember.archive.files import set_aside
from unremember.archive.memory import MemoryArchive
from unremember.archive.sqlite import SqliteArchive
from unremember.archive.view import INTERRUPTED, NOT_RUN, said, settle, view

__all__ = [
    "INTERRUPTED",
    "NOT_RUN",
    "Answered",
    "Archive",
    "CallFinished",
    "CallStarted",
    "Compressed",
    "ConversationInfo",
    "Entry",
    "Failed",
    "Found",
    "Handles",
    "Logged",
    "MemoryArchive",
    "OlderThan",
    "Opened",
    "Original",
    "Purge",
    "Purged",
    "Reached",
    "Said",
    "SqliteArchive",
    "Undone",
    "WholeConversation",
    "compressed",
    "new_id",
    "said",
    "set_aside",
    "settle",
    "view",
]
