"""Asking again: how often, how long to wait in between, and until when."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

from unremember.errors import ModelError, TimedOut


@dataclass(frozen=True, slots=True)
class Retry:
    """When a request that failed is sent again. Times are in seconds.

    At most `attempts` are made, all within `deadline`. Before the second the program waits about
    `first`, before each further one twice as long, at most `longest`; half of each wait is chance,
    so that many agents do not come back at once. A provider's Retry-After is kept to.
    """

    attempts: int = 5
    first: float = 0.5
    longest: float = 30.0
    deadline: float = 600.0

    def pause(self, failures: int, asked: float | None = None) -> float:
        """The wait after so many failures, in seconds; `asked` is the provider's Retry-After."""
        planned = min(self.longest, self.first * 2 ** (failures - 1))
        # The lower half is certain, the upper is chance.
        pause = planned * (0.5 + random.random() / 2)
        return max(pause, asked or 0.0)


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that failed: the error as the user will see it, and whether to try again.

    `most` limits the attempts for failures that waiting seldom mends (0: as the policy says).
    `asked` is the wait that the provider asked for, in seconds.
    """

    error: ModelError
    again: bool = False
    asked: float | None = None
    most: int = 0


@dataclass(slots=True)
class Tries:
    """The attempts at one request: how many failed so far, and the time that is left."""

    name: str
    retry: Retry
    failures: list[str] = field(default_factory=list[str])
    ends: float = 0.0

    def __post_init__(self) -> None:
        self.ends = asyncio.get_running_loop().time() + self.retry.deadline

    async def wait(self, failure: Failure, cause: BaseException) -> None:
        """Waits until the next attempt; raises the failure's error if there is to be none."""
        self.failures.append(str(failure.error))
        most = min(self.retry.attempts, failure.most or self.retry.attempts)
        if not failure.again or len(self.failures) >= most:
            raise failure.error from cause
        pause = self.retry.pause(len(self.failures), failure.asked)
        left = self.ends - asyncio.get_running_loop().time()
        if pause >= left:
            raise self.late(f"; the next attempt was due in {pause:.0f} s") from cause
        await asyncio.sleep(pause)

    def late(self, more: str = "") -> TimedOut:
        """The error for a deadline that passed, with the last failure if there was one."""
        last = f"; before that: {self.failures[-1]}" if self.failures else ""
        return TimedOut(
            f"{self.name}: no complete answer within {self.retry.deadline:g} s{more}{last}. "
            "Raise the deadline, or try again later."
        )

    def notes(self) -> tuple[str, ...]:
        """A line for the user about what was tried before it worked."""
        if not self.failures:
            return ()
        times = "once" if len(self.failures) == 1 else f"{len(self.failures)} times"
        return (f"sent again {times}; last failure: {self.failures[-1]}",)
