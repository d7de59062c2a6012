"""Looking into parsed JSON whose shape nobody vouches for: what is not as expected is empty."""

from __future__ import annotations

import json
from typing import Any, cast

Object = dict[str, Any]


def as_object(value: object) -> Object:
    """`value` if it is a JSON object, else an empty one."""
    return cast("Object", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """`value` if it is a JSON array, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_objects(value: object) -> list[Object]:
    """The JSON objects in `value`, if it is an array."""
    return [cast("Object", entry) for entry in as_list(value) if isinstance(entry, dict)]


def as_text(value: object) -> str:
    """`value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_json(value: object) -> str:
    """`value` if it is a string already, else its JSON: what a model's arguments are kept as."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
