"""The chat, and going on with a conversation: typed lines in, a scripted model, real tools."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

from agents import Bench, bench, call

__all__ = ["bench"]

DONE = {"text": "Done."}


def big(bench: Bench, reads: int) -> list[dict[str, object]]:
    """Turns that read a large file piece by piece."""
    (bench.repository / "big.txt").write_text("".join(f"line {n} of words\n" for n in range(900)))
    starts = [n * 40 + 1 for n in range(reads)]
    return [{"calls": [call("read_file", path="big.txt", start_line=n)]} for n in starts]


def shown_tokens(text: str) -> list[int]:
    """The tokens that meters show."""
    found = re.findall(r"· ([\d,]+) of [\d,]+ tokens", text)
    return [int(number.replace(",", "")) for number in found]


def test_commands_of_the_chat(bench: Bench):
    """Each does its work; a mistake is one line, and the chat goes on."""
    bench.settings('[prices."X"]\ninput = 1\noutput = 2\n')
    model = bench.script(*big(bench, 3), DONE)
    typed = "read\n/context\n/cost\n/plan\n/model nobody:x\n/nope\n/help\n/quit\n"
    done = bench.run("-m", model, "-b", "6k", given=typed)
    assert done.returncode == 0
    for kind in ("fixed", "yours", "work", "notes", "free", "over time", "heaviest: m"):
        assert f"\n{kind}" in done.stderr
    assert "cost unknown" in done.stderr
    assert "read-only mode is on" in done.stderr
    assert "nobody:x" in done.stderr
    assert "there is no /nope" in done.stderr
    assert max(map(len, done.stderr.splitlines()[-7:])) <= 90


def test_read_only_mode_outlives_a_compression(bench: Bench):
    """What /plan set still holds after /compress: a write is refused and the file stays."""
    edit = {"calls": [call("edit_file", path="a.py", old="x = 1", new="x = 2")]}
    model = bench.script(*big(bench, 4), DONE, edit, DONE)
    done = bench.run("-m", model, "-b", "20k", given="read\n/plan\n/compress\nchange x\n")
    assert done.returncode == 0
    assert "→" in done.stderr
    assert "✗" in done.stderr
    assert (bench.repository / "a.py").read_text() == "x = 1\n"


def test_the_meter_is_true_after_a_compression(bench: Bench):
    """What it shows is what the next request weighs (± 5 %), and nothing is compressed twice."""
    model = bench.script(*big(bench, 4), DONE, DONE)
    done = bench.run("-m", model, "-b", "20k", given="read\n/compress\ngo on\n/context\n")
    before, compressed, after = shown_tokens(done.stderr)[:3]
    assert compressed < before
    assert abs(after - compressed) <= 0.05 * compressed + 40
    assert done.stderr.count("● compressed") == 0


def test_resumed_with_half_the_window(bench: Bench):
    """It is compressed before anything is sent, and the request is inside the smaller window."""
    model = bench.script(*big(bench, 12), DONE)
    begun = bench.run("run", "read it all", "-m", model, "-b", "6k", "--json")
    assert begun.stdout.count('"event": "Compressed"') >= 1
    id = json.loads(begun.stdout.splitlines()[-1])["conversation"]
    done = bench.run("resume", id[:8], "-m", bench.script(DONE), "-b", "3k", given="go on\n")
    assert done.returncode == 0, done.stderr
    assert "● compressed" in done.stderr
    assert done.stdout == "Done.\n"
    assert max(shown_tokens(done.stderr)[1:]) <= 3_000


def test_a_killed_run_is_resumed(bench: Bench):
    """What was unfinished is named, the command is not run again, and the answer is asked for."""
    model = bench.script({"calls": [call("run_command", command="echo x >> ran; sleep 60")]})
    running = subprocess.Popen(
        [sys.executable, "-m", "unremember", "run", "go", "-m", model, "-y"],
        cwd=bench.repository,
        env=bench.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not (bench.repository / "ran").exists():
        assert running.poll() is None
        time.sleep(0.02)
    running.kill()
    running.wait()
    done = bench.run("resume", "-m", bench.script(DONE), "-y")
    assert done.returncode == 0
    assert "unfinished when it stopped" in done.stderr
    assert done.stdout == "Done.\n"
    assert (bench.repository / "ran").read_text() == "x\n"


def test_fork_list_and_purge(bench: Bench):
    """A fork is a second conversation; `ls` lists both; `purge` removes them with one word."""
    bench.run("run", "a task", "-m", bench.script(DONE))
    assert bench.run("resume", "--fork", "-m", bench.script(DONE), given="more\n").returncode == 0
    rows = bench.run("ls").stdout.splitlines()
    assert len(rows) == 2
    assert rows[0].endswith("a task (fork)")
    original = rows[1].split()[0]
    assert bench.run("purge", original).returncode == 2
    assert bench.run("purge", original, "-y").returncode == 0
    assert bench.run("ls").stdout == ""
    assert bench.run("purge").returncode == 2
    assert bench.run("resume", "nothing", "-m", bench.script(DONE)).returncode == 2


def test_doctor(bench: Bench):
    """Keys are named and never shown; the archive is looked at and not made."""
    done = bench.run("doctor", OPENAI_API_KEY="sk-very-secret")
    assert done.returncode == 0
    assert re.search(r"OPENAI_API_KEY +set", done.stdout)
    assert "secret" not in done.stdout
    assert "not there yet" in done.stdout
    assert not (bench.home / ".local").exists()


def test_a_question_at_a_terminal(bench: Bench):
    """The diff is shown in colour before a write; the reason of a no reaches the model."""
    edit = {"calls": [call("edit_file", path="a.py", old="x = 1", new="x = 2")]}
    read = {"calls": [call("read_file", path="a.py")]}
    last = {"when": "keep it at one", "text": "I leave it."}
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "unremember", "run", "go", "-m", bench.script(read, edit, last)],
        cwd=bench.repository,
        env=bench.environment(TERM="xterm-256color"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown, answered = "", False
    while select.select([ours], [], [], 60)[0]:
        try:
            shown += os.read(ours, 65_536).decode("utf-8", "replace")
        except OSError:
            break
        if "or why not:" in shown and not answered:
            answered = os.write(ours, b"keep it at one\n") > 0
    os.close(ours)
    assert running.wait(timeout=60) == 0, shown
    assert "\x1b[31m-x = 1" in shown
    assert "\x1b[32m+x = 2" in shown
    assert "I leave it." in shown
    assert (bench.repository / "a.py").read_text() == "x = 1\n"
