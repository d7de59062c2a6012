"""Rows of a store: reading and writing them on a connection, without transactions or locks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from unremember.archive import lineage
from unremember.archive.base import ConversationInfo
from unremember.archive.codec import Damaged, decode, encode, kind_of
from unremember.archive.entries import CallFinished, Entry, Logged, Opened
from unremember.archive.files import damaged
from unremember.archive.intake import Tail, Taken
from unremember.archive.search import Needle, indexable, texts
from unremember.messages import ToolResult

PAGE = 64
"""Entries that are read at once; an entry may be megabytes large."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Pieces = Sequence[tuple[str, int]]
"""Where the entries of a conversation are: see `lineage.past`."""


def micros(at: datetime) -> int:
    """Microseconds since 1970."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def moment(micros: int) -> datetime:
    """The inverse of `micros`."""
    return _EPOCH + timedelta(microseconds=micros)


@dataclass(frozen=True, slots=True)
class Place:
    """A conversation to write to: its row, and what must be known to go on."""

    key: int
    id: str
    tail: Tail
    forked_at: int = 0


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of the store at `path`; `indexed` says whether its search index can be used."""

    connection: sqlite3.Connection
    path: Path
    indexed: bool

    def infos(self) -> dict[str, ConversationInfo]:
        """All conversations by id, without what only their `Opened` tells."""
        found = self.connection.execute(
            "SELECT id, started, last, number, next_ordinal, parent, forked_at, nth"
            " FROM conversation ORDER BY last DESC, key DESC"
        )
        return {
            id: ConversationInfo(id, "", "", moment(started), moment(last), *rest)
            for id, started, last, *rest in found
        }

    def opened(self, id: str) -> Opened:
        """The entry that opened a conversation."""
        row = self.connection.execute(
            "SELECT e.kind, e.body FROM entry e JOIN conversation c ON e.conversation = c.key"
            " WHERE c.id = ? AND e.number = c.forked_at + 1",
            (id,),
        ).fetchone()
        entry = self._entry(*row) if row else None
        if not isinstance(entry, Opened):
            raise damaged(self.path, f"the beginning of conversation {id!r} is missing")
        return entry

    def place(self, id: str) -> Place | None:
        """Where to write to a conversation; None if it is not there."""
        row = self.connection.execute(
            "SELECT key, forked_at, number, next_ordinal, open_calls FROM conversation"
            " WHERE id = ?",
            (id,),
        ).fetchone()
        if row is None:
            return None
        key, forked_at, number, next_ordinal, open_calls = row
        ids = json.loads(open_calls.decode("utf-8", "surrogatepass"))
        return Place(key, id, Tail(number, next_ordinal, tuple(ids)), forked_at)

    def create(self, id: str, opened: Opened, tail: Tail, at: int) -> Place:
        """Makes the row of a new conversation."""
        nth = 0 if opened.forked_at or not opened.parent else self._next_agent(opened.parent)
        made = self.connection.execute(
            "INSERT INTO conversation"
            " (id, parent, forked_at, nth, number, next_ordinal, open_calls, started, last)"
            " VALUES (?, ?, ?, ?, 0, 0, x'', ?, ?)",
            (id, opened.parent, opened.forked_at, nth, at, at),
        )
        return Place(_new_key(made), id, tail, opened.forked_at)

    def _next_agent(self, parent: str) -> int:
        counter = (lineage.root(self.infos(), parent),)
        self.connection.execute("UPDATE conversation SET agents = agents + 1 WHERE id = ?", counter)
        found = self.connection.execute("SELECT agents FROM conversation WHERE id = ?", counter)
        return found.fetchone()[0]

    def write(self, place: Place, taken: Taken, at: int) -> None:
        """Adds an entry."""
        made = self.connection.execute(
            "INSERT INTO entry (conversation, number, kind, at, ordinal, span, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                place.key,
                taken.number,
                kind_of(taken.entry),
                at,
                taken.ordinal,
                taken.span,
                encode(taken.entry),
            ),
        )
        self._index(_new_key(made), taken.entry)

    def save_tail(self, place: Place, tail: Tail, at: int) -> None:
        """Notes where a conversation ends now."""
        open_calls = json.dumps(tail.open_calls, ensure_ascii=False)
        self.connection.execute(
            "UPDATE conversation SET number = ?, next_ordinal = ?, open_calls = ?,"
            " last = MAX(last, ?) WHERE key = ?",
            (
                tail.number,
                tail.next_ordinal,
                open_calls.encode("utf-8", "surrogatepass"),
                at,
                place.key,
            ),
        )

    def page(self, owner: str, after: int, upto: int) -> list[Logged]:
        """The next entries that a conversation itself holds, `PAGE` at most."""
        found = self.connection.execute(
            "SELECT e.number, e.at, e.kind, e.body FROM entry e"
            " JOIN conversation c ON e.conversation = c.key"
            " WHERE c.id = ? AND e.number > ? AND e.number <= ? ORDER BY e.number LIMIT ?",
            (owner, after, upto, PAGE),
        ).fetchall()
        return [Logged(n, moment(at), self._entry(kind, body)) for n, at, kind, body in found]

    def read(self, pieces: Pieces, after: int = 0) -> Iterator[Logged]:
        """The entries in `pieces` that are numbered higher than `after`."""
        for owner, upto in pieces:
            while found := self.page(owner, after, upto):
                yield from found
                after = found[-1].number

    def naming(self, pieces: Pieces, ordinal: int) -> Entry | None:
        """The entry that gave away an ordinal."""
        for owner, upto in reversed(pieces):
            row = self.connection.execute(
                "SELECT e.kind, e.body, e.ordinal + e.span FROM entry e"
                " JOIN conversation c ON e.conversation = c.key"
                " WHERE c.id = ? AND e.ordinal > 0 AND e.ordinal <= ? AND e.number <= ?"
                " ORDER BY e.ordinal DESC LIMIT 1",
                (owner, ordinal, upto),
            ).fetchone()
            if row and ordinal < row[2]:
                return self._entry(row[0], row[1])
        return None

    def kind_at(self, pieces: Pieces, number: int) -> str:
        """The kind of the entry with this number; "" if there is none."""
        for owner, upto in pieces:
            row = self.connection.execute(
                "SELECT e.kind FROM entry e JOIN conversation c ON e.conversation = c.key"
                " WHERE c.id = ? AND e.number = ? AND e.number <= ?",
                (owner, number, upto),
            ).fetchone()
            if row:
                return row[0]
        return ""

    def candidates(self, needle: Needle) -> list[tuple[int, str, int]]:
        """Entries that may be hits, newest first: key, conversation, number."""
        triples = needle.triples()
        chosen, values = "", ()
        if self.indexed and triples:
            chosen = (
                " AND e.key IN (SELECT rowid FROM words WHERE words MATCH ?"
                " UNION ALL SELECT key FROM unindexed)"
            )
            values = (" AND ".join(map(_quoted, triples)),)
        return self.connection.execute(
            "SELECT e.key, c.id, e.number FROM entry e JOIN conversation c"
            " ON e.conversation = c.key WHERE e.kind IN ('Said', 'CallFinished')"
            f"{chosen} ORDER BY e.key DESC",
            values,
        ).fetchall()

    def entry(self, key: int) -> Entry:
        """The entry with this key."""
        row = self.connection.execute("SELECT kind, body FROM entry WHERE key = ?", (key,))
        return self._entry(*row.fetchone())

    def replace(self, owner: str, number: int, entry: Entry) -> None:
        """Puts an entry in place of another one: for purging only."""
        key, kind, body = self.connection.execute(
            "SELECT e.key, e.kind, e.body FROM entry e JOIN conversation c"
            " ON e.conversation = c.key WHERE c.id = ? AND e.number = ?",
            (owner, number),
        ).fetchone()
        self._unindex(key, self._entry(kind, body))
        self.connection.execute("UPDATE entry SET body = ? WHERE key = ?", (encode(entry), key))
        self._index(key, entry)

    def remove(self, id: str) -> int:
        """Deletes a conversation; gives how many entries it held."""
        keys = self.connection.execute(
            "SELECT e.key FROM entry e JOIN conversation c ON e.conversation = c.key"
            " WHERE c.id = ?",
            (id,),
        ).fetchall()
        for (key,) in keys:
            self._unindex(key, self.entry(key))
            self.connection.execute("DELETE FROM entry WHERE key = ?", (key,))
        self.connection.execute("DELETE FROM conversation WHERE id = ?", (id,))
        return len(keys)

    def catch_up(self) -> None:
        """Indexes what was written where the search index could not be used."""
        for (key,) in self.connection.execute("SELECT key FROM unindexed").fetchall():
            self._index(key, self.entry(key))
            self.connection.execute("DELETE FROM unindexed WHERE key = ?", (key,))

    def _index(self, key: int, entry: Entry) -> None:
        text = _document(entry)
        if not text:
            return
        if self.indexed:
            self.connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (key, text))
        else:
            self.connection.execute("INSERT INTO unindexed (key) VALUES (?)", (key,))

    def _unindex(self, key: int, entry: Entry) -> None:
        deleted = self.connection.execute("DELETE FROM unindexed WHERE key = ?", (key,))
        text = _document(entry)
        if text and self.indexed and not deleted.rowcount:
            # An index without its own copy of the text is told what to forget.
            self.connection.execute(
                "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", (key, text)
            )

    def _entry(self, kind: str, body: bytes) -> Entry:
        try:
            return decode(kind, body)
        except Damaged as error:
            raise damaged(self.path, str(error)) from error


