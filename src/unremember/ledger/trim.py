"""Keeps the records of a ledger that are worth the most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from unremember.actions import PlanItem
from unremember.ledger.records import (
    Attempt,
    CommandRecord,
    EditMark,
    ErrorRecord,
    FileRecord,
    Ledger,
    Record,
    TestRecord,
)

CROWD = 8
"""So many records of one sort lower the next one of that sort by one step of worth: ten failing
tests must not push out every file."""


def trim(ledger: Ledger, keep: int | Callable[[Record], bool]) -> Ledger:
    """The ledger with the records that `keep` is true for; or with at most `keep` lines, the most
    valuable ones: open failures, changed files, side effects, the newest. Order stays."""
    if not isinstance(keep, int):
        return _filtered(ledger, keep)
    places = sorted(_worths(ledger), key=lambda place: (-place[0], -place[1]))
    room = max(keep, 0)
    root = ledger.root if room else ""
    room -= bool(root)
    chosen = {id(record) for _, _, record in places[:room]}
    if len(places) < room:
        chosen |= {id(mark) for mark in ledger.recent}  # they share one line
    return replace(_filtered(ledger, lambda record: id(record) in chosen), root=root)


def _filtered(ledger: Ledger, keep: Callable[[Record], bool]) -> Ledger:
    return replace(
        ledger,
        files=tuple(filter(keep, ledger.files)),
        commands=tuple(filter(keep, ledger.commands)),
        tests=tuple(filter(keep, ledger.tests)),
        attempts=tuple(filter(keep, ledger.attempts)),
        errors=tuple(filter(keep, ledger.errors)),
        plan=tuple(filter(keep, ledger.plan)),
        recent=tuple(filter(keep, ledger.recent)),
    )


def _worths(ledger: Ledger) -> Iterator[tuple[float, int, Record]]:
    """Each record with its worth and its age's ordinal; newest first within a sort."""
    groups: tuple[tuple[Record, ...], ...] = (
        ledger.files,
        ledger.commands,
        ledger.tests,
        ledger.attempts,
        ledger.errors,
        ledger.plan,
    )
    for group in groups:
        crowd: Counter[int] = Counter()
        for record in sorted(group, key=_age, reverse=True):
            worth = _worth(record)
            yield worth - crowd[worth] / CROWD, _age(record), record
            crowd[worth] += 1


def _age(record: Record) -> int:
    return record.ended if isinstance(record, Attempt) else record.ordinal


def _worth(record: Record) -> int:
    match record:
        case TestRecord(outcome="failed"):
            return 6
        case CommandRecord(side_effects=True):
            return 6
        case FileRecord() if record.modified or record.deleted or record.moved:
            return 5
        case Attempt():
            return 5
        case PlanItem(state="open" | "doing"):
            return 5
        case ErrorRecord() | CommandRecord(failed=True):
            return 4
        case TestRecord():
            return 3
        case FileRecord():
            return 2
        case CommandRecord():
            return 2
        case PlanItem():
            return 1
        case EditMark():
            return 0
