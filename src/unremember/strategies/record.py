"""What a run writes into the archive: everything as it happens, in few appends."""

from __future__ import annotations

from collections.abc import Iterable

from unremember.archive import Archive, Entry, Original, said
from unremember.messages import Message, ToolCall, ToolResult, handle, parse_handle

FOUND = 12
"""Hits of a search that are told."""


class Record:
    """Writes one conversation. Entries that may wait are put aside and go with the next append.

    What may wait: the outcome of a call that only reads, and an answer whose calls are about to
    start. What may not: that a call starts, since it may have an effect, and the outcome of one
    that had.
    """

    def __init__(self, archive: Archive, conversation: str) -> None:
        self.archive = archive
        self.conversation = conversation
        self._waiting: list[Entry] = []

    def put(self, *entries: Entry) -> None:
        """Adds entries with the next append."""
        self._waiting.extend(entries)

    def write(self, *entries: Entry) -> None:
        """Appends what waits and these, flushed to disk. What failed to be written still waits."""
        self._waiting.extend(entries)
        if self._waiting:
            self.archive.append(self.conversation, *self._waiting)
            self._waiting.clear()

    def originals(self) -> tuple[Message, ...]:
        """Every message of the conversation as it was said, oldest first."""
        self.write()
        return tuple(said(self.archive.entries(self.conversation)).values())

    def recall(self, what: str) -> str:
        """The original that a handle names, or where a query was said. Raises `UnknownHandle`."""
        if parse_handle(what) is not None:
            return as_text(self.archive.recall(self.conversation, what))
        found = self.archive.search(what, self.conversation, FOUND)
        return (
            "\n".join(f"{hit.handle}: {hit.snippet}" for hit in found) or f"nothing holds {what!r}"
        )


def as_text(original: Original) -> str:
    """What a handle names, as text, nothing left out."""
    match original:
        case ToolResult():
            return original.text
        case ToolCall(_, name, arguments):
            return f"{name} {arguments}"
        case Message():
            return "\n".join(_said_in(original))


def _said_in(message: Message) -> Iterable[str]:
    if message.text:
        yield message.text
    for ordinal, part in message.numbered_parts():
        yield f"[{handle(ordinal)}] {as_text(part)}"
