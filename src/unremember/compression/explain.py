"""Why something was kept or went: the decisions of one compression, told for one handle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from unremember.compression.fit import decide
from unremember.compression.job import Job
from unremember.compression.material import Material, Origin, Term
from unremember.compression.worth import chances, is_name
from unremember.errors import UnknownHandle
from unremember.history import History
from unremember.messages import handle

Fate = Literal["fits", "newest", "pinned", "shortened", "outlined", "forgotten"]

TELLING = 5
"""Terms named for each line: those with the best chances."""


@dataclass(frozen=True, slots=True)
class TermReason:
    """A term of a line: its chance to be needed again, from 0 to 1, and from what that comes."""

    text: str
    chance: float
    because: str


@dataclass(frozen=True, slots=True)
class LineReason:
    """A line with what it was worth at first, its weight in tokens, and why it stayed or went.

    `reason` is "error", "user" (a rule of the user's) or "worth" for a kept line, else "".
    """

    text: str
    kept: bool
    reason: str
    worth: float
    tokens: int
    terms: tuple[TermReason, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of the thing that `handle` names, in one sentence, and line by line.

    Lines that stand word for word at a newer place as well are not listed: they count there.
    """

    handle: str
    fate: Fate
    sentence: str
    lines: tuple[LineReason, ...] = ()


_SENTENCES: dict[Fate, str] = {
    "fits": "the whole history fits the budget, so nothing went",
    "newest": "it is among the newest steps, which stay whole",
    "pinned": "it is the user's word or was pinned, and fits the share set aside for that",
    "shortened": "it stays but was too heavy for its share; what is left was chosen in place",
    "outlined": "its step is old; of it these lines were worth their tokens",
    "forgotten": "its step is old, and no line of it was worth more per token than what was kept",
}


def explain(history: History, job: Job, ordinal: int) -> Explanation:
    """Why what `ordinal` names would stay or go if `history` were compressed by `fit`.

    Raises `UnknownHandle` if it names nothing in the history, and what `fit` raises.
    """
    step = next((s for s in history.steps if s.ordinal <= ordinal < s.end), None)
    if step is None:
        raise UnknownHandle(f"{handle(ordinal)} names nothing in this history")
    if job.weigh(history) <= job.budget.target:
        return _explanation(ordinal, "fits")
    done = decide(history, job)
    message = next(m for m in step.messages if m.ordinal <= ordinal < m.ordinal + m.span)
    kept = next((m for m in done.history.messages if m.ordinal == message.ordinal), None)
    if kept is message:
        pinned = message.ordinal in done.plan.pinned.stay
        return _explanation(ordinal, "pinned" if pinned else "newest")
    lines: tuple[LineReason, ...] = ()
    if done.chooser:
        material = done.chooser.material
        # The handle of a message stands for its whole step, that of a call for its result too.
        within = range(ordinal, step.end) if ordinal == step.ordinal else (ordinal, ordinal - 1)
        chance = chances(material)
        lines = tuple(
            LineReason(
                material.texts[line],
                bool(reason := done.chooser.reason(line)),
                reason,
                sum(chance[term] for term in material.terms[line]),
                done.chooser.weights[line],
                tuple(_terms(material, line, chance)),
            )
            for line in range(len(material.texts))
            if material.entries[material.entry[line]].ordinal in within
        )
    if kept is not None:
        return _explanation(ordinal, "shortened", lines)
    return _explanation(ordinal, "outlined" if any(x.kept for x in lines) else "forgotten", lines)


def _explanation(ordinal: int, fate: Fate, lines: tuple[LineReason, ...] = ()) -> Explanation:
    return Explanation(handle(ordinal), fate, _SENTENCES[fate], lines)


def _terms(material: Material, line: int, chance: list[float]) -> Iterator[TermReason]:
    best = sorted(material.terms[line], key=lambda term: -chance[term])[:TELLING]
    for term in best:
        known = material.known[term]
        yield TermReason(known.text, chance[term], _because(known, material.steps - 1))


def _because(term: Term, newest: int) -> str:
    """From what a term's chance comes, in a few words."""
    parts: list[str] = []
    if term.calls:
        ago = newest - term.last_call
        parts.append(f"used in {term.calls} call{'s' * (term.calls > 1)}, last {ago} steps ago")
    if term.first_origin in (Origin.AGENT, Origin.CALL):
        parts.append("brought up by the agent")
    elif term.first_origin is Origin.USER:
        parts.append("brought up by the user")
    parts.append(
        f"in {term.lines} line{'s' * (term.lines > 1)}, seen {newest - term.last} steps ago"
    )
    if not is_name(term.text):
        parts.append("a plain word")
    return "; ".join(parts)
