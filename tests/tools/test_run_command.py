"""`run_command`: a real shell, ended as a whole, its output kept."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hands import Hands

from unremember.actions import exit_status, outcome
from unremember.messages import ToolCall
from unremember.tools.output import Kept, plain_text


def output_of(text: str) -> str:
    return text.partition("\nOutput:\n")[2]


async def gone(pid: int) -> bool:
    """Whether a process has ended, within two seconds."""
    for _ in range(40):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        stat = Path(f"/proc/{pid}/stat")
        if stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        await asyncio.sleep(0.05)
    return False


async def test_exit_status_first(hands: Hands):
    """The exit status comes first, then time and size, then the output; a bad one is a failure."""
    lines = (await hands("run_command", command="echo hello; echo there")).split("\n")
    assert lines[0] == "Exit code: 0"
    assert lines[1].endswith(" s, 2 lines")
    assert lines[2:] == ["Output:", "hello", "there"]
    text = await hands.fails("run_command", command="echo bad; exit 3")
    assert text.startswith("Exit code: 3\n")
    assert (await hands("run_command", command="true")).endswith("Output:\n(no output)")


async def test_the_ledger_reads_it(hands: Hands):
    """The engine's rules see the status and what the command itself said, not our frame."""
    call = ToolCall("c", "run_command", '{"command": "python a.py"}')
    for command, status, said in (("false", 1, "exit 1"), ("echo fine", 0, "fine")):
        result = (await hands.run("run_command", command=command)).result
        assert exit_status(result) == status
        assert outcome(call, result).startswith(said)


async def test_both_outputs_in_order(hands: Hands):
    """Standard output and error are interleaved as they were printed, also by Python."""
    code = "import sys\nfor n in range(3): print('out', n); print('err', n, file=sys.stderr)"
    (hands.root / "a.py").write_text(code)
    text = await hands("run_command", command=f"{sys.executable} a.py")
    assert output_of(text).split("\n") == ["out 0", "err 0", "out 1", "err 1", "out 2", "err 2"]


async def test_a_timeout_ends_the_whole_group(hands: Hands):
    """At the time-out children and grandchildren end too, and what was printed is kept."""
    started = time.monotonic()
    text = await hands.fails(
        "run_command",
        command="(sleep 300 & echo $! > child; wait) & echo begun; sleep 300",
        timeout=1,
    )
    assert time.monotonic() - started < 10
    assert text.startswith("Exit code: 124\n")
    assert "timed out" in text
    assert output_of(text) == "begun"
    assert await gone(int((hands.root / "child").read_text()))


async def test_processes_that_ignore_the_request_are_killed(hands: Hands):
    """A command that ignores being asked to end is ended by force."""
    text = await hands.fails(
        "run_command", command="trap '' TERM; echo $$ > pid; echo on; sleep 60; sleep 60", timeout=1
    )
    assert "on" in output_of(text)
    assert await gone(int((hands.root / "pid").read_text()))


async def test_what_a_command_leaves_running_is_ended(hands: Hands):
    """A child in the background does not hold the call up, and does not outlive it unseen."""
    started = time.monotonic()
    text = await hands("run_command", command="sleep 300 & echo $! > child; echo done")
    assert time.monotonic() - started < 10
    assert "what it left running was ended" in text
    assert await gone(int((hands.root / "child").read_text()))


async def test_the_user_can_stop_it(hands: Hands):
    """Stopping the turn ends the command at once; its output so far is the result."""

    async def stop() -> None:
        await asyncio.sleep(0.5)
        hands.context.cancelled.set()

    stopping = asyncio.ensure_future(stop())
    text = await hands.fails("run_command", command="echo begun; sleep 300")
    await stopping
    assert "cancelled by the user" in text
    assert output_of(text) == "begun"


async def test_a_cancelled_task_leaves_nothing_running(hands: Hands):
    """Cancelling the task that runs a command ends its processes as well."""
    running = asyncio.ensure_future(
        hands.run("run_command", command="echo $$ > pid; sleep 300; true")
    )
    for _ in range(100):
        await asyncio.sleep(0.05)
        if (hands.root / "pid").exists() and (hands.root / "pid").read_text():
            break
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await gone(int((hands.root / "pid").read_text()))


async def test_standard_input_is_closed(hands: Hands):
    """A command that asks gets no answer and does not wait for one."""
    text = await hands("run_command", command="cat; read -r x || echo nobody", timeout=5)
    assert output_of(text) == "nobody"


async def test_output_is_streamed(hands: Hands):
    """The output reaches the terminal while the command runs, whole characters only."""
    pieces: list[tuple[float, str]] = []
    hands.context.stream = lambda text: pieces.append((time.monotonic(), text))
    await hands("run_command", command="printf 'a\\xed\\x95'; sleep 0.4; printf '\\x9cb'")
    assert "".join(text for _, text in pieces) == "a한b"
    assert pieces[-1][0] - pieces[0][0] > 0.2


async def test_one_line_of_5_mb(hands: Hands):
    """F10: 5 MB in one line come back within the cap, and whole for the archive."""
    hands.context.cap = 500
    code = "print('a' * 2_500_000 + '🙂' * 9 + 'b' * 2_500_000)"
    (hands.root / "a.py").write_text(code)
    ran = await hands.run("run_command", command=f"{sys.executable} a.py")
    text = ran.result.text
    assert hands.context.count(text) <= 500
    assert text.startswith("Exit code: 0\n")
    assert text.endswith("bbb")
    assert "characters left out · m1 …]" in text
    assert output_of(ran.whole.text) == "a" * 2_500_000 + "🙂" * 9 + "b" * 2_500_000


