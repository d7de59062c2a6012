"""The archive in one SQLite file, safe against crashes and open to several processes at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
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
from unremember.archive.entries import Entry, Logged, Purged
from unremember.archive.files import remove_backups, translated
from unremember.archive.intake import Tail, admit, check_id, check_opening, tail_after
from unremember.archive.memory import Clock, now
from unremember.archive.rows import Pieces, Place, Rows, RowsPast, micros
from unremember.archive.schema import connect, use_index
from unremember.archive.scrub import plan, span_label
from unremember.archive.search import Needle, hits, needles
from unremember.archive.view import original
from unremember.errors import ArchiveError, UnknownHandle
from unremember.messages import handle


class SqliteArchive:
    """An `Archive` in the file `path`, which is made if it is not there.

    File and companions are readable by their owner only, and so are folders made for them. An
    append is on the disk when it returns. Without `index` no search index is made; a search reads
    through everything then. `wait` is how long another process may hold the file, in seconds.

    Raises `ArchiveTooNew` for a store of a newer version, which stays untouched, and `ArchiveError`
    for a file that is damaged or no store; see `set_aside`. One object may be used by several
    threads, but not across a fork of the process.
    """

    def __init__(
        self, path: str | Path, *, index: bool = True, wait: float = 10.0, clock: Clock = now
    ) -> None:
        self.path = Path(path).absolute()
        self._clock = clock
        self._lock = RLock()
        self._store = connect(self.path, wait=wait)
        self._connection = self._store.connection
        self._closed = False
        try:
            with translated(self.path):
                indexed = use_index(self._connection, make=index)
            self._rows = Rows(self._connection, self.path, indexed)
            if indexed:
                self._catch_up()
        except BaseException:
            self.close()
            raise

    def append(self, conversation: str, *entries: Entry) -> int:
        """See `Archive.append`."""
        check_id(conversation)
        at = micros(self._clock())
        with self._writing() as rows:
            place = rows.place(conversation)
            if place is None:
                place = self._begin(conversation, entries, at)
            return self._add(place, entries, at)

    def _begin(self, id: str, entries: Sequence[Entry], at: int) -> Place:
        opened = check_opening(entries)
        if opened is None:
            raise lineage.unknown(id)
        return self._rows.create(id, opened, Tail(), at)

    def _add(self, place: Place, entries: Sequence[Entry], at: int) -> int:
        tail, past = place.tail, RowsPast(self._rows, place)
        for entry in entries:
            taken, tail = admit(entry, tail, past)
            self._rows.write(place, taken, at)
        if entries:
            self._rows.save_tail(place, tail, at)
        return tail.number

    def entries(self, conversation: str, after: int = 0) -> Iterator[Logged]:
        """See `Archive.entries`. They are read in pages, as they are asked for."""
        with self._reading() as rows:
            pieces = lineage.past(rows.infos(), conversation)
        return self._pages(pieces, after)

    def _pages(self, pieces: Pieces, after: int) -> Iterator[Logged]:
        for owner, upto in pieces:
            while True:
                with self._reading() as rows:
                    page = rows.page(owner, after, upto)
                if not page:
                    break
                yield from page
                after = page[-1].number

    def conversations(self) -> list[ConversationInfo]:
        """See `Archive.conversations`."""
        with self._reading() as rows:
            return [
                replace(info, title=opened.title, cwd=opened.cwd)
                for info in rows.infos().values()
                for opened in [rows.opened(info.id)]
            ]

    def recall(self, conversation: str, handle: str) -> Original:
        """See `Archive.recall`."""
        with self._reading() as rows:
            infos = rows.infos()
            owner, ordinal = lineage.resolve(infos, conversation, handle)
            entry = rows.naming(lineage.past(infos, owner), ordinal)
            found = original(entry, ordinal) if entry else None
        if found is None:
            raise UnknownHandle(f"{handle} names nothing in conversation {conversation!r}")
        return found

    def search(self, query: str, conversation: str | None = None, limit: int = 20) -> list[Found]:
        """See `Archive.search`."""
        with self._reading() as rows:
            scope = lineage.scope(rows.infos(), conversation)
            for needle in needles(query):
                found = _hits(rows, needle, scope, conversation)
                if first := list(islice(found, limit)):
                    return first
        return []

    def fork(self, conversation: str, at: int) -> str:
        """See `Archive.fork`."""
        id, moment = new_id(), micros(self._clock())
        with self._writing() as rows:
            infos = rows.infos()
            lineage.check_fork(lineage.named(infos, conversation), at)
            pieces = [(owner, min(upto, at)) for owner, upto in lineage.past(infos, conversation)]
            tail = tail_after(list(rows.read(pieces)))
            opened = replace(rows.opened(conversation), parent=conversation, forked_at=at)
            self._add(rows.create(id, opened, tail, moment), [opened], moment)
        return id

    def purge(self, what: Purge) -> int:
        """See `Archive.purge`. It takes time in all that the file holds, and makes it smaller."""
        with self._lock:
            with self._writing() as rows:
                self._check_index(rows)
                gone = self._purge(rows, what)
                if rows.indexed:
                    # Merges the index, so that no old piece of it is left.
                    rows.connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            remove_backups(self.path)
            self._wipe()
        return gone

    def _purge(self, rows: Rows, what: Purge) -> int:
        infos = rows.infos()
        match what:
            case WholeConversation(id):
                info = lineage.named(infos, id)
                gone = sum(map(rows.remove, lineage.tree(infos, id)))
                if info.nth:
                    self._mark(info.parent, f"a{info.nth}")
                return gone
            case OlderThan(moment):
                return sum(map(rows.remove, lineage.expired(infos, moment)))
            case Handles():
                owner, ordinals = lineage.resolve_range(infos, what)
                changes = plan(infos, self._own, owner, ordinals)
                for id, changed in changes.items():
                    for number, entry in changed.items():
                        rows.replace(id, number, entry)
                self._mark(owner, span_label(ordinals))
                return sum(map(len, changes.values()))

    def _own(self, id: str) -> Iterator[Logged]:
        return self._rows.read([(id, self._rows.infos()[id].entries)])

    def _mark(self, id: str, what: str) -> None:
        """Leaves a word that something was purged, if there is a conversation to leave it in."""
        if place := self._rows.place(id):
            self._add(place, [Purged(what)], micros(self._clock()))

    def _check_index(self, rows: Rows) -> None:
        table = rows.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'words'")
        if table.fetchone() and not rows.indexed:
            raise ArchiveError(
                f"{self.path} has a search index that this Python cannot change (its SQLite has no "
                "FTS5), so nothing was purged; purge with another Python"
            )

    def _wipe(self) -> None:
        """Leaves nothing of what was deleted in the write-ahead log, and makes the file smaller."""
        with translated(self.path):
            busy = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise ArchiveError(
                f"purged from {self.path}, but another process is reading it, and until it is done "
                "its write-ahead log may hold what was purged; purge again then"
            )
        # What was deleted is overwritten by now. Where there is no space or no moment to make the
        # file smaller, it stays as large as it was.
        with suppress(sqlite3.OperationalError):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """See `Archive.close`."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._store.close()

    def _catch_up(self) -> None:
        with self._reading() as rows:
            waiting = rows.connection.execute("SELECT 1 FROM unindexed LIMIT 1").fetchone()
        if waiting:
            with self._writing() as rows:
                rows.catch_up()

    def _reading(self) -> AbstractContextManager[Rows]:
        """One unchanging state of the store."""
        return self._transaction("BEGIN")

    def _writing(self) -> AbstractContextManager[Rows]:
        """All that is written, or nothing; flushed to disk at the end."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Generator[Rows]:
        with self._lock, translated(self.path):
            if self._closed:
                raise ArchiveError(f"the archive {self.path} is closed; open it again")
            self._connection.execute(begin)
            try:
                yield self._rows
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _hits(
    rows: Rows, needle: Needle, scope: lineage.Scope, conversation: str | None
) -> Iterator[Found]:
    for key, owner, number in rows.candidates(needle):
        upto, prefix = scope.get(owner, (0, ""))
        if number <= upto:
            for ordinal, snippet in hits(rows.entry(key), needle):
                yield Found(conversation or owner, f"{prefix}{handle(ordinal)}", snippet)
