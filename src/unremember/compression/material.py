"""What a history is made of, line by line: candidates to keep, and what is known of their terms.

Every old text is split into lines, over-long ones at sentences. Each distinct line counts once, at
its newest place: an older read of a file that was read again later so costs nothing, and only the
lines that changed in between remain of it. A *term* is a name, a word or a number in a line; what
happened to it (used in calls, first said by whom, seen how long ago) tells how likely it will be
needed again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, cast

from unremember.history import Step
from unremember.messages import Message, Text, ToolCall, ToolResult
from unremember.notes import Notes, OutlineEntry, may_stand_in_notes

LONG = 400
"""Characters above which a line is split, at a sentence where there is one."""

SHORTEST = 2
"""Characters of the shortest line that is looked at."""

_WORD = r"[^\W\u3040-\u30ff\u3400-\u9fff]+"
_TERM = re.compile(rf"{_WORD}(?:[.\-/]+{_WORD})*|[\u3040-\u30ff\u3400-\u9fff]+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Origin(IntEnum):
    """Who wrote a line."""

    AGENT = 0
    CALL = 1
    RESULT = 2
    USER = 3
    OTHER = 4


@dataclass(slots=True)
class Entry:
    """A possible entry of the outline: the words of a message, or a call with its result.

    `main` is the line that says what was done (-1: none of its own); `length` is in lines. `heads`
    are its opening lines, with and without the main line, once they were needed.
    """

    ordinal: int
    step: int
    origin: Origin
    call: ToolCall | None = None
    result: ToolResult | None = None
    message: Message | None = None
    old: OutlineEntry | None = None
    main: int = -1
    length: int = 0
    heads: dict[bool, str] = field(default_factory=dict[bool, str])


@dataclass(slots=True)
class Term:
    """What is known of a term. Steps are counted from 0, the oldest.

    `noted`: an earlier compression, which knew more of what it forgot, found it worth keeping.
    """

    text: str
    last: int
    lines: int = 0
    calls: int = 0
    last_call: int = -1
    first: int = 0
    first_origin: Origin = Origin.OTHER
    by_user: bool = False
    noted: bool = False


@dataclass(slots=True)
class Material:
    """Candidate lines as parallel lists, oldest entry first where it matters, and all terms.

    `texts[i]` stands in `entries[entry[i]]` at line `place[i]` and holds the terms `terms[i]`.
    `covered` are the terms of what stays whole anyway.
    """

    steps: int
    entries: list[Entry] = field(default_factory=list[Entry])
    texts: list[str] = field(default_factory=list[str])
    entry: list[int] = field(default_factory=list[int])
    place: list[int] = field(default_factory=list[int])
    origin: list[Origin] = field(default_factory=list[Origin])
    terms: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    known: list[Term] = field(default_factory=list[Term])
    ids: dict[str, int] = field(default_factory=dict[str, int])
    covered: set[int] = field(default_factory=set[int])


def gather(steps: Sequence[Step], notes: Notes, whole: set[int]) -> Material:
    """All lines of `steps` and earlier `notes`; `whole` are the ordinals of messages that stay."""
    outline = notes.outline
    material = Material(steps=len(outline) + len(steps))
    collector = _Collector(material, whole)
    for index in range(len(steps) - 1, -1, -1):
        collector.step(steps[index], len(outline) + index)
    for index in range(len(outline) - 1, -1, -1):
        collector.outline(outline[index], index)
    collector.names(notes.names)
    return material


class _Collector:
    """Walks from the newest text to the oldest: the first place a line is met is its newest."""

    def __init__(self, material: Material, whole: set[int]) -> None:
        self.material = material
        self.whole = whole
        self.seen: dict[str, tuple[int, ...]] = {}
        self.tokens: dict[str, tuple[int, ...]] = {}

    def step(self, step: Step, index: int) -> None:
        results = {
            result.call_id: (result, message.ordinal in self.whole)
            for message in step.messages
            for result in message.results
        }
        for message in reversed(step.messages):
            stays = message.ordinal in self.whole
            for ordinal, part in reversed(list(message.numbered_parts())):
                if isinstance(part, ToolCall):
                    result, whole = results.get(part.id, (None, True))
                    self._call(part, ordinal, result, index, stays, whole)
            self._words(message, index, stays)

    def outline(self, old: OutlineEntry, index: int) -> None:
        """What an earlier compression kept of a step; who wrote its lines shows in its title."""
        origin = {"agent": Origin.AGENT, "user": Origin.USER, "program": Origin.OTHER}.get(
            old.title
        )
        number = self._open(Entry(old.ordinal, index, origin or Origin.CALL, old=old))
        place = -1
        lines: list[tuple[int, str]] = []
        for excerpt in old.excerpts:
            place += 2 if excerpt.after_gap else 1
            lines.append((place, excerpt.text))
        self.material.entries[number].length = len(lines) + old.missing
        if origin is not None:
            self._lines(lines, number, origin, stays=False)
        else:
            calls = 1 if old.shows_call else 0
            self._lines(lines[calls:], number, Origin.RESULT, stays=False)
            main = len(self.material.texts)
            self._lines(lines[:calls], number, Origin.CALL, stays=False)
            if len(self.material.texts) > main:
                self.material.entries[number].main = main
        for _, line in lines:
            for term in self.seen.get(line.strip(), ()):
                self.material.known[term].noted = True

    def names(self, names: Iterable[str]) -> None:
        """The index of an earlier compression."""
        for name in names:
            for term in self._terms(name, 0):
                self.material.known[term].noted = True

    def _call(
        self,
        call: ToolCall,
        ordinal: int,
        result: ToolResult | None,
        index: int,
        stays: bool,
        result_stays: bool,
    ) -> None:
        """A call with its result; either may stay whole while the other is cut."""
        number = self._open(Entry(ordinal, index, Origin.CALL, call=call, result=result))
        entry = self.material.entries[number]
        said = list(split_lines(call_text(call)))
        got = list(split_lines(result.text)) if result else []
        entry.length = len(said) + len(got)
        self._lines(list(enumerate(got, len(said))), number, Origin.RESULT, result_stays)
        first = len(self.material.texts)
        self._lines(list(enumerate(said)), number, Origin.CALL, stays)
        if len(self.material.texts) > first and said and self.material.place[first] == 0:
            entry.main = first

    def _words(self, message: Message, index: int, stays: bool) -> None:
        text = message.text
        if not text.strip():
            return
        origin = Origin.OTHER
        if message.role == "assistant":
            origin = Origin.AGENT
        elif message.kind == "said":
            origin = Origin.USER
        number = self._open(Entry(message.ordinal, index, origin, message=message))
        lines = list(enumerate(split_lines(text)))
        self.material.entries[number].length = len(lines)
        self._lines(lines, number, origin, stays)

    def _open(self, entry: Entry) -> int:
        self.material.entries.append(entry)
        return len(self.material.entries) - 1

    def _lines(
        self, lines: list[tuple[int, str]], number: int, origin: Origin, stays: bool
    ) -> None:
        """Takes in lines that were not met before, and brings their terms up to date."""
        material, seen = self.material, self.seen
        step = material.entries[number].step
        touched: set[int] = set()
        for place, line in lines:
            key = line.strip()
            if len(key) < SHORTEST:
                continue
            terms = seen.get(key)
            if terms is None:
                terms = seen[key] = self._terms(key, step)
                if not stays and may_stand_in_notes(line):
                    material.texts.append(line)
                    material.entry.append(number)
                    material.place.append(place)
                    material.origin.append(origin)
                    material.terms.append(terms)
            touched.update(terms)
        if stays:
            material.covered.update(touched)
        self._touch(touched, step, origin)

    def _terms(self, line: str, step: int) -> tuple[int, ...]:
        """The terms of a new line; terms met for the first time become known."""
        known, tokens = self.material.known, self.tokens
        found: set[int] = set()
        for token in _TERM.findall(line):
            terms = tokens.get(token)
            if terms is None:
                terms = tokens[token] = tuple(self._known(t, step) for t in _terms_in(token))
            found.update(terms)
        for term in found:
            known[term].lines += 1
        return tuple(found)

    def _known(self, text: str, step: int) -> int:
        """The number of a term."""
        ids, known = self.material.ids, self.material.known
        term = ids.get(text)
        if term is None:
            term = ids[text] = len(known)
            known.append(Term(text, step))
        return term

    def _touch(self, terms: set[int], step: int, origin: Origin) -> None:
        """One text more, older than those before, that holds these terms."""
        known = self.material.known
        for term in terms:
            about = known[term]
            about.first, about.first_origin = step, origin
            if origin is Origin.CALL:
                about.calls += 1
                about.last_call = max(about.last_call, step)
            elif origin is Origin.USER:
                about.by_user = True


def terms_of(line: str) -> list[str]:
    """The distinct terms of a line, in the same order for the same line.

    Names and words as they stand; of a dotted name its last part too; of a path its last part and
    its last two; pairs of signs in scripts without spaces.
    """
    return list(dict.fromkeys(term for token in _TERM.findall(line) for term in _terms_in(token)))


def _terms_in(token: str) -> list[str]:
    """The terms that one token stands for."""
    if _CJK.match(token):
        return [token[i : i + 2] for i in range(max(1, len(token) - 1))]
    terms: list[str] = []
    if "/" in token:
        before, _, token = token.rpartition("/")
        terms.append(f"{before.rpartition('/')[2]}/{token}")
    terms.append(token)
    if "." in token:
        terms.append(token.rpartition(".")[2])
    return terms


def split_lines(text: str) -> Iterator[str]:
    """The lines of a text; over-long ones in pieces that together are the line."""
    for line in text.split("\n"):
        if len(line) <= LONG:
            yield line
        else:
            yield from _pieces(line)


def _pieces(line: str) -> Iterator[str]:
    start = 0
    while len(line) - start > LONG:
        end = start + LONG
        for sign in (". ", "。", "; ", ", ", ",", " "):
            cut = line.rfind(sign, start + LONG // 3, end)
            if cut > 0:
                end = cut + len(sign)
                break
        yield line[start:end]
        start = end
    yield line[start:]


def call_text(call: ToolCall) -> str:
    """A call as it is read: the tool's name and its arguments, each on lines of its own."""
    return " ".join((call.name, "\n".join(leaves(call)))).rstrip()


def leaves(call: ToolCall) -> list[str]:
    """The texts among a call's arguments, in order; other values as JSON."""
    return list(_leaves(call.parsed()))


def _leaves(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in cast("dict[str, Any]", value).values():
                yield from _leaves(inner)
        case list():
            for inner in cast("list[Any]", value):
                yield from _leaves(inner)
        case _:
            yield json.dumps(value, ensure_ascii=False)


def words_of(message: Message) -> Message | None:
    """What a user typed in a message without the tool results beside it; None if nothing."""
    parts = tuple(part for part in message.parts if not isinstance(part, ToolResult))
    if not any(not isinstance(part, Text) or part.text.strip() for part in parts):
        return None
    if len(parts) == len(message.parts):
        return message
    return Message(
        message.role, parts, message.ordinal, message.id, message.at, message.kind, message.pinned
    )
