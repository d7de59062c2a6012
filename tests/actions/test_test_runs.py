"""Summaries of test programs, and the tests they name, are read."""

from __future__ import annotations

import pytest

from unremember.actions import read_tests
from unremember.actions import test_outcomes as outcomes_of
from unremember.messages import Text, ToolResult


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("=== 1 failed, 2 passed, 1 skipped, 3 warnings in 0.12s ===", (2, 1, 1)),
        ("5 passed in 1s", (5, 0, 0)),
        ("=== 2 passed, 1 error in 0.1s ===", (2, 1, 0)),
        ("Ran 5 tests in 0.010s\n\nOK (skipped=1)", (4, 0, 1)),
        ("Ran 5 tests in 0.010s\n\nFAILED (failures=1, errors=2)", (2, 3, 0)),
        ("--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.01s)\nFAIL\nFAIL\tx/y\t0.1s", (1, 1, 0)),
        ("ok  \tx/a\t0.1s\nok  \tx/b\t(cached)\nFAIL\tx/c\t0.2s", (2, 1, 0)),
        (
            (
                "test result: ok. 3 passed; 0 failed; 1 ignored;\ntest result: FAILED. 2"
                " passed; 1 failed; 0 ignored;"
            ),
            (5, 1, 1),
        ),
        ("Test Suites: 1 failed, 1 total\nTests:       1 failed, 5 passed, 6 total\n", (5, 1, 0)),
        (" Test Files  1 failed (1)\n      Tests  2 failed | 10 passed (12)\n", (10, 2, 0)),
        ("  12 passing (30ms)\n  1 pending\n  2 failing\n", (12, 2, 1)),
        ("# tests 4\n# pass 3\n# fail 1\n", (3, 1, 0)),
        (" 3 pass\n 1 fail\nRan 4 tests across 1 files.", (3, 1, 0)),
        ("[ERROR] Tests run: 7, Failures: 1, Errors: 1, Skipped: 2", (3, 2, 2)),
        ("10 tests completed, 2 failed, 1 skipped\nBUILD FAILED", (7, 2, 1)),
        ("5 examples, 1 failure, 1 pending", (3, 1, 1)),
        ("OK (5 tests, 9 assertions)", (5, 0, 0)),
        ("Tests: 5, Assertions: 9, Failures: 1.", (4, 1, 0)),
        ("Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total: 4", (3, 1, 0)),
        ("90% tests passed, 1 tests failed out of 10", (9, 1, 0)),
        ("FAILED | 3 passed | 1 failed (5ms)", (3, 1, 0)),
    ],
)
def test_summaries(text: str, counts: tuple[int, int, int]):
    """The counts of each program's summary."""
    run = read_tests(text)
    assert run is not None
    assert (run.passed, run.failed, run.skipped) == counts
    assert run.outcome == ("failed" if counts[1] else "passed")


@pytest.mark.parametrize(
    ("text", "failed", "passed"),
    [
        (
            (
                "FAILED tests/a.py::test_x[1-a b] - assert 1\nFAILED tests/a.py::test_y\n1"
                " passed in 1s"
            ),
            {"tests/a.py::test_x[1-a b]", "tests/a.py::test_y"},
            set[str](),
        ),
        (
            "tests/a.py::test_x PASSED [ 50%]\ntests/a.py::test_y FAILED [100%]",
            {"tests/a.py::test_y"},
            {"tests/a.py::test_x"},
        ),
        ("ERROR tests/b.py - ImportError: x\n1 error in 0.1s", {"tests/b.py"}, set[str]()),
        (
            (
                "FAIL: test_x (app.tests.A)\nERROR: test_y (app.tests.A)\nRan 2 tests in"
                " 0s\n\nFAILED (failures=1, errors=1)"
            ),
            {"test_x (app.tests.A)", "test_y (app.tests.A)"},
            set[str](),
        ),
        ("test_x (a.B) ... ok\nRan 1 test in 0s\n\nOK", set[str](), {"test_x (a.B)"}),
        (
            "--- FAIL: TestB (0.01s)\n    --- FAIL: TestB/sub (0.00s)\n--- PASS: TestA (0.00s)",
            {"TestB", "TestB/sub"},
            {"TestA"},
        ),
        ("test a::b ... ok\ntest a::c ... FAILED\n", {"a::c"}, {"a::b"}),
        ("  ● Suite › does it\n\nTests: 1 failed, 1 total", {"Suite › does it"}, set[str]()),
        ("not ok 2 - is right # time=1\n# fail 1", {"is right"}, set[str]()),
        (
            "AppTest > works() FAILED\n2 tests completed, 1 failed",
            {"AppTest > works()"},
            set[str](),
        ),
        (
            (
                "[ERROR]   AppTest.works:12 expected 1\nTests run: 1, Failures: 1, Errors: 0,"
                " Skipped: 0"
            ),
            {"AppTest.works"},
            set[str](),
        ),
    ],
)
def test_named_tests(text: str, failed: set[str], passed: set[str]):
    """The tests that the output names, with their outcome."""
    run = outcomes_of(ToolResult("c", (Text(text),)))
    assert run is not None
    assert {case.name for case in run.cases if case.outcome == "failed"} == failed
    assert {case.name for case in run.cases if case.outcome == "passed"} == passed


@pytest.mark.parametrize("text", ["", "hello", "it failed", "3 apples passed by", "12 tests"])
def test_other_output_is_none(text: str):
    """Output that is no test run gives nothing."""
    assert read_tests(text) is None
