"""The chance that a term will be needed again, from what happened to it so far.

A logistic model whose weights were fitted by `scripts/fit-worth` on recorded conversations: for
many cuts, what was known of each term before the cut, and whether the agent used it in a call
afterwards before a tool or the user showed it again. See docs/compression.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import exp, log1p, log2

from unremember.compression.material import Material, Origin, Term

FEATURES = (
    "one", "name", "calls", "lines", "age", "call_age", "used", "by_agent", "first_by_user",
    "by_user", "name_calls", "name_lines", "least_part", "most_part", "dotted", "short", "long",
    "number", "digit", "underscore", "camel", "capital", "length",
)  # fmt: skip
"""Names of the features, in the order of `features`."""

WEIGHTS = (
    -1.68, -1.68, 0.29, 0.13, -0.12, -0.17, 2.13, 0.78, 0.81,
    0.13, 0.29, 0.13, -0.01, 0.03, -0.04, 0.54, -0.03,
    -0.99, -0.58, -0.17, -0.36, 0.25, -0.18,
)  # fmt: skip

WORD = 0.08
"""What a plain word is worth beside a name of the same chance: it is easier to find again."""

_CAMEL = re.compile(r"[a-z][A-Z]")
_DIGIT = re.compile(r"[0-9]")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+")


def is_name(text: str) -> bool:
    """Whether a term looks like the name of something rather than a word."""
    return bool(
        "_" in text or "." in text or "/" in text or "-" in text or _DIGIT.search(text) or _CAMEL.search(text)
    )


def chances(material: Material, weights: Sequence[float] = WEIGHTS) -> list[float]:
    """The worth of each term of `material`, in the order of `material.known`."""
    worth: list[float] = []
    for row in features(material):
        chance = 1 / (1 + exp(-max(-30.0, min(30.0, sum(map(float.__mul__, row, weights))))))
        worth.append(chance if row[1] else chance * WORD)
    return worth


def features(material: Material) -> list[tuple[float, ...]]:
    """One row per term, columns as in `FEATURES`."""
    parts = [
        tuple({p.lower() for p in _PART.findall(t.text) if len(p) > 2}) for t in material.known
    ]
    activity: Counter[str] = Counter()
    for term, own in zip(material.known, parts, strict=True):
        if term.calls:
            for part in own:
                activity[part] += term.calls
    newest = material.steps - 1
    return [
        _row(term, newest, [activity[part] for part in own])
        for term, own in zip(material.known, parts, strict=True)
    ]


def _row(term: Term, newest: int, parts: list[int]) -> tuple[float, ...]:
    text = term.text
    camel, digit = bool(_CAMEL.search(text)), bool(_DIGIT.search(text))
    name = "_" in text or "." in text or "/" in text or "-" in text or digit or camel
    calls, lines = log1p(term.calls), log1p(term.lines)
    return (
        1.0,
        float(name),
        calls,
        lines,
        log2(1 + newest - term.last),
        log2(1 + newest - term.last_call) if term.calls else 0.0,
        float(term.calls > 0),
        float(term.first_origin in (Origin.AGENT, Origin.CALL)),
        float(term.first_origin is Origin.USER),
        float(term.by_user),
        name * calls,
        name * lines,
        log1p(min(parts, default=0)),
        log1p(max(parts, default=0)),
        float("." in text),
        float(len(text) <= 3),
        float(len(text) >= 12),
        float(text.isdigit()),
        float(digit),
        float("_" in text),
        float(camel),
        float(text[0].isupper()),
        log1p(len(text)),
    )
