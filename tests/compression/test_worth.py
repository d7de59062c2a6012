"""The chance that a name is needed again, and the choice that is made by it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import exp
from pathlib import Path

import pytest

from unremember import (
    Budget,
    History,
    Job,
    Message,
    Step,
    UnknownHandle,
    Weigher,
    fit,
    read,
)
from unremember.compression import explain
from unremember.compression.job import no_originals
from unremember.compression.material import gather
from unremember.compression.worth import WEIGHTS, WORD, chances, features, is_name
from unremember.notes import Notes, render

EXAMPLE = Path(__file__).parents[2] / "examples" / "conversation.jsonl"


@pytest.fixture(scope="module")
def history() -> History:
    """The example conversation."""
    return read(EXAMPLE)[0].history


def test_chances_are_the_logistic_of_the_features(history: History):
    """The fast way to the chances gives what features and weights give, term by term."""
    material = gather(history.steps, Notes(), set())
    newest = material.steps - 1
    for term, chance in zip(material.known, chances(material), strict=True):
        score = sum(map(float.__mul__, features(term, newest), WEIGHTS))
        expected = 1 / (1 + exp(-score))
        assert chance == pytest.approx(expected if is_name(term.text) else expected * WORD)


@pytest.mark.parametrize("name", ["a.py", "parse_amount", "RateTable", "m41", "src/a", "2024"])
def test_names(name: str):
    """Paths, identifiers and numbers of three figures and more are names."""
    assert is_name(name)


@pytest.mark.parametrize("word", ["the", "Error", "42", "여기", "修改"])
def test_words(word: str):
    """Plain words of any script, and small numbers, are not."""
    assert not is_name(word)


def test_the_choice_does_not_depend_on_the_process():
    """Two processes with other hash seeds make the same notes."""
    program = (
        "import sys, pathlib, unremember as u\n"
        f"h = u.read(pathlib.Path({str(EXAMPLE)!r}))[0].history\n"
        "from unremember.notes import render\n"
        "print(render(u.fit(h, u.Job(u.Budget.exactly(4000))).notes))"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(EXAMPLE.parents[1] / "src")},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(made) == 1


def test_explanations_agree_with_what_is_done(history: History):
    """Lines told to be kept stand in the notes under their handle; the fate is the message's."""
    job = Job(Budget.exactly(4_000))
    fitted = fit(history, job)
    stays = {message.ordinal: message for message in fitted.messages}
    entries = {entry.ordinal: entry for entry in fitted.notes.outline}
    for message in history.messages:
        told = explain(history, job, message.ordinal)
        if told.fate in ("newest", "pinned"):
            assert stays[message.ordinal] == message
        elif told.fate == "forgotten":
            assert message.ordinal not in stays
            assert message.ordinal not in entries
        for line in told.lines:
            if line.kept:
                assert line.reason in ("error", "user", "worth")
                assert line.text in render(fitted.notes)


def test_a_history_that_fits_needs_no_reasons(history: History):
    """Nothing goes where everything fits."""
    assert explain(history, Job(Budget.exactly(10**6)), 1).fate == "fits"


def test_an_unknown_handle_is_refused(history: History):
    """With one line that names it."""
    with pytest.raises(UnknownHandle, match="m99999"):
        explain(history, Job(Budget.exactly(4_000)), 99_999)


def rounds(history: History, budget: int, *, originals: bool) -> History:
    """The history compressed at ten points on the way, going on after each."""
    steps = history.steps
    job = Job(Budget.exactly(budget), Weigher())
    now, done = History(history.system), 0
    for place in range(1, 11):
        until = round(len(steps) * place / 10)
        now = now.add(*(m for step in steps[done:until] for m in step.messages))
        done = until
        kept = partial(_said, steps[:done]) if originals else no_originals
        now = fit(now, replace(job, originals=kept))
    return now


def _said(steps: Sequence[Step]) -> tuple[Message, ...]:
    return tuple(message for step in steps for message in step.messages)


def test_ten_rounds_from_originals_lose_nothing(history: History):
    """Where the originals are kept, ten compressions end where one would have."""
    once = fit(history, Job(Budget.exactly(5_000)))
    ten = rounds(history, 5_000, originals=True)
    assert ten.notes.outline == once.notes.outline
    assert ten.messages == once.messages


def test_ten_rounds_without_originals_keep_most(history: History):
    """Without them most of the lines that one compression keeps are still there, and all pins."""
    once = fit(history, Job(Budget.exactly(5_000)))
    ten = rounds(history, 5_000, originals=False)
    assert [pin.text for pin in ten.pins] == [pin.text for pin in once.pins]
    kept = {x.text.strip() for entry in once.notes.outline for x in entry.excerpts}
    still = {x.text.strip() for entry in ten.notes.outline for x in entry.excerpts}
    assert len(kept & still) >= len(kept) / 3
    assert Weigher()(ten) <= 5_000
