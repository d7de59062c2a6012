"""Steps are folded into a ledger that says what holds now."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from unremember.history import Step, split_steps
from unremember.ledger import Ledger, extend, lines, parse
from unremember.messages import Message, Text, ToolCall, ToolResult, number
from unremember.testing import histories

Spoken = tuple[str, dict[str, Any], str, bool]
"""A tool's name, its arguments, the text of its result, and the failed flag."""


def steps(*spoken: Spoken) -> list[Step]:
    """One step for each call and its result; the n-th call is m(3n-1), its result m(3n)."""
    messages: list[Message] = []
    for at, (name, arguments, text, failed) in enumerate(spoken):
        call = ToolCall(f"c{at}", name, json.dumps(arguments))
        result = ToolResult(f"c{at}", (Text(text),), failed)
        messages += [Message("assistant", (call,)), Message("tool", (result,))]
    return list(split_steps(number(messages)))


def fold(*spoken: Spoken) -> Ledger:
    return extend(Ledger(), steps(*spoken))


def sh(command: str, text: str = "", *, failed: bool = False) -> Spoken:
    return ("bash", {"command": command}, text, failed)


def read(path: str, text: str = "x", **more: int) -> Spoken:
    return ("Read", {"file_path": path, **more}, text, False)


def edit(
    path: str, old: str = "a", new: str = "b", text: str = "ok", failed: bool = False
) -> Spoken:
    return ("Edit", {"file_path": path, "old_string": old, "new_string": new}, text, failed)


def write(path: str) -> Spoken:
    return ("Write", {"file_path": path, "content": "x"}, "File created", False)


def test_a_file_read_edited_and_formatted():
    """Read at m3, edited at m5, changed outside at m8: each stands with its own handle."""
    ledger = fold(read("a.py"), edit("a.py"), sh("black a.py", "reformatted a.py"), read("a.py"))
    (file,) = ledger.files
    assert (file.read, file.reads, file.edited, file.edits, file.changed) == (12, 2, 5, 1, 8)
    assert not file.is_stale
    assert fold(read("a.py"), edit("a.py")).files[0].is_stale


@pytest.mark.parametrize(
    "spoken",
    [
        edit(
            "a.py",
            text="File has been modified since read, either by the user or by a linter.",
            failed=True,
        ),
        edit(
            "a.py",
            text=(
                "<tool_use_error>File has been unexpectedly modified. Read it"
                " again.</tool_use_error>"
            ),
        ),
        sh("prettier --write a.py", "a.py 20ms"),
        sh("ruff format .", "reformatted a.py\n1 file reformatted"),
        sh("git checkout -- a.py"),
    ],
)
def test_changes_from_outside(spoken: Spoken):
    """A tool that says so, a formatter and the version control change a file from outside."""
    ledger = fold(read("a.py"), spoken)
    assert ledger.files[0].changed in (5, 6)
    assert ledger.files[0].edits == 0


def test_a_reminder_of_the_program_says_that_a_file_changed():
    """What the program around the agent tells it about a linter counts."""
    messages = [step.messages for step in steps(read("/r/a.py"))]
    note = "<system-reminder>\nNote: /r/a.py was modified, either by the user or by a linter."
    told = number([*messages[0], Message("user", (Text(note),), kind="program")])
    assert extend(Ledger(), split_steps(told)).files[0].changed == 4


def test_ranges_are_joined_until_the_file_changes():
    """Lines read in parts are one range where they meet; after a change only new ones count."""
    ledger = fold(
        read("a.py", offset=1, limit=40),
        read("a.py", offset=41, limit=40),
        read("a.py", offset=200, limit=10),
    )
    assert ledger.files[0].ranges == ((1, 80), (200, 209))
    ledger = fold(read("a.py"), read("a.py", offset=5, limit=5))
    assert ledger.files[0].ranges == ()
    ledger = fold(read("a.py"), edit("a.py"), read("a.py", offset=5, limit=5))
    assert ledger.files[0].ranges == ((5, 9),)


def test_what_did_not_happen_is_not_noted():
    """A failed read, a refused edit and a command that never ran leave no record of the deed."""
    refused = "The user doesn't want to proceed with this tool use."
    ledger = fold(
        ("Read", {"file_path": "no.py"}, "File does not exist.", True),
        edit("a.py", text="String to replace not found in file.", failed=True),
        (
            "str_replace_editor",
            {"command": "str_replace", "path": "b.py"},
            "ERROR:\nNo replacement was performed.",
            False,
        ),
        sh("git push", refused, failed=True),
        sh("sed -i s/a/b/ c.py", "<returncode>2</returncode>"),
    )
    assert ledger.files == ()
    assert ledger.commands == ()


