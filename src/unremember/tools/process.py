"""One command as a process group of its own: started, watched, ended as a whole."""

from __future__ import annotations

import asyncio
import codecs
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Literal

from unremember.tools.output import Kept

End = Literal["done", "timed out", "cancelled"]

GRACE = 2.0
"""Seconds between asking a process group to end and ending it."""

LINGER = 0.5
"""Seconds that output is awaited after the shell ended, while others still hold its output open."""

MOMENTS = 10
"""Looks, 20 ms apart, at whether a group is gone: its last processes end just after the shell."""

CHUNK = 65_536

# A terminal that draws nothing and waits for nobody.
_QUIET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    # Else Python programs print to a pipe in blocks: out of order, and lost when they are ended.
    "PYTHONUNBUFFERED": "1",
}


class Process:
    """A running command. Standard output and error come through one pipe, in the order printed."""

    def __init__(
        self, child: asyncio.subprocess.Process, pipe: int, stream: Callable[[str], None] | None
    ) -> None:
        self.child = child
        self.output = Kept()
        self.started = monotonic()
        self.ended = 0.0
        self.left_running = False
        self.stream = stream
        self._pipe = pipe
        self._closed = asyncio.Event()
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        os.set_blocking(pipe, False)
        asyncio.get_running_loop().add_reader(pipe, self._read)
        self._exit = asyncio.ensure_future(self._finish())

    @classmethod
    async def start(
        cls,
        words: Sequence[str],
        folder: Path,
        stream: Callable[[str], None] | None = None,
    ) -> Process:
        """Starts a program in `folder`; `stream` gets its output as it comes. Raises `OSError`."""
        reading, writing = os.pipe()
        try:
            child = await asyncio.create_subprocess_exec(
                *words,
                cwd=folder,
                env=os.environ | _QUIET,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writing,
                stderr=writing,
                start_new_session=True,
            )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        return cls(child, reading, stream)

    @property
    def status(self) -> int | None:
        """The exit status as a shell states it (128 + the signal); None while it runs."""
        code = self.child.returncode
        return code if code is None or code >= 0 else 128 - code

    @property
    def seconds(self) -> float:
        """How long it ran, or has been running."""
        return (self.ended or monotonic()) - self.started

    async def wait(self, limit: float, cancelled: asyncio.Event) -> End:
        """Waits for the end; after `limit` seconds, or when `cancelled`, ends the whole group."""
        stop = asyncio.ensure_future(cancelled.wait())
        try:
            await asyncio.wait(
                (self._exit, stop), timeout=limit, return_when=asyncio.FIRST_COMPLETED
            )
            if self._exit.done():
                return "done"
            await self.stop()
            return "cancelled" if stop.done() else "timed out"
        except asyncio.CancelledError:
            await asyncio.shield(self.stop())
            raise
        finally:
            stop.cancel()

    async def look(self, seconds: float) -> bool:
        """Waits so long for the end, at most; says whether it has ended."""
        await asyncio.wait((self._exit,), timeout=seconds)
        return self._exit.done()

    async def stop(self) -> None:
        """Ends the whole process group: asked first, then by force."""
        self._signal(signal.SIGTERM)
        await asyncio.wait((self._exit,), timeout=GRACE)
        self._signal(signal.SIGKILL)
        await self._exit

    def kill(self) -> None:
        """Ends the whole process group by force if it still runs, without waiting."""
        if self.child.returncode is None:
            self._signal(signal.SIGKILL)

    async def _finish(self) -> None:
        """Waits for the shell, then for its output; ends what it left running."""
        await self.child.wait()
        self.ended = monotonic()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), LINGER)
        self.left_running = await self._outlived()
        if self.left_running:
            self._signal(signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), LINGER)
            self._signal(signal.SIGKILL)
        self._close()

    async def _outlived(self) -> bool:
        """Whether others of the group still run, a moment after the shell ended."""
        for _ in range(MOMENTS):
            if not self._signal(0) or not runs_in_group(self.child.pid):
                return False
            await asyncio.sleep(0.02)
        return True

    def _signal(self, number: int) -> bool:
        """Sends a signal to the group; False when nobody is left in it."""
        try:
            os.killpg(self.child.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _read(self) -> None:
        try:
            data = os.read(self._pipe, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close()
            return
        self.output.add(data)
        if self.stream and (text := self._decode(data)):
            self.stream(text)

    def _close(self) -> None:
        if not self._closed.is_set():
            self._closed.set()
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)


def runs_in_group(group: int) -> bool:
    """Whether a process of a group that exists still runs.

    One that has ended stays in its group until its parent takes note; in containers nobody may.
    """
    everyone = Path("/proc")
    if not (everyone / "self/stat").exists():
        return True
    for status in everyone.glob("[0-9]*/stat"):
        with suppress(OSError):
            # The name in brackets may hold blanks: state, parent and group come behind it.
            state, _, its_group, *_ = status.read_text(errors="replace").rpartition(")")[2].split()
            if int(its_group) == group and state not in ("Z", "X"):
                return True
    return False
