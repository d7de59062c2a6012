"""Summaries that test programs print, and the outcome of single tests where they are named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from unremember.messages import ToolResult

Outcome = Literal["passed", "failed", "skipped"]

MOST_CASES = 200
"""Named tests that are taken from one result."""

TAIL = 6_000
"""Characters at the end of a result in which its summary is looked for."""


@dataclass(frozen=True, slots=True)
class TestCase:
    """One named test and what came of it; errors count as failed."""

    __test__ = False  # pytest collects classes by their name

    name: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class TestRun:
    """What a test program said: counts, and the tests that it named."""

    __test__ = False

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    cases: tuple[TestCase, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Failed if anything failed, else passed, else skipped."""
        return (
            "failed" if self.failed else "passed" if self.passed or not self.skipped else "skipped"
        )

    def __str__(self) -> str:
        counts = ((self.failed, "failed"), (self.passed, "passed"), (self.skipped, "skipped"))
        return ", ".join(f"{count} {word}" for count, word in counts if count) or "no tests ran"


_COUNT = re.compile(
    r"(\d{1,9}) (passed|failed|errors?|skipped|xfailed|xpassed|warnings?|deselected|pending|todo"
    r"|total)\b"
)
_PYTEST = re.compile(
    r"^(?:=+ )?((?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|warnings?|deselected"
    r"|rerun)(?:, )?)+) in [\d.]+",
    re.MULTILINE,
)
_NO_TESTS = re.compile(r"^=* ?no tests (?:ran|collected)", re.MULTILINE)
_UNITTEST = re.compile(
    r"^Ran (\d+) tests? in [\d.]+s?\s+(OK|FAILED|NO TESTS RAN)?(?: \(([^)\n]*)\))?", re.MULTILINE
)
_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
_JEST = re.compile(r"^\s*Tests:?\s+([^\n]*\b(?:total|passed|failed|\(\d+\))[^\n]*)$", re.MULTILINE)
_MOCHA = re.compile(r"^\s*(\d+) (passing|failing|pending)\b", re.MULTILINE)
_TAP = re.compile(r"^(?:#|ℹ) (pass|fail|skipped|skip) +(\d+)$", re.MULTILINE)
_BUN = re.compile(r"^ *(\d+) (pass|fail|skip)$", re.MULTILINE)
_MAVEN = re.compile(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)")
_GRADLE = re.compile(r"^(\d+) tests completed(?:, (\d+) failed)?(?:, (\d+) skipped)?", re.MULTILINE)
_RSPEC = re.compile(r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?", re.MULTILINE)
_PHPUNIT = re.compile(
    r"^Tests: (\d+), Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?|^OK \((\d+) tests?,",
    re.MULTILINE,
)
_DOTNET = re.compile(r"Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+)")
_CTEST = re.compile(r"^\d+% tests passed, (\d+) tests failed out of (\d+)", re.MULTILINE)
_DENO = re.compile(r"^(?:ok|FAILED) \| (\d+) passed[^|]*\| (\d+) failed", re.MULTILINE)


def test_outcomes(result: ToolResult) -> TestRun | None:
    """What a test run said; None when the result holds no summary of tests that is known."""
    return read_tests(result.text)


test_outcomes.__test__ = False  # type: ignore[attr-defined]


def read_tests(text: str) -> TestRun | None:
    """As `test_outcomes`, of a text."""
    cases = tuple(_cases(text))
    run = _summary(text[-TAIL:])
    if run is None and cases:
        failed = sum(case.outcome == "failed" for case in cases)
        passed = sum(case.outcome == "passed" for case in cases)
        run = TestRun(passed, failed, len(cases) - failed - passed)
    if run is None and (run := _go(text)) is None:
        return None
    if not run.failed and any(case.outcome == "failed" for case in cases):
        run = TestRun(run.passed, sum(case.outcome == "failed" for case in cases), run.skipped)
    return TestRun(run.passed, run.failed, run.skipped, cases)


def _summary(tail: str) -> TestRun | None:
    for stems, reader in _READERS:
        if any(stem in tail for stem in stems) and (run := reader(tail)):
            return run
    return None


def _counted(text: str) -> TestRun:
    counts = dict.fromkeys(("passed", "failed", "skipped"), 0)
    for number, word in _COUNT.findall(text):
        match word:
            case "passed" | "xpassed" | "xfailed":
                counts["passed"] += int(number)
            case "failed" | "error" | "errors":
                counts["failed"] += int(number)
            case "skipped" | "pending" | "todo":
                counts["skipped"] += int(number)
            case _:
                pass
    return TestRun(**counts)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter([*pattern.finditer(text)][-1:]), None)


