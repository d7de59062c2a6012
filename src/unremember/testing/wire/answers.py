"""From a scripted turn to an answer: calls get ids, the output cap is kept, tokens are counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from unremember.messages import ToolCall
from unremember.models.base import Usage
from unremember.testing.turns import Asked, Call, Ending, Say
from unremember.testing.wire.base import Answer, Terms
from unremember.testing.wire.prompts import Looked

Count = Callable[[str], int]


def make_answer(
    say: Say, asked: Asked, looked: Looked, cap: int, count: Count, terms: Terms, serial: int
) -> Answer:
    """What the model says to `asked`, at most `cap` tokens of it."""
    prefix = {"chat": "call", "responses": "call", "messages": "toolu"}[asked.form]
    calls = tuple(_call(call, f"{prefix}_{serial}_{n}") for n, call in enumerate(say.calls, 1))
    room = _Room(cap, count)
    thinking, text = room.take(say.thinking), room.take(say.text)
    thought = count(thinking) if thinking else 0
    calls = tuple(clipped for call in calls if (clipped := room.take_call(call)))
    ending: Ending = "length" if room.full else say.ending or ("calls" if calls else "stop")
    usage = say.usage or Usage(looked.total, looked.cached, looked.written, cap - room.left)
    return Answer(
        id=f"{serial}",
        model=str(asked.body.get("model", "")),
        text=text,
        thinking=thinking,
        calls=calls,
        ending=ending,
        usage=usage if usage.reported else None,
        thinking_tokens=thought,
        request=asked.body,
        terms=terms,
    )


def _call(call: Call, id: str) -> ToolCall:
    if isinstance(call, ToolCall):
        return call if call.id else replace(call, id=id)
    name, arguments = call
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id, name, written)


@dataclass(slots=True)
class _Room:
    """The tokens that are left for an answer; once full, nothing more is taken."""

    left: int
    count: Count
    full: bool = False

    def take(self, text: str) -> str:
        """As much of the beginning of `text` as fits."""
        if self.full or not text:
            return ""
        needed = self.count(text)
        if needed > self.left:
            self.full = True
            text, needed = self._cut(text)
        self.left -= needed
        return text

    def take_call(self, call: ToolCall) -> ToolCall | None:
        """A call with as much of its arguments as fits; None if not even its name does."""
        name = self.take(call.name)
        if self.full:
            return None
        return replace(call, name=name, arguments=self.take(call.arguments))

    def _cut(self, text: str) -> tuple[str, int]:
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            fits = self.count(text[:middle]) <= self.left
            low, high = (middle, high) if fits else (low, middle - 1)
        return text[:low], self.count(text[:low]) if low else 0
