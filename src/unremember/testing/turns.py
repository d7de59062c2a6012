"""What a scripted provider does next: it says something, fails or breaks off; what it was asked.

A script is a list of these turns. A turn can also be a function of the request, for answers that
depend on what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from unremember.messages import ToolCall
from unremember.models.base import Usage

Form = Literal["chat", "responses", "messages"]
"""Which API was spoken: OpenAI chat completions, OpenAI Responses, Anthropic Messages."""

Ending = Literal["stop", "calls", "length", "refused"]
"""Why an answer ended; each form has its own word for it."""

Call = ToolCall | tuple[str, dict[str, Any] | str]
"""A call to be made: a `ToolCall`, or a name and its arguments. Without an id it gets one.

Arguments given as a string are sent as they are, so they can be broken JSON.
"""


@dataclass(frozen=True, slots=True)
class Say:
    """The model answers.

    It thinks, then writes `text`, then makes its `calls`. What exceeds the request's output cap
    is cut off and the answer ends for the reason `length`. `usage` replaces the server's own
    count; `Usage(reported=False)` leaves the numbers out. `ending` replaces the true reason.
    """

    text: str = ""
    calls: Sequence[Call] = ()
    thinking: str = ""
    usage: Usage | None = None
    ending: Ending | None = None


_WORDS = Say("This sentence is what the answer would have been, had it come as it should.")


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error. `body` is sent as it is: a dict as JSON, a string as text; None: in the
    vendor's own form for this status. `retry_after` is in seconds.

    With `midway` the status is 200 and the error comes inside the stream, after the first words.
    """

    status: int
    body: dict[str, Any] | str | None = field(default=None, hash=False)
    retry_after: float | None = None
    midway: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks after that many bytes of the body of `say`; 0: before any answer."""

    after_bytes: int = 0
    say: Say = _WORDS


@dataclass(frozen=True, slots=True)
class EmptyBody:
    """Status 200 and nothing else."""


@dataclass(frozen=True, slots=True)
class Slow:
    """Waits that many seconds before each piece of a stream, or once before a whole answer."""

    seconds: float
    say: Say = _WORDS


@dataclass(frozen=True, slots=True)
class TooLong:
    """Refuses the request as longer than a window of `limit` tokens, whatever its length."""

    limit: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it arrived.

    `input_tokens` is the server's own count, `cached_tokens` how many of them stood at the
    beginning of an earlier request. `refused` is why the request broke a rule ("": it did not).
    """

    form: Form
    body: dict[str, Any] = field(hash=False)
    headers: Mapping[str, str] = field(hash=False, repr=False)
    path: str
    input_tokens: int = 0
    cached_tokens: int = 0
    refused: str = ""

    @property
    def streams(self) -> bool:
        """Whether a streamed answer was asked for."""
        return self.body.get("stream") is True


Turn = Say | Fail | Cut | EmptyBody | Slow | TooLong
Step = Turn | Callable[[Asked], Turn]
Script = Iterable[Step] | Callable[[Asked], Turn]
"""Turns in order, or one function that answers every request."""
