"""JSON schemas of tools and answers, checked as strictly as the vendors check them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unremember.formats.shape import Object, as_list, as_object, as_text

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_MIXES = ("anyOf", "oneOf", "allOf")
_LEAST = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")


def check_tool_schema(schema: object, *, strict: bool = False) -> list[str]:
    """What is wrong with a schema of a tool's arguments: it must describe an object."""
    top = as_object(schema)
    if not top:
        return ["the schema is no JSON object, or an empty one"]
    wrong = [] if top.get("type") == "object" else ["the schema's type must be 'object'"]
    mixed = [f"{word} at the top of the schema" for word in (*_MIXES, "enum", "not") if word in top]
    return [*wrong, *mixed, *check_schema(top, strict=strict)]


def check_schema(schema: object, *, strict: bool = False) -> list[str]:
    """What is wrong with a schema; `strict`: every object closed, every property required."""
    return list(_check(schema, as_object(schema), "", strict))


def _check(schema: object, root: Object, at: str, strict: bool) -> Iterator[str]:
    if isinstance(schema, bool):
        return
    here = as_object(schema)
    if not here and schema != {}:
        yield f"{at or 'schema'}: neither an object nor true or false"
        return
    yield from _check_type(here, at)
    yield from _check_words(here, root, at)
    if strict and "properties" in here:
        yield from _check_strict(here, at)
    for name, inner in as_object(here.get("properties")).items():
        yield from _check(inner, root, f"{at}.{name}", strict)
    for word in ("items", "additionalProperties", "not"):
        if word in here:
            yield from _check(here[word], root, f"{at}.{word}", strict)
    for word in _MIXES:
        if word in here and not as_list(here[word]):
            yield f"{at}.{word}: expected a list that is not empty"
        for place, inner in enumerate(as_list(here.get(word))):
            yield from _check(inner, root, f"{at}.{word}.{place}", strict)
    for word in ("$defs", "definitions"):
        for name, inner in as_object(here.get(word)).items():
            yield from _check(inner, root, f"{at}.{word}.{name}", strict)


def _check_type(here: Object, at: str) -> Iterator[str]:
    given = here.get("type", [])
    types = as_list(given) or ([] if given == [] else [given])
    for name in types:
        if as_text(name) not in _TYPES:
            yield f"{at}: {name!r} is not a type of JSON schema"
    if "array" in types and "items" not in here and "prefixItems" not in here:
        yield f"{at}: an array without items"


def _check_words(here: Object, root: Object, at: str) -> Iterator[str]:
    if "properties" in here and not isinstance(here["properties"], dict):
        yield f"{at}.properties: expected an object"
    required = here.get("required", [])
    if as_list(required) != required or not all(isinstance(r, str) for r in as_list(required)):
        yield f"{at}.required: expected a list of names"
    if "enum" in here and not as_list(here["enum"]):
        yield f"{at}.enum: expected a list that is not empty"
    if not isinstance(here.get("description", ""), str):
        yield f"{at}.description: expected a string"
    for word in _LEAST:
        if word in here and (not isinstance(here[word], int) or here[word] < 0):
            yield f"{at}.{word}: expected a whole number"
    if "pattern" in here and not _is_pattern(here["pattern"]):
        yield f"{at}.pattern: not a regular expression"
    if "$ref" in here and not _resolves(as_text(here["$ref"]), root):
        yield f"{at}.$ref: {here['$ref']!r} leads nowhere"


def _check_strict(here: Object, at: str) -> Iterator[str]:
    if here.get("additionalProperties") is not False:
        yield f"{at}: strict needs additionalProperties to be false"
    missing = as_object(here["properties"]).keys() - set(map(str, as_list(here.get("required"))))
    if missing:
        yield f"{at}: strict needs every property to be required, also {', '.join(sorted(missing))}"


def _is_pattern(pattern: object) -> bool:
    try:
        re.compile(as_text(pattern))
    except re.error:
        return False
    return isinstance(pattern, str)


def _resolves(reference: str, root: Object) -> bool:
    if not reference.startswith("#"):
        return False
    place: object = root
    for name in reference[1:].strip("/").split("/"):
        if name:
            place = as_object(place).get(name.replace("~1", "/").replace("~0", "~"))
    return place is not None
