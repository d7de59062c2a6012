"""Carrying out a plan: what is left beside pins and newest steps goes to chosen lines.

The newest error lines come first, then the user's rules that did not fit in place, then lines and
names by their worth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from unremember.actions import is_error_line
from unremember.compression.choose import Chooser
from unremember.compression.job import Job
from unremember.compression.material import LONG, Entry, Origin, gather
from unremember.compression.outline import outline_of
from unremember.compression.plan import Plan, assemble
from unremember.compression.rules import is_rule, sentences
from unremember.compression.worth import chances
from unremember.history import History

ERRORS = 16
"""How many of the newest distinct error lines are kept before anything else."""

ERROR_SHARE = 0.15
"""Share of the target they may take together."""

WASTE = 0.02
"""Share of the target that may stay unused when something was left out."""


@dataclass(frozen=True, slots=True)
class Done:
    """A plan that was carried out: the history it made, its weight in tokens, and the choice.

    `chooser` is None where no line had room.
    """

    plan: Plan
    history: History
    weight: int
    chooser: Chooser | None = None


def carry_out(plan: Plan, job: Job) -> Done:
    """Chooses lines until the result weighs the target, by exact counts."""
    bare = assemble(plan)
    weight = job.weigh(bare)
    if not plan.notes_allowed or weight >= plan.target:
        return Done(plan, bare, weight)
    material = gather(plan.history.steps, plan.history.notes, plan.whole)
    chooser = Chooser(material, chances(material), job.weigh.texts, plan.cut_texts)
    _take_errors(chooser, int(plan.target * ERROR_SHARE))
    _take_dropped_pins(plan, chooser)
    result = _fill_exactly(plan, job, chooser, weight)
    return Done(plan, result, job.weigh(result), chooser)


def _fill_exactly(plan: Plan, job: Job, chooser: Chooser, bare: int) -> History:
    """Fills, weighs, corrects the allowance by what was used, and takes back what is over."""
    allowance = plan.target - bare
    result = assemble(plan)
    for _ in range(6):
        before = len(chooser.taken)
        chooser.fill(allowance)
        result = _chosen(plan, chooser)
        unused = plan.target - job.weigh(result)
        if unused < 0 or unused <= plan.target * WASTE:
            break
        if len(chooser.taken) == before and unused < plan.target * WASTE * 2:
            break
        allowance = chooser.spent + unused
    while chooser.taken and job.weigh(result) > plan.target:
        over = job.weigh(result) - plan.target
        freed = 0
        while chooser.taken and freed < over:
            freed += chooser.taken[-1].cost
            chooser.take_back()
        result = _chosen(plan, chooser)
    return result


def _take_errors(chooser: Chooser, share: int) -> None:
    """Takes the newest distinct error lines first."""
    material = chooser.material
    newest = sorted(
        (line for line in range(len(material.texts)) if material.origin[line] is Origin.RESULT),
        key=lambda line: (-material.entries[material.entry[line]].ordinal, -material.place[line]),
    )
    found = 0
    for line in newest:
        if found >= ERRORS or chooser.spent >= share:
            return
        if names_an_error(material.texts[line]):
            found += 1
            if not chooser.is_taken(line) and chooser.spent + chooser.cost(line) <= share:
                chooser.take(line, "error")


_ERROR_NAME = re.compile(
    r"(?:Error|Exception|Failure|\b[Ee]rror(?:\[\w+\])?)\s*[:(]|\b[Ff]atal:"
    r"|(?i:exit|return)[ _]?(?:code|status)\W{0,3}[1-9]"
)


def names_an_error(line: str) -> bool:
    """Whether a line reports an error or, in code, names one."""
    return len(line) <= LONG and (is_error_line(line) or _ERROR_NAME.search(line) is not None)


def _take_dropped_pins(plan: Plan, chooser: Chooser) -> None:
    """Rules in what was cut of the user's words, and a line of what did not fit at all."""
    dropped = {pin.ordinal for pin in plan.pinned.dropped}
    cut = dropped | plan.pinned.cut.keys() | plan.clipped.keys()
    material, room = chooser.material, plan.target // 4
    lines = [n for n in range(len(material.texts)) if _entry_of(n, chooser).ordinal in cut]
    lines = [n for n in lines if material.origin[n] is Origin.USER and not chooser.is_taken(n)]
    obliging = {n for n in lines if any(map(is_rule, sentences(material.texts[n])))}
    for line in sorted(lines, key=lambda n: n not in obliging):
        ordinal = _entry_of(line, chooser).ordinal
        wanted = line in obliging or ordinal in dropped
        if wanted and not chooser.is_taken(line) and chooser.spent + chooser.cost(line) <= room:
            chooser.take(line, "user")
            dropped.discard(ordinal)


def _entry_of(line: int, chooser: Chooser) -> Entry:
    return chooser.material.entries[chooser.material.entry[line]]


def _chosen(plan: Plan, chooser: Chooser) -> History:
    return assemble(plan, outline_of(chooser.material, chooser.lines()), tuple(chooser.names()))
