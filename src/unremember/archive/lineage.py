"""How conversations hang together: forks share a past, sub-agents belong to a parent. Pure.

A fork holds only its own entries; its past are the first entries of its parent. Sub-agents are
counted over a conversation and all forks of it, so that `a3` names the same one in each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from unremember.archive.base import ConversationInfo, Handles
from unremember.errors import ArchiveError, InputError, UnknownHandle
from unremember.messages import parse_handle

Infos = Mapping[str, ConversationInfo]

Scope = Mapping[str, tuple[int, str]]
"""Where a search looks: whose entries, up to which number, and the prefix of their handles."""


def named(infos: Infos, id: str) -> ConversationInfo:
    """The conversation `id`. Raises `ArchiveError` when there is none."""
    if id not in infos:
        raise unknown(id)
    return infos[id]


def unknown(id: str) -> ArchiveError:
    """The error for a conversation that is not there."""
    return ArchiveError(
        f"no conversation {id!r} in this archive: it was purged, or did not begin with Opened"
    )


def check_fork(info: ConversationInfo, at: int) -> None:
    """Raises `InputError` when `info` has no entry `at` to fork from."""
    if not 1 <= at <= info.entries:
        raise InputError(
            f"conversation {info.id!r} has no entry {at} to fork from; its last is {info.entries}"
        )


def past(infos: Infos, id: str) -> list[tuple[str, int]]:
    """Where the entries of a conversation are: (whose, up to which number), the oldest first."""
    info = named(infos, id)
    upto = info.entries
    pieces = [(id, upto)]
    while info.forked_at:
        upto = min(upto, info.forked_at)
        info = infos[info.parent]
        pieces.append((info.id, upto))
    return pieces[::-1]


def root(infos: Infos, id: str) -> str:
    """The conversation that `id` was forked from in the end; itself if it is no fork."""
    return past(infos, id)[0][0]


def children(infos: Infos, id: str) -> dict[int, str]:
    """The sub-agents of a conversation and of all forks of its root, by number."""
    family = root(infos, id)
    return {
        info.nth: info.id
        for info in infos.values()
        if info.nth and info.parent in infos and root(infos, info.parent) == family
    }


def reach(infos: Infos, id: str, prefix: str = "") -> Iterator[tuple[str, int, str]]:
    """All that handles of a conversation can name: (whose, up to which number, handle's prefix)."""
    for owner, upto in past(infos, id):
        yield owner, upto, prefix
    for nth, child in sorted(children(infos, id).items()):
        yield from reach(infos, child, f"{prefix}a{nth}.")


def scope(infos: Infos, id: str | None) -> Scope:
    """Where a search looks: everywhere, or in what handles of the conversation `id` can name."""
    if id is None:
        return {each: (info.entries, "") for each, info in infos.items()}
    found: dict[str, tuple[int, str]] = {}
    for owner, upto, prefix in reach(infos, id):
        # A sub-agent's fork shares its past: keep the widest view, which comes first.
        found.setdefault(owner, (upto, prefix))
    return found


_CHILD = re.compile(r"a([1-9]\d{0,8})\.")


def resolve(infos: Infos, id: str, handle: str) -> tuple[str, int]:
    """The conversation and the ordinal that a handle such as `m41` or `a3.m41` names.

    Raises `UnknownHandle` when it is no handle, or names no sub-agent.
    """
    rest = handle.strip()
    owner = named(infos, id).id
    while found := _CHILD.match(rest):
        child = children(infos, owner).get(int(found[1]))
        if child is None:
            raise UnknownHandle(f"{handle} names a sub-agent that is not in conversation {id!r}")
        owner, rest = child, rest[found.end() :]
    ordinal = parse_handle(rest)
    if ordinal is None:
        raise UnknownHandle(f"{handle!r} is no handle; handles look like m41 or a3.m41")
    return owner, ordinal


def resolve_range(infos: Infos, what: Handles) -> tuple[str, range]:
    """The conversation and the ordinals that are to be purged.

    Raises `InputError` when the handles are of different conversations or in the wrong order.
    """
    owner, first = resolve(infos, what.conversation, what.first)
    other, last = resolve(infos, what.conversation, what.last)
    if owner != other or last < first:
        raise InputError(f"{what.first} to {what.last} is no range of one conversation")
    return owner, range(first, last + 1)


def tree(infos: Infos, id: str) -> list[str]:
    """A conversation and all that hang on it: sub-agents, forks, and theirs."""
    hanging = [other.id for other in infos.values() if other.parent == id]
    return [id, *(each for other in hanging for each in tree(infos, other))]


def expired(infos: Infos, moment: datetime) -> list[str]:
    """Conversations last used before `moment`, if that is true of all that hang on them too."""
    tops = [info.id for info in infos.values() if info.parent not in infos]
    trees = (tree(infos, top) for top in tops)
    return [id for ids in trees if all(infos[i].last < moment for i in ids) for id in ids]
