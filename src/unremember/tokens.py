"""Counting tokens, and the budget that a history must fit.

Three ways to know a weight, best first: the provider's last usage plus what was counted since
(`Meter`), an exact o200k count (`exact_counter`), and, where the exact counter is not installed,
an estimate that errs upwards (`estimate_counter`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Any
from weakref import WeakKeyDictionary

from unremember.errors import InputError
from unremember.history import History, MessageLog
from unremember.messages import Media, Message, Part, Text, Thinking, ToolCall, ToolResult
from unremember.notes import Notes, render

CountTexts = Callable[[Sequence[str]], list[int]]
"""Texts in, one token count each out."""

PER_MESSAGE = 4
"""Tokens a message costs besides its content: role and separators of a chat template."""

SYSTEM_MARKS = 8
"""Tokens of the marks around a later system message, for a provider that takes none."""

OPENING = 12
"""Tokens of the line that opens a conversation whose beginning was forgotten, where one must."""

NAME_AND_BRACKETS = 3
"""Tokens around a call's name and arguments in a request."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A way to count. `exact` is False for an estimate; then a margin of a tenth is added."""

    name: str
    count: CountTexts
    exact: bool = True
    factor: float = 1.0


def exact_counter(model: str = "") -> Counter:
    """The o200k count of `toktok-rs` times the factor of the model's family; exact for o200k.

    Loads the tables on the first count (about half a second). Raises `InputError` if the package
    is missing.
    """
    try:
        import toktok
    except ImportError:
        raise InputError(
            "exact counting needs the package toktok-rs: pip install 'unremember[tokens]'"
        ) from None

    batch: Any = toktok.batch_count

    def count(texts: Sequence[str]) -> list[int]:
        # Lone surrogates are valid in a str but not in UTF-8; they count like the mark for them.
        try:
            return batch(list(texts), "o200k_base")
        except UnicodeEncodeError:
            clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
            return batch(clean, "o200k_base")

    factor = factor_of(model)
    return Counter("o200k" if factor == 1 else f"o200k x {factor}", count, factor == 1, factor)


@lru_cache(maxsize=1)
def default_counter() -> Counter:
    """The exact counter where it is installed, else the estimate."""
    try:
        return exact_counter()
    except InputError:
        return estimate_counter()


FAMILIES: tuple[tuple[str, float], ...] = (
    # How many tokens of the family one o200k token stands for. Claude: newer models need 1.25 to
    # 1.9 times the o200k count; this is the start until the first usage report corrects it.
    ("claude", 1.3),
    ("anthropic", 1.3),
    ("gpt", 1.0),
    ("openai", 1.0),
    ("o1", 1.0),
    ("o3", 1.0),
    ("o4", 1.0),
)
OTHER_FAMILY = 1.2
"""For a model of an unknown family: cautious, since smaller vocabularies need more."""


def factor_of(model: str) -> float:
    """The counting factor of a model's family; 1 when no model is named."""
    name = model.lower().rpartition(":")[2].rpartition("/")[2]
    if not name:
        return 1.0
    return next((factor for prefix, factor in FAMILIES if name.startswith(prefix)), OTHER_FAMILY)


# Each class of text with the tokens that one match costs at most on average, a little above what
# o200k needs on prose, code, logs, base64 and the scripts named.
_PIECE = re.compile(
    r"(?P<inner>(?<=[A-Za-z0-9+])[A-Z]?[a-z]+)|(?P<word> ?[A-Z]?[a-z]+)"
    r"|(?P<cyrillic> ?[\u0400-\u04ff]+)|(?P<caps> ?[A-Z]+)|(?P<digits>[0-9]{1,3})"
    r"|(?P<blank>[ \t]+)|(?P<line>\s+)|(?P<rule>(?P<mark>[!-/:-@\[-`{-~])(?P=mark){3,})"
    r"|(?P<cjk>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])|(?P<sign>[!-/:-@\[-`{-~]{1,2})"
    r"|(?P<wide>[\U00010000-\U0010ffff])|(?P<other>.)",
    re.DOTALL,
)


def estimate_texts(texts: Sequence[str]) -> list[int]:
    """Token counts from above without a tokenizer: each class of text by its own measure."""
    return [ceil(_estimate(text)) for text in texts]


