"""The file of a store before SQLite sees it: whose it is, what it is, whether it may be opened.

SQLite would create a write-ahead log beside any database it opens. A store of a newer version
must stay as it is, byte for byte, so its version is read here, from the plain file.
"""

from __future__ import annotations

import sqlite3
import stat
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from glob import escape
from os import O_CREAT, O_EXCL, O_RDWR, SEEK_CUR, close
from os import open as open_file
from pathlib import Path
from threading import Lock

from unremember.errors import ArchiveError, ArchiveTooNew

APPLICATION = 0x556E726D
"""The `application_id` of our files: "Unrm"."""

COMPANIONS = ("", "-wal", "-shm", "-journal")
"""Endings of the files that make up a store."""

_MAGIC = b"SQLite format 3\0"
_OWNER_ONLY = 0o600
_PAGE_SIZE, _PAGES, _USER_VERSION, _APPLICATION_ID = 16, 28, 60, 68
_CHANGES, _PAGES_VALID_FOR = 24, 92
_HEADER, _LOG_HEADER, _FRAME_HEADER = 100, 32, 24


def prepare(path: Path) -> None:
    """Makes sure that the file and its folder exist, and that only their owner can read the file.

    Folders that are made here are closed to others; one that was there is left as it is.
    """
    with _readable_errors(path):
        for folder in reversed([path.parent, *path.parent.parents]):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
                # The umask may have taken the owner's own rights.
                folder.chmod(0o700)
        create(path)
        for companion in map(path.with_name, (path.name + end for end in COMPANIONS)):
            if companion.exists() and stat.S_IMODE(companion.stat().st_mode) != _OWNER_ONLY:
                companion.chmod(_OWNER_ONLY)


def create(path: Path) -> None:
    """Makes an empty file that only its owner can read, unless there is one."""
    try:
        descriptor = open_file(path, O_RDWR | O_CREAT | O_EXCL, _OWNER_ONLY)
    except FileExistsError:
        return
    close(descriptor)
    # SQLite gives its companions the rights of the main file, whatever the umask.
    path.chmod(_OWNER_ONLY)


_held: Counter[tuple[int, int]] = Counter()
"""Files that this process has open as stores, by device and inode."""

_held_lock = Lock()


Identity = tuple[int, int]
"""Device and inode of a file."""


@contextmanager
def checked(path: Path, newest: int) -> Generator[None]:
    """Checks a file before it is opened in the body, and remembers that it is open (see `release`).

    Raises `ArchiveTooNew` or `ArchiveError` for a file that must not be opened; nothing is written
    then. `newest` is the highest version of the store that can be read.
    """
    with _held_lock:
        # Reading a file and closing it again drops the locks that this process has on it, SQLite's
        # included. A file that is open here was checked when it was opened.
        if not _held[identity(path)]:
            _check(path, newest)
        yield
        _held[identity(path)] += 1


def release(file: Identity) -> None:
    """Says that a store is closed."""
    with _held_lock:
        _held[file] -= 1


