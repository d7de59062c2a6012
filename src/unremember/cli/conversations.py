"""`unremember ls` and `unremember purge`: what is kept, and removing it for good."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from unremember.archive import ConversationInfo, OlderThan, WholeConversation
from unremember.cli.output import one_line, put, say
from unremember.cli.screen import cut, plural, width
from unremember.cli.store import existing_archive, find, mains
from unremember.errors import InputError


def ls(*, everywhere: bool) -> int:
    """Lists the conversations of this folder, or all of them, the last used first."""
    folder = str(Path.cwd())
    with existing_archive() as archive:
        found = [info for info in mains(archive) if everywhere or info.cwd == folder]
    if not found:
        say("no conversation was had in this folder; --all lists those of others")
    put("".join(_row(info, everywhere) + "\n" for info in found), sys.stdout)
    return 0


def _row(info: ConversationInfo, everywhere: bool) -> str:
    last = info.last.astimezone().strftime("%Y-%m-%d %H:%M")
    fork = " (fork)" if info.forked_at else ""
    where = f" · {info.cwd}" if everywhere else ""
    return cut(one_line(f"{info.id}  {last}  {info.title}{fork}{where}"), width())


def purge(id: str | None, older_than: int | None, *, yes: bool) -> int:
    """Removes a conversation, or all unused for so many days, with forks and sub-agents."""
    if (id is None) == (older_than is None):
        raise InputError("name one conversation, or --older-than DAYS; unremember ls lists them")
    with existing_archive() as archive:
        if id is not None:
            info = find(archive, id, Path.cwd())
            what, named = WholeConversation(info.id), f"{info.id} ({info.title})"
        else:
            what = OlderThan(datetime.now(UTC) - timedelta(days=older_than or 0))
            named = f"every conversation unused for {plural(older_than or 0, 'day')}"
        if not (yes or _sure(named)):
            return 1
        say(f"{plural(archive.purge(what), 'entry').replace('entrys', 'entries')} removed for good")
    return 0


def _sure(named: str) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError("there is no terminal to ask at; add --yes to remove it for good")
    sys.stderr.write(f"Remove {one_line(named)} for good, with its forks? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