def _estimate(text: str) -> float:
    total = 0.0
    for match in _PIECE.finditer(text):
        length = match.end() - match.start()
        match match.lastgroup:
            case "word":
                total += 1 + max(0, length - 6) * 0.22
            case "inner":
                # Within a longer word: a part of a name, or of base64, which has no words.
                total += 1.4 + max(0, length - 6) * 0.22
            case "cyrillic":
                total += 0.6 + length * 0.17
            case "caps":
                total += 0.65 + length * 0.3 if length < 4 else 1 + (length - 4) * 0.1
            case "cjk":
                total += 0.8
            case "blank":
                total += 0.35 if length == 1 else 1 + length / 128
            case "line":
                total += 1 + length / 16
            case "rule":
                total += 1 + length / 50
            case "sign":
                total += 0.9
            case "wide":
                total += 2.6
            case "other":
                total += 0.5
            case _:
                total += 1
    return total


def estimate_counter(model: str = "") -> Counter:
    """An estimate from above for where `toktok-rs` has no wheel."""
    return Counter("estimate", estimate_texts, exact=False, factor=factor_of(model))


# Size classes of media in tokens. Images: one token for 750 square pixels, at most 1,600
# (Anthropic's documented rule, the dearest of the large providers'); a page of a document 1,500.
IMAGE_PIXELS_PER_TOKEN = 750
IMAGE_MAX = 1_600
IMAGE_MIN = 85
DOCUMENT_PAGE = 1_500
DOCUMENT_PAGE_BYTES = 60_000
AUDIO_BYTES_PER_TOKEN = 500