@dataclass(frozen=True, slots=True)
class RowsPast:
    """The look-ups of `intake`, on rows."""

    rows: Rows
    place: Place

    def _pieces(self) -> Pieces:
        # No end: what this transaction wrote counts, and nobody else can write meanwhile.
        own = (self.place.id, 2**62)
        if not self.place.forked_at:
            return [own]
        return [*lineage.past(self.rows.infos(), self.place.id)[:-1], own]

    def is_taken(self, ordinal: int) -> bool:
        """See `intake.Past`."""
        return self.rows.naming(self._pieces(), ordinal) is not None

    def finished(self, ordinal: int) -> ToolResult | None:
        """See `intake.Past`."""
        entry = self.rows.naming(self._pieces(), ordinal)
        return entry.result if isinstance(entry, CallFinished) else None

    def is_compression(self, number: int) -> bool:
        """See `intake.Past`."""
        return self.rows.kind_at(self._pieces(), number) == "Compressed"


def _new_key(made: sqlite3.Cursor) -> int:
    # Not RETURNING: SQLite knows it since 3.35 only, and Python 3.11 is still run with older ones.
    assert made.lastrowid is not None
    return made.lastrowid


def _document(entry: Entry) -> str:
    return indexable("\n".join(text for _, text in texts(entry)))


def _quoted(triple: str) -> str:
    return '"' + triple.replace('"', '""') + '"'
