"""Waiting before asking again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unremember.models import Retry


@given(st.integers(1, 60))
def test_waits_grow_up_to_a_limit(failures: int):
    """Each wait is about twice the one before, has chance in it, and never exceeds the limit."""
    retry = Retry(first=0.5, longest=30)
    planned = min(30, 0.5 * 2 ** (failures - 1))
    assert planned / 2 <= retry.pause(failures) <= planned


@given(st.integers(1, 10), st.floats(0, 1_000))
def test_what_the_provider_asks_for_is_the_least(failures: int, asked: float):
    """The program never comes back before the provider wants it to."""
    assert Retry().pause(failures, asked) >= asked
