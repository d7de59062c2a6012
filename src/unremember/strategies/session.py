"""What the nodes of a strategy work with: one conversation with a model, its tools and its record.

Nodes are given a history and give one back. The session commits it: new messages were said, and a
history that is not the old one made longer is recorded as a compression.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from unremember.archive import Compressed, Said, compressed
from unremember.compression.progress import Progress
from unremember.events import Emit, ignore
from unremember.history import History
from unremember.messages import Message, Text, ToolResult
from unremember.models.base import Delta, Model, Request, ToolSpec, Usage
from unremember.strategies.config import HistoryCompressionConfig
from unremember.strategies.instructions import (
    Instructions,
    with_instructions,
    without_instructions,
)
from unremember.strategies.record import Record
from unremember.strategies.repeats import Repeats
from unremember.strategies.room import Room
from unremember.tools import Context, Tool


def user_message(text: str) -> Message:
    """What the user says now."""
    return Message("user", (Text(text),), at=datetime.now(UTC))


def program_message(text: str) -> Message:
    """What the program says to the model; it is no user's word, and is not kept like one."""
    return Message("user", (Text(text),), at=datetime.now(UTC), kind="program")


@dataclass(slots=True)
class Session:
    """One conversation while it runs.

    `said` are the messages of the history that stand as they were said, by ordinal; `whole` the
    ordinals of results that the model sees whole. `compression` is what the strategy set, and
    `asked` the focus of a compression that the user asked for. `on_delta` takes an answer while it
    is being written. `schema` is that of every answer, where there are no tools. `finish` says why
    the run ended.
    """

    model: Model
    tools: Mapping[str, Tool]
    context: Context
    record: Record
    room: Room
    history: History = field(default_factory=History)
    said: dict[int, Message] = field(default_factory=dict[int, Message])
    whole: set[int] = field(default_factory=set[int])
    instructions: Instructions = field(default_factory=Instructions)
    emit: Emit = ignore
    on_delta: Callable[[Delta], None] | None = None
    schema: dict[str, Any] | None = None
    compression: HistoryCompressionConfig = field(default_factory=HistoryCompressionConfig)
    progress: Progress = field(default_factory=Progress)
    inbox: deque[str] = field(default_factory=deque[str])
    asked: str | None = None
    sent: Request | None = None
    repeats: Repeats = field(default_factory=Repeats)
    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    finish: str = ""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools on offer, as a model sees them."""
        return tuple(tool.spec for tool in self.tools.values())

    def measure(self) -> int:
        """Tokens of the next request."""
        return self.room.measure(self.history)

    def add(self, *messages: Message) -> History:
        """Says messages, and puts them on record with the next append; gives the history."""
        grown = self.history.add(*messages)
        new = grown.messages[len(self.history.messages) :]
        self.record.put(*map(Said, new))
        self._grow(grown)
        return grown

    def answer(self, results: tuple[ToolResult, ...], at: datetime) -> History:
        """Puts results that are on record into the history, all of them at once."""
        self._grow(self.history.add(*(Message("tool", (result,), at=at) for result in results)))
        return self.history

    def _grow(self, grown: History) -> None:
        new = grown.messages[len(self.history.messages) :]
        self.said |= {message.ordinal: message for message in new}
        self.history = grown

    def commit(self, history: History) -> None:
        """Takes over what a node made of the history; the same one changes nothing."""
        if history is self.history:
            return
        if history.extends(self.history):
            self.add(*history.messages[len(self.history.messages) :])
        else:
            before, after = self.measure(), self.room.measure(history)
            self.replace(history, self.entry_for(history, "a node", before, after, ""))

    def entry_for(
        self, history: History, strategy: str, before: int, after: int, reason: str
    ) -> Compressed:
        """The entry that records `history` as what is left of the present one."""
        bare = History(without_instructions(history.system), history.messages, history.notes)
        return compressed(
            bare, self.said, strategy=strategy, before=before, after=after, reason=reason
        )

    def replace(self, history: History, entry: Compressed) -> None:
        """Puts a smaller history in place of the present one, on record first."""
        self.record.write(entry)
        stays = {message.ordinal: message for message in history.messages}
        stays |= {message.ordinal: message for message in history.system}
        self.said = {o: said for o, said in self.said.items() if stays.get(o) == said}
        self.whole &= self.said.keys()
        self.history = history.numbered_from(self.history.next_ordinal)

    def refresh(self) -> None:
        """Brings the project instructions in the history to what is on disk now."""
        message, changes = self.instructions.read()
        for change in changes:
            self.emit(change)
        present = self.history.system[-1:] if self.history.system else ()
        if any(one is message for one in present) or (not message and self._has_none()):
            return
        system = with_instructions(self.history.system, message)
        changed = History(system, self.history.messages, self.history.notes)
        self.history = changed.numbered_from(self.history.next_ordinal)

    def _has_none(self) -> bool:
        return all(message.ordinal for message in self.history.system)

    def deliver(self) -> bool:
        """Says what the user wrote meanwhile; tells whether there was something."""
        came = bool(self.inbox)
        while self.inbox:
            self.add(user_message(self.inbox.popleft()))
        self.record.write()
        return came
