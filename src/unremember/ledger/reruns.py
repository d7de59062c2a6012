"""Commands and tests that ran: what came of them now, and what that settles."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from unremember.actions import (
    Outcome,
    TestRun,
    clean_path,
    read_tests,
    squeeze,
    strip_frame,
    telling_line,
)
from unremember.ledger.book import Book
from unremember.ledger.records import CommandRecord, TestRecord

MOST_CASES = 40
"""Failed tests of one run that are noted one by one."""

_FILTER = re.compile(
    r"\s(?:-k|-run|--run|-t|--grep|-g|--filter|--tests)[= ]+(\"[^\"]*\"|'[^']*'|[^\s'\"]+)"
)
_NARROW = re.compile(
    r"\s(?:-m (?!pytest\b|unittest\b)\w+|--lf|--ff|-x|--maxfail\S*|-Dtest\S*|--last-failed|\|)"
)
_WIDE = frozenset(("make", "just", "task", "mise", "tox", "nox", "bazel"))
"""Programs that run the tests of the whole project, of every language."""


@dataclass(frozen=True, slots=True)
class Run:
    """A command that ran, and what its result says. `flagged` is the result's own failed flag."""

    command: str
    ordinal: int
    text: str
    status: int | None
    failed: bool
    flagged: bool = False
    unknown: bool = False


def note_command(book: Book, run: Run, *, effects: bool) -> None:
    """Notes the last run of a command."""
    commands = book.commands
    known = commands.pop(run.command, None)
    commands[run.command] = CommandRecord(
        run.command,
        run.ordinal,
        run.status,
        run.failed,
        (known.times if known else 0) + 1,
        effects,
        run.unknown,
    )
    if known:
        book.settle(
            run.command, known.ordinal, run.ordinal, failed_before=known.failed, failed=run.failed
        )


def note_test(book: Book, run: Run) -> None:
    """Notes the last run of a command that runs tests, and the tests that it names."""
    told = read_tests(run.text)
    tests = book.tests
    outcome, detail = _outcome(run, told)
    known = tests.pop((run.command, True), None)
    record = _record(run.command, outcome, run.ordinal, known, is_command=True)
    tests[run.command, True] = replace(record, detail=detail, written=book.wrote(run.command))
    _note_cases(book, run, outcome, told, known.ordinal if known else 0)
    if known:
        failed_before = known.outcome == "failed"
        book.settle(
            run.command,
            known.ordinal,
            run.ordinal,
            failed_before=failed_before,
            failed=outcome == "failed",
        )


def _outcome(run: Run, told: TestRun | None) -> tuple[Outcome, str]:
    if told and (told.passed or told.failed or told.skipped):
        bad = told.failed or run.status or run.flagged
        return ("failed" if bad else told.outcome), str(told)
    if run.failed:
        return "failed", f"exit {run.status}" if run.status else ""
    # A pipe hides the status; what the output says is all there is.
    error = telling_line(strip_frame(run.text[-20_000:]))
    return ("failed", squeeze(error, 60)) if error else ("passed", "")


def _record(
    name: str, outcome: Outcome, ordinal: int, known: TestRecord | None, *, is_command: bool = False
) -> TestRecord:
    """A test's new record; `before` is its last outcome that was another one."""
    if not known:
        return TestRecord(name, outcome, ordinal, is_command=is_command)
    before, before_ordinal = known.before, known.before_ordinal
    if known.outcome != outcome:
        before, before_ordinal = known.outcome, known.ordinal
    return replace(
        known,
        outcome=outcome,
        ordinal=ordinal,
        before=before,
        before_ordinal=before_ordinal,
        times=known.times + 1,
    )


def _note_cases(
    book: Book, run: Run, outcome: Outcome, told: TestRun | None, last_run: int
) -> None:
    """Single tests: those that fail now, and those that failed before and do no longer."""
    tests = book.tests
    named: dict[str, Outcome] = {case.name: case.outcome for case in told.cases} if told else {}
    failing = [name for name, how in named.items() if how == "failed"][:MOST_CASES]
    complete = outcome == "passed" or (told is not None and told.failed == len(failing))
    for name, how in named.items():
        known = tests.get((name, False))
        if name in failing or (known and how == "passed"):
            tests.pop((name, False), None)
            record = _record(name, how, run.ordinal, known)
            tests[name, False] = replace(record, written=record.written or book.wrote(name))
    if not complete:
        return
    origins = {test.ordinal: test.name for test in tests.values() if test.is_command}
    for key, test in list(tests.items()):
        if test.is_command or test.name in named or test.outcome != "failed":
            continue
        if (last_run and test.ordinal == last_run) or _covers(
            run.command, test.name, origins.get(test.ordinal, "")
        ):
            tests.pop(key)
            tests[key] = _record(test.name, "passed", run.ordinal, test)


def _covers(command: str, test: str, origin: str) -> bool:
    """Whether a run of tests took in a test that failed in the run `origin`.

    It did if it is as wide: its filter names the test, or it has none; and its paths hold the
    test's file or the paths of `origin`, or it names none and is of the same sort.
    """
    if found := _FILTER.search(command):
        name = test.rpartition("::")[2].partition("/")[0]
        wanted = re.split(r"[|\s]+", found[1].strip("\"'^$()"))
        if not any(word.strip("^$()") in name for word in wanted if word):
            return False
    elif _NARROW.search(command) or "::" in command:
        return False
    command, origin = _without_cd(command), _without_cd(origin)
    paths = _test_paths(command)
    path = test.partition("::")[0] if "::" in test else ""
    if not paths:
        program = command.split(" ", 1)[0]
        return program in _WIDE or origin.split(" ", 1)[0] == program
    inside = [path] if path else _test_paths(origin)
    return bool(inside) and all(any(p == w or p.startswith(f"{w}/") for w in paths) for p in inside)


def _test_paths(command: str) -> list[str]:
    words = [w for w in command.split()[1:] if not w.startswith(("-", '"', "'")) and "=" not in w]
    found = (w for w in words if ("/" in w or w.endswith(".py")) and not w.endswith("/python"))
    return [clean_path(w.removesuffix("...")) for w in found]


def _without_cd(command: str) -> str:
    return re.sub(r"^cd \S+ && ", "", command)
