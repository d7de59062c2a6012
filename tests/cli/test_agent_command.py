"""`unremember run`: a real repository, real tools, a scripted or a strict model."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from agents import Bench, bench, call

from unremember.testing import StrictServer
from unremember.testing.turns import Fail, Say, TooLong

__all__ = ["bench"]

READ: dict[str, Any] = {"text": "I look.", "calls": [call("read_file", path="a.py")]}
EDIT: dict[str, Any] = {"calls": [call("edit_file", path="a.py", old="x = 1", new="x = 2")]}
DONE: dict[str, Any] = {"text": "x is 2 now."}


def archive(bench: Bench) -> Path:
    """Where conversations are kept by default."""
    return bench.home / ".local" / "share" / "unremember" / "archive.db"


def test_a_task_is_done(bench: Bench):
    """The words are on standard output, tools and meter beside them; the file is changed."""
    done = bench.run("run", "set x to 2", "-m", bench.script(READ, EDIT, DONE))
    assert done.returncode == 0
    assert done.stdout == "I look.\nx is 2 now.\n"
    assert (bench.repository / "a.py").read_text() == "x = 2\n"
    lines = done.stderr.splitlines()
    assert any("edit_file" in line for line in lines)
    assert "tokens, compresses at" in lines[-1]
    assert "\x1b" not in done.stdout + done.stderr
    assert stat.S_IMODE(archive(bench).stat().st_mode) == 0o600


def test_events_as_json(bench: Bench):
    """One event a line, the model's words whole, and the outcome last."""
    done = bench.run("run", "set x", "-m", bench.script(READ, EDIT, DONE), "--json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [e["text"] for e in events if e["event"] == "said"] == ["I look.", "", "x is 2 now."]
    assert events[-1]["event"] == "Outcome"
    assert events[-1]["finish"] == "stop"
    assert {"Counted", "CalledModel", "RanTool"} <= {e["event"] for e in events}


def test_the_patch_is_of_this_run(bench: Bench):
    """What was changed before is not in it, new files are, and it applies; the index stays."""
    (bench.repository / "before.txt").write_text("mine\n")
    new: dict[str, Any] = {"calls": [call("write_file", path="b.py", content="y = 1\n")]}
    model = bench.script(READ, EDIT, new, DONE)
    out = bench.home / "out.diff"
    assert bench.run("run", "go", "-m", model, "--patch-out", out).returncode == 0
    patch = out.read_text()
    assert "+x = 2" in patch
    assert "+y = 1" in patch
    assert "before.txt" not in patch
    subprocess.run(["git", "apply", "-R", out], cwd=bench.repository, check=True)
    assert (bench.repository / "a.py").read_text() == "x = 1\n"
    assert not (bench.repository / "b.py").exists()


def test_a_patch_without_git(bench: Bench):
    """It is made of the tools' own edits."""
    subprocess.run(["rm", "-rf", ".git"], cwd=bench.repository, check=True)
    out = bench.home / "out.diff"
    done = bench.run("run", "go", "-m", bench.script(READ, EDIT, DONE), "--patch-out", out)
    assert done.returncode == 0
    assert out.read_text().splitlines()[-2:] == ["-x = 1", "+x = 2"]


def test_commands_need_a_yes(bench: Bench):
    """Without a terminal they are refused and the model is told why; with --yes they run."""
    turns = ({"calls": [call("run_command", command="echo ran > out.txt")]}, DONE)
    assert bench.run("run", "go", "-m", bench.script(*turns)).returncode == 0
    assert not (bench.repository / "out.txt").exists()
    assert bench.run("run", "go", "-m", bench.script(*turns), "-y").returncode == 0
    assert (bench.repository / "out.txt").read_text() == "ran\n"


def test_settings_allow_commands(bench: Bench):
    """What the user's settings allow runs without a question; they can name the model too."""
    turns = ({"calls": [call("run_command", command="touch out.txt")]}, DONE)
    bench.settings(f'model = "{bench.script(*turns)}"\n[permissions]\ncommands = ["touch"]\n')
    assert bench.run("run", "go").returncode == 0
    assert (bench.repository / "out.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("go",), "no model is set"),
        (("go", "-m", "nobody:x"), "PROVIDER:MODEL"),
        (("go", "-m", "openai:gpt-5"), "OPENAI_API_KEY"),
        (("go", "-m", "openai:m", "--base-url", "http://127.0.0.1:9/v1"), "cannot be reached"),
        (("go", "-m", "scripted:none.jsonl"), "none.jsonl"),
        (("go", "-m", "SCRIPT", "--strategy", "magic"), "single_run"),
        (("go", "-m", "SCRIPT", "-b", "much"), "budget"),
        (("go", "-m", "SCRIPT", "--add-dir", "nowhere"), "nowhere"),
        (("go", "-m", "SCRIPT", "--patch-out", "no/where.diff"), "--patch-out"),
        ((" ", "-m", "SCRIPT"), "TASK"),
    ],
)
def test_bad_input(bench: Bench, arguments: tuple[str, ...], said: str):
    """A missing key, model, server or value is status 2 and one line that says what to do."""
    given = [bench.script(DONE) if word == "SCRIPT" else word for word in arguments]
    done = bench.run("run", *given)
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_the_budget_is_too_small(bench: Bench):
    """Status 3, and what cannot be forgotten is named."""
    done = bench.run("run", "go", "-m", bench.script(DONE), "-b", "300")
    assert done.returncode == 3
    assert "cannot be forgotten" in done.stderr


