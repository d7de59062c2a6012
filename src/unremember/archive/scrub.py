"""What a purge of handles leaves of each entry. Pure.

A purged message stays in place, without its content: calls and results still pair, and ordinals
keep their meaning. From what was derived (notes, ledger, facts, summaries, titles) goes all that
names a purged ordinal, and each line that holds a word which only the purged texts had.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from unremember.archive.base import ConversationInfo
from unremember.archive.entries import (
    CallFinished,
    Compressed,
    Entry,
    Failed,
    Logged,
    Opened,
    Reached,
    Said,
)
from unremember.archive.lineage import past, root, tree
from unremember.archive.search import texts
from unremember.archive.view import ordinals_of, said
from unremember.concepts import Fact
from unremember.errors import UnknownHandle
from unremember.history import split_steps
from unremember.messages import Message, Part, Text, ToolCall, ToolResult, handle
from unremember.notes import OutlineEntry

PURGED = "[purged]"
"""Stands where something was that the user removed for good."""

Own = Callable[[str], Iterable[Logged]]
"""Gives the entries that a conversation itself holds, without a shared past."""

Changes = dict[str, dict[int, Entry]]
"""Entries to put in place of others, by conversation and number."""

_T = TypeVar("_T")

_WORD = re.compile(r"\w{4,}")
# These scripts put no spaces between words, or join particles to them: pairs of characters count.
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


@dataclass(frozen=True, slots=True)
class _Gone:
    """What is to be removed, as seen from one conversation.

    `ordinals` are purged, `steps` are those of the steps that they belong to, `standing` those of
    messages that stay, `words` are in purged texts and in nothing that stays.
    """

    ordinals: frozenset[int]
    steps: frozenset[int]
    standing: frozenset[int]
    words: frozenset[str]

    def taints(self, text: str) -> bool:
        return not words_of(text).isdisjoint(self.words)


def words_of(text: str) -> set[str]:
    """The words that may tell what a text was about: of four letters, or two East Asian ones."""
    folded = text.casefold()
    found = set(_WORD.findall(folded))
    for run in _EAST_ASIAN.findall(folded):
        found |= {run[i : i + 2] for i in range(len(run) - 1)}
    return found


def plan(infos: Mapping[str, ConversationInfo], own: Own, id: str, ordinals: range) -> Changes:
    """What to put in place of which entries, to purge `ordinals` of the conversation `id`.

    Entries that forks share are changed where they are, and what each fork derived from them too.
    Raises `UnknownHandle` when the ordinals name nothing.
    """
    family = [each for each in tree(infos, root(infos, id)) if root(infos, each) == root(infos, id)]
    logs = {each: list(own(each)) for each in family}
    targets = {
        (owner, item.number): hit
        for owner, upto in past(infos, id)
        for item in logs[owner]
        if item.number <= upto and (hit := _hit(item.entry, ordinals))
    }
    if not targets:
        raise UnknownHandle(f"{span_label(ordinals)} names nothing in conversation {id!r}")
    changes: Changes = {}
    for each in family:
        pieces = dict(past(infos, each))
        shared = {k: hit for k, hit in targets.items() if k[1] <= pieces.get(k[0], 0)}
        if shared:
            changes[each] = _changed(each, logs, pieces, shared)
    return changes


def span_label(ordinals: range) -> str:
    """A range of ordinals as handles: `m41` or `m41-m45`."""
    first, last = handle(ordinals[0]), handle(ordinals[-1])
    return first if first == last else f"{first}-{last}"


def _changed(
    id: str,
    logs: Mapping[str, list[Logged]],
    pieces: Mapping[str, int],
    shared: Mapping[tuple[str, int], set[int]],
) -> dict[int, Entry]:
    seen = [item for owner, upto in pieces.items() for item in logs[owner] if item.number <= upto]
    gone = _gone(seen, frozenset(ordinal for hit in shared.values() for ordinal in hit))
    changed: dict[int, Entry] = {}
    for item in logs[id]:
        hit = shared.get((id, item.number), set[int]())
        entry = _scrubbed(item.entry, gone, hit)
        if entry != item.entry or hit:
            changed[item.number] = entry
    return changed


def _gone(seen: Sequence[Logged], ordinals: frozenset[int]) -> _Gone:
    purged: set[str] = set()
    remaining: set[str] = set()
    for item in seen:
        for ordinal, text in texts(item.entry):
            (purged if ordinal in ordinals else remaining).update(words_of(text))
    spoken = said(seen).values()
    steps = (range(step.ordinal, step.end) for step in split_steps(spoken))
    return _Gone(
        ordinals=ordinals,
        steps=frozenset(o for step in steps if not ordinals.isdisjoint(step) for o in step),
        standing=frozenset(o for o in _named(seen) if o not in ordinals),
        words=frozenset(purged - remaining),
    )


def _named(seen: Sequence[Logged]) -> Iterator[int]:
    """The ordinals of all that was said; a compression says nothing."""
    for item in seen:
        if not isinstance(item.entry, Compressed):
            yield from (first for first, _ in ordinals_of(item.entry))


def _hit(entry: Entry, ordinals: range) -> set[int]:
    """Which of `ordinals` an entry names; that of a message stands for all of it."""
    match entry:
        case Said(message) if message.ordinal in ordinals:
            return set(range(message.ordinal, message.ordinal + message.span))
        case _:
            named = {o for first, span in ordinals_of(entry) for o in range(first, first + span)}
            return named & set(ordinals)


def _scrubbed(entry: Entry, gone: _Gone, hit: Collection[int]) -> Entry:
    match entry:
        case Said(message) if hit:
            return Said(scrub_message(message, hit))
        case CallFinished(result) if hit:
            return replace(entry, result=_scrub_result(result), shown=None)
        case Compressed():
            return _scrub_compression(entry, gone)
        case Failed(what, why):
            return Failed(what, _scrub_lines(why, gone))
        case Reached(point):
            # What it would go on with tells of what is gone: the run begins anew instead.
            return Reached("" if gone.taints(point) else point)
        case Opened(title=title):
            return replace(entry, title="" if gone.taints(title) else title)
        case _:
            return entry


def scrub_message(message: Message, ordinals: Collection[int]) -> Message:
    """A message without the content of what `ordinals` name; calls and results keep their ids."""
    numbers = {id(part): ordinal for ordinal, part in message.numbered_parts()}
    whole = message.ordinal in ordinals and not message.is_single_result
    parts: list[Part] = []
    for part in message.parts:
        if not whole and numbers.get(id(part)) not in ordinals:
            parts.append(part)
            continue
        match part:
            case ToolCall():
                parts.append(replace(part, arguments="{}"))
            case ToolResult():
                parts.append(_scrub_result(part))
            case _:
                if Text(PURGED) not in parts:
                    parts.append(Text(PURGED))
    if tuple(parts) == message.parts:
        return message
    # What stands there now is no user's word, and need not be kept like one.
    kind = "program" if whole and message.role == "user" else message.kind
    return replace(message, parts=tuple(parts), kind=kind, source=None)


def _scrub_result(result: ToolResult) -> ToolResult:
    return replace(result, content=(Text(PURGED),))


def _scrub_compression(entry: Compressed, gone: _Gone) -> Compressed:
    return replace(
        entry,
        system=tuple(_scrub_kept(item, gone) for item in entry.system),
        messages=tuple(_scrub_kept(item, gone) for item in entry.messages),
        notes=_scrub_derived(entry.notes, gone),
        reason=_scrub_lines(entry.reason, gone),
    )


def _scrub_kept(item: _T, gone: _Gone) -> _T:
    """A message that a compression holds whole; a run stays as it is."""
    if not isinstance(item, Message):
        return item
    if item.ordinal in gone.standing:
        # A shortened copy of something that stays: all its words are there anyway.
        return cast("_T", scrub_message(item, gone.ordinals))
    return cast("_T", _map_texts(scrub_message(item, gone.ordinals), gone))


def _map_texts(message: Message, gone: _Gone) -> Message:
    def scrub(value: Any) -> Any:
        match value:
            case str():
                return _scrub_lines(value, gone)
            case tuple():
                return tuple(map(scrub, cast("tuple[Any, ...]", value)))
            case ToolCall(arguments=arguments):
                return replace(value, arguments="{}") if gone.taints(arguments) else value
            case ToolResult(content=content):
                return replace(value, content=scrub(content))
            case _ if hasattr(value, "text"):
                return replace(value, text=scrub(value.text))
            case _:
                return value

    parts = scrub(message.parts)
    return message if parts == message.parts else replace(message, parts=parts, source=None)


def _scrub_lines(text: str, gone: _Gone) -> str:
    return "\n".join(PURGED if gone.taints(line) else line for line in text.split("\n"))


def _scrub_derived(value: _T, gone: _Gone) -> _T:
    """A value of dataclasses and tuples, without the items that tell something purged.

    This knows no kind of note or ledger by name, so that a new kind is never forgotten here.
    """
    if isinstance(value, str):
        return cast("_T", _scrub_lines(value, gone))
    if isinstance(value, tuple):
        items = cast("tuple[Any, ...]", value)
        return cast("_T", tuple(_scrub_derived(i, gone) for i in items if not _tells(i, gone)))
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value)}
        new = {name: _scrub_derived(item, gone) for name, item in old.items()}
        return value if new == old else cast("_T", replace(cast("Any", value), **new))
    return value


def _tells(item: object, gone: _Gone) -> bool:
    """Whether an item of a list has to go as a whole."""
    match item:
        case str():
            return gone.taints(item)
        case Fact() if not gone.ordinals.isdisjoint(item.evidence):
            return True
        case OutlineEntry() if item.ordinal in gone.steps:
            return True
        case _ if is_dataclass(item):
            values = {field.name: getattr(item, field.name) for field in fields(item)}
            return values.get("ordinal") in gone.ordinals or any(
                gone.taints(value) for value in values.values() if isinstance(value, str)
            )
        case _:
            return False