async def test_the_error_line_of_a_long_log(hands: Hands):
    """F11: the only error of 20,000 lines is in the result, after the exit status and the count."""
    hands.context.cap = 500
    script = "seq 1 12000; echo 'main.c:7: error: no such thing'; seq 12001 20000; exit 2"
    text = await hands.fails("run_command", command=script)
    lines = text.split("\n")
    assert lines[0] == "Exit code: 2"
    assert "20,001 lines" in lines[1]
    at = lines.index("main.c:7: error: no such thing")
    assert lines[at - 2 : at + 3] == ["11999", "12000", lines[at], "12001", "12002"]


def test_output_without_end_is_bounded():
    """Of an endless output both ends stay, with the exact count and the errors in between."""
    kept = Kept(limit=10_000)
    printed = b""
    for number in range(5_000):
        line = f"line {number}\n" if number != 2_500 else "fatal error: out of luck\n"
        printed += line.encode()
        kept.add(line.encode())
    assert kept.total == len(printed)
    assert len(kept.head) + sum(map(len, kept.tail)) < 21_000
    text = kept.text()
    assert text.startswith("line 0\n")
    assert text.endswith("line 4999\n")
    assert f"[{kept.dropped:,} bytes were not kept; error lines among them:]" in text
    assert "fatal error: out of luck" in text
    assert kept.text(kept.total - 10) == printed[-10:].decode()


def test_what_a_terminal_would_show():
    """Colours and overwritten progress are gone; broken bytes do not break the text."""
    printed = b"\x1b[31mred\x1b[0m\r\n10%\r50%\r100%\nbad \xff byte\n\x1b]0;title\x07end\x00"
    assert plain_text(printed) == "red\n100%\nbad \ufffd byte\nend"


async def test_a_bare_cd_lasts(hands: Hands):
    """A line that is only a `cd` moves where commands start; one in a longer line does not."""
    (hands.root / "src").mkdir()
    await hands("run_command", command="cd src")
    text = await hands("run_command", command="pwd")
    assert output_of(text) == str(hands.root / "src")
    assert " in src\n" in text
    await hands("run_command", command="cd .. && ls")
    assert output_of(await hands("run_command", command="pwd")) == str(hands.root / "src")
    assert "no such folder" in await hands.fails("run_command", command="cd nowhere")
    assert "outside the workspace" in await hands.fails("run_command", command="cd /")
    await hands("run_command", command="cd ..")
    assert hands.context.state.folder == "."


async def test_a_folder_that_went_away(hands: Hands):
    """When the folder where commands start is gone, that is said and the root is used again."""
    (hands.root / "src").mkdir()
    await hands("run_command", command="cd src")
    (hands.root / "src").rmdir()
    assert "root again" in await hands.fails("run_command", command="pwd")
    assert output_of(await hands("run_command", command="pwd")) == str(hands.root)


async def test_background_jobs(hands: Hands):
    """A job runs on while others are called; its new output is read, it is listed and stopped."""
    script = "echo ready; while [ ! -e go ]; do sleep 0.05; done; echo went; sleep 300"
    text = await hands("run_command", command=script, background=True)
    assert text.startswith("j1 running")
    assert text.endswith("ready")
    await hands("run_command", command="touch go")
    for _ in range(100):
        text = await hands("jobs", action="read", id="j1")
        if "(no new output)" not in text:
            break
        await asyncio.sleep(0.05)
    assert text.endswith("went")
    assert "(no new output)" in await hands("jobs", action="read", id="j1")
    assert (await hands("jobs", action="list")).startswith("j1 running")
    assert "ended with exit status 143" in await hands("jobs", action="stop", id="j1")
    assert "j1 ended" in await hands("jobs", action="list")
    assert "jobs: j1" in await hands.fails("jobs", action="read", id="j7")


async def test_a_job_that_fails_at_once(hands: Hands):
    """A background command that ends at once with an error is a failed result."""
    text = await hands.fails("run_command", command="nosuchprogram", background=True)
    assert "ended with exit status 127" in text
    assert "not found" in text


async def test_jobs_end_with_the_agent(hands: Hands):
    """When the agent is done, its jobs are ended."""
    await hands("run_command", command="echo $$ > pid; sleep 300; true", background=True)
    await hands.context.state.jobs.stop_all()
    assert await gone(int((hands.root / "pid").read_text()))


def test_jobs_end_with_the_program(root: Path):
    """A program that ends without stopping its jobs leaves none of them behind."""
    program = """
import asyncio
from pathlib import Path
from unremember.messages import ToolCall
from unremember.tools import Context, Sandbox, Workspace, approve_all, coding_tools, run_call

async def main():
    context = Context(Workspace(Path(".")), approve=approve_all, sandbox=Sandbox(wanted=False))
    call = '{"command": "echo $$ > pid; sleep 300; true", "background": true}'
    await run_call(ToolCall("c", "run_command", call), coding_tools(), context, 1)

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    # Before Python 3.12 a thread of asyncio may say that its loop is closed already.
    said = [line for line in done.stderr.splitlines() if not line.endswith(b" is closed")]
    assert not said
    assert asyncio.run(gone(int((root / "pid").read_text())))


async def test_wrong_limits(hands: Hands):
    """An empty command and a time-out out of range are refused."""
    assert "empty" in await hands.fails("run_command", command="  ")
    assert "from 1 to" in await hands.fails("run_command", command="ls", timeout=0)
