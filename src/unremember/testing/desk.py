"""Takes in requests: checks them, counts them, records them, and finds the turn to play."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from threading import Lock

from unremember.formats.shape import Object
from unremember.testing.turns import Asked, Fail, Say, Script, Step, Turn
from unremember.testing.wire.answers import make_answer
from unremember.testing.wire.anthropic import MESSAGES
from unremember.testing.wire.base import Answer, Refused, Terms, Wire
from unremember.testing.wire.prompts import Looked, Prompts

_NOTHING = Looked()


class Player:
    """The turns of a script that are left, and how often one was asked for after the last."""

    def __init__(self, script: Script) -> None:
        self._first: deque[Step] = deque()
        self._steps: deque[Step] = deque()
        self._more: Iterator[Step] = iter(())
        self._always: Step | None = None
        self._after_end = 0
        if callable(script):
            self._always = script
        elif isinstance(script, list | tuple):
            self._steps.extend(script)
        else:
            # It may have no end, so it is not asked what is left.
            self._more = iter(script)

    def put_first(self, steps: Iterable[Step]) -> None:
        """Puts turns before what is left."""
        self._first.extend(steps)

    def next(self) -> Step:
        """The next turn, or a failure when the script is over."""
        for steps in (self._first, self._steps):
            if steps:
                return steps.popleft()
        step = next(self._more, self._always)
        if step is None:
            self._after_end += 1
            # A status that no client tries again.
            return Fail(400, {"error": {"message": "the script has no turn left"}})
        return step

    def check_complete(self) -> None:
        """Raises `AssertionError` if turns are left or were missing."""
        left = len(self._first) + len(self._steps)
        if left:
            raise AssertionError(f"{left} turns of the script were never asked for")
        if self._after_end:
            raise AssertionError(f"{self._after_end} requests came after the script's last turn")


@dataclass(frozen=True, slots=True)
class Taken:
    """A request that was taken in, and what is to be done about it."""

    wire: Wire
    asked: Asked
    turn: Turn | Refused
    looked: Looked = _NOTHING
    serial: int = 0


@dataclass(slots=True)
class Desk:
    """What a server knows while it runs. All of it may be used from several threads."""

    terms: Terms
    prompts: Prompts
    player: Player
    requests: list[Asked] = field(default_factory=list[Asked])
    errors: list[Exception] = field(default_factory=list[Exception])
    abandoned: int = 0
    lock: Lock = field(default_factory=Lock)

    def take(self, wire: Wire, path: str, headers: dict[str, str], body: Object) -> Taken:
        """Takes in a request. One that breaks a rule is recorded and uses up no turn."""
        with self.lock:
            asked = Asked(wire.form, body, headers, path)
            try:
                wire.check(body, headers, self.terms)
                looked = self._look_up(wire, body)
                asked = replace(asked, input_tokens=looked.total, cached_tokens=looked.cached)
                looked = self._fit(wire, body, looked)
            except Refused as refused:
                self.requests.append(replace(asked, refused=refused.message))
                return Taken(wire, asked, refused)
            self.requests.append(asked)
            serial, step = len(self.requests), self.player.next()
        # Outside of the lock: it may wait for something, and others may ask meanwhile.
        turn = self._decide(step, asked) if callable(step) else step
        return Taken(wire, asked, turn, looked, serial)

    def _decide(self, step: Callable[[Asked], Turn], asked: Asked) -> Turn:
        try:
            return step(asked)
        except Exception as error:  # noqa: BLE001 - a test's own; it is raised again at the end
            self.errors.append(error)
            return Fail(400, {"error": {"message": f"the script failed: {error}"}})

    def answer(self, say: Say, taken: Taken) -> Answer:
        """The answer to a request; from now on its prompt is in the cache."""
        cap = taken.wire.cap(taken.asked.body) or self.terms.max_output
        cap = min(cap, max(1, self.terms.window - taken.looked.total))
        with self.lock:
            self.prompts.remember(taken.looked)
            return make_answer(
                say, taken.asked, taken.looked, cap, self.prompts.text, self.terms, taken.serial
            )

    def count(self, headers: dict[str, str], body: Object) -> int:
        """Tokens of a prompt of the Messages API that is only to be counted. Raises `Refused`."""
        MESSAGES.check({**body, "max_tokens": self.terms.max_output}, headers, self.terms)
        with self.lock:
            return self._look_up(MESSAGES, body).total

    def _look_up(self, wire: Wire, body: Object) -> Looked:
        root = f"{wire.form} {body['model']}"
        pieces = wire.pieces(body, self.terms)
        return self.prompts.look_up(root, pieces, automatic=wire.automatic)

    def _fit(self, wire: Wire, body: Object, looked: Looked) -> Looked:
        """What reaches the model. Raises `Refused` if the prompt exceeds the window."""
        window, flavour = self.terms.window, self.terms.flavour
        if flavour == "ollama" and looked.newest <= window:
            # It drops the oldest messages without a word, and counts what it kept.
            return replace(looked, total=min(looked.total, window))
        # The Responses API and local servers do not count the room for the answer.
        both = wire.form != "responses" and flavour == "vendor"
        output = (wire.cap(body) or 0) if both else 0
        if looked.total + output > window:
            raise wire.too_long(looked.total, output, window, self.terms)
        return looked
