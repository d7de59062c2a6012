"""Notes: what the program puts into a history in place of what it forgot.

Inside the program notes are typed data. `render` is the one function that makes text of them.
`read_block` is its inverse, used for one thing only: a conversation that was compressed,
written in a foreign form and loaded again. The last line of a block is a small JSON object with
the next ordinal, the ordinals of the messages kept beside it, and a checksum of the text; a text
that does not match its checksum is no block. The text itself is the data, not a copy of it beside
the JSON: at small budgets a second copy would cost half of what can be remembered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, cast
from zlib import crc32

from unremember import ledger as ledgers
from unremember.concepts import Fact, FactState
from unremember.ledger import Ledger
from unremember.messages import Message, handle

OPEN = "<unremember-notes>"
CLOSE = "</unremember-notes>"
_NO_CLOSE = "<\\/unremember-notes>"

HEADING = (
    "Notes by the program, not by the user: earlier steps in excerpts, word for word; "
    "… marks gaps, …9 nine missing lines."
)
NAMES = "# Also seen"
GAP = "…"
"""Stands between two kept lines where lines are missing."""


Run = tuple[int, int]
"""Messages numbered without a gap: the ordinal of the first, and how many."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line kept word for word; `after_gap`: lines are missing before it, after the last one."""

    text: str
    after_gap: bool = False


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An old step, or one call of it: what was done and what came of it, and lines kept from it.

    `ordinal` is that of the step's first message, or of the call where a message had several;
    `title` is one line. `missing` is how many lines of it are not here, before, between and after
    the kept ones.
    """

    ordinal: int
    title: str
    excerpts: tuple[Excerpt, ...] = ()
    missing: int = 0

    @property
    def shows_call(self) -> bool:
        """Whether the first excerpt is the call as written, so that the title does not tell it."""
        return bool(self.excerpts) and (not self.title or self.title.startswith("→"))


@dataclass(frozen=True, slots=True)
class Notes:
    """What the program put into the history in place of what it forgot.

    `names` were seen in what is missing: an index for recall. The notes
    stand right before the first message whose ordinal is at least `before`. `kept` are the
    messages that stood beside them when they were written, the system's first, and `next` is the
    ordinal that was to come then.
    """

    outline: tuple[OutlineEntry, ...] = ()
    names: tuple[str, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    facts: tuple[Fact, ...] = ()
    before: int = 0
    kept: tuple[Run, ...] = ()
    next: int = 0

    def __bool__(self) -> bool:
        return bool(self.outline or self.names or self.ledger or self.facts)


def render(notes: Notes) -> str:
    """The notes as one tagged text, the same for the same notes."""
    body = "\n".join(_lines(notes))
    kept = ",".join(str(first) if n == 1 else f"{first}x{n}" for first, n in notes.kept)
    data = {"unremember": [1, notes.next, notes.before, kept, _checksum(body)]}
    return f"{OPEN}\n{body}\n{json.dumps(data, separators=(',', ':'))}\n{CLOSE}"


def read_block(text: str) -> Notes | None:
    """The inverse of `render` (but for the time of facts); None if `text` is no intact block."""
    if not (text.startswith(OPEN + "\n") and text.endswith("\n" + CLOSE)):
        return None
    body, _, last = text[len(OPEN) + 1 : -len(CLOSE) - 1].rpartition("\n")
    try:
        data: object = json.loads(last)
        version, following, before, kept, checksum = cast("dict[str, Any]", data)["unremember"]
        if (version, checksum) != (1, _checksum(body)):
            return None
        notes = _parse(body.split("\n"))
        return replace(notes, before=int(before), kept=tuple(_read_runs(kept)), next=int(following))
    except (ValueError, KeyError, TypeError):
        return None


def _checksum(text: str) -> str:
    return f"{crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def _fenced(line: str) -> str:
    """A line that cannot end the block, whatever a path or a command in it says."""
    return line.replace(CLOSE, _NO_CLOSE)


def _unfenced(line: str) -> str:
    return line.replace(_NO_CLOSE, CLOSE)


def may_stand_in_notes(line: str) -> bool:
    """Whether a line can be kept: it must not look like the end of the block."""
    return CLOSE not in line and "\n" not in line


def _lines(notes: Notes) -> Iterator[str]:
    yield HEADING
    for entry in notes.outline:
        missing = f" …{entry.missing}" if entry.missing else ""
        title = f" {entry.title}" if entry.title else ""
        yield f"{handle(entry.ordinal)}{title}{missing}"
        for excerpt in entry.excerpts:
            if excerpt.after_gap:
                yield GAP
            yield f" {excerpt.text}"
    if notes.names:
        yield NAMES
        yield " ".join(notes.names)
    if notes.ledger:
        yield "# Ledger"
        yield from map(_fenced, ledgers.lines(notes.ledger))
    if notes.facts:
        yield "# Facts"
        yield from (_fenced(_fact_line(fact)) for fact in notes.facts)


def _parse(lines: list[str]) -> Notes:
    if lines[0] != HEADING:
        raise ValueError("not written by this version")
    facts_at = _index(lines, "# Facts", 1)
    ledger_at = _index(lines[:facts_at], "# Ledger", 1)
    names_at = _index(lines[:ledger_at], NAMES, 1)
    recorded = [_unfenced(line) for line in lines[ledger_at + 1 : facts_at]]
    return Notes(
        outline=tuple(_parse_outline(lines[1:names_at])),
        names=tuple(" ".join(lines[names_at + 1 : ledger_at]).split()),
        ledger=ledgers.parse(recorded) if recorded else Ledger(),
        facts=tuple(_parse_fact(_unfenced(line)) for line in lines[facts_at + 1 :]),
    )


def _index(lines: list[str], wanted: str, start: int) -> int:
    return lines.index(wanted, start) if wanted in lines else len(lines)


_ENTRY = re.compile(r"m([0-9]+)(?: (?!…)(.*?))?(?: …([0-9]+))?", re.DOTALL)


def _parse_outline(lines: list[str]) -> Iterator[OutlineEntry]:
    entry: OutlineEntry | None = None
    excerpts: list[Excerpt] = []
    after_gap = False
    for line in lines:
        if line.startswith(" "):
            excerpts.append(Excerpt(line[1:], after_gap))
            after_gap = False
        elif line == GAP:
            after_gap = True
        elif found := _ENTRY.fullmatch(line):
            if entry:
                yield replace(entry, excerpts=tuple(excerpts))
            entry, excerpts = (
                OutlineEntry(int(found[1]), found[2] or "", missing=int(found[3] or 0)),
                [],
            )
        else:
            raise ValueError(line)
    if entry:
        yield replace(entry, excerpts=tuple(excerpts))


def _fact_line(fact: Fact) -> str:
    marks = [fact.state, *(() if fact.verified else ("unverified",)), *map(handle, fact.evidence)]
    text = json.dumps(fact.text, ensure_ascii=False)
    by = f" → {json.dumps(fact.superseded_by, ensure_ascii=False)}" if fact.superseded_by else ""
    return f"{json.dumps(fact.concept, ensure_ascii=False)} {text}{by} [{' '.join(marks)}]"


def _parse_fact(line: str) -> Fact:
    decoder = json.JSONDecoder()
    concept, end = decoder.raw_decode(line)
    text, end = decoder.raw_decode(line, end + 1)
    by = ""
    if line.startswith(" → ", end):
        by, end = decoder.raw_decode(line, end + 3)
    state, *marks = line[end + 2 : -1].split(" ")
    return Fact(
        concept=concept,
        text=text,
        evidence=tuple(int(mark[1:]) for mark in marks if mark != "unverified"),
        state=cast("FactState", state),
        verified="unverified" not in marks,
        superseded_by=by,
    )


def runs(messages: Iterable[Message]) -> tuple[Run, ...]:
    """Messages that are numbered without a gap, as (ordinal of the first, how many)."""
    found: list[Run] = []
    expected = 0
    for message in messages:
        if found and message.ordinal == expected:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((message.ordinal, 1))
        expected = message.ordinal + message.span
    return tuple(found)


def take_out(messages: Iterable[Message]) -> tuple[list[Message], Notes]:
    """Takes the newest notes out of loaded messages, and gives these the ordinals they had.

    Only a whole message that is an intact block is notes. Messages that came after the notes were
    written are numbered on from there; without notes nothing changes.
    """
    loaded = list(messages)
    for place in range(len(loaded) - 1, -1, -1):
        if notes := _notes_in(loaded[place]):
            firsts = [_ordinals(notes, early=True), _ordinals(notes, early=False)]
            numbered = _number(loaded[:place], firsts[0], 1)
            return [*numbered, *_number(loaded[place + 1 :], firsts[1], notes.next)], notes
    return loaded, Notes()


def _notes_in(message: Message) -> Notes | None:
    if message.role != "user" or len(message.parts) != 1 or not message.text.startswith(OPEN):
        return None
    return read_block(message.text)


def _ordinals(notes: Notes, *, early: bool) -> list[int]:
    """Of each kept message the ordinal where a run begins, else 0: it follows the one before."""
    return [
        first if index == 0 else 0
        for first, count in notes.kept
        if (first < notes.before) == early
        for index in range(count)
    ]


def _number(messages: list[Message], firsts: list[int], following: int) -> list[Message]:
    numbered: list[Message] = []
    ordinal = following
    for index, message in enumerate(messages):
        if index < len(firsts):
            ordinal = firsts[index] or ordinal
        elif index == len(firsts):
            ordinal = max(ordinal, following)
        numbered.append(replace(message, ordinal=ordinal))
        ordinal += message.span
    return numbered


def _read_runs(text: str) -> Iterator[Run]:
    for run in filter(None, text.split(",")):
        first, _, count = run.partition("x")
        yield int(first), int(count or 1)
