"""What of the user's words stays (rule R3), and how much of the target it may take.

User messages share up to half the target. The first and the latest come first, then sentences
that state a rule, then the rest, newest first. A message too big for its share keeps its head, its
tail and its rules; one that does not fit at all becomes a line of the outline with its handle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from unremember.compression.clip import clip_text, mark
from unremember.compression.material import words_of
from unremember.compression.rules import is_rule, sentences
from unremember.history import is_pin
from unremember.messages import Media, Message, Text
from unremember.tokens import Weigher, weigh_media

SHARE = 5
"""A message heavier than one part in so many of the target is cut to that, unless all fit whole."""

HEAD_AND_TAIL = 60
"""Tokens that a message cut to head and tail takes, with its mark."""

ENDS = 90
"""Characters of head and of tail at least."""

SMALL_GAP = 40
"""Characters below which a gap is filled: its mark would be as long."""

LEAST = 24
"""Tokens below which a cut message says nothing; then it becomes a line of the outline."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """What became of pins: messages that stay (by ordinal), cut where `cut` names them.

    `dropped` are those that did not fit; `tokens` is the weight of what stays, of `pool` allowed.
    """

    stay: dict[int, Message]
    cut: dict[int, int]
    dropped: tuple[Message, ...]
    tokens: int
    pool: int


def keep_pins(messages: Sequence[Message], pool: int, target: int, weigh: Weigher) -> Pinned:
    """Chooses what of the pins among `messages` (oldest first) stays within `pool` tokens."""
    pins = [words for message in messages if is_pin(message) and (words := words_of(message))]
    weights = weigh.messages(pins)
    if sum(weights) <= pool:
        return Pinned({pin.ordinal: pin for pin in pins}, {}, (), sum(weights), pool)
    share = max(LEAST, target // SHARE)
    stay: dict[int, Message] = {}
    cut: dict[int, int] = {}
    dropped: list[Message] = []
    left = pool
    order = _by_rank(len(pins))
    for rank, index in enumerate(order):
        pin, weight = pins[index], weights[index]
        # What the pins still to come need at least is not this one's to take.
        reserved = sum(min(weights[other], HEAD_AND_TAIL) for other in order[rank + 1 :])
        room = min(left, max(share, left - reserved))
        kept, size = pin, weight
        if weight > min(room, share):
            kept = shorten(pin, room, weigh)
            size = weigh.message(kept)
        if size > left:
            dropped.append(pin)
            continue
        if kept is not pin:
            cut[pin.ordinal] = weight
        stay[pin.ordinal] = kept
        left -= size
    return Pinned(stay, cut, tuple(sorted(dropped, key=lambda pin: pin.ordinal)), pool - left, pool)


def _by_rank(count: int) -> list[int]:
    """The first, the latest, then the rest newest first."""
    if count < 2:
        return list(range(count))
    return [0, *range(count - 1, 0, -1)]


def shorten(message: Message, limit: int, weigh: Weigher) -> Message:
    """A user's message of at most about `limit` tokens: head, rules, tail; marks name its handle."""
    media = [part for part in message.parts if isinstance(part, Media)]
    fixed = weigh.message(replace(message, parts=(Text(""),)))
    pictures = sum(map(weigh_media, media))
    left_out = ""
    if pictures > limit // 2:
        left_out = "\n" + mark(len(media), "characters", message.ordinal).replace(
            "characters", "attachments"
        )
        media, pictures = [], 0
    room = max(0, limit - fixed - pictures - (weigh.text(left_out) if left_out else 0))
    text = shorten_text(message.text, room, weigh.text, message.ordinal)
    return replace(message, parts=(Text(text + left_out), *media), source=None)


def shorten_text(text: str, limit: int, count: Callable[[str], int], ordinal: int) -> str:
    """At most `limit` tokens of a user's text: head, tail, and between them the sentences with rules.

    Rules are taken from the first on while they fit. What is between them is marked.
    """
    text = text.strip()
    head, tail = _head(text), _tail(text)
    if head + tail >= len(text) or count(text) <= limit:
        return text if count(text) <= limit else clip_text(text, limit, count, ordinal)
    spans = [(0, head), (len(text) - tail, len(text))]
    if count(_spliced(text, spans, ordinal)) > limit:
        return clip_text(text, limit, count, ordinal)
    rules = [span for span in _rules(text) if span[1] > head and span[0] < len(text) - tail]
    low, high = 0, len(rules)
    while low < high:
        middle = (low + high + 1) // 2
        if count(_spliced(text, [*spans, *rules[:middle]], ordinal)) <= limit:
            low = middle
        else:
            high = middle - 1
    return _spliced(text, [*spans, *rules[:low]], ordinal)


def _head(text: str) -> int:
    """Where the head of a text ends: at the end of the line or word after its first characters."""
    return _edge(text, ENDS)


def _tail(text: str) -> int:
    """How long its tail is."""
    return _edge(text[::-1], ENDS)


def _edge(text: str, least: int) -> int:
    for sign in ("\n", " "):
        cut = text.find(sign, least, least * 2)
        if cut > 0:
            return cut
    return min(len(text), least)


def _rules(text: str) -> list[tuple[int, int]]:
    """Where the sentences of `text` that state a rule begin and end."""
    spans: list[tuple[int, int]] = []
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


def _spliced(text: str, spans: list[tuple[int, int]], ordinal: int) -> str:
    """The passages of `text` in order; small gaps are filled, others marked.

    The first mark says how much is missing in all and names the handle; further gaps are one sign.
    """
    passages: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if passages and start - passages[-1][1] <= SMALL_GAP:
            passages[-1] = (passages[-1][0], max(end, passages[-1][1]))
        else:
            passages.append((start, end))
    missing = len(text) - sum(end - start for start, end in passages)
    if passages == [(0, len(text))] or not missing:
        return text
    first, *others = (text[start:end].strip("\n") for start, end in passages)
    return "\n…\n".join([f"{first}\n{mark(missing, 'characters', ordinal)}\n{others[0]}", *others[1:]])
