"""`unremember recall`, as users run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from talks import EXAMPLE, Run, one_line_of, openai_messages


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A conversation whose texts are easily spoiled: blanks, returns, escapes, other scripts."""
    messages: list[dict[str, Any]] = openai_messages()[:2]
    call: dict[str, Any] = {"id": "c1", "type": "function"}
    call["function"] = {"name": "bash", "arguments": '{"command":  "echo 你好"}'}
    other = {"id": "c2", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    messages += [
        {"role": "assistant", "content": "  두 가지를 봅니다\n", "tool_calls": [call, other]},
        {"role": "tool", "tool_call_id": "c1", "content": "\r\n\t你好 \x1b[1mx\n\n"},
        {"role": "tool", "tool_call_id": "c2", "content": "Straße"},
        {"role": "user", "content": "Thank you."},
    ]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(messages), "utf-8")
    return path


def test_a_result_byte_for_byte(run: Run, odd: Path):
    """A result's handle gives that result and nothing else on standard output."""
    done = run("recall", "m6", odd)
    assert done.stdout == "\r\n\t你好 \x1b[1mx\n\n".encode()
    assert done.stderr.decode() == "── m6 result of bash\n"
    assert run("recall", "m7", odd).stdout == "Straße".encode()


def test_a_call_and_its_result(run: Run, odd: Path):
    """A call's handle gives its arguments as they were written, and its result."""
    done = run("recall", "m5", odd)
    assert done.stdout.decode() == "{}\nStraße"
    assert done.stderr.decode().splitlines() == ["── m5 call of ls", "── m7 result of ls"]


def test_a_whole_step(run: Run, odd: Path):
    """An assistant message brings its words, its calls and all their results."""
    text = run("recall", "m3", odd).stdout.decode()
    expected = (
        "  두 가지를 봅니다\n",
        '{"command":  "echo 你好"}\n',
        "\r\n\t你好 \x1b[1mx\n\n",
        "{}\n",
        "Straße",
    )
    assert text == "".join(expected)


@pytest.mark.parametrize(
    ("query", "handles"),
    [
        ("你好", ["m4", "m6"]),
        ("두", ["m3"]),
        ("가지", ["m3"]),
        ("THANK", ["m8"]),
        ("you.", ["m8"]),
    ],
)
def test_a_query(run: Run, odd: Path, query: str, handles: list[str]):
    """It is looked for letter for letter, whatever the case, in every script, and short ones."""
    done = run("recall", query, odd)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.decode().splitlines()] == handles
    assert b"\x1b" not in done.stdout


def test_nothing_found(run: Run, odd: Path):
    """Status 1 and one line."""
    done = run("recall", "absent", odd)
    assert done.returncode == 1
    assert "'absent'" in one_line_of(done)


def test_an_unknown_handle(run: Run, odd: Path):
    """One line that says which handles there are, or where a sub-agent's is."""
    done = run("recall", "m9", odd)
    assert done.returncode == 1
    assert "m1 to m8" in one_line_of(done)
    assert "sub-agent" in one_line_of(run("recall", "a3.m4", odd))


def test_every_handle_of_the_example(run: Run):
    """Handles resolve for all that was said: the last, and a result of parallel calls."""
    assert run("recall", "m237", EXAMPLE).returncode == 0
    assert run("recall", "m6", EXAMPLE).stdout.startswith(b"/home/mina/tallybook/src")


def test_a_shortened_message_is_said_to_be_one(run: Run, tmp_path: Path):
    """In a compressed file a long message of the user is not passed off as the original."""
    messages = openai_messages()
    words = " ".join(f"word{n}" for n in range(2000))
    messages.insert(1, {"role": "user", "content": words})
    source, out = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(json.dumps(messages))
    assert run("compress", source, "-b", "2k", "-o", out).returncode == 0
    done = run("recall", "m2", out)
    assert "left out · m2" in done.stdout.decode()
    assert "shortened by an earlier compression" in done.stderr.decode()
    assert run("recall", "m2", source).stdout.decode() == words
