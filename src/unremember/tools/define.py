"""A plain typed function as a tool: its signature is the schema, its docstring the description."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any, cast, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model

from unremember.errors import InputError
from unremember.models.base import ToolSpec
from unremember.tools.arguments import check
from unremember.tools.base import Context, Effect, Output, Tool

Function = Callable[..., Any]


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *, name: str = "", description: str = "", effect: Effect = "runs"
) -> Callable[[Function], Tool]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    effect: Effect = "runs",
) -> Tool | Callable[[Function], Tool]:
    """Makes a function, sync or async, a tool that an agent can call.

    ```python
    @tool(effect="reads")
    def weather(city: str, days: int = 1) -> str:
        \"\"\"The weather in a city for the next days.\"\"\"
        return f"{city}: sunny, for {days} days"
    ```

    Parameters need types; their schema and checks are pydantic's, and a text in `Annotated[...]`
    describes one. A parameter annotated `Context` is given by the program and not shown to the
    model. What it returns is an `Output`, a text, or a value that is sent as JSON. It raises
    `ToolError` for what the model can put right. A sync function runs in a thread of its own.
    With an `effect` other than "reads" it is refused in read-only mode.
    Raises `InputError` for a function that cannot be a tool.
    """
    if function is None:
        return lambda made: _define(made, name, description, effect)
    return _define(function, name, description, effect)


def _define(function: Function, name: str, description: str, effect: Effect) -> Tool:
    name = name or function.__name__
    model, given = _arguments_of(function, name)
    spec = ToolSpec(name, description or _described(function, name), slim_schema(model))

    async def run(context: Context, arguments: dict[str, Any]) -> Output:
        checked = check(model, arguments)
        values = {field: getattr(checked, field) for field in type(checked).model_fields}
        if given:
            values[given] = context
        if inspect.iscoroutinefunction(function):
            return _as_output(await function(**values))
        return _as_output(await asyncio.to_thread(function, **values))

    return Tool(spec, run, effect)


def _arguments_of(function: Function, name: str) -> tuple[type[BaseModel], str]:
    """The parameters that a language model fills in, and the name of the one for the context."""
    hints = _types_of(function, name)
    fields: dict[str, Any] = {}
    given = ""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise InputError(f"the tool {name} cannot take *{parameter.name}; name its parameters")
        if parameter.name not in hints:
            raise InputError(f"the parameter {parameter.name} of the tool {name} needs a type")
        if hints[parameter.name] is Context:
            given = parameter.name
            continue
        required = parameter.default is parameter.empty
        fields[parameter.name] = (
            _annotated(hints[parameter.name]),
            ... if required else parameter.default,
        )
    return create_model(name, __config__=ConfigDict(extra="forbid"), **fields), given


def _types_of(function: Function, name: str) -> dict[str, Any]:
    """The types of the parameters; what comes back may be of any."""
    written = {key: hint for key, hint in function.__annotations__.items() if key != "return"}
    try:
        return get_type_hints(
            SimpleNamespace(__annotations__=written),
            globalns=getattr(function, "__globals__", {}),
            include_extras=True,
        )
    except NameError as error:
        raise InputError(
            f"a type of the tool {name} cannot be found ({error}); define it outside of functions"
        ) from None


def _annotated(hint: Any) -> Any:
    """A type whose texts in `Annotated[...]` became descriptions."""
    notes = getattr(hint, "__metadata__", ())
    texts = [note for note in notes if isinstance(note, str)]
    return Annotated[hint, Field(description=" ".join(texts))] if texts else hint


def _described(function: Function, name: str) -> str:
    text = inspect.getdoc(function)
    if not text:
        raise InputError(f"the tool {name} needs a docstring: it tells the model what it is for")
    return text


def _as_output(value: object) -> Output:
    match value:
        case Output():
            return value
        case None:
            return Output("done")
        case str():
            return Output(value)
        case _:
            return Output(TypeAdapter[object](object).dump_json(value).decode())


def slim_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model without what a language model does not need.

    Titles and references are gone; every token of it is paid for in every request.
    """
    schema = model.model_json_schema()
    definitions = cast("dict[str, Any]", schema.pop("$defs", {}))
    slim = cast("dict[str, Any]", _slim(schema, definitions, ()))
    return {"type": "object", "properties": dict[str, Any]()} | slim


def _slim(node: Any, definitions: dict[str, Any], inside: tuple[str, ...]) -> Any:
    match node:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            if name in inside:
                return {"type": "object"}
            return _slim(definitions[name], definitions, (*inside, name))
        case dict():
            kept = cast("dict[str, Any]", node)
            return {
                key: {name: _slim(field, definitions, inside) for name, field in value.items()}
                if key == "properties"
                else _slim(value, definitions, inside)
                for key, value in kept.items()
                if key not in ("title", "additionalProperties")
                and not (key == "default" and value in ("", None, False))
            }
        case list():
            return [_slim(item, definitions, inside) for item in cast("list[Any]", node)]
        case _:
            return node