def test_finished_side_effects_are_listed():
    """F6: what was pushed, installed and posted stands as run, with status and handle."""
    ledger = fold(
        sh(
            "cd /repo && git push origin main 2>&1 | tail -3",
            "To github.com:x/y\n   1..2 main -> main",
        ),
        sh("pip install x", "<returncode>0</returncode>"),
        sh("npm ci", "Exit code 1\nnpm ERR! x", failed=True),
        ("book_flight", {"to": "SEA"}, '{"ok": true}', False),
        sh("ls"),
    )
    assert [(c.command, c.ordinal, c.exit_status, c.failed) for c in ledger.commands] == [
        ("git push origin main", 3, None, False),
        ("pip install x", 6, 0, False),
        ("npm ci", 9, 1, True),
        ('book_flight({"to": "SEA"})', 12, None, False),
    ]
    assert all(command.side_effects for command in ledger.commands)
    assert "ran m3 side-effects: git push origin main" in lines(ledger)


def test_a_side_effect_without_a_result_is_listed_as_unknown():
    """A call whose result never came may have had its effect; nothing else is concluded from it."""
    none = "[no result was recorded; the outcome is unknown]"
    ledger = fold(sh("git push", none, failed=True), edit("a.py", text=none, failed=True))
    assert [(c.command, c.unknown, c.failed) for c in ledger.commands] == [
        ("git push", True, False)
    ]
    assert ledger.files == ()
    assert ledger.errors == ()


def test_a_command_that_ran_again_is_one_record():
    """The last run counts; the same words in another folder are another command."""
    ledger = fold(
        sh("make", "Exit code 2\na.c:1:1: error: no"),
        sh("make 2>&1 | tail -5", "fine"),
        sh("cd docs && make", "fine"),
    )
    assert [(c.command, c.times, c.failed) for c in ledger.commands] == [
        ("make", 2, False),
        ("cd docs && make", 1, False),
    ]
    assert ledger.errors == ()


def test_long_commands_stay_different():
    """Two long commands with the same beginning are two records, each on one line."""
    ledger = fold(sh("python x.py " + "a " * 200), sh("python x.py " + "a " * 200 + "b\nmore"))
    assert len(ledger.commands) == 2
    assert all(len(command.command) <= 170 for command in ledger.commands)


def test_a_test_that_failed_and_then_passed():
    """The last outcome stands with the one before, for the command and for each named test."""
    run = sh("pytest -q", "FAILED tests/a.py::test_x - assert 1\n1 failed, 2 passed in 1s")
    ledger = fold(write("tests/a.py"), run, edit("src/a.py"), sh("pytest -q", "3 passed in 1s"))
    command, test = ledger.tests
    assert (command.name, command.detail, command.outcome, command.before) == (
        "pytest -q",
        "3 passed",
        "passed",
        "failed",
    )
    assert (test.name, test.outcome, test.ordinal, test.before, test.before_ordinal) == (
        "tests/a.py::test_x",
        "passed",
        12,
        "failed",
        6,
    )
    assert test.written
    assert ledger.errors == ()


@pytest.mark.parametrize(
    ("again", "settled"),
    [
        ("pytest tests/a.py", True),
        ("pytest tests", True),
        ("pytest -k test_x", True),
        ("tox", True),
        ("pytest tests/b.py", False),
        ("pytest -k test_other", False),
        ("cargo test", False),
    ],
)
def test_only_a_run_that_took_it_in_settles_a_failure(again: str, settled: bool):
    """A narrower or another run that passes says nothing about a test that failed."""
    failing = sh("pytest", "FAILED tests/a.py::test_x - assert 1\n1 failed, 2 passed in 1s")
    passing = {"cargo test": "test result: ok. 3 passed; 0 failed; 0 ignored;"}
    ledger = fold(failing, sh(again, passing.get(again, "1 passed in 1s")))
    outcomes = {test.name: test.outcome for test in ledger.tests}
    assert (outcomes["tests/a.py::test_x"] == "passed") is settled