def weigh_media(media: Media) -> int:
    """Tokens of a media part by its size class, never by the length of its base64."""
    match media.kind:
        case "image":
            if not (media.width and media.height):
                return IMAGE_MAX
            pixels = media.width * media.height
            return min(IMAGE_MAX, max(IMAGE_MIN, ceil(pixels / IMAGE_PIXELS_PER_TOKEN)))
        case "document":
            return DOCUMENT_PAGE * max(1, ceil(media.size / DOCUMENT_PAGE_BYTES))
        case "audio" | "video":
            return max(IMAGE_MAX, media.size // AUDIO_BYTES_PER_TOKEN)
        case "other":
            return 0  # counted by its text


class Weigher:
    """Weighs messages and histories in tokens, each message once.

    A history weighs what would be sent: texts, tool names, arguments as JSON, and 4 tokens a
    message; media by size class. `fixed` are tokens of what travels beside the history (tool
    schemas). Totals are kept per log of messages, so a history that grew by one message costs one
    count.
    """

    def __init__(self, counter: Counter | None = None, *, fixed: int = 0) -> None:
        self.counter = counter or default_counter()
        self.fixed = fixed
        self._totals: WeakKeyDictionary[MessageLog, list[int]] = WeakKeyDictionary()
        self._notes: tuple[Notes, int] | None = None

    def texts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, with the family's factor and, for an estimate, the margin."""
        counts = self.counter.count(texts)
        scale = self.counter.factor * (1.0 if self.counter.exact else 1.1)
        return counts if scale == 1 else [ceil(count * scale) for count in counts]

    def text(self, text: str) -> int:
        """Tokens of one text."""
        return self.texts((text,))[0]

    def messages(self, messages: Iterable[Message]) -> list[int]:
        """Tokens of each message, counted in one batch."""
        messages = tuple(messages)
        texts: list[str] = []
        ends: list[int] = []
        extra: list[int] = []
        for message in messages:
            fixed = PER_MESSAGE * _sent_as(message)
            for part in message.parts:
                fixed += _collect(part, texts)
            ends.append(len(texts))
            extra.append(fixed)
        counts = self.texts(texts)
        starts = (0, *ends[:-1]) if ends else ()
        return [
            fixed + sum(counts[start:end])
            for fixed, start, end in zip(extra, starts, ends, strict=True)
        ]

    def message(self, message: Message) -> int:
        """Tokens of one message."""
        return self.messages((message,))[0]

    def notes(self, notes: Notes) -> int:
        """Tokens of the notes as they would be sent; 0 if there are none."""
        if not notes:
            return 0
        if self._notes is None or self._notes[0] is not notes:
            self._notes = (notes, PER_MESSAGE + self.text(render(notes)))
        return self._notes[1]

    def __call__(self, history: History) -> int:
        """Tokens of the next request that would carry `history`."""
        system = sum(self.messages(history.system)) + _opening(history)
        return self.fixed + system + self.notes(history.notes) + self._total(history)

    def _total(self, history: History) -> int:
        log, length = history.log, len(history.messages)
        totals = self._totals.setdefault(log, [0])
        if len(totals) <= length:
            new = log.items[len(totals) - 1 : length]
            for message, weight in zip(new, self.messages(new), strict=True):
                marks = SYSTEM_MARKS if message.role == "system" else 0
                totals.append(totals[-1] + weight + marks)
        return totals[length]


def _opening(history: History) -> int:
    """What it costs that a user has to open a conversation of which only later words are left."""
    first = history.messages[0] if history.messages else None
    if first is None or first.role != "assistant":
        return 0
    return 0 if history.notes and history.notes.before <= first.ordinal else OPENING


def _sent_as(message: Message) -> int:
    """How many messages it becomes where each result is one of its own (OpenAI chat)."""
    results = len(message.results)
    return results + (len(message.parts) > results) if results else 1


def _collect(part: Part, texts: list[str]) -> int:
    """Puts the texts of a part into `texts`; gives back the tokens that are not text."""
    match part:
        case Text(text):
            texts.append(text)
            return 0
        case Thinking(text, signature):
            texts.append(text)
            # Encrypted reasoning is about as long as what it hides; a signature costs little.
            return min(len(signature) // 16, 2_000)
        case ToolCall(_, name, arguments):
            texts.extend((name, arguments))
            return NAME_AND_BRACKETS
        case ToolResult(_, content):
            breaks = max(0, len(content) - 1)
            return breaks + sum(_collect(inner, texts) for inner in content)
        case Media(kind="other", data=data):
            texts.append(data)
            return 0
        case Media():
            return weigh_media(part)


class Meter:
    """The best estimate of the next request: the provider's last usage plus what was counted since.

    The anchor holds only while exactly that prefix stands; the ratio between the provider's count
    and ours is kept.
    """

    def __init__(self, weigher: Weigher) -> None:
        self.weigher = weigher
        self.ratio = 1.0
        self._anchor: tuple[History, int] | None = None

    def observe(self, history: History, input_tokens: int) -> None:
        """Takes in what the provider counted for `history`, cached tokens included."""
        counted = self.weigher(history)
        if counted > 0 and input_tokens > 0:
            self.ratio = input_tokens / counted
            self._anchor = (history, input_tokens)

    def __call__(self, history: History) -> int:
        """Tokens of the next request."""
        counted = self.weigher(history)
        if self._anchor is None:
            return counted
        anchored, tokens = self._anchor
        if not history.extends(anchored):
            return ceil(counted * self.ratio)
        return tokens + ceil((counted - self.weigher(anchored)) * self.ratio)


@dataclass(frozen=True, slots=True)
class Budget:
    """How large a history may be, in input tokens.

    No request exceeds `limit`; above `trigger` a compression is due; it stops at `target`.
    """

    limit: int
    trigger: int
    target: int

    def __post_init__(self) -> None:
        if not 0 < self.target <= self.trigger <= self.limit:
            raise InputError(
                f"a budget needs 0 < target <= trigger <= limit, not target {self.target:,}, "
                f"trigger {self.trigger:,}, limit {self.limit:,}"
            )

    @classmethod
    def exactly(cls, tokens: int) -> Budget:
        """One number for limit, trigger and target."""
        return cls(tokens, tokens, tokens)

    @classmethod
    def of_window(cls, window: int, reserve: int = 0) -> Budget:
        """From a window and what is reserved for the answer (0: a fifth, at most 16,000)."""
        limit = window - (reserve or min(window // 5, 16_000))
        if limit <= 0:
            raise InputError(
                f"a window of {window:,} tokens leaves nothing beside a reserve of {reserve:,}"
            )
        # Well below the limit: each compression breaks the provider's prompt cache once.
        return cls(limit, max(1, limit * 4 // 5), max(1, limit // 2))


_AMOUNT = re.compile(r"([0-9][0-9_,]*(?:\.[0-9]+)?)\s*([kKmM%]?)")


def parse_tokens(text: str, whole: int) -> int:
    """Tokens from `20000`, `20k`, `1.5M` or `25%` of `whole`. Raises `InputError`."""
    found = _AMOUNT.fullmatch(text.strip())
    if not found:
        raise InputError(f"a budget is a number of tokens such as 20000, 20k or 25%, not {text!r}")
    value = float(found[1].replace(",", "").replace("_", ""))
    match found[2].lower():
        case "%":
            value = whole * value / 100
        case "k":
            value *= 1_000
        case "m":
            value *= 1_000_000
        case _:
            pass
    if value < 1:
        raise InputError(f"a budget of {text!r} leaves no token at all; give a larger one")
    return int(value)
