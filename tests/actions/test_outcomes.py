"""What came of a call is read off its result: status, failure, error lines, a few words."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unremember.actions import (
    error_lines,
    exit_status,
    has_failed,
    is_error_line,
    outcome,
    telling_line,
    title,
)
from unremember.messages import Text, ToolCall, ToolResult


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("c", name, json.dumps(arguments))


def result(text: str, *, failed: bool = False) -> ToolResult:
    return ToolResult("c", (Text(text),), failed)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("<returncode>1</returncode>\n<output>\nx\n</output>", 1),
        ("<returncode>0</returncode>\n<output>\nExit code 3\n</output>", 0),
        ("Exit code 1\nTraceback", 1),
        ("Exit code: 127\nWall time: 0.1 seconds\nOutput:\nx", 127),
        ("x\n[Command finished with exit code 2]", 2),
        ("x\r\nroot@host:/w # \n[The command completed with exit code 0.]", 0),
        ("x\n\nCommand exited with code 5", 5),
        ("boom (exit code: 9)", 9),
        ("x\nexit_code=4", 4),
        ('{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.1}}', 1),
        ('{"exit_code": 0, "stdout": "x"}', 0),
        ("Chunk ID: a\nProcess exited with code 0\nOutput:\nx", 0),
        ("Command: x\nOutput: (none)\nError: (none)\nExit Code: 1\nSignal: 0", 1),
        ("x\nexit status 1", 1),
        ("x\n///PROCESS-DONE:0:PROCESS-DONE///", 0),
        ("x\nProcess terminated with status -9", -9),
        ("all good", None),
        ("it exits with code when asked\nline\nline\nline\nline", None),
        ("The exit code 1 is documented here\n" + "line\n" * 10, None),
        ("", None),
    ],
)
def test_exit_status(text: str, status: int | None):
    """The status is found in each form of recordings, at its place only."""
    assert exit_status(result(text)) == status


@pytest.mark.parametrize(
    ("text", "flag", "failed"),
    [
        ("fine", False, False),
        ("fine", True, True),
        ("Exit code 2\n", False, True),
        ("<tool_use_error>String to replace not found in file.</tool_use_error>", False, True),
        ("ERROR:\nNo replacement was performed.", False, True),
        ("Your proposed edit has introduced new syntax error(s).", False, True),
        ("The user doesn't want to proceed with this tool use.", False, True),
        ("[exit code 0]", False, False),
        ("the word error: inside", False, False),
    ],
)
def test_failure(text: str, flag: bool, failed: bool):
    """The flag, a status or words of refusal at the beginning make a failure."""
    assert has_failed(result(text, failed=flag)) is failed


ERRORS = """
ModuleNotFoundError: No module named 'yaml'
E       assert 1 == 2
Traceback (most recent call last):
FAILED tests/test_a.py::test_x - AssertionError
src/a.ts(3,5): error TS2345: Argument of type 'string' is not assignable
error[E0308]: mismatched types
src/main.c:12:5: error: expected ';' before 'return'
./a.go:10:2: undefined: x
./a.go:9:3: undefined variable y
main.go:5:2: "os" imported and not used: build failed
--- FAIL: TestX (0.00s)
panic: runtime error: index out of range
thread 'main' panicked at src/main.rs:2:5
fatal: not a git repository
npm ERR! code ELIFECYCLE
bash: foo: command not found
cat: a.txt: No such file or directory
mkdir: cannot create directory 'x': Permission denied
Exception in thread "main" java.lang.NullPointerException
Caused by: java.io.IOException: broken
[ERROR] Failed to execute goal
make: *** [all] Error 2
ld: symbol(s) not found: undefined reference to `f'
Segmentation fault (core dumped)
not ok 3 - works
  ✗ renders the page
TypeError: x is not a function
error: failed to push some refs to 'origin'
 ! [rejected]        main -> main (fetch first)
CONFLICT (content): Merge conflict in a.py
ReferenceError: x is not defined
SyntaxError: unexpected token '}'
3 failed, 4 passed in 0.1s
connect ECONNREFUSED: connection refused
2026-01-01 12:00:00 ERROR could not connect to database
""".strip().split("\n")

FINE = """
0 errors, 0 warnings
no errors found
Found 0 errors.
12 passed in 0.1s
tests: 5, failures: 0
except ValueError:
    raise KeyError("x")
from unremember.errors import InputError
def test_error_is_raised():
  if err != nil { return err }
   12→    except ImportError:
src/a.py:3: raise ValueError("x")
// handle the error: retry
Compiling error-chain v0.12
downloading failsafe 1.0
docs/errors.md
creating build/fail
""".strip().split("\n")


@pytest.mark.parametrize("line", ERRORS)
def test_error_lines_are_told(line: str):
    """Lines that report an error, in many languages and toolchains."""
    assert is_error_line(line)


@pytest.mark.parametrize("line", FINE)
def test_other_lines_are_none(line: str):
    """Counts of nothing, code that handles errors and mere names are no errors."""
    assert not is_error_line(line)


def test_error_lines_are_found_from_both_ends():
    """Of many, the first and the last are given, in order and each once."""
    text = "\n".join(f"error: e{n}" if n % 10 == 0 else f"line {n}" for n in range(1000))
    found = error_lines(text, 6)
    assert found == [f"error: e{n}" for n in (0, 10, 20, 970, 980, 990)]


@given(st.lists(st.sampled_from([*ERRORS, *FINE, "", "plain", "  "]), max_size=30))
def test_error_lines_are_the_lines_that_are_errors(given_lines: list[str]):
    """Searching a text finds exactly what looking at each line finds."""
    expected = [line.strip() for line in given_lines if is_error_line(line)]
    assert error_lines("\n".join(given_lines), 1000) == expected


def test_the_most_telling_line():
    """A traceback is told by its end, a compiler by its first error, never by a summary."""
    python = 'x\nTraceback (most recent call last):\n  File "a", line 1\n    f()\napp.Odd: no way\n'
    assert telling_line(python) == "app.Odd: no way"
    tsc = "a.ts(1,1): error TS1: first\na.ts(2,1): error TS2: second\nnpm ERR! code 2\n"
    assert telling_line(tsc) == "a.ts(1,1): error TS1: first"
    assert telling_line("all is well") == ""


@pytest.mark.parametrize(
    ("tool", "text", "words"),
    [
        (
            call("Bash", command="pytest"),
            "F.\n==== 3 failed, 12 passed in 1.2s ====",
            "3 failed, 12 passed",
        ),
        (
            call("bash", command="make"),
            "a.c:1:2: error: no\nCommand exited with code 2",
            "exit 2: a.c:1:2: error: no",
        ),
        (
            call("bash", command="false"),
            "<returncode>1</returncode>\n<output>\n</output>",
            "exit 1",
        ),
        (call("bash", command="make"), "a\nb\nc", "3 lines"),
        (call("bash", command="python -V"), "Python 3.12.1", "Python 3.12.1"),
        (call("bash", command="touch a"), "", "ok"),
        (
            call("bash", command="python test_x.py"),
            "<returncode>0</returncode>\n<output>\nhi\n</output>",
            "passed",
        ),
        (call("Read", file_path="a.py"), "1\n2\n3\n", "3 lines"),
        (call("Edit", file_path="a.py"), "The file a.py has been updated successfully.", "ok"),
        (call("Grep", pattern="x"), "No matches found", "not found"),
        (
            call("bash", command="grep x a.py"),
            "<returncode>1</returncode>\n<output>\n</output>",
            "not found",
        ),
        (
            call("Edit", file_path="a.py"),
            "<tool_use_error>File has not been read yet.</tool_use_error>",
            "failed: <tool_use_error>File has not been read yet.</tool_use_error>",
        ),
        (
            call("bash", command="npx tsc"),
            "a.ts(1,1): error TS1: x\nb.ts(1,1): error TS2: y",
            "2 type errors: a.ts(1,1): error TS1: x",
        ),
    ],
)
def test_outcome(tool: ToolCall, text: str, words: str):
    """The outcome is what a reader would say in a few words."""
    assert outcome(tool, result(text)) == words


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (call("Read", file_path="src/a.py", offset=1, limit=80), "read src/a.py 1-80"),
        (call("Edit", file_path="src/a.py"), "edit src/a.py"),
        (
            call("Bash", command="cd /repo && pytest -q tests/test_a.py 2>&1 | tail -20"),
            "$ pytest -q tests/test_a.py",
        ),
        (
            call("bash", command="cat > a.py <<'EOF'\nx\nEOF\npython a.py"),
            "$ cat > a.py <<'EOF'; python a.py",
        ),
        (
            call("Bash", command="git commit -m \"$(cat <<'EOF'\nfix: x\n\nbody\nEOF\n)\""),
            '$ git commit -m "fix: x"',
        ),
        (call("Grep", pattern="def x", path="src"), "search 'def x' in src"),
        (
            call(
                "TodoWrite",
                todos=[
                    {"content": "a", "status": "completed"},
                    {"content": "b", "status": "in_progress"},
                ],
            ),
            "plan 1/2 done, now: b",
        ),
        (call("action", command="edit 3:5\nx\nend_of_edit"), "edit lines 3-5 of the open file"),
        (call("get_user", user_id="u1"), "get_user(user_id=u1)"),
    ],
)
def test_title(tool: ToolCall, words: str):
    """The title keeps what tells most and drops the rest."""
    assert title(tool) == words


def test_long_path_keeps_its_end():
    """Of a path that is too long the end is kept: it says which file it is."""
    shown = title(call("Read", file_path="/very/long" * 20 + "/a.py"))
    assert len(shown) <= 100
    assert shown.endswith("/a.py")


@pytest.mark.parametrize(
    "piece", ["x", "error ", "E   ", "fail '", '"', "✗가", "a.b ", "1 passed "]
)
def test_time_grows_with_length_only(piece: str):
    """A line fifty times as long costs about fifty times as much, never the square of it."""

    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        tool = call("bash", command="make test")
        started = time.process_time()
        outcome(tool, result(text))
        is_error_line(text)
        return time.process_time() - started

    small = min(seconds(40_000) for _ in range(3))
    assert seconds(2_000_000) < 500 * max(small, 0.001)
