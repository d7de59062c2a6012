"""With bubblewrap commands have no network and write in the workspace only."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hands import Hands

from unremember.events import Unconfined
from unremember.tools import Sandbox, Workspace
from unremember.tools import sandbox as module

confined = pytest.mark.skipif(
    bool(Sandbox().absent), reason=f"commands cannot be confined here: {Sandbox().absent}"
)


@pytest.fixture
def inside(hands: Hands) -> Hands:
    hands.context.sandbox = Sandbox()
    return hands


@pytest.fixture
def port() -> Iterator[int]:
    """A server on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def command_lines() -> Iterator[bytes]:
    """The command line of every process that runs here."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_bytes()


def connect(port: int) -> str:
    return f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo through"


@confined
async def test_no_writing_outside(inside: Hands, tmp_path: Path):
    """A command writes in the workspace, not beside it; the failure says who can allow it."""
    await inside("run_command", command="echo x > made; mkdir -p sub; touch sub/a")
    assert (inside.root / "made").read_text() == "x\n"
    await inside.run("run_command", command=f"echo x > {tmp_path}/beside")
    assert not (tmp_path / "beside").exists()
    text = await inside.fails("run_command", command="touch /usr/made-by-test")
    assert "Read-only file system" in text
    assert "only the user can allow" in text


@confined
async def test_temporary_files_last_from_command_to_command(inside: Hands):
    """/tmp is the agent's own: it lasts for the run and nothing of it is seen outside."""
    await inside("run_command", command="echo kept > /tmp/unremember-note")
    assert "kept" in await inside("run_command", command="cat /tmp/unremember-note")
    assert not Path("/tmp/unremember-note").exists()
    folder = inside.context.sandbox.temporary()
    assert (folder / "unremember-note").exists()
    inside.context.sandbox = Sandbox()
    assert not folder.exists()


@confined
async def test_no_network(inside: Hands, port: int):
    """There is no network, not even to this machine; the user can allow it."""
    await inside.fails("run_command", command=connect(port))
    inside.context.sandbox.network = True
    assert "through" in await inside("run_command", command=connect(port))


@confined
async def test_what_the_user_allows(inside: Hands, tmp_path: Path):
    """Added folders of the workspace, and folders that the user names, can be written."""
    for name in ("added", "cache"):
        (tmp_path / name).mkdir()
    inside.context.workspace = Workspace(inside.root, (tmp_path / "added",))
    inside.context.sandbox.writable = (tmp_path / "cache",)
    await inside("run_command", command=f"touch {tmp_path}/added/a {tmp_path}/cache/b")
    assert (tmp_path / "added/a").exists()
    assert (tmp_path / "cache/b").exists()


@confined
async def test_installed_programs_still_run(inside: Hands):
    """Programs are found where they are, also where /tmp holds them; the exit status is theirs."""
    text = await inside("run_command", command=f"{sys.executable} --version")
    assert "Python 3." in text
    assert "left running" not in text
    assert (await inside.fails("run_command", command="exit 7")).startswith("Exit code: 7\n")
    assert not inside.events


@confined
async def test_a_timeout_ends_what_left_the_group(inside: Hands):
    """Confined, even a process that made a session of its own ends at the time-out."""
    text = await inside.fails(
        "run_command", command="setsid sleep 271.5 & echo on; sleep 300", timeout=1
    )
    assert "timed out" in text
    for _ in range(40):
        if not any(b"271.5" in line for line in command_lines()):
            break
        await asyncio.sleep(0.05)
    assert not any(b"271.5" in line for line in command_lines())


@pytest.mark.parametrize("stub", ["", "#!/bin/sh\necho 'no namespaces here' >&2\nexit 1\n"])
async def test_absence_is_announced_once(
    hands: Hands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stub: str
):
    """Without bubblewrap, or where it does not work, commands run; one event says so and why."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "touch"):
        (programs / name).symlink_to(f"/bin/{name}")
    if stub:
        (programs / "bwrap").write_text(stub)
        (programs / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    hands.context.sandbox = Sandbox()
    await hands("run_command", command="touch a")
    await hands("run_command", command="touch b")
    reason = "does not work here: no namespaces here" if stub else "is not installed"
    assert hands.events == [Unconfined(f"bubblewrap {reason}")]
    assert module.Sandbox(wanted=False).absent == "it is switched off"
