"""A model that plays a script: for tests, for the demonstration, and for users' own tests.

`Scripted` takes its turns as Python values; `from_file` reads them from JSON lines:

```json
{"text": "I look first.", "calls": [{"name": "read_file", "arguments": {"path": "a.py"}}]}
{"when": "limit = (?P<limit>\\\\d+)", "text": "The limit is ${limit}."}
```

A turn's keys are `text`, `thinking`, `calls`, `finish`, and `when`: a regular expression that must
be found in what was said since the model's last turn, or the script stops. What its named groups
found stands for `${name}` in every later turn; so a script can use what it could only have read.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, cast, get_args

from unremember.errors import InputError, ModelError
from unremember.formats.shape import Object, as_json, as_list, as_object, as_objects, as_text
from unremember.messages import Message, Part, Text, Thinking, ToolCall, ToolResult
from unremember.models.base import Delta, Finish, ModelFacts, Reply, Request, Usage
from unremember.models.counting import scaled_counter, written
from unremember.tokens import Weigher

Answer = Reply | Message | str
Turn = Answer | Exception | Callable[[Request], Answer]
"""An answer, an error to raise, or a function that makes an answer of the request."""

# Pieces of this many characters, so that a stream is one.
_PIECE = 24


class Scripted:
    """Plays its turns in order, one for each request, and keeps the requests in `requests`.

    As a context manager it checks at the end that no turn is left. Usage that a turn does not give
    is counted here, and marked as not reported.
    """

    def __init__(
        self,
        turns: Iterable[Turn],
        *,
        name: str = "scripted",
        facts: ModelFacts | None = None,
    ) -> None:
        self._turns = deque(turns)
        self._name = name
        self._facts = facts or ModelFacts(context_window=200_000, max_output=16_000, known=True)
        self._weigh = Weigher(scaled_counter(self._facts))
        self._tools: tuple[Any, int] = ((), 0)
        self.requests: list[Request] = []

    @property
    def name(self) -> str:
        """The name it was opened by."""
        return self._name

    @property
    def facts(self) -> ModelFacts:
        """What it was said to be able to do."""
        return self._facts

    @property
    def left(self) -> int:
        """How many turns were not played."""
        return len(self._turns)

    def check(self) -> None:
        """Raises `ModelError` if turns are left: whoever played it ended too early."""
        if self._turns:
            turns = "1 turn was" if self.left == 1 else f"{self.left} turns were"
            raise ModelError(f"{self.name}: {turns} not played; the run ended too early.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if error is None:
            self.check()

    async def request(self, request: Request) -> Reply:
        """The next turn. Raises the turn's error, or `ModelError` when there is none left."""
        self.requests.append(request)
        if not self._turns:
            played = len(self.requests) - 1
            raise ModelError(f"{self.name}: the script has no turn after {played}; add one.")
        turn = self._turns.popleft()
        if isinstance(turn, Exception):
            raise turn
        return self._reply(turn if isinstance(turn, Answer) else turn(request), request)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """The next turn in small pieces, the whole reply last."""
        reply = await self.request(request)
        for part in reply.message.parts:
            match part:
                case Text(text):
                    for at in range(0, len(text), _PIECE):
                        yield Delta(text=text[at : at + _PIECE])
                case Thinking(text):
                    for at in range(0, len(text), _PIECE):
                        yield Delta(thinking=text[at : at + _PIECE])
                case ToolCall(_, name):
                    yield Delta(call=name)
                case _:
                    pass
        yield reply

    def _reply(self, answer: Answer, request: Request) -> Reply:
        if isinstance(answer, Reply):
            return answer
        message = Message("assistant", (Text(answer),)) if isinstance(answer, str) else answer
        usage = Usage(
            self._weigh(request.history) + self._weigh_tools(request),
            output_tokens=self._weigh.message(message),
            reported=False,
        )
        finish: Finish = "calls" if message.calls else "stop"
        return Reply(replace(message, ordinal=0), usage, finish, self.name)

    def _weigh_tools(self, request: Request) -> int:
        if request.tools != self._tools[0]:
            self._tools = (request.tools, self._weigh.text(written(request.tools)))
        return self._tools[1]


def from_file(path: str | Path, *, facts: ModelFacts | None = None) -> Scripted:
    """A model that plays the turns of a JSON lines file. Raises `InputError` with the line."""
    file = Path(path).expanduser()
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"scripted:{path}: the script cannot be read ({error})") from error
    found: dict[str, str] = {}
    turns = [
        _read_turn(line, f"{path}: line {number}", number, found)
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    return Scripted(turns, name=f"scripted:{path}", facts=facts)


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a script; calling it makes the reply to a request."""

    where: str
    number: int
    fields: Object
    when: re.Pattern[str] | None
    found: dict[str, str] = field(repr=False)

    def __call__(self, request: Request) -> Reply | Message:
        if self.when is not None:
            match = self.when.search(_newest(request))
            if match is None:
                raise ModelError(
                    f"{self.where}: the script waits for {self.when.pattern!r}, "
                    "which is not in what was said last."
                )
            self.found.update({name: text or "" for name, text in match.groupdict().items()})
        parts = tuple(self._parts())
        message = Message("assistant", parts or (Text(""),))
        finish = as_text(self.fields.get("finish"))
        if not finish:
            return message
        return Reply(message, Usage(reported=False), cast("Finish", finish), "scripted")

    def _parts(self) -> Iterable[Part]:
        if thought := as_text(self.fields.get("thinking")):
            yield Thinking(self._filled(thought))
        if text := as_text(self.fields.get("text")):
            yield Text(self._filled(text))
        for index, call in enumerate(as_objects(self.fields.get("calls")), start=1):
            arguments = as_json(self._filled_in(call.get("arguments", {})))
            yield ToolCall(f"call-{self.number}-{index}", as_text(call.get("name")), arguments)

    def _filled(self, text: str) -> str:
        return re.sub(r"\$\{(\w+)\}", lambda m: self.found.get(m[1], m[0]), text)

    def _filled_in(self, value: Any) -> Any:
        match value:
            case str():
                return self._filled(value)
            case list():
                return [self._filled_in(one) for one in as_list(cast("object", value))]
            case dict():
                return {k: self._filled_in(v) for k, v in as_object(cast("object", value)).items()}
            case _:
                return value


def _read_turn(line: str, where: str, number: int, found: dict[str, str]) -> _Line:
    try:
        value: object = json.loads(line)
    except ValueError as error:
        raise InputError(f"{where}: this is no JSON ({error})") from error
    fields = as_object(value)
    known = {"text", "thinking", "calls", "finish", "when"}
    if not fields or set(fields) - known:
        raise InputError(f"{where}: a turn is an object with {', '.join(sorted(known))}")
    if fields.get("finish", "stop") not in get_args(Finish):
        raise InputError(f"{where}: `finish` is one of {', '.join(get_args(Finish))}")
    try:
        when = re.compile(fields["when"]) if "when" in fields else None
    except (re.error, TypeError) as error:
        raise InputError(f"{where}: `when` is no regular expression ({error})") from error
    return _Line(where, number, fields, when, found)


def _newest(request: Request) -> str:
    """What was said since the model's last turn."""
    lines: list[str] = []
    for message in reversed(request.history.messages):
        if message.role == "assistant":
            break
        texts = [part.text for part in message.parts if isinstance(part, Text | ToolResult)]
        lines.append("\n".join(texts))
    return "\n".join(reversed(lines))