def identity(path: Path) -> Identity:
    """Which file this is, whatever its name; (0, 0) if there is none."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _check(path: Path, newest: int) -> None:
    with _readable_errors(path):
        if not path.exists() or not path.stat().st_size:
            return
        if _read(path.with_name(f"{path.name}-journal"), 1):
            return  # SQLite rolls back what was begun; until then the header may be anything.
        header = _read(path, _HEADER)
        log = path.with_name(f"{path.name}-wal")
        versions = list(_versions_in(log))
        cut = (
            not _size(log)
            and _size(path) < _expected_size(header)
            and header == _read(path, _HEADER)
        )
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise damaged(path, "it is no SQLite database")
    if _number(header, _APPLICATION_ID) != APPLICATION:
        raise foreign(path)
    version = max([_number(header, _USER_VERSION), *versions])
    if version > newest:
        raise too_new(path, version, newest)
    if cut:
        raise damaged(
            path, f"it was cut off at {_size(path):,} of {_expected_size(header):,} bytes"
        )


def too_new(path: Path, version: int, newest: int) -> ArchiveTooNew:
    """The error for a store of a version that is not known yet."""
    return ArchiveTooNew(
        f"{path} was written by a newer Unremember (store version {version}, this one reads up to "
        f"{newest}); it was not touched. Update Unremember, or name another file"
    )


def foreign(path: Path) -> ArchiveError:
    """The error for a database that is no store."""
    return ArchiveError(
        f"{path} is a database of another program; it was not touched. Name another file"
    )


def _read(path: Path, size: int) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(size)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _number(data: bytes, at: int = 0, size: int = 4) -> int:
    return int.from_bytes(data[at : at + size], "big")


def _page_size(raw: int) -> int:
    return 65536 if raw == 1 else raw


def _expected_size(header: bytes) -> int:
    if _number(header, _CHANGES) != _number(header, _PAGES_VALID_FOR):
        return 0
    return _number(header, _PAGES) * _page_size(_number(header, _PAGE_SIZE, 2))


def _versions_in(log: Path) -> Iterator[int]:
    """The versions that copies of the first page in a write-ahead log state.

    A newer program that was killed may have left its version there only. A frame that was never
    committed counts as well: better refused than overwritten.
    """
    if _size(log) < _LOG_HEADER:
        return
    with log.open("rb") as file:
        header = file.read(_LOG_HEADER)
        page_size, salt = _page_size(_number(header, 8)), header[16:24]
        while len(frame := file.read(_FRAME_HEADER)) == _FRAME_HEADER and frame[8:16] == salt:
            if _number(frame) == 1:
                yield _number(file.read(_HEADER), _USER_VERSION)
                file.seek(page_size - _HEADER, SEEK_CUR)
            else:
                file.seek(page_size, SEEK_CUR)


def damaged(path: Path, how: str) -> ArchiveError:
    """The error for a file that holds no readable store."""
    return ArchiveError(
        f"{path} is damaged: {how}. It was not changed. Put back a copy, or move it away with "
        f"unremember.archive.set_aside({str(path)!r}) and begin a new one"
    )


def set_aside(path: str | Path) -> Path:
    """Moves a store that cannot be read out of the way, with its companions; gives its new path.

    Only whoever owns the store decides to call this; nothing here ever does.
    """
    path = Path(path)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    with _readable_errors(path):
        for end in COMPANIONS:
            companion = path.with_name(path.name + end)
            if companion.exists():
                companion.rename(aside.with_name(aside.name + end))
    return aside


def backup_path(path: Path, version: int) -> Path:
    """Where the copy goes that is made before a store of `version` is migrated."""
    return path.with_name(f"{path.name}.v{version}.backup")


def remove_backups(path: Path) -> None:
    """Removes copies made by migrations: they hold what is being purged."""
    with _readable_errors(path):
        for backup in path.parent.glob(f"{escape(path.name)}.v*.backup"):
            backup.unlink()


@contextmanager
def _readable_errors(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        what = error.strerror or type(error).__name__
        raise ArchiveError(
            f"{error.filename or path} cannot be used for the archive {path}: {what}; "
            "name another place, or make it yours to write"
        ) from error


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Turns the errors of SQLite into one clear line."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translation(path, error) from error


def _translation(path: Path, error: sqlite3.Error) -> ArchiveError:
    # Only the low byte is the kind; the rest tells where in SQLite it came from.
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return ArchiveError(
                f"{path} could not be written ({error}); nothing of this was kept, all that was "
                "there before is. Free some space and try again"
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return ArchiveError(
                f"{path} cannot be written ({error}); make the file and its folder yours to write, "
                "or name another place"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return ArchiveError(f"{path} is in use by another process ({error}); try again")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return damaged(path, str(error))
        case _:
            return ArchiveError(f"{path}: {error}")
