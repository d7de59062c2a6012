"""What OpenAI's two APIs have in common: the key, the model, tools, response formats, errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from unremember.formats.shape import Object, as_list, as_object, as_text
from unremember.testing.wire.base import Refused, Terms, event
from unremember.testing.wire.schemas import check_schema, check_tool_schema

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def require_key(headers: Mapping[str, str], terms: Terms) -> None:
    """Refuses a request without a bearer key, or with a wrong one; a local server asks for none."""
    if terms.flavour != "vendor" and not terms.key:
        return
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise Refused(
            "No API key was given. Send it in the header Authorization, after the word Bearer.", 401
        )
    if terms.key and key.strip() != terms.key:
        raise Refused("This API key is not correct.", 401, code="invalid_api_key")


def require_model(body: Object, terms: Terms) -> None:
    """Refuses a request for no model or one that is not served."""
    name = body.get("model")
    if not isinstance(name, str) or not name:
        raise Refused("A model is needed: give its name.", param="model")
    # A llama.cpp server has one model and does not look at the name.
    if terms.models and name not in terms.models and terms.flavour != "llama.cpp":
        raise Refused(
            f"The model `{name}` does not exist or you do not have access to it.",
            404,
            code="model_not_found",
            param="model",
        )


def require_output(body: Object, field: str, value: int | None, terms: Terms) -> None:
    """Refuses an output cap above what the model can write."""
    if value is not None and value > terms.max_output and terms.flavour == "vendor":
        raise Refused(
            f"{field} is too large: {value}. This model supports at most {terms.max_output} "
            f"completion tokens, whereas you provided {value}.",
            code="invalid_value",
            param=field,
        )


def require_function(at: str, spec: Object) -> str:
    """The name of a function on offer. Raises `Refused` if its name or schema is not legal."""
    name = as_text(spec.get("name"))
    if not NAME.fullmatch(name):
        raise Refused(f"{at}.name: {name!r} is no legal name of a function", param=f"{at}.name")
    if not isinstance(spec.get("description", ""), str | None):
        raise Refused(f"{at}.description: expected a string", param=f"{at}.description")
    if spec.get("parameters") is not None:
        strict = spec.get("strict") is True
        wrong = check_tool_schema(spec["parameters"], strict=strict)
        if wrong:
            raise Refused(
                f"The schema of the function '{name}' is not valid: {wrong[0]}",
                code="invalid_function_parameters",
                param=f"{at}.parameters",
            )
    return name


def require_choice(body: Object, names: list[str]) -> None:
    """Refuses a choice among tools where there are none, or of one that is not on offer."""
    for field in ("tool_choice", "parallel_tool_calls"):
        if body.get(field) is not None and not body.get("tools"):
            if field == "tool_choice" and body[field] == "none":
                continue
            raise Refused(f"'{field}' is only allowed when 'tools' are specified.", param=field)
    choice = body.get("tool_choice")
    if isinstance(choice, str) and choice not in ("none", "auto", "required"):
        raise Refused(
            f"tool_choice: {choice!r} is none of none, auto, required", param="tool_choice"
        )
    chosen = as_object(choice)
    if chosen.get("type") == "function":
        name = as_text((as_object(chosen.get("function")) or chosen).get("name"))
        if name not in names:
            raise Refused(f"tool_choice: no tool is called '{name}'", param="tool_choice")


def require_format(field: str, form: Object, written: object) -> None:
    """Refuses a response format that is not legal. `written` is what the model is to read."""
    match form.get("type", "text"):
        case "text":
            return
        case "json_object":
            if "json" not in _texts(written).lower():
                raise Refused(
                    f"'messages' must contain the word 'json' in some form, to use '{field}' of "
                    "type 'json_object'.",
                    param="messages",
                )
        case "json_schema":
            _require_json_schema(field, as_object(form.get("json_schema")) or form)
        case other:
            raise Refused(f"{field}.type: {other!r} is not known", param=f"{field}.type")


def _require_json_schema(field: str, form: Object) -> None:
    if not NAME.fullmatch(as_text(form.get("name"))):
        raise Refused(f"{field}: a json_schema needs a legal name", param=f"{field}.name")
    schema = as_object(form.get("schema"))
    if not schema:
        raise Refused(f"{field}: a json_schema needs a schema", param=f"{field}.schema")
    strict = form.get("strict") is True
    wrong = check_tool_schema(schema, strict=True) if strict else check_schema(schema)
    if wrong:
        raise Refused(
            f"Invalid schema for {field} '{form['name']}': {wrong[0]}",
            code="invalid_json_schema" if strict else None,
            param=field,
        )


def _texts(value: object) -> str:
    """All strings in a value, joined."""
    if isinstance(value, str):
        return value
    return "\n".join(map(_texts, (*as_list(value), *as_object(value).values())))


_KINDS = {401: "invalid_request_error", 403: "permission_error", 429: "rate_limit_error"}
_WORDS = {
    401: "This API key is not correct.",
    403: "You may not do this.",
    404: "There is nothing here.",
    429: "Rate limit reached. Try again a little later.",
    500: "The server had an error while it worked on your request.",
    502: "The server behind this one did not answer.",
    503: "The engine is overloaded at present. Try again later.",
    529: "Overloaded.",
}


def error_kind(status: int) -> Refused:
    """The error that goes with a status."""
    code = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status)
    return Refused(_WORDS.get(status, "The request failed."), status, code=code)


def error(refused: Refused, terms: Terms) -> Object:
    """An error in the form of OpenAI, or of the local server that speaks the same API."""
    server = "server_error" if refused.status >= 500 else "invalid_request_error"
    kind = refused.kind or _KINDS.get(refused.status, server)
    if terms.flavour == "llama.cpp":
        return {
            "error": {
                "code": refused.status, "message": refused.message, "type": kind, **refused.extra
            }
        }  # fmt: skip
    told: dict[str, Any] = {"message": refused.message, "type": kind}
    return {"error": {**told, "param": refused.param, "code": refused.code}}


def error_event(refused: Refused, terms: Terms) -> bytes:
    """An error in the middle of a stream."""
    return event(error(refused, terms))


def local_too_long(tokens: int, limit: int, terms: Terms) -> Refused | None:
    """How a local server says that a prompt is too long; None for the vendor."""
    if terms.flavour == "llama.cpp":
        return Refused(
            f"request ({tokens} tokens) exceeds the available context size ({limit} tokens), "
            "try increasing it",
            kind="exceed_context_size_error",
            extra={"n_prompt_tokens": tokens, "n_ctx": limit},
        )
    if terms.flavour == "ollama":
        return Refused("the input length exceeds the context length")
    return None
