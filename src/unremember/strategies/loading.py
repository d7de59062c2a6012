"""Bringing a session to what its conversation is in the archive."""

from __future__ import annotations

import json
from collections.abc import Iterable

from unremember.archive import CallFinished, Logged, Reached, said, settle, view
from unremember.strategies.graph import ResumePoint
from unremember.strategies.session import Session


def load(session: Session) -> ResumePoint | None:
    """Takes the history of the session's conversation from the archive.

    Calls that were started and not finished get their failed results first. Gives where the
    strategy was when it was interrupted; None if it had ended, or saved no resume point. Raises
    `ArchiveError` for a conversation that is not there.
    """
    archive, name = session.record.archive, session.record.conversation
    entries = list(archive.entries(name))
    if open_ends := settle(entries):
        archive.append(name, *open_ends)
        entries = list(archive.entries(name))
    session.history = view(entries)
    everything = said(entries)
    stays = (*session.history.system, *session.history.messages)
    session.said = {m.ordinal: m for m in stays if everything.get(m.ordinal) == m}
    session.whole.clear()
    session.whole |= _seen_whole(entries) & session.said.keys()
    for message in everything.values():
        for call in message.calls:
            session.instructions.touch(call)
    session.refresh()
    return _last_point(entries)


def _seen_whole(entries: Iterable[Logged]) -> set[int]:
    """The ordinals of results that entered the history as they were."""
    finished = (item.entry for item in entries)
    return {e.ordinal for e in finished if isinstance(e, CallFinished) and e.shown is None}


def _last_point(entries: Iterable[Logged]) -> ResumePoint | None:
    points = [item.entry.point for item in entries if isinstance(item.entry, Reached)]
    if not points or not points[-1]:
        return None
    return ResumePoint(tuple((name, value) for name, value in json.loads(points[-1])))
