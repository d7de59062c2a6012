"""Recorded conversations of ten agents, compressed to four budgets."""

from __future__ import annotations

from pathlib import Path

import pytest

from measured import FORMS, RECORDINGS, WEIGH, breaches, needs_recordings, tokens_sent
from unremember import Budget, BudgetTooSmall, History, Job, fit, read, write
from unremember.compression import report_on

BUDGETS = (2_000, 5_000, 20_000, 50_000)


@needs_recordings()
@pytest.mark.parametrize("whole", [False, True], ids=["seen-next", "whole-log"])
@pytest.mark.parametrize(
    "path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem[:20]}"
)
def test_recordings_fit_every_budget(path: Path, whole: bool):
    """Never over by the exact count, in any form; valid for every provider; little unused; what
    was forgotten is in the report."""
    for found in read(path, whole=whole):
        for budget in BUDGETS:
            check(found.history, budget)


def check(history: History, budget: int) -> None:
    """Compresses a history to a budget and looks at what would be sent."""
    job = Job(Budget.exactly(budget), WEIGH)
    before = WEIGH(history)
    try:
        after = fit(history, job)
    except BudgetTooSmall:
        assert WEIGH(History(history.system)) > budget // 2
        return
    if before <= budget:
        assert after is history
        return
    assert breaches(after) == []
    for form in FORMS:
        assert tokens_sent(form, write(after, form)) <= budget
    assert WEIGH(after) >= budget * 0.95
    report = report_on(history, after, job, seconds=0)
    assert report.tokens_after == WEIGH(after)
    assert report.forgotten
