"""Answers of a type: its JSON schema, and reading a model's text as it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

from unremember.errors import ModelError
from unremember.history import History
from unremember.prompts import prompt
from unremember.strategies.asking import ask, without_calls
from unremember.strategies.session import Session, program_message

T = TypeVar("T")

KEY = "answer"
"""Holds a value that is no JSON object by itself: providers want an object at the top."""

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Answers(Generic[T]):
    """How to ask for a value of `kind` and to read it; for `str` the text itself is the answer."""

    kind: type[T]

    @property
    def is_text(self) -> bool:
        """Whether any text will do."""
        return self.kind is str

    @cached_property
    def _adapter(self) -> Any:
        from pydantic import TypeAdapter

        return cast("Any", TypeAdapter(self.kind))

    @cached_property
    def _own_schema(self) -> dict[str, Any]:
        return self._adapter.json_schema()

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of an object."""
        own = dict(self._own_schema)
        if own.get("type") == "object":
            return own
        shared = {"$defs": own.pop("$defs")} if "$defs" in own else {}
        return {"type": "object", "properties": {KEY: own}, "required": [KEY], **shared}

    @property
    def written(self) -> str:
        """The schema as it stands in a prompt."""
        return json.dumps(self.schema, ensure_ascii=False)

    def read(self, text: str) -> T:
        """The value that a text holds. Raises `ValueError` that says what does not fit."""
        if self.is_text:
            return cast("T", text)
        found = _FENCED.search(text)
        data: Any = json.loads(found[1] if found else text)
        if self.schema.get("type") != self._own_schema.get("type") and KEY in data:
            data = data[KEY]
        return self._adapter.validate_python(data)


async def ask_for(session: Session, kind: type[T], question: str) -> T:
    """Asks the model for a value of a type, such as a plan or a verdict; no tool may be called.

    Question and answer are part of the conversation. Raises `ModelError` where two answers do not
    fit.
    """
    answers = Answers(kind)
    asked = question if answers.is_text else f"{question}\n\n{_wanted(answers)}"
    await _say_and_ask(session, asked, answers)
    return await answer_of(session, answers)


async def answer_of(session: Session, answers: Answers[T]) -> T:
    """The last answer as a value; one that does not fit is asked for once more.

    Raises `ModelError` where the second does not fit either.
    """
    try:
        return answers.read(last_text(session.history))
    except ValueError as error:
        again = prompt("answer_again").format(error=_line(error), schema=answers.written)
    await _say_and_ask(session, again, answers)
    try:
        return answers.read(last_text(session.history))
    except ValueError as error:
        raise ModelError(
            f"{session.model.name} gave no {answers.kind.__name__}, twice: {_line(error)}"
        ) from error


async def _say_and_ask(session: Session, text: str, answers: Answers[Any]) -> None:
    session.add(program_message(text))
    schema = None if answers.is_text else answers.schema
    session.add(without_calls(await ask(session, tools=False, schema=schema)))
    session.record.write()


def _wanted(answers: Answers[Any]) -> str:
    return prompt("answer_now").format(schema=answers.written)


def last_text(history: History) -> str:
    """What the agent said last."""
    last = next((m for m in reversed(history.messages) if m.role == "assistant"), None)
    return last.text if last else ""


def _line(error: ValueError) -> str:
    return " ".join(str(error).split())[:500]
