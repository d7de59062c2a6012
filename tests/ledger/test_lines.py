"""The ledger written as lines comes back the same, whatever it holds."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unremember.errors import InputError
from unremember.ledger import (
    Attempt,
    CommandRecord,
    EditMark,
    ErrorRecord,
    FileRecord,
    Ledger,
    PlanItem,
    TestRecord,
    lines,
    parse,
    trim,
)

HOSTILE = st.sampled_from(
    [
        "",
        " ",
        ":",
        "a: b",
        "x:",
        '"',
        '"a" b',
        "\\",
        "\n",
        "a\nb",
        "\r\n",
        "\u2028",
        "\x85",
        "\ud800",
        "m12",
        "x3",
        "read",
        "exit=1",
        "$",
        "own",
        "#",
        "# x",
        "·",
        "한국어",
        "中文 路径",
        "👩‍💻",
        "\ufeffx",
        " x ",
        "file a.py read m1",
        "\u3000x",
        "a\u00a0",
    ]
)
TEXT = st.one_of(HOSTILE, st.text(max_size=30), st.tuples(HOSTILE, HOSTILE).map("".join))
NUMBER = st.integers(0, 10**6)
COUNT = st.integers(0, 99)
LINE = st.integers(-(10**4), 10**4)
OUTCOME = st.sampled_from(["passed", "failed", "skipped"])


def records(kind: type, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.builds(kind, **fields), max_size=4).map(tuple)


LEDGERS = st.builds(
    Ledger,
    root=TEXT,
    files=records(
        FileRecord,
        path=TEXT,
        read=NUMBER,
        ranges=st.lists(st.tuples(LINE, LINE), max_size=3).map(tuple),
        reads=COUNT,
        written=NUMBER,
        edited=NUMBER,
        edits=COUNT,
        changed=NUMBER,
        deleted=NUMBER,
        moved=NUMBER,
        to=TEXT,
    ),
    commands=records(
        CommandRecord,
        command=TEXT,
        ordinal=NUMBER,
        exit_status=st.none() | st.integers(-300, 300),
        failed=st.booleans(),
        times=COUNT,
        side_effects=st.booleans(),
        unknown=st.booleans(),
    ),
    tests=records(
        TestRecord,
        name=TEXT,
        outcome=OUTCOME,
        ordinal=NUMBER,
        before=st.none() | OUTCOME,
        before_ordinal=NUMBER,
        detail=TEXT,
        times=COUNT,
        is_command=st.booleans(),
        written=st.booleans(),
    ),
    attempts=records(Attempt, what=TEXT, how=TEXT, tried=NUMBER, ended=NUMBER, times=COUNT),
    errors=records(ErrorRecord, line=TEXT, ordinal=NUMBER),
    plan=records(
        PlanItem,
        text=TEXT,
        state=st.sampled_from(["open", "doing", "done", "dropped"]),
        id=TEXT,
        ordinal=NUMBER,
    ),
    recent=records(EditMark, digest=TEXT, ordinal=NUMBER),
)


@settings(max_examples=400)
@given(LEDGERS)
def test_parse_is_the_inverse_of_lines(ledger: Ledger):
    """Every ledger comes back, hostile strings included, also from one text that is split again."""
    written = lines(ledger)
    assert parse(written) == ledger
    text = "\n".join(written)
    text.encode()
    assert parse(text.splitlines()) == ledger
    assert all(line == line.strip() for line in written)


@given(LEDGERS)
def test_a_ledger_is_true_when_it_holds_anything(ledger: Ledger):
    """Truth, lines and content say the same."""
    assert bool(ledger) == bool(lines(ledger)) == (ledger != Ledger())


def test_lines_are_short_and_speak_for_themselves():
    """Each line begins with its kind and names the place with a handle."""
    ledger = Ledger(
        "/repo",
        (FileRecord("src/a.py", read=12, ranges=((1, 80), (120, 0)), reads=3, edited=20, edits=2),),
        (CommandRecord("git push origin main", 30, 0, side_effects=True),),
        (TestRecord("tests/a.py::test_x", "passed", 52, "failed", 40, times=2, written=True),),
        (Attempt("src/a.py", "reversed", 12, 20),),
        (ErrorRecord("E: boom", 40),),
        (PlanItem("write it", "doing", "2", 41),),
    )
    assert lines(ledger) == (
        "root /repo",
        "file src/a.py read m12 1-80,120- x3 edited m20 x2",
        "ran m30 exit=0 side-effects: git push origin main",
        "test m52 passed before=failed@m40 x2 own: tests/a.py::test_x",
        "tried m12 reversed m20: src/a.py",
        "error m40: E: boom",
        "plan m41 doing #2: write it",
    )


@pytest.mark.parametrize(
    "line",
    [
        "",
        "what m1: x",
        "file",
        "ran 12: x",
        "test m1 exploded: x",
        "plan m1 maybe: x",
        "file a loud m1",
        "error",
        "ran m1 quickly: x",
        "marks m1",
        'file "a',
    ],
)
def test_other_lines_are_refused(line: str):
    """A line that no ledger wrote is refused with one clear line."""
    with pytest.raises(InputError, match="not a line of a ledger"):
        parse([line])


@given(LEDGERS, st.integers(0, 30))
def test_trim_keeps_at_most_so_many_lines(ledger: Ledger, most: int):
    """Trimming keeps records as they are, in order, within the lines given, and is idempotent."""
    small = trim(ledger, most)
    assert len(lines(small)) <= most
    assert trim(small, most) == small
    for field in dataclasses.fields(Ledger):
        kept, all_of = getattr(small, field.name), getattr(ledger, field.name)
        rest = iter(all_of)
        assert all(any(record == other for other in rest) for record in kept)
    if len(lines(ledger)) <= most:
        assert small == ledger


def test_trim_keeps_what_is_worth_most():
    """Open failures, side effects and changed files stay; old reads and passing runs go first."""
    ledger = Ledger(
        files=(FileRecord("old.py", read=1), FileRecord("changed.py", edited=9, edits=1)),
        commands=(
            CommandRecord("ls", 2),
            CommandRecord("git push", 3, 0, side_effects=True),
            CommandRecord("make", 4, 0),
        ),
        tests=(TestRecord("a", "failed", 5), TestRecord("b", "passed", 6)),
    )
    small = trim(ledger, 3)
    assert [file.path for file in small.files] == ["changed.py"]
    assert [command.command for command in small.commands] == ["git push"]
    assert [test.name for test in small.tests] == ["a"]


def test_trim_lets_no_sort_push_out_the_others():
    """A hundred failing tests leave room for the files that were changed."""
    ledger = Ledger(
        files=tuple(FileRecord(f"f{n}.py", edited=n) for n in range(1, 11)),
        tests=tuple(TestRecord(f"t{n}", "failed", n) for n in range(100)),
    )
    assert len(trim(ledger, 30).files) == 10


def test_trim_takes_a_choice():
    """A callable says which records stay."""
    ledger = Ledger(commands=(CommandRecord("a", 1), CommandRecord("b", 2, failed=True)))
    small = trim(ledger, lambda record: isinstance(record, CommandRecord) and record.failed)
    assert [command.command for command in small.commands] == ["b"]
