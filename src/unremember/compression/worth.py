"""The chance that a term will be needed again, from what happened to it so far.

A logistic model whose weights were fitted by `scripts/fit-worth` on recorded conversations: for
many cuts, what was known of each name before the cut, and whether the agent used it in a call
afterwards before a tool or the user showed it again. docs/compression.md says on which, and how
well it foretells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import exp, log1p, log2

from unremember.compression.material import Material, Origin, Term

FEATURES = (
    "one", "calls", "lines", "age", "call_age", "used", "by_agent", "first_by_user", "by_user",
    "short", "number", "digit", "underscore", "camel", "capital", "length",
)  # fmt: skip
"""Names of the features, in the order of `features`."""

WEIGHTS = (
    -2.93, 0.62, 0.29, -0.19, -0.14, 1.96, 0.76, 0.29, 0.54,
    0.32, -1.04, -0.32, -0.29, -0.32, 0.26, -0.14,
)  # fmt: skip
"""Fitted on 100 cuts of 21 recordings of nine agents; see docs/compression.md."""

WORD = 0.06
"""What a plain word is worth beside a name of the same chance: it is easier to find again."""

NOTED = 1.5
"""Added for what an earlier compression kept: what had happened to it is not known any more."""

SHORT = 3
"""Characters up to which a term is short."""

_CAMEL = re.compile(r"[a-z][A-Z]")
_DIGIT = re.compile(r"[0-9]")
_MARKS = re.compile(r"[_./0-9-]")


def is_name(text: str) -> bool:
    """Whether a term looks like the name of something rather than a word."""
    if text.isalpha():
        return not text.islower() and _CAMEL.search(text) is not None
    if text.isdigit() and len(text) < SHORT:
        return False
    return _MARKS.search(text) is not None or _CAMEL.search(text) is not None


def chances(material: Material, weights: Sequence[float] = WEIGHTS) -> list[float]:
    """The worth of each term of `material`, in the order of `material.known`."""
    (
        one, w_calls, w_lines, w_age, w_call_age, used, by_agent, first_by_user, by_user,
        short, number, digit, underscore, camel, capital, length,
    ) = weights  # fmt: skip
    # The logarithms of small whole numbers, times their weights: most terms need only these.
    calls_of, lines_of = _table(log1p, w_calls), _table(log1p, w_lines)
    age_of, call_age_of = _table(_log2p1, w_age), _table(_log2p1, w_call_age)
    length_of = _table(log1p, length)
    newest = material.steps - 1
    worth: list[float] = []
    for term in material.known:
        text = term.text
        score = one + lines_of(term.lines) + age_of(newest - term.last) + length_of(len(text))
        if term.calls:
            score += used + calls_of(term.calls) + call_age_of(newest - term.last_call)
        origin = term.first_origin
        if origin is Origin.CALL or origin is Origin.AGENT:
            score += by_agent
        elif origin is Origin.USER:
            score += first_by_user
        if term.by_user:
            score += by_user
        if term.noted:
            score += NOTED
        if len(text) <= SHORT:
            score += short
        name = False
        if text.islower() and text.isalpha():
            pass
        else:
            if text[0].isupper():
                score += capital
            if _CAMEL.search(text):
                score += camel
                name = True
            if _MARKS.search(text):
                # A number of one or two figures names nothing.
                name = name or not (text.isdigit() and len(text) < SHORT)
                if "_" in text:
                    score += underscore
                if _DIGIT.search(text):
                    score += digit + (number if text.isdigit() else 0.0)
        chance = 1 / (1 + exp(-score))
        worth.append(chance if name else chance * WORD)
    return worth


def features(term: Term, newest: int) -> tuple[float, ...]:
    """What the model looks at, columns as in `FEATURES`; `newest` is the newest step's number."""
    text = term.text
    return (
        1.0,
        log1p(term.calls),
        log1p(term.lines),
        _log2p1(newest - term.last),
        _log2p1(newest - term.last_call) if term.calls else 0.0,
        float(term.calls > 0),
        float(term.first_origin in (Origin.AGENT, Origin.CALL)),
        float(term.first_origin is Origin.USER),
        float(term.by_user),
        float(len(text) <= SHORT),
        float(text.isdigit()),
        float(_DIGIT.search(text) is not None),
        float("_" in text),
        float(_CAMEL.search(text) is not None),
        float(text[0].isupper()),
        log1p(len(text)),
    )


def _log2p1(number: float) -> float:
    return log2(1 + number)


def _table(function: Callable[[float], float], weight: float) -> Callable[[int], float]:
    """`weight * function(n)`, looked up for small n."""
    known = [weight * function(n) for n in range(256)]

    def value(number: int) -> float:
        return known[number] if number < 256 else weight * function(number)

    return value
