"""Shortening what a user wrote: head, tail, and between them the sentences that state a rule."""

from __future__ import annotations

from dataclasses import replace

from unremember.compression.clip import CountText, clip_characters, largest, mark, most
from unremember.compression.rules import is_rule, sentences
from unremember.messages import Media, Message, Native, Text
from unremember.tokens import Weigher, weigh_media

ENDS = 90
"""Characters of head and of tail where there is room; then two thirds of that, and so on."""

SMALL_GAP = 40
"""Characters below which a gap is filled: its mark would be as long."""

Span = tuple[int, int]
"""Where a passage of a text begins and ends, in characters."""


def shorten(message: Message, limit: int, weigh: Weigher, *, full: bool = False) -> Message:
    """A user's message of at most about `limit` tokens: head, rules, tail; marks name its handle.

    With `full` head and tail grow until the limit is used up.
    """
    media = tuple(part for part in message.parts if isinstance(part, Media))
    fixed = weigh.message(replace(message, parts=(Text(""),)))
    pictures = sum(map(weigh_media, media))
    left_out = ""
    if pictures > limit // 2:
        left_out = mark(len(media), "attachments", message.ordinal)
        media, pictures = (), weigh.text(left_out)
    room = max(0, limit - fixed - pictures)
    text = shorten_text(message.text, room, weigh.text, message.ordinal, full=full)
    texts = "\n".join(filter(None, (text, left_out)))
    parts = (*((Text(texts),) if texts else ()), *media)
    source = message.source and Native(message.source.format, None)
    return replace(message, parts=parts, source=source)


def shorten_text(
    text: str, limit: int, count: CountText, ordinal: int, *, full: bool = False
) -> str:
    """At most `limit` tokens of a user's text: head, tail, and between them sentences with rules.

    Rules are taken from the first on while they fit. What is between them is marked. A limit too
    small for both ends gives as many characters of them as fit, and at least the mark.
    """
    text = text.strip()
    if count(text) <= limit:
        return text

    def fits(spans: list[Span]) -> bool:
        return count(_spliced(text, spans, ordinal)) <= limit

    ends = next((size for size in (ENDS, ENDS * 2 // 3, ENDS // 3) if fits(_ends(text, size))), 0)
    if not ends:
        return largest(lambda keep: clip_characters(text, keep, ordinal), ENDS, limit, count)
    rules = _rules(text)
    kept = most(len(rules), lambda number: fits([*_ends(text, ends), *rules[:number]]))
    spans = rules[:kept]
    if full:
        ends += most(len(text) // 2, lambda more: fits([*_ends(text, ends + more), *spans]))
    return _spliced(text, [*_ends(text, ends), *spans], ordinal)


def _ends(text: str, size: int) -> list[Span]:
    """Head and tail of a text, of about `size` characters each."""
    tail = _edge(text[: -2 * size - 1 : -1], size)
    return [(0, _edge(text[: 2 * size], size)), (len(text) - tail, len(text))]


def _edge(text: str, least: int) -> int:
    """Where a head ends: at the end of the line or word after its first `least` characters."""
    for sign in ("\n", " "):
        cut = text.find(sign, least)
        if cut > 0:
            return cut
    return min(len(text), least)


def _rules(text: str) -> list[Span]:
    """Where the sentences of `text` that state a rule begin and end."""
    spans: list[Span] = []
    start = 0
    for line in text.split("\n"):
        at = 0
        for sentence in sentences(line):
            at = line.index(sentence, at)
            if is_rule(sentence):
                spans.append((start + at, start + at + len(sentence)))
            at += len(sentence)
        start += len(line) + 1
    return spans


def _spliced(text: str, spans: list[Span], ordinal: int) -> str:
    """The passages of `text` in order; small gaps are filled, others marked.

    The first mark says how much is missing in all and names the handle; further gaps are one sign.
    """
    passages: list[Span] = []
    for start, end in sorted(spans):
        if passages and start - passages[-1][1] <= SMALL_GAP:
            passages[-1] = (passages[-1][0], max(end, passages[-1][1]))
        else:
            passages.append((start, end))
    missing = len(text) - sum(end - start for start, end in passages)
    if passages == [(0, len(text))] or not missing:
        return text
    first, *others = (text[start:end].strip("\n") for start, end in passages)
    begin = f"{first}\n{mark(missing, 'characters', ordinal)}\n{others[0]}"
    return "\n…\n".join([begin, *others[1:]])
