"""The archive that lives as long as its process: for tests, and for who must not write to disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice, takewhile
from threading import RLock
from types import TracebackType
from typing import Self

from unremember.archive import lineage
from unremember.archive.base import (
    ConversationInfo,
    Found,
    Handles,
    OlderThan,
    Original,
    Purge,
    WholeConversation,
    new_id,
)
from unremember.archive.entries import CallFinished, Compressed, Entry, Logged, Opened, Purged
from unremember.archive.intake import Tail, admit, check_id, check_opening, tail_after
from unremember.archive.scrub import plan, span_label
from unremember.archive.search import Needle, hits, needles
from unremember.archive.view import original
from unremember.errors import UnknownHandle
from unremember.messages import ToolResult, handle

Clock = Callable[[], datetime]


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


@dataclass(slots=True)
class _Conversation:
    """`log` holds its own entries, each with its place among all entries of the archive."""

    opened: Opened
    nth: int = 0
    agents: int = 0
    tail: Tail = field(default_factory=Tail)
    log: list[tuple[int, Logged]] = field(default_factory=list[tuple[int, Logged]])


@dataclass(frozen=True, slots=True)
class _Past:
    """The look-ups of `intake`; `newest` goes through the entries so far from the end."""

    newest: Callable[[], Iterator[Logged]]

    def is_taken(self, ordinal: int) -> bool:
        return any(original(item.entry, ordinal) is not None for item in self.newest())

    def finished(self, ordinal: int) -> ToolResult | None:
        for item in self.newest():
            if isinstance(item.entry, CallFinished) and item.entry.ordinal == ordinal:
                return item.entry.result
        return None

    def is_compression(self, number: int) -> bool:
        return any(
            item.number == number and isinstance(item.entry, Compressed) for item in self.newest()
        )


class MemoryArchive:
    """An `Archive` in memory; it behaves like the one on disk, but for the disk."""

    def __init__(self, *, clock: Clock = now) -> None:
        self._clock = clock
        self._held: dict[str, _Conversation] = {}
        self._written = 0
        self._lock = RLock()

    def append(self, conversation: str, *entries: Entry) -> int:
        """See `Archive.append`."""
        with self._lock:
            if conversation in self._held:
                return self._add(conversation, entries)
            check_id(conversation)
            opened = check_opening(entries)
            if opened is None:
                raise lineage.unknown(conversation)
            held = _Conversation(opened)
            if opened.parent:
                counter = self._held[lineage.root(self._infos(), opened.parent)]
                counter.agents += 1
                held.nth = counter.agents
            return self._begin(conversation, held, entries)

    def _begin(self, id: str, held: _Conversation, entries: Sequence[Entry]) -> int:
        self._held[id] = held
        try:
            return self._add(id, entries)
        except BaseException:
            del self._held[id]
            raise

    def _add(self, id: str, entries: Sequence[Entry]) -> int:
        held, at = self._held[id], self._clock()
        before, tail = len(held.log), held.tail
        past = _Past(lambda: self._newest(id))
        try:
            for entry in entries:
                taken, tail = admit(entry, tail, past)
                self._written += 1
                held.log.append((self._written, Logged(taken.number, at, taken.entry)))
        except BaseException:
            del held.log[before:]
            raise
        held.tail = tail
        return tail.number

    def _newest(self, id: str) -> Iterator[Logged]:
        """The entries of a conversation from the end, those that it shares included."""
        held = self._held[id]
        yield from (item for _, item in reversed(held.log))
        if held.opened.forked_at:
            shared = self._newest(held.opened.parent)
            yield from (item for item in shared if item.number <= held.opened.forked_at)

    def entries(self, conversation: str, after: int = 0) -> Iterator[Logged]:
        """See `Archive.entries`."""
        with self._lock:
            lineage.named(self._infos(), conversation)
            newest = takewhile(lambda item: item.number > after, self._newest(conversation))
            return reversed(list(newest))

    def conversations(self) -> list[ConversationInfo]:
        """See `Archive.conversations`."""
        with self._lock:
            return sorted(self._infos().values(), key=lambda info: info.last, reverse=True)

    def _infos(self) -> dict[str, ConversationInfo]:
        return {id: _info(id, held) for id, held in self._held.items()}

    def recall(self, conversation: str, handle: str) -> Original:
        """See `Archive.recall`."""
        with self._lock:
            owner, ordinal = lineage.resolve(self._infos(), conversation, handle)
            # From the oldest on: later entries may hold shortened copies.
            for item in self.entries(owner):
                if (found := original(item.entry, ordinal)) is not None:
                    return found
        raise UnknownHandle(f"{handle} names nothing in conversation {conversation!r}")

    def search(self, query: str, conversation: str | None = None, limit: int = 20) -> list[Found]:
        """See `Archive.search`."""
        with self._lock:
            infos = self._infos()
            for needle in needles(query):
                hits = self._hits(lineage.scope(infos, conversation), needle, conversation)
                if found := list(islice(hits, limit)):
                    return found
        return []

    def _hits(
        self, scope: lineage.Scope, needle: Needle, conversation: str | None
    ) -> Iterator[Found]:
        newest = sorted(
            (place, item, owner, prefix)
            for owner, (upto, prefix) in scope.items()
            for place, item in self._held[owner].log
            if item.number <= upto
        )
        for _, item, owner, prefix in reversed(newest):
            for ordinal, snippet in hits(item.entry, needle):
                yield Found(conversation or owner, f"{prefix}{handle(ordinal)}", snippet)

    def fork(self, conversation: str, at: int) -> str:
        """See `Archive.fork`."""
        with self._lock:
            lineage.check_fork(lineage.named(self._infos(), conversation), at)
            shared = [item for item in self.entries(conversation) if item.number <= at]
            source, id = self._held[conversation].opened, new_id()
            opened = replace(source, parent=conversation, forked_at=at)
            self._begin(id, _Conversation(opened, tail=tail_after(shared)), [opened])
            return id

    def purge(self, what: Purge) -> int:
        """See `Archive.purge`."""
        with self._lock:
            infos = self._infos()
            match what:
                case WholeConversation(id):
                    info = lineage.named(infos, id)
                    gone = self._remove(lineage.tree(infos, id))
                    if info.nth and info.parent in self._held:
                        self._add(info.parent, [Purged(f"a{info.nth}")])
                    return gone
                case OlderThan(moment):
                    return self._remove(lineage.expired(infos, moment))
                case Handles():
                    return self._blank(infos, what)

    def _remove(self, ids: Sequence[str]) -> int:
        return sum(len(self._held.pop(id).log) for id in ids)

    def _blank(self, infos: lineage.Infos, what: Handles) -> int:
        owner, ordinals = lineage.resolve_range(infos, what)
        changes = plan(infos, self._own, owner, ordinals)
        for id, entries in changes.items():
            log = self._held[id].log
            for index, (place, item) in enumerate(log):
                if item.number in entries:
                    log[index] = place, replace(item, entry=entries[item.number])
        self._add(owner, [Purged(span_label(ordinals))])
        return sum(map(len, changes.values()))

    def _own(self, id: str) -> list[Logged]:
        return [item for _, item in self._held[id].log]

    def close(self) -> None:
        """See `Archive.close`. What it held is gone."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _info(id: str, held: _Conversation) -> ConversationInfo:
    return ConversationInfo(
        id=id,
        title=held.opened.title,
        cwd=held.opened.cwd,
        started=held.log[0][1].at,
        last=held.log[-1][1].at,
        entries=held.tail.number,
        next_ordinal=held.tail.next_ordinal,
        parent=held.opened.parent,
        forked_at=held.opened.forked_at,
        nth=held.nth,
    )