def test_off_is_off(bench: Bench):
    """With compression off nothing over the limit is sent; the choices are named, status 3."""
    (bench.repository / "big.txt").write_text("a line of words\n" * 800)
    turns = [{"calls": [call("read_file", path="big.txt", start_line=n + 1)]} for n in range(6)]
    done = bench.run(
        "run", "go", "-m", bench.script(*turns), "--strategy", "single_run", "-b", "2k"
    )
    assert done.returncode == 3
    assert "Choose: compress" in done.stderr
    assert "● compressed" not in done.stderr


def test_a_long_task_stays_inside_its_budget(bench: Bench):
    """It is compressed on the way, no request is over the limit, and the meter shows the truth."""
    (bench.repository / "big.txt").write_text("".join(f"line {n} of words\n" for n in range(900)))
    turns = [
        {"calls": [call("read_file", path="big.txt", start_line=n * 40 + 1)]} for n in range(14)
    ]
    model = bench.script(*turns, DONE)
    done = bench.run("run", "read it all", "-m", model, "-b", "4k", "--json")
    assert done.returncode == 0
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(e["event"] == "Compressed" for e in events) >= 2
    counted = [e["counted"] for e in events if e["event"] == "CalledModel"]
    assert max(counted) <= 4_000


def test_the_limit_is_learned(bench: Bench):
    """An unknown model's window is said to be assumed; a refusal lowers it and the task goes on."""
    with StrictServer([TooLong(4_000), Say("Done.")]) as server:
        url = server.openai_url
        task = "Look at this:\n" + "".join(f"line {n} of it\n" for n in range(500))
        done = bench.run("run", task, "-m", "openai:unheard-of", "--base-url", url)
    assert done.returncode == 0, done.stderr
    assert "8,192 tokens are assumed" in done.stderr
    assert "limit 6,554 →" in done.stderr
    assert done.stdout == "Done.\n"


def test_a_refused_key(bench: Bench):
    """The provider's own words are the one line; the conversation is kept."""
    with StrictServer([Fail(401)]) as server:
        url = server.openai_url
        done = bench.run("run", "go", "-m", "openai:m", "-b", "8k", "--base-url", url)
    assert done.returncode == 2
    assert "status 401" in done.stderr.splitlines()[-1]
    assert "unremember resume" in done.stderr


def test_interrupted(bench: Bench):
    """Ctrl-C ends the command that runs, keeps the conversation, and gives status 130."""
    model = bench.script({"calls": [call("run_command", command="touch began; sleep 60")]})
    running = subprocess.Popen(
        [sys.executable, "-m", "unremember", "run", "go", "-m", model, "-y"],
        cwd=bench.repository,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        env=bench.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (bench.repository / "began").exists():
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "unremember resume" in said
    assert "Traceback" not in said


def test_no_archive(bench: Bench):
    """Where none can be made one line names --no-archive, and with it the task is done."""
    archive(bench).parent.parent.mkdir(parents=True)
    archive(bench).parent.write_text("in the way")
    refused = bench.run("run", "go", "-m", bench.script(DONE))
    assert refused.returncode == 2
    assert "--no-archive" in refused.stderr.splitlines()[-1]
    done = bench.run("run", "go", "-m", bench.script(DONE), "--no-archive")
    assert done.returncode == 0
    assert done.stdout == "x is 2 now.\n"
