"""A user's function becomes a tool with one decorator."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from unremember.errors import InputError
from unremember.messages import ToolCall
from unremember.tools import Context, Tool, Workspace, run_call, tool


class Place(BaseModel):
    """A place on a map."""

    x: int
    y: int = 0
    inside: Place | None = None


@tool
def weather(city: Annotated[str, "in English"], days: int = 1) -> str:
    """The weather in a city."""
    return f"{city} {days} {threading.current_thread() is threading.main_thread()}"


@tool(name="distance", effect="reads", description="How far two places are apart.")
async def measure(context: Context, places: list[Place], unit: Literal["m", "km"] = "m") -> Any:
    return {"root": context.workspace.root.name, "places": len(places), "unit": unit}


async def run(tmp_path: Path, made: Tool, arguments: str) -> str:
    context = Context(Workspace(tmp_path))
    ran = await run_call(ToolCall("c", made.name, arguments), {made.name: made}, context, 1)
    assert not ran.result.failed, ran.result.text
    return ran.result.text


def test_the_signature_is_the_schema():
    """Types, defaults and described parameters make the schema; the docstring describes it."""
    assert weather.name == "weather"
    assert weather.spec.description == "The weather in a city."
    assert weather.spec.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "in English"},
            "days": {"type": "integer", "default": 1},
        },
        "required": ["city"],
    }


def test_a_schema_stands_alone():
    """Nested models are written out where they are used; one in itself is cut off there."""
    place: Any = measure.spec.parameters["properties"]["places"]["items"]
    assert place["properties"]["x"] == {"type": "integer"}
    assert "context" not in measure.spec.parameters["properties"]
    assert "$ref" not in str(measure.spec.parameters)
    assert "$defs" not in str(measure.spec.parameters)


def test_an_unmarked_function_may_do_anything():
    """Only a function that is declared to read runs in read-only mode."""
    assert weather.effect == "runs"
    assert measure.effect == "reads"


async def test_sync_functions_run_beside_the_loop(tmp_path: Path):
    """A sync function runs in a thread, so that it holds nobody up; numbers in strings will do."""
    assert await run(tmp_path, weather, '{"city": "Bonn", "days": "3"}') == "Bonn 3 False"


async def test_values_are_sent_as_json(tmp_path: Path):
    """What is no text is sent as JSON; the context is given by the program."""
    text = await run(tmp_path, measure, '{"places": [{"x": 1}, {"x": 2, "inside": {"x": 3}}]}')
    assert text == f'{{"root":"{tmp_path.name}","places":2,"unit":"m"}}'


async def test_any_value_can_be_given_back(tmp_path: Path):
    """Nothing, dataclasses and models are results too."""

    @dataclass
    class Pair:
        left: int
        right: str

    @tool
    def nothing() -> None:
        """Does nothing."""

    @tool
    def pair() -> Pair:
        """Two things."""
        return Pair(1, "b")

    assert await run(tmp_path, nothing, "") == "done"
    assert await run(tmp_path, pair, "{}") == '{"left":1,"right":"b"}'


def test_what_cannot_be_a_tool_is_refused():
    """A function without docstring, types or named parameters is refused when it is defined."""

    def silent(a: int) -> int:
        return a

    def greedy(*all: int) -> None:
        """Takes anything."""

    def untyped(a: int) -> None:
        """Lost its types."""

    untyped.__annotations__.clear()
    functions: list[tuple[Any, str]] = [
        (silent, "docstring"),
        (untyped, "type"),
        (greedy, "name"),
    ]
    for function, words in functions:
        with pytest.raises(InputError, match=words):
            tool(function)