def _int(value: str | None) -> int:
    return int(value or 0)


def _pytest(tail: str) -> TestRun | None:
    if found := _last(_PYTEST, tail):
        return _counted(found[1])
    return TestRun() if _NO_TESTS.search(tail) else None


def _unittest(tail: str) -> TestRun | None:
    if not (found := _last(_UNITTEST, tail)):
        return None
    bad = sum(
        int(n) for n in re.findall(r"(?<!expected )\b(?:failures|errors)=(\d+)", found[3] or "")
    )
    skipped = sum(int(n) for n in re.findall(r"\bskipped=(\d+)", found[3] or ""))
    return TestRun(max(int(found[1]) - bad - skipped, 0), bad or (found[2] == "FAILED"), skipped)


def _cargo(tail: str) -> TestRun | None:
    rows = _CARGO.findall(tail)
    if not rows:
        return None
    passed, failed, ignored = (sum(map(int, column)) for column in zip(*rows, strict=True))
    return TestRun(passed, failed, ignored)


def _jest(tail: str) -> TestRun | None:
    found = _last(_JEST, tail)
    return _counted(found[1]) if found else None


def _mocha(tail: str) -> TestRun | None:
    counts = {word: int(number) for number, word in _MOCHA.findall(tail)}
    if not counts:
        return None
    return TestRun(counts.get("passing", 0), counts.get("failing", 0), counts.get("pending", 0))


def _tap(tail: str) -> TestRun | None:
    counts = {word: int(number) for word, number in _TAP.findall(tail)}
    counts |= {word: int(number) for number, word in _BUN.findall(tail)}
    if "pass" not in counts and "fail" not in counts:
        return None
    return TestRun(
        counts.get("pass", 0), counts.get("fail", 0), counts.get("skipped", counts.get("skip", 0))
    )


def _maven(tail: str) -> TestRun | None:
    if found := _last(_MAVEN, tail):
        total, failures, errors, skipped = map(int, found.groups())
        return TestRun(max(total - failures - errors - skipped, 0), failures + errors, skipped)
    return None


def _gradle(tail: str) -> TestRun | None:
    if found := _last(_GRADLE, tail):
        failed, skipped = _int(found[2]), _int(found[3])
        return TestRun(max(int(found[1]) - failed - skipped, 0), failed, skipped)
    return None


def _rspec(tail: str) -> TestRun | None:
    if found := _last(_RSPEC, tail):
        failed, skipped = int(found[2]), _int(found[3])
        return TestRun(max(int(found[1]) - failed - skipped, 0), failed, skipped)
    return None


def _others(tail: str) -> TestRun | None:
    if found := _last(_PHPUNIT, tail):
        bad = _int(found[2]) + _int(found[3])
        return TestRun(_int(found[4] or found[1]) - bad, bad)
    if found := _last(_DOTNET, tail):
        return TestRun(int(found[2]), int(found[1]), int(found[3]))
    if found := _last(_CTEST, tail):
        return TestRun(int(found[2]) - int(found[1]), int(found[1]))
    if found := _last(_DENO, tail):
        return TestRun(int(found[1]), int(found[2]))
    return None


# What must stand in a text before an expression is tried on it.
_READERS: tuple[tuple[tuple[str, ...], Callable[[str], TestRun | None]], ...] = (
    (
        (
            " in 0",
            " in 1",
            " in 2",
            " in 3",
            " in 4",
            " in 5",
            " in 6",
            " in 7",
            " in 8",
            " in 9",
            "no tests",
        ),
        _pytest,
    ),
    (("Ran ",), _unittest),
    (("test result: ",), _cargo),
    (("Tests",), _jest),
    ((" passing", " failing"), _mocha),
    (("# pass", "# fail", "ℹ pass", " pass\n", " fail\n"), _tap),
    (("Tests run: ",), _maven),
    (("tests completed",), _gradle),
    ((" examples, ", " example, "), _rspec),
    (("Assertions: ", "OK (", "Failed: ", "tests failed out of", " passed"), _others),
)