def test_attempts_that_were_undone():
    """An edit taken back, a file brought back and changes put aside are attempts."""
    ledger = fold(
        edit("a.py", "x = 1", "x = 2"),
        edit("a.py", "x = 2", "x = 1"),
        edit("b.py"),
        sh("git checkout -- b.py"),
        edit("c.py"),
        sh("cp c.py.bak c.py"),
    )
    assert [(a.what, a.how, a.tried, a.ended) for a in ledger.attempts] == [
        ("a.py", "reversed", 2, 5),
        ("b.py", "restored", 8, 11),
        ("c.py", "restored", 14, 17),
    ]
    assert fold(edit("a.py"), sh("git stash"), sh("git stash pop")).attempts == ()
    assert fold(edit("a.py"), sh("git commit -am x"), sh("git checkout -- a.py")).attempts == ()


def test_attempts_that_still_fail():
    """What fails again after an edit is an attempt until it passes."""
    failing = sh("pytest", "FAILED t.py::x - assert 1\n1 failed in 1s")
    ledger = fold(failing, edit("a.py"), failing, edit("a.py"), failing)
    (attempt,) = ledger.attempts
    assert (attempt.what, attempt.how, attempt.tried, attempt.ended, attempt.times) == (
        "pytest",
        "fails",
        11,
        15,
        2,
    )
    assert extend(ledger, steps(sh("pytest", "1 passed in 1s"))).attempts == ()


def test_last_errors_are_kept_distinct():
    """At most eight, the newest last, one that comes again moves up."""
    ledger = fold(*(sh(f"c{n}", f"Exit code 1\nerror: e{n % 10}", failed=True) for n in range(21)))
    assert [error.line for error in ledger.errors] == [
        f"error: e{n}" for n in (3, 4, 5, 6, 7, 8, 9, 0)
    ]
    assert fold(read("a.log", "1: x\nerror: in a file that was read")).errors == ()


