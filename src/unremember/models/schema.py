"""Whether a JSON value fits a JSON schema: the part of the language that tool arguments use.

Stricter than the standard in one place: keys that the schema does not name do not fit, unless it
says what they may be. A call that somebody guessed at is to fit exactly, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from unremember.formats.shape import as_object

Schema = dict[str, Any]

# Twice as deep as any tool's arguments; a schema that refers to itself must come to an end.
_DEEPEST = 64


def fits(value: object, schema: object, root: Schema | None = None, depth: int = 0) -> bool:
    """Whether `value` is of `schema`; references are looked up in `root` (None: in `schema`).

    Keywords that only describe are ignored; `format` is one of them.
    """
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return False
    rules = cast("Schema", schema)
    top = rules if root is None else root

    def inner(part: object, rule: object) -> bool:
        return fits(part, rule, top, depth + 1)

    if "$ref" in rules and not inner(value, _referred(rules["$ref"], top)):
        return False
    if not _fits_choices(value, rules, inner):
        return False
    if "type" in rules and not any(_is(value, kind) for kind in _listed(rules["type"])):
        return False
    match value:
        case dict():
            return _fits_object(cast("Any", value), rules, inner)
        case list():
            return _fits_array(cast("Any", value), rules, inner)
        case str():
            return _fits_text(value, rules)
        case int() | float() if not isinstance(value, bool):
            return _fits_number(value, rules)
        case _:
            return True


def _referred(reference: object, root: Schema) -> object:
    """What `#/$defs/Name` names; nothing fits what names nothing."""
    place: object = root
    for name in str(reference).removeprefix("#/").split("/"):
        key = name.replace("~1", "/").replace("~0", "~")
        place = as_object(place).get(key)
    return False if place is None else place


def _listed(kinds: object) -> Sequence[object]:
    return cast("list[object]", kinds) if isinstance(kinds, list) else [kinds]


def _is(value: object, kind: object) -> bool:
    match kind:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "integer":
            whole = isinstance(value, float) and value.is_integer()
            return (isinstance(value, int) and not isinstance(value, bool)) or whole
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            return False


def _fits_choices(value: object, rules: Schema, inner: Any) -> bool:
    if "const" in rules and not _same(value, rules["const"]):
        return False
    if "enum" in rules and not any(_same(value, one) for one in _listed(rules["enum"])):
        return False
    if "anyOf" in rules and not any(inner(value, rule) for rule in rules["anyOf"]):
        return False
    if "oneOf" in rules and sum(inner(value, rule) for rule in rules["oneOf"]) != 1:
        return False
    if "not" in rules and inner(value, rules["not"]):
        return False
    return all(inner(value, rule) for rule in rules.get("allOf", ()))


def _same(value: object, other: object) -> bool:
    # In Python True is 1; in JSON it is not.
    return isinstance(value, bool) == isinstance(other, bool) and value == other


def _fits_object(value: Schema, rules: Schema, inner: Any) -> bool:
    named = cast("Schema", rules.get("properties", {}))
    if any(key not in value for key in rules.get("required", ())):
        return False
    if not rules.get("minProperties", 0) <= len(value) <= rules.get("maxProperties", len(value)):
        return False
    patterns = cast("Schema", rules.get("patternProperties", {}))
    return all(_fits_key(key, part, named, patterns, rules, inner) for key, part in value.items())


def _fits_key(
    key: str, part: object, named: Schema, patterns: Schema, rules: Schema, inner: Any
) -> bool:
    matching = [rule for pattern, rule in patterns.items() if re.search(pattern, key)]
    if key in named:
        matching.append(named[key])
    if matching:
        return all(inner(part, rule) for rule in matching)
    # An object of which nothing is said, as in `dict[str, Any]`, takes everything; so does one
    # whose keys are named elsewhere, in the branch of a choice.
    silent = not named and not patterns
    return inner(part, rules.get("additionalProperties", silent))


def _fits_array(value: list[object], rules: Schema, inner: Any) -> bool:
    if not rules.get("minItems", 0) <= len(value) <= rules.get("maxItems", len(value)):
        return False
    if rules.get("uniqueItems") and any(part in value[:at] for at, part in enumerate(value)):
        return False
    first = rules.get("prefixItems", [])
    if not all(inner(part, rule) for part, rule in zip(value, first, strict=False)):
        return False
    return all(inner(part, rules.get("items", True)) for part in value[len(first) :])


def _fits_text(value: str, rules: Schema) -> bool:
    if not rules.get("minLength", 0) <= len(value) <= rules.get("maxLength", len(value)):
        return False
    return "pattern" not in rules or re.search(rules["pattern"], value) is not None


def _fits_number(value: float, rules: Schema) -> bool:
    return (
        rules.get("minimum", value) <= value <= rules.get("maximum", value)
        and ("exclusiveMinimum" not in rules or value > rules["exclusiveMinimum"])
        and ("exclusiveMaximum" not in rules or value < rules["exclusiveMaximum"])
        and ("multipleOf" not in rules or value % rules["multipleOf"] == 0)
    )