def _go(text: str) -> TestRun | None:
    """`go test` without -v prints one line per package; packages are counted then."""
    if "ok  \t" not in text[-TAIL * 4 :] and "FAIL\t" not in text[-TAIL * 4 :]:
        return None
    passed = len(re.findall(r"^ok  ?\t", text[-TAIL * 4 :], re.MULTILINE))
    failed = len(re.findall(r"^FAIL\t", text[-TAIL * 4 :], re.MULTILINE))
    return TestRun(passed, failed) if passed or failed else None


_MARKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("FAILED ", re.compile(r"(?P<failed>)FAILED (?P<name>[^\s:]+::\S.*?)(?: - .*)?$")),
    ("ERROR ", re.compile(r"(?P<failed>)ERROR (?P<name>[^\s:]+(?:::\S+?|\.py))(?: - .*)?$")),
    (" PASSED", re.compile(r"(?P<name>\S+::\S.*?) PASSED\b")),
    (" FAILED", re.compile(r"(?P<failed>)(?P<name>\S+::\S.*?|[\w.$]+ > .+?) FAILED\b")),
    (
        "FAIL: ",
        re.compile(r"(?P<failed>)(?:\s*--- )?FAIL: (?P<name>[\w/.#-]+(?: \([A-Za-z_][\w.]*\))?)"),
    ),
    ("ERROR: ", re.compile(r"(?P<failed>)ERROR: (?P<name>\w+ \([\w.]+\))")),
    ("--- PASS: ", re.compile(r"\s*--- PASS: (?P<name>\S+)")),
    (" ... ok", re.compile(r"(?:test )?(?P<name>[\w:.]+(?: \([\w.]+\))?) \.\.\. ok\b")),
    (" ... FAILED", re.compile(r"(?P<failed>)test (?P<name>[\w:.]+) \.\.\. FAILED\b")),
    ("● ", re.compile(r"(?P<failed>)\s*● (?P<name>\S.* › .*\S)")),
    ("FAIL  ", re.compile(r"(?P<failed>)\s*FAIL  (?P<name>\S+ > .*\S)")),
    ("not ok ", re.compile(r"(?P<failed>)\s*not ok \d+ -? ?(?P<name>[^#\n]*[^#\s])")),
    ("[ERROR] ", re.compile(r"(?P<failed>)\[ERROR\] +(?P<name>[A-Z]\w*\.\w+):\d+")),
    ("rspec ./", re.compile(r"(?P<failed>)rspec (?P<name>\./\S+)")),
)


def _cases(text: str) -> Iterator[TestCase]:
    """Tests that the output names, each once, with its last outcome; failed ones before others."""
    found: dict[str, Outcome] = {}
    for mark, pattern in _MARKS:
        for line in _lines_with(text, mark):
            if match := pattern.match(line):
                outcome: Outcome = "failed" if "failed" in match.groupdict() else "passed"
                name = match["name"].strip()
                if found.get(name) != "failed":
                    found[name] = outcome
            if len(found) >= MOST_CASES:
                break
    for name, outcome in found.items():
        yield TestCase(name[:300], outcome)


def _lines_with(text: str, mark: str) -> Iterator[str]:
    """The lines that hold `mark`, found by substring search; at most 2,000 characters of each."""
    at, tries = text.find(mark), 0
    while at >= 0 and tries < 5_000:
        start = text.rfind("\n", max(0, at - 2_000), at) + 1 or max(0, at - 2_000)
        end = text.find("\n", at, at + 2_000)
        end = min(len(text), at + 2_000) if end < 0 else end
        if at - start < 300:
            yield text[start:end].rstrip("\r")
        tries += 1
        at = text.find(mark, end)