def test_plans_are_followed():
    """A whole list replaces, single tasks are made and updated."""
    todos = [{"content": "one", "status": "completed"}, {"content": "two", "status": "in_progress"}]
    ledger = fold(
        ("TodoWrite", {"todos": [{"content": "old"}]}, "", False),
        ("TodoWrite", {"todos": todos}, "", False),
    )
    assert [(item.text, item.state) for item in ledger.plan] == [("one", "done"), ("two", "doing")]
    ledger = fold(
        ("TaskCreate", {"subject": "one"}, "Task #1 created", False),
        ("TaskCreate", {"subject": "two"}, "Task #2 created", False),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}, "", False),
    )
    assert [(item.id, item.text, item.state) for item in ledger.plan] == [
        ("1", "one", "done"),
        ("2", "two", "open"),
    ]
    codex = {"plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "pending"}]}
    assert [i.state for i in fold(("update_plan", codex, "ok", False)).plan] == ["done", "open"]


def test_two_names_of_one_file_are_one_record():
    """A relative name and an absolute one below the directory that commands go to are one file."""
    ledger = fold(
        read("/repo/src/a.py"), sh("cd /repo && sed -i s/a/b/ src/a.py"), edit("src/a.py")
    )
    (file,) = ledger.files
    assert (file.path, file.reads, file.edits) == ("/repo/src/a.py", 1, 2)
    assert ledger.root == "/repo"
    ledger = fold(write("/home/u/repo/src/a.py"), sh("cat src/a.py", "x"))
    assert [(f.path, f.reads) for f in ledger.files] == [("/home/u/repo/src/a.py", 1)]
    assert len(fold(read("/x/__init__.py"), read("__init__.py")).files) == 2


def test_the_open_file_of_swe_agent_is_named_by_the_result():
    """An edit by line numbers belongs to the file that the editor shows."""
    ledger = fold(
        (
            "action",
            {"command": "open src/a.py 200"},
            (
                "[File: src/a.py (400 lines total)]\n(150 more lines above)\n151:x\n(150 more"
                " lines below)"
            ),
            False,
        ),
        (
            "action",
            {"command": "edit 160:161\ny\nend_of_edit"},
            "[File: src/a.py (400 lines total)]\n151:x\nFile updated.",
            False,
        ),
    )
    (file,) = ledger.files
    assert (file.path, file.ranges, file.edits) == ("src/a.py", ((151, 250),), 1)


def test_deleted_and_moved_files():
    """A removed file says so until it is written again; a moved one says where it went."""
    ledger = fold(write("a.py"), sh("rm a.py"), write("b.py"), sh("git mv b.py c.py"))
    files = {file.path: file for file in ledger.files}
    assert files["a.py"].deleted == 5
    assert (files["b.py"].moved, files["b.py"].to) == (11, "c.py")
    assert files["c.py"].written == 11
    assert extend(ledger, steps(write("a.py"))).files[-1].deleted == 0


def test_demonstrations_are_not_taken_for_deeds():
    """A recorded demonstration at the beginning changed nothing."""
    shown = [
        Message("assistant", (ToolCall("d", "bash", '{"command": "git push"}'),), kind="demo"),
        Message("tool", (ToolResult("d", (Text("ok"),)),), kind="demo"),
    ]
    assert not extend(Ledger(), split_steps(number(shown)))


TEXTS = st.sampled_from(
    [
        "",
        "ok",
        "Exit code 1\nerror: boom",
        "3 passed in 1s",
        "FAILED t/a.py::test_x - no\n1 failed, 1 passed in 1s",
        "[File: /r/src/a.py (9 lines total)]\n1:x",
        "File has been modified since read",
        "reformatted src/a.py",
        "The user doesn't want to proceed",
        "[no result was recorded; the outcome is unknown]",
        "--- FAIL: TestX (0.1s)\nFAIL\tx\t0.1s",
        "Task #3 created",
        "Traceback (most recent call last):\n  x\nE: y",
    ]
)
PATHS = st.sampled_from(
    ["src/a.py", "/r/src/a.py", "/r/src/b.py", "src/b.py", "c.py", "/x/y/src/a.py", "t/a.py"]
)
COMMANDS = st.sampled_from(
    [
        "cd /r && cat src/a.py",
        "cd /x && sed -i s/a/b/ c.py",
        "git stash",
        "git stash pop",
        "git checkout -- src/a.py",
        "git commit -m x",
        "rm c.py",
        "mv c.py d.py",
        "pytest",
        "pytest t/a.py",
        "go test ./...",
        "make",
        "git push",
        "black src/a.py",
        "cp c.py.bak c.py",
        "git restore .",
        "cat > src/b.py <<E\nx\nE\npytest -q",
        "cd sub && make",
    ]
)


def spoken_by(name: str, **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Spoken]:
    return st.tuples(st.just(name), st.fixed_dictionaries(dict(arguments)), TEXTS, st.booleans())


LETTER = st.sampled_from("xyz")
SPOKEN = st.one_of(
    spoken_by("Read", file_path=PATHS, offset=st.integers(1, 30), limit=st.just(5)),
    spoken_by("Edit", file_path=PATHS, old_string=LETTER, new_string=LETTER),
    spoken_by("Write", file_path=PATHS),
    spoken_by("bash", command=COMMANDS),
    spoken_by("action", command=st.just("edit 1:2\nx\nend_of_edit")),
    spoken_by("TaskCreate", subject=st.just("s")),
    spoken_by("TaskUpdate", taskId=st.just("3"), status=st.just("completed")),
)


def incremental(all_steps: list[Step], cuts: Iterable[int]) -> Ledger:
    """Folded in several parts, each through the written form."""
    ledger, last = Ledger(), 0
    for cut in (*sorted(cuts), len(all_steps)):
        ledger = parse(lines(extend(ledger, all_steps[last:cut])))
        last = max(last, cut)
    return ledger


@given(st.lists(SPOKEN, max_size=25), st.lists(st.integers(0, 25), max_size=3))
def test_folding_in_parts_is_folding_at_once(spoken: list[Spoken], cuts: list[int]):
    """extend(extend(l, a), b) == extend(l, a + b), also when written and read in between."""
    all_steps = steps(*spoken)
    whole = extend(Ledger(), all_steps)
    event(f"{len(lines(whole)) // 5 * 5}+ lines")
    assert incremental(all_steps, [min(cut, len(all_steps)) for cut in cuts]) == whole


@given(histories(characters=4_000), st.integers(0, 60))
def test_folding_generated_histories_in_parts(history: Any, cut: int):
    """The same over generated histories, with parallel, aborted and pending calls."""
    all_steps = list(split_steps(history.messages))
    whole = extend(Ledger(), all_steps)
    assert incremental(all_steps, [min(cut, len(all_steps))]) == whole
