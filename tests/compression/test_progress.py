"""Attempts that free too little end in an error, and none is made that cannot help (R8)."""

from __future__ import annotations

import pytest

from unremember import Budget, CannotCompress
from unremember.compression.progress import Progress

BUDGET = Budget(limit=10_000, trigger=8_000, target=5_000)


def test_the_first_attempt_is_allowed():
    """Nothing was tried yet, so whoever asks may compress, however small the history is."""
    assert Progress().allows(100, BUDGET)


def test_after_an_attempt_the_history_must_grow_by_a_tenth_of_the_target():
    """A predicate that stays true after a compression must not compress at every step."""
    tried = Progress().tried(9_000, 5_000, BUDGET)
    assert not tried.allows(5_000, BUDGET)
    assert not tried.allows(5_499, BUDGET)
    assert tried.allows(5_500, BUDGET)


def test_over_the_limit_an_attempt_is_always_allowed():
    """The limit is enforced whatever was tried before."""
    full = Progress().tried(10_500, 9_990, BUDGET)
    assert not full.allows(10_000, BUDGET)
    assert full.allows(10_001, BUDGET)


def test_two_attempts_in_a_row_that_free_too_little_are_an_error():
    """The message says how little, what could not shrink, and what to do."""
    once = Progress().tried(8_100, 8_000, BUDGET)
    heaviest = [("newest step", 900), ("system prompt", 6_900)]
    with pytest.raises(CannotCompress) as raised:
        once.tried(8_600, 8_500, BUDGET, heaviest)
    assert str(raised.value) == (
        "2 compressions in a row freed too little: the last left 8,500 of 8,600 tokens, the "
        "target is 5,000; what could not shrink: system prompt 6,900, newest step 900. "
        "Raise the budget, or shorten what is largest."
    )


def test_an_attempt_that_works_forgives_the_one_before():
    """Only attempts in a row count."""
    once = Progress().tried(8_100, 8_000, BUDGET)
    assert once.tried(8_600, 5_000, BUDGET).stalled == 0


@pytest.mark.parametrize(("before", "after"), [(5_010, 5_000), (9_000, 8_500)])
def test_what_reaches_the_target_or_frees_a_tenth_of_it_is_progress(before: int, after: int):
    """With limit = target each compression frees only what was over, and that is all it should."""
    assert Progress(5_000, stalled=1).tried(before, after, BUDGET) == Progress(after)
