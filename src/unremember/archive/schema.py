"""The tables of a store, its versions, and how an older one is brought up to date."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from unremember.archive.files import (
    APPLICATION,
    Identity,
    backup_path,
    checked,
    create,
    foreign,
    identity,
    prepare,
    release,
    too_new,
    translated,
)

VERSION_1 = (
    # `agents` counts the sub-agents opened from a conversation and its forks; `open_calls` are the
    # ids of calls without a result, as JSON.
    """CREATE TABLE conversation (
        key INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        parent TEXT NOT NULL,
        forked_at INTEGER NOT NULL,
        nth INTEGER NOT NULL,
        agents INTEGER NOT NULL DEFAULT 0,
        number INTEGER NOT NULL,
        next_ordinal INTEGER NOT NULL,
        open_calls BLOB NOT NULL,
        started INTEGER NOT NULL,
        last INTEGER NOT NULL
    )""",
    # Times are microseconds since 1970, UTC. `ordinal` and `span` are 0 where nothing is numbered.
    """CREATE TABLE entry (
        key INTEGER PRIMARY KEY,
        conversation INTEGER NOT NULL REFERENCES conversation (key),
        number INTEGER NOT NULL,
        kind TEXT NOT NULL,
        at INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        span INTEGER NOT NULL,
        body BLOB NOT NULL
    )""",
    "CREATE UNIQUE INDEX entry_by_number ON entry (conversation, number)",
    "CREATE INDEX entry_by_ordinal ON entry (conversation, ordinal) WHERE ordinal > 0",
    # Entries with text that the search index does not hold: written where SQLite has no FTS5.
    "CREATE TABLE unindexed (key INTEGER PRIMARY KEY)",
)

Migrations = Sequence[Sequence[str]]

MIGRATIONS: Migrations = (VERSION_1,)
"""What makes version n + 1 of version n, in order. Released ones never change."""

# Only which triples a text holds, not where: hits are checked on the text itself, and the index
# stays near the size of the text.
_INDEX = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS words "
    "USING fts5(text, content = '', tokenize = 'trigram', detail = none)"
)


@dataclass(frozen=True, slots=True)
class Store:
    """An open store."""

    connection: sqlite3.Connection
    path: Path
    file: Identity

    def close(self) -> None:
        """Closes it; the last process to do so leaves one file without companions."""
        with translated(self.path):
            self.connection.close()
        release(self.file)


def connect(path: Path, *, wait: float = 10.0, migrations: Migrations = MIGRATIONS) -> Store:
    """Opens a store, makes it if it is not there, and brings it up to date.

    `wait` is how long another process may hold it, in seconds. Raises `ArchiveError`.
    """
    with checked(path, len(migrations)), translated(path):
        prepare(path)
        connection = sqlite3.connect(
            path, timeout=wait, isolation_level=None, check_same_thread=False
        )
        try:
            # What is deleted is overwritten, in every process that ever opens the store.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")
            upgrade(connection, path, migrations)
            _use_log(connection, wait)
        except BaseException:
            connection.close()
            raise
        return Store(connection, path, identity(path))


def upgrade(connection: sqlite3.Connection, path: Path, migrations: Migrations) -> None:
    """Applies the migrations that a store does not have yet, all or none, after copying it."""
    version = _version(connection)
    if version == len(migrations):
        return
    if 0 < version < len(migrations):
        _back_up(connection, path, version)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Read again: another process may have been faster.
        version = _version(connection)
        if version > len(migrations):
            raise too_new(path, version, len(migrations))
        if not version and connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise foreign(path)
        for statements in migrations[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    # The version has to stand in the file itself, where `files` reads it.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _back_up(connection: sqlite3.Connection, path: Path, version: int) -> None:
    target = backup_path(path, version)
    create(target)
    with closing(sqlite3.connect(target)) as copy:
        connection.backup(copy)


def _use_log(connection: sqlite3.Connection, wait: float) -> None:
    """Switches to the write-ahead log. SQLite does not wait for others here, so this does."""
    deadline = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def use_index(connection: sqlite3.Connection, *, make: bool) -> bool:
    """Whether the search index can be used; with `make` it is made if this SQLite can."""
    try:
        if make:
            connection.execute(_INDEX)
        connection.execute("SELECT rowid FROM words LIMIT 0")
    except sqlite3.OperationalError as error:
        # "no such module: fts5", "no such tokenizer: trigram" or "no such table: words".
        if str(error).startswith("no such"):
            return False
        raise
    return True
