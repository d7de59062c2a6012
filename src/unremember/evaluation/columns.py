"""The columns: what is measured on the result of one compression, each a share from 0 to 1.

The definitions are made for measuring only, and are kept apart from the engine: a compression that
looked for what is counted here would be measured by its own yardstick.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from unremember.evaluation.names import handholds, stands
from unremember.evaluation.needs import Needs, needs_of
from unremember.evaluation.prose import found_phrases
from unremember.evaluation.recordings import Cut
from unremember.evaluation.texts import history_texts, lines_of
from unremember.formats import write
from unremember.history import History
from unremember.tokens import PER_MESSAGE, Weigher

Check = Callable[[History], Sequence[str]]
"""Says what providers would refuse in the request that a history becomes."""

COLUMNS: dict[str, str] = {
    "size": "tokens of the result, of those before",
    "recall": "names (paths, identifiers, tests, hashes) the agent used in its calls after the "
    "cut, had seen before it, and was not shown again in between",
    "line": "the same, where the name stands in a line that was kept word for word",
    "other": "quoted strings and long flags used in the same way",
    "phrases": "phrases of three words in what the agent wrote after the cut",
    "constraint": "the user's sentences that oblige to something, word for word",
    "errors": "the last five distinct lines that report a failure, word for word",
    "users": "the user's messages, word for word; one that outweighs a fifth of the budget by "
    "its head and tail",
    "neighbours": "kept lines that had a neighbour and stand beside one they had",
}
"""The columns that are shares, with what they are the share of."""

SHORTEST_LINE = 15
"""Characters of a line below which it may stand in any text."""

ENDS = 60
"""Characters of head and tail by which a long message of the user is still told."""

LARGE, TOO_LARGE = 1 / 5, 1 / 2
"""Shares of a budget: from where a user's message may be cut, and how much all of them may weigh
before nobody could keep them."""


@dataclass(frozen=True)
class Source:
    """One cut with all that is needed to measure any result of it."""

    cut: Cut
    needs: Needs
    tokens: int
    lines: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    paired: frozenset[str]
    user_tokens: tuple[int, ...]


def source_of(cut: Cut, weigh: Weigher) -> Source:
    """Reads off a cut, once, what every result of it is measured against."""
    texts = [lines_of(text) for text in history_texts(cut.before)]
    pairs = frozenset(pair for lines in texts for pair in pairwise(lines))
    needs = needs_of(cut)
    return Source(
        cut,
        needs,
        weigh(cut.before),
        frozenset(line for lines in texts for line in lines if len(line) >= SHORTEST_LINE),
        pairs,
        frozenset(line for pair in pairs for line in pair),
        tuple(n + PER_MESSAGE for n in weigh.texts(needs.users)),
    )


def measure(source: Source, after: History, budget: int, weigh: Weigher) -> dict[str, float]:
    """The columns of one result; one that there is nothing to measure for is left out."""
    needs = source.needs
    texts = history_texts(after)
    result = "\n".join(texts)
    lines = [lines_of(text) for text in texts]
    kept = [[line in source.lines for line in own] for own in lines]
    verbatim = "\n".join(
        line
        for own, is_kept in zip(lines, kept, strict=True)
        for line, whole in zip(own, is_kept, strict=True)
        if whole
    )
    flat = _flat(result)
    there, there_in_lines = handholds(result), handholds(verbatim)
    found = {
        "size": sent_tokens(write(after, "openai"), weigh) / max(1, source.tokens),
        "recall": _share(needs.names, lambda name: stands(name, there)),
        "line": _share(needs.names, lambda name: stands(name, there_in_lines)),
        "other": _share(needs.quotes, lambda quote: quote in result),
        "phrases": _share(needs.phrases, found_phrases(needs.phrases, result).__contains__),
        "constraint": _share(needs.rules, lambda rule: _flat(rule) in flat),
        "errors": _share(needs.errors, lambda line: _flat(line) in flat),
        "users": _users(source, result, budget),
        "neighbours": _neighbours(lines, kept, source),
    }
    return {column: share for column, share in found.items() if share is not None}


def sent_tokens(written: Sequence[dict[str, Any]], weigh: Weigher) -> int:
    """Tokens of a request in the form of OpenAI chat, counted from the request itself."""
    texts = [text for message in written for text in _sent_texts(message)]
    return sum(weigh.texts(texts)) + PER_MESSAGE * len(written)


def _sent_texts(message: Mapping[str, Any]) -> Iterator[str]:
    content: Any = message.get("content") or ""
    yield from [content] if isinstance(content, str) else (p.get("text") or "" for p in content)
    yield message.get("reasoning_content") or ""
    functions: list[Any] = [call.get("function") for call in message.get("tool_calls") or ()]
    for function in (*functions, message.get("function_call")):
        if function:
            yield from (function.get("name") or "", function.get("arguments") or "")


def _share(wanted: Collection[str], is_there: Callable[[str], bool]) -> float | None:
    return sum(map(is_there, wanted)) / len(wanted) if wanted else None


def _flat(text: str) -> str:
    """A text with single blanks: lines may be joined or indented otherwise."""
    return re.sub(r"\s+", " ", text).strip()


def _users(source: Source, result: str, budget: int) -> float | None:
    users, weights = source.needs.users, source.user_tokens
    large = budget * LARGE
    if not users or sum(min(weight, large) for weight in weights) > budget * TOO_LARGE:
        return None
    kept = (
        text in result if weight <= large else text[:ENDS] in result and text[-ENDS:] in result
        for text, weight in zip(users, weights, strict=True)
    )
    return sum(kept) / len(users)


def _neighbours(
    lines: Sequence[Sequence[str]], kept: Sequence[Sequence[bool]], source: Source
) -> float | None:
    """Of the kept lines, those right before or behind one that they stood beside in the source."""
    count = beside = 0
    for own, is_kept in zip(lines, kept, strict=True):
        for place, whole in enumerate(is_kept):
            if not whole or own[place] not in source.paired:
                continue
            count += 1
            behind = place + 1 < len(own) and (own[place], own[place + 1]) in source.pairs
            beside += behind or (place > 0 and (own[place - 1], own[place]) in source.pairs)
    return beside / count if count else None
