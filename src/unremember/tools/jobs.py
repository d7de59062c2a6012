"""Commands that run in the background while the agent goes on."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field

from unremember.errors import ToolError
from unremember.tools.process import Process


@dataclass(slots=True)
class Job:
    """A command in the background; `read` is how many bytes of its output were already shown."""

    id: str
    command: str
    process: Process
    read: int = 0

    @property
    def summary(self) -> str:
        """One line: how it stands."""
        status, seconds = self.process.status, self.process.seconds
        how = "running" if status is None else f"ended with exit status {status}"
        return f"{self.id} {how} · {seconds:.0f} s · {self.command}"


@dataclass(slots=True, weakref_slot=True)
class Jobs:
    """All background jobs of an agent, by id (`j1`, `j2`, …); ids are never reused.

    They end with it, at the latest when the program does.
    """

    items: dict[str, Job] = field(default_factory=dict[str, Job])
    _processes: list[Process] = field(default_factory=list[Process], init=False)

    def add(self, command: str, process: Process) -> Job:
        """Takes in a process that was started."""
        job = Job(f"j{len(self.items) + 1}", command, process)
        self.items[job.id] = job
        if not self._processes:
            weakref.finalize(self, _kill, self._processes)
        self._processes.append(process)
        return job

    def find(self, id: str) -> Job:
        """The job with this id. Raises `ToolError`."""
        if id not in self.items:
            known = ", ".join(self.items) or "none was started"
            raise ToolError(f"there is no job {id!r}; jobs: {known}")
        return self.items[id]

    async def stop_all(self) -> None:
        """Ends every job that still runs; call it when the agent is done."""
        for job in self.items.values():
            if job.process.status is None:
                await job.process.stop()


def _kill(processes: list[Process]) -> None:
    for process in processes:
        process.kill()
