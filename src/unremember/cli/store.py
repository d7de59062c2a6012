"""Where conversations are kept: one archive in the data folder of the user."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from unremember.archive import Archive, ConversationInfo, MemoryArchive, OlderThan, SqliteArchive
from unremember.errors import ArchiveError, InputError


def archive_file() -> Path:
    """The file of the archive, be it there or not."""
    from platformdirs import user_data_path

    return user_data_path("unremember", appauthor=False) / "archive.db"


def open_archive(*, kept: bool = True, retention_days: int | None = None) -> Archive:
    """The user's archive; without `kept` one that is gone when the process ends.

    What was last used more than `retention_days` days ago is removed. Raises `ArchiveError`.
    """
    if not kept:
        return MemoryArchive()
    try:
        archive = SqliteArchive(archive_file())
    except ArchiveError as error:
        raise ArchiveError(f"{error}; or keep nothing, with --no-archive") from error
    if retention_days:
        moment = datetime.now(UTC) - timedelta(days=retention_days)
        # A purge rewrites the whole file, so it is done only where it has something to do.
        if any(info.last < moment for info in archive.conversations()):
            archive.purge(OlderThan(moment))
    return archive


def existing_archive() -> SqliteArchive:
    """The user's archive, which is not made. Raises `InputError` where there is none."""
    if not archive_file().is_file():
        raise InputError(f"there are no conversations: {archive_file()} does not exist")
    return SqliteArchive(archive_file())


def mains(archive: Archive) -> list[ConversationInfo]:
    """The conversations without those of sub-agents, the last used first."""
    return [info for info in archive.conversations() if not info.nth]


def find(archive: Archive, id: str | None, folder: Path) -> ConversationInfo:
    """The conversation that an id, or its beginning, names; for None the last one of `folder`.

    Raises `InputError` where there is none, or several.
    """
    known = mains(archive)
    if id is None:
        found = [info for info in known if info.cwd == str(folder)][:1]
        missing = f"no conversation was had in {folder}; `unremember ls --all` lists the others"
    else:
        found = [info for info in known if info.id.startswith(id)]
        missing = f"there is no conversation {id!r}; `unremember ls --all` lists them"
    if not found:
        raise InputError(missing)
    if len(found) > 1:
        raise InputError(f"{id!r} begins the ids of {len(found)} conversations; write more of it")
    return found[0]
