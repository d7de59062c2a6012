"""The port `Archive`, and the values that go in and out of it beside entries."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self

from unremember.archive.entries import Entry, Logged
from unremember.messages import Message, ToolCall, ToolResult

Original = Message | ToolCall | ToolResult
"""What a handle names."""


@dataclass(frozen=True, slots=True)
class ConversationInfo:
    """A conversation in a list of them.

    `entries` is the number of its last entry; in a fork the shared past counts. `nth` is its place
    among the sub-agents of its parent: 3 for the one whose handles begin with `a3.`; 0 for others.
    `next_ordinal` is the ordinal that the next message will take.
    """

    id: str
    title: str
    cwd: str
    started: datetime
    last: datetime
    entries: int
    next_ordinal: int = 1
    parent: str = ""
    forked_at: int = 0
    nth: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A hit of a search: `handle` names it in `conversation`, `snippet` is the text around it."""

    conversation: str
    handle: str
    snippet: str


@dataclass(frozen=True, slots=True)
class WholeConversation:
    """To purge: a conversation, its sub-agents and its forks."""

    id: str


@dataclass(frozen=True, slots=True)
class Handles:
    """To purge: what the handles `first` to `last` name; that of a message covers all of it."""

    conversation: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class OlderThan:
    """To purge: conversations that were last used before `moment`, with all that hang on them."""

    moment: datetime


Purge = WholeConversation | Handles | OlderThan


class Archive(Protocol):
    """The append-only log of everything said and done; forgetting is one more entry.

    All methods raise `ArchiveError` when the store cannot be read or written, and when a
    conversation is not in it.
    """

    def append(self, conversation: str, *entries: Entry) -> int:
        """Adds all of `entries` or none, flushed to disk; gives the number of the last one.

        The first entry of a conversation is `Opened`. Raises `InvalidHistory` for a message that
        may not follow what was said, such as a result without its call.
        """
        ...

    def entries(self, conversation: str, after: int = 0) -> Iterator[Logged]:
        """The entries numbered higher than `after`, oldest first; those a fork shares included."""
        ...

    def conversations(self) -> list[ConversationInfo]:
        """All conversations, the last used first."""
        ...

    def recall(self, conversation: str, handle: str) -> Original:
        """What a handle such as `m41` or `a3.m41` names, exactly as it was said.

        Raises `UnknownHandle` when it names nothing.
        """
        ...

    def search(self, query: str, conversation: str | None = None, limit: int = 20) -> list[Found]:
        """Where `query` was said, newest first: in texts, call arguments and results.

        The query is literal text, in any case of letters; if it is found nowhere, texts that hold
        all its words count. With a `conversation`, its sub-agents are searched too.
        """
        ...

    def fork(self, conversation: str, at: int) -> str:
        """Begins one that goes on from entry `at`, with the same ordinals; gives its id."""
        ...

    def purge(self, what: Purge) -> int:
        """Removes for good, also from notes, search index and backups; gives how many entries.

        Handles lose their content everywhere that it is shared; their messages stay in place as
        "[purged]", so that calls and results still pair.
        """
        ...

    def close(self) -> None:
        """Lets go of the store. Closing twice does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def new_id() -> str:
    """An id for a conversation that no other one has."""
    return secrets.token_hex(8)
