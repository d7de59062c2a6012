"""How the command behaves as a program: bad input, exit status, pipes, terminals, start-up."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from talks import EXAMPLE, REPOSITORY, Run, environment, one_line_of, openai_messages

BAD_FILES = {
    "empty.json": b"",
    "blank.json": b" \n\n",
    "binary.json": bytes(range(256)) * 40,
    "words.txt": b"These are words.\nNothing else.\n",
    "torn.json": b'[{"role": "user", "content": "cut o',
    "other.json": b'{"name": "package", "version": 1}',
    "list.json": b"[1, 2, 3]",
    "nothing.json": b"null",
    "deep.json": b"[" * 100_000 + b"]" * 100_000,
    "no-messages.json": b'{"messages": []}',
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(run: Run, tmp_path: Path, name: str):
    """What is no conversation is named in one line, with status 2."""
    (tmp_path / name).write_bytes(BAD_FILES[name])
    command = ("inspect",) if len(name) % 2 else ("compress", "-b", "1k")
    done = run(*command, name)
    assert done.returncode == 2
    assert f"unremember: {name}: " in one_line_of(done)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compress", "absent.json", "-b", "1k"), "absent.json"),
        (("compress", ".", "-b", "1k"), "directory"),
        (("compress", "", "-b", "1k"), "FILE is empty"),
        (("compress", "talk.json"), "--budget"),
        (("compress", "talk.json", "-b"), "-b"),
        (("compress", "talk.json", "-b", "much"), "'much'"),
        (("compress", "talk.json", "-b", "0"), "'0'"),
        (("compress", "talk.json", "-b", "-5"), "'-5'"),
        (("compress", "talk.json", "-b", "1k", "--to", "yaml"), "openai, anthropic"),
        (("compress", "talk.json", "-b", "1k", "--loud"), "--loud"),
        (("compress", "talk.json", "more.json", "-b", "1k"), "more.json"),
        (("inspect", "talk.json#0"), "counted from 1"),
        (("inspect", "talk.json#2"), "only one conversation"),
        (("recall",), "HANDLE|QUERY"),
        (("forget",), "forget"),
    ],
)
def test_bad_arguments(run: Run, conversation: Path, arguments: tuple[str, ...], said: str):
    """What cannot be meant is one line with status 2, also where the parser finds it."""
    assert conversation.name == "talk.json"
    done = run(*arguments)
    assert done.returncode == 2
    assert said in one_line_of(done)


def test_help(run: Run):
    """--help lists the commands; --version names the version; without a model the chat says so."""
    assert b"compress" in run("--help").stdout
    assert run("--version").stdout.startswith(b"unremember 0.")
    assert "no model is set" in one_line_of(run())


def test_help_does_not_load_the_engine():
    """Neither the engine nor rich is imported before a command runs."""
    script = (
        "import sys, unremember.cli.app as app; app.run(['compress', '--help']);"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('rich', 'toktok')"
        " or m.startswith('unremember.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(Path.home()),
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = done.stdout.splitlines()[-1]
    assert loaded == str(
        [
            "unremember.cli",
            "unremember.cli.app",
            "unremember.cli.commands",
            "unremember.cli.evaluate",
            "unremember.cli.output",
            "unremember.errors",
        ]
    )


def test_without_typer(run: Run, tmp_path: Path):
    """The base install has no command line, and says how to get one."""
    (tmp_path / "typer.py").write_text("raise ImportError\n")
    path = os.pathsep.join((str(tmp_path), str(REPOSITORY / "src")))
    done = run("inspect", EXAMPLE, env={"PYTHONPATH": path})
    assert done.returncode == 2
    assert "unremember[cli]" in one_line_of(done)


def test_a_closed_pipe(run: Run, tmp_path: Path):
    """When the reader has enough, the command ends without a word."""
    big = tmp_path / "big.json"
    said = {"role": "user", "content": "line\n" * 400_000}
    big.write_text(json.dumps([said]))
    command = f'"{sys.executable}" -m unremember recall m1 big.json | head -n 1'
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == (b"line\n", 0)
    assert done.stderr.decode() == "── m1 you\n"


def opened_by_another(pipe: Path, running: subprocess.Popen[bytes]) -> int:
    """The end of a pipe to write to, once the process has opened the other."""
    while running.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads yet
            time.sleep(0.02)
    raise AssertionError(running.communicate())


def test_interrupted(tmp_path: Path):
    """Ctrl-C ends it with status 130, quietly, and no file is left behind."""
    pipe, out = tmp_path / "pipe", tmp_path / "out.json"
    os.mkfifo(pipe)
    # It waits for the pipe to be written to, which never happens.
    running = subprocess.Popen(
        [sys.executable, "-m", "unremember", "compress", pipe, "-b", "1k", "-o", out],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell gives what it starts in the background a Ctrl-C that is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    writer = opened_by_another(pipe, running)
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=30) == (b"", b"")
    assert running.returncode == 130
    os.close(writer)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def on_a_terminal(tmp_path: Path, *arguments: str | Path, **env: str) -> str:
    """What the command shows on a terminal."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "unremember", *map(str, arguments)],
        env=environment(tmp_path, TERM="xterm-256color", **env),
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while data := os.read(ours, 65_536):
            shown += data
    except OSError:  # the other end was closed
        pass
    os.close(ours)
    assert running.wait(timeout=60) == 0, shown
    return shown.decode()


def test_colours(tmp_path: Path, conversation: Path):
    """A terminal gets colours unless NO_COLOR is set; a pipe never does."""
    assert "\x1b[32m" in on_a_terminal(tmp_path, "compress", conversation, "-b", "2k")
    plain = on_a_terminal(tmp_path, "compress", conversation, "-b", "2k", NO_COLOR="1")
    assert "\x1b[3" not in plain


def test_a_terminal_is_not_steered(run: Run, tmp_path: Path):
    """Escape sequences in a conversation do not reach the reports."""
    messages = openai_messages()
    for message in messages[2:]:
        message["content"] = "\x1b]0;title\x07\x1b[2J\u202e" + (message["content"] or "")
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(messages))
    for command in (("compress", "-b", "2k", "--lost"), ("inspect",), ("recall", "part")):
        done = run(*command, "talk.json")
        assert done.returncode == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout.decode())


def test_a_terminal_that_knows_few_letters(run: Run, conversation: Path):
    """Signs that its encoding does not have become question marks."""
    done = run("inspect", conversation, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert b"by kind" in done.stdout
