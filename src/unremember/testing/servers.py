"""A local HTTP server that is as strict as the vendors' and says what a script tells it to say."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import Self

from unremember.errors import InputError
from unremember.testing.desk import Desk, Player
from unremember.testing.turns import Asked, Script, Step
from unremember.testing.wire.base import Flavour, Seal, Store, Terms
from unremember.testing.wire.http import Line, make_handler
from unremember.testing.wire.prompts import Prompts
from unremember.tokens import default_counter

_POLL = 0.02
"""Seconds between two looks at whether the server is to end."""


class StrictServer:
    """A provider on the loopback interface, for tests of an agent.

    It speaks OpenAI chat completions, OpenAI Responses and Anthropic Messages, streamed or whole.
    A request that the vendor would refuse is refused in the vendor's form and does not use up the
    script. Use it in a `with` block; at its end an `AssertionError` says if turns of the script
    were left or requests came after its last turn, unless `complete` is False; and what a function
    in the script raised is raised there again.

    `models` are the names that are served (none: every name), `key` the key to be sent (none: any).
    `window` and `max_output` are in tokens, counted with o200k times `counting_factor`. Prompts
    are cached from `least_cached` tokens on. `flavour` makes the chat API that of a local server.
    Servers with the same `secret` take each other's reasoning; without one, only their own.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        models: Iterable[str] = (),
        key: str = "",
        window: int = 128_000,
        max_output: int = 16_384,
        counting_factor: float = 1.0,
        least_cached: int = 1_024,
        flavour: Flavour = "vendor",
        secret: str = "",
        complete: bool = True,
    ) -> None:
        seal = Seal(secret.encode() or secrets.token_bytes(16))
        terms = Terms(tuple(models), key, window, max_output, flavour, seal, Store())
        prompts = Prompts(default_counter(), counting_factor, least_cached)
        self._desk = Desk(terms, prompts, Player(script))
        self._line = Line()
        self._complete = complete
        self._http: ThreadingHTTPServer | None = None
        self._thread: Thread | None = None

    @property
    def url(self) -> str:
        """The root, as Anthropic's clients want it: `http://127.0.0.1:PORT`."""
        if self._http is None:
            raise InputError("this server does not run: use it in a `with` block")
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def openai_url(self) -> str:
        """The base URL as OpenAI's clients want it: `http://127.0.0.1:PORT/v1`."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Asked]:
        """Every question to a model so far, also those that were refused."""
        return self._desk.requests

    @property
    def refusals(self) -> list[str]:
        """Why requests were refused, in order; empty if all were legal."""
        return [asked.refused for asked in self.requests if asked.refused]

    @property
    def abandoned(self) -> int:
        """How many streamed answers the client did not wait for to the end."""
        return self._desk.abandoned

    def faults(self, *turns: Step) -> None:
        """Puts turns before what is left of the script."""
        self._desk.player.put_first(turns)

    def __enter__(self) -> Self:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(self._desk, self._line))
        # Its threads are waited for: nothing of a test outlives it.
        self._http.daemon_threads = False
        self._thread = Thread(target=self._http.serve_forever, args=(_POLL,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._http and self._thread:
            self._http.shutdown()
            self._thread.join()
            self._line.hang_up()
            self._http.server_close()
        if kind is not None:
            return
        if self._desk.errors:
            raise self._desk.errors[0]
        if self._complete:
            self._desk.player.check_complete()
