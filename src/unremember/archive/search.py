"""Full-text search: what of an entry can be found, and what counts as a hit. Pure.

An index of character triples only proposes candidates; whether a text is a hit is decided here on
the text itself. So a query is always literal, whatever it holds, and both archives find the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from unremember.archive.entries import CallFinished, Entry, Said
from unremember.messages import Message, Text, Thinking, ToolCall, ToolResult

AROUND = 80
"""Characters of a snippet before and after the hit."""

MOST_TRIPLES = 24
"""Of a long query that many, spread over it, propose candidates well enough."""

_BREAKS_INDEX = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Needle:
    """What to look for: a text counts when it holds all of `words`, in any case of letters."""

    words: tuple[str, ...]

    def match(self, text: str) -> re.Match[str] | None:
        """The first place of the first word if all are there."""
        first, *others = (re.search(re.escape(word), text, re.IGNORECASE) for word in self.words)
        return first if all(others) else None

    def triples(self) -> tuple[str, ...]:
        """Character triples that every hit holds; () when the index cannot help."""
        found = list(dict.fromkeys(t for word in self.words for t in _triples(indexable(word))))
        return tuple(found[:: len(found) // MOST_TRIPLES + 1])


def needles(query: str) -> tuple[Needle, ...]:
    """What to look for, one after the other until something is found: the query, then its words."""
    whole, words = query.strip(), tuple(dict.fromkeys(query.split()))
    if not whole:
        return ()
    return (Needle((whole,)), Needle(words)) if len(words) > 1 else (Needle((whole,)),)


def _triples(word: str) -> Iterator[str]:
    return (word[i : i + 3] for i in range(len(word) - 2))


def indexable(text: str) -> str:
    """A text as the index can take it: it stops at NUL and does not know lone surrogates."""
    return _BREAKS_INDEX.sub("\ufffd", text)


def texts(entry: Entry) -> Iterator[tuple[int, str]]:
    """What can be found in an entry, each text with its ordinal."""
    match entry:
        case Said(message):
            if own := _own_text(message):
                yield message.ordinal, own
            for ordinal, part in message.numbered_parts():
                yield ordinal, _part_text(part)
        case CallFinished(result, ordinal):
            yield ordinal, result.text
        case _:
            pass


def _own_text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text | Thinking))


def _part_text(part: ToolCall | ToolResult) -> str:
    return part.text if isinstance(part, ToolResult) else f"{part.name} {part.arguments}"


def hits(entry: Entry, needle: Needle) -> Iterator[tuple[int, str]]:
    """The hits in an entry: ordinal and snippet."""
    for ordinal, text in texts(entry):
        if found := needle.match(text):
            yield ordinal, snippet(text, found.start(), found.end())


def snippet(text: str, start: int, end: int) -> str:
    """The text around a hit, on one line; … marks what is missing."""
    first, last = max(0, start - AROUND), min(len(text), end + AROUND)
    shown = " ".join(text[first:last].split())
    return f"{'…' if first else ''}{shown}{'…' if last < len(text) else ''}"
