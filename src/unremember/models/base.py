"""The port `Model`: what the program asks of a model, whoever provides it.

A request is a `History` and the tools on offer; a reply is one `Message` with its usage. What a
model can do is data (`ModelFacts`), never a branch on its name.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from unremember.history import History
from unremember.messages import Message

Finish = Literal["stop", "calls", "length", "refused", "other"]
"""Why a reply ended: done; tools are to run; the output cap; the model or a filter refused."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model can do. The defaults are cautious and stand for a model that is not known.

    `context_window` and `max_output` are in tokens; `counting_factor` is how many of the model's
    tokens one o200k token stands for; `shares_cache` says whether requests sent at the same time
    share the cached part of a common beginning. With `known` False these are not facts but
    assumptions, and the user is to be told.
    """

    context_window: int = 8_192
    max_output: int = 2_048
    parallel_calls: bool = True
    counting_factor: float = 1.0
    shares_cache: bool = False
    sees_images: bool = False
    thinks: bool = False
    known: bool = False


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    `max_output` is in tokens (None: the reserve of `Budget.of_window`, a fifth of the window and at
    most 16,000; never more than the model can). With `schema` the answer must
    be JSON of that schema; with `must_call` it must be a tool call. With `no_calls` the tools are
    shown but none may be called: some vendors refuse a history with calls where no tools are.
    """

    history: History
    tools: tuple[ToolSpec, ...] = ()
    max_output: int | None = None
    temperature: float | None = None
    schema: dict[str, Any] | None = field(default=None, hash=False)
    must_call: bool = False
    no_calls: bool = False

    @property
    def offered(self) -> tuple[ToolSpec, ...]:
        """The tools that may be called."""
        return () if self.no_calls else self.tools


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests; `input_tokens` include the cached and the written ones.

    `reported` is False where the provider gave no numbers and these are our own count.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reported: bool = True

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.output_tokens + other.output_tokens,
            self.reported and other.reported,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered: a message of the assistant without an ordinal.

    `model` is the name the provider gave. `notes` are lines for the user about what was done to
    the answer, for example that a call written as text was taken as a call.
    """

    message: Message
    usage: Usage = Usage()
    finish: Finish = "stop"
    model: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a reply that is being written; `call` names the tool whose call it belongs to.

    With `again` everything given so far is void: the connection broke and the answer begins anew.
    """

    text: str = ""
    thinking: str = ""
    call: str = ""
    again: bool = False


class Model(Protocol):
    """A model that can be asked.

    `request` and `stream` raise `ModelError`s. The last item of a stream is the `Reply`; closing
    the iterator, or cancelling the task, closes the connection.
    """

    @property
    def name(self) -> str:
        """The name it was opened by, such as `openai:gpt-5`."""
        ...

    @property
    def facts(self) -> ModelFacts:
        """What it can do."""
        ...

    async def request(self, request: Request) -> Reply:
        """Asks and waits for the whole answer."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Delta | Reply]:
        """Asks and gives the answer piece by piece, the whole `Reply` last."""
        ...
