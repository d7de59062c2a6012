"""Anthropic's Messages: `POST /v1/messages`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from unremember.formats.shape import Object, as_list, as_object, as_objects, as_text
from unremember.testing.validity import check_anthropic
from unremember.testing.wire.base import (
    Answer,
    Piece,
    Refused,
    Terms,
    Wire,
    event,
    fragments,
    require_between,
    require_flag,
    require_known,
    require_objects,
    require_whole_number,
)
from unremember.testing.wire.prompts import tool
from unremember.testing.wire.schemas import check_schema, check_tool_schema
from unremember.tokens import PER_MESSAGE

_FIELDS = frozenset(
    """cache_control container context_management diagnostics inference_geo max_tokens mcp_servers
    messages metadata model output_config output_format service_tier speed stop_sequences stream
    system temperature thinking tool_choice tools top_k top_p user_profile_id
    workspace_id""".split()
)

# The fields of each kind of block; a kind that is not listed is not looked into.
_BLOCKS = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "tool_use": frozenset(
        {"type", "id", "name", "input", "cache_control", "caller", "toolset_name"}
    ),
    "tool_result": frozenset(
        {"type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"}
    ),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "image": frozenset({"type", "source", "cache_control", "transformations"}),
    "document": frozenset({"type", "source", "cache_control", "citations", "context", "title"}),
}

_ENDINGS = {
    "stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "refused": "refusal"
}  # fmt: skip

MOST_MARKS = 4
LEAST_THINKING = 1_024


def _check(body: Object, headers: Mapping[str, str], terms: Terms) -> None:
    _check_headers(headers, terms)
    name = body.get("model")
    if not isinstance(name, str) or not name:
        raise Refused("model: Field required")
    if terms.models and name not in terms.models:
        raise Refused(f"model: {name}", 404)
    require_known(body, _FIELDS)
    if require_whole_number(body, "max_tokens") is None:
        raise Refused("max_tokens: Field required")
    if body["max_tokens"] > terms.max_output:
        raise Refused(
            f"max_tokens: {body['max_tokens']} > {terms.max_output}, which is the maximum allowed "
            f"number of output tokens for {name}"
        )
    require_between(body, "temperature", 1)
    require_between(body, "top_p", 1)
    require_flag(body, "stream")
    _check_messages(body, terms)
    _check_choice(body, _check_tools(body))
    _check_thinking(body)
    _check_format(body)
    _check_marks(body)


def _check_headers(headers: Mapping[str, str], terms: Terms) -> None:
    key = headers.get("x-api-key", "") or headers.get("authorization", "").removeprefix("Bearer ")
    if not key:
        raise Refused("x-api-key header is required", 401)
    if terms.key and key != terms.key:
        raise Refused("invalid x-api-key", 401)
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", headers.get("anthropic-version", "")):
        raise Refused("anthropic-version: header is required")


def _check_messages(body: Object, terms: Terms) -> None:
    messages = require_objects(body.get("messages"), "messages")
    if not messages:
        raise Refused("messages: at least one message is required")
    for place, turn in enumerate(messages):
        require_known(turn, frozenset({"role", "content"}), f"messages.{place}")
        at, content = f"messages.{place}.content", turn.get("content")
        blocks = [] if isinstance(content, str) else require_objects(content, at)
        for number, block in enumerate(blocks):
            _check_block(f"{at}.{number}", block, terms)
    if not isinstance(body.get("system"), str):
        require_objects(body.get("system"), "system")
    for breach in check_anthropic(messages, body.get("system")):
        raise Refused(f"messages: {breach}")
    used = {as_text(block.get("type")) for turn in messages for block in _blocks(turn)}
    if used & {"tool_use", "tool_result"} and not body.get("tools"):
        raise Refused("messages with tool_use or tool_result blocks need tools to be defined")


def _blocks(turn: Object) -> list[Object]:
    return as_objects(turn.get("content"))


def _check_block(at: str, block: Object, terms: Terms) -> None:
    kind = as_text(block.get("type"))
    if not kind:
        raise Refused(f"{at}.type: Field required")
    require_known(block, _BLOCKS.get(kind, frozenset(block)), at)
    sealed = terms.seal.open(block.get("signature" if kind == "thinking" else "data"))
    match kind:
        case "thinking" if sealed != block.get("thinking"):
            raise Refused(f"{at}: Invalid `signature` in `thinking` block")
        case "redacted_thinking" if sealed is None:
            raise Refused(f"{at}: Invalid `data` in `redacted_thinking` block")
        case "image" | "document" if not as_object(block.get("source")).get("type"):
            raise Refused(f"{at}.source: Field required")
        case "tool_result" if not isinstance(block.get("content"), str):
            require_objects(block.get("content"), f"{at}.content")
        case _:
            pass


def _check_tools(body: Object) -> list[str]:
    names: list[str] = []
    for place, spec in enumerate(require_objects(body.get("tools"), "tools")):
        at, name = f"tools.{place}", as_text(spec.get("name"))
        if spec.get("type") not in (None, "custom"):
            names.append(name)
            continue
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", name):
            raise Refused(f"{at}.name: {name!r} is no legal name of a tool")
        if not isinstance(spec.get("description", ""), str):
            raise Refused(f"{at}.description: expected a string")
        if "input_schema" not in spec:
            raise Refused(f"{at}.input_schema: Field required")
        for wrong in check_tool_schema(spec["input_schema"], strict=spec.get("strict") is True):
            raise Refused(f"{at}.input_schema: {wrong}")
        if name in names:
            raise Refused("tools: Tool names must be unique")
        names.append(name)
    return names


def _check_choice(body: Object, names: list[str]) -> None:
    if body.get("tool_choice") is None:
        return
    choice = as_object(body["tool_choice"])
    if choice.get("type") not in ("auto", "any", "tool", "none"):
        raise Refused("tool_choice.type: expected auto, any, tool or none")
    if not names:
        raise Refused("tool_choice: may only be given together with tools")
    if choice["type"] == "tool" and choice.get("name") not in names:
        raise Refused(f"tool_choice: no tool is called '{choice.get('name')}'")


def _check_thinking(body: Object) -> None:
    thinking = as_object(body.get("thinking"))
    if not thinking or thinking.get("type") == "disabled":
        return
    if thinking.get("type") == "enabled":
        budget = require_whole_number(thinking, "budget_tokens", LEAST_THINKING)
        if budget is None or budget >= body["max_tokens"]:
            raise Refused("max_tokens must be greater than thinking.budget_tokens")
        _check_open_loop(as_objects(body["messages"]))
    elif thinking.get("type") != "adaptive":
        raise Refused("thinking.type: expected enabled, adaptive or disabled")
    if body.get("temperature") not in (None, 1, 1.0):
        raise Refused("temperature may only be set to 1 when thinking is enabled")
    if as_object(body.get("tool_choice")).get("type") in ("any", "tool"):
        raise Refused("Thinking may not be enabled when tool_choice forces tool use")


def _check_open_loop(messages: list[Object]) -> None:
    """While results are being returned, the turn that called begins with its thinking."""
    if len(messages) < 2 or not any(b.get("type") == "tool_result" for b in _blocks(messages[-1])):
        return
    place = len(messages) - 2
    first = as_text(_blocks(messages[place])[0].get("type"))
    if first not in ("thinking", "redacted_thinking"):
        raise Refused(
            f"messages.{place}.content.0.type: Expected `thinking` or `redacted_thinking`, but "
            f"found `{first}`: with thinking enabled, the turn that calls begins with it"
        )


def _check_format(body: Object) -> None:
    form = as_object(as_object(body.get("output_config")).get("format"))
    form = form or as_object(body.get("output_format"))
    if not form:
        return
    if form.get("type") != "json_schema" or not isinstance(form.get("schema"), dict):
        raise Refused("output_config.format: expected type json_schema and a schema")
    for wrong in check_schema(form["schema"]):
        raise Refused(f"output_config.format.schema: {wrong}")


def _check_marks(body: Object) -> None:
    marks = _count_marks({k: body.get(k) for k in ("tools", "system", "messages")})
    if marks + ("cache_control" in body) > MOST_MARKS:
        raise Refused(
            f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}."
        )


def _count_marks(value: object) -> int:
    inner = as_object(value)
    within = sum(map(_count_marks, (*as_list(value), *inner.values())))
    return ("cache_control" in inner) + within


def _pieces(body: Object, terms: Terms) -> list[Piece]:
    tools = [tool(spec, "input_schema") for spec in as_objects(body.get("tools"))]
    system = [Piece(block, PER_MESSAGE, "cache_control" in block) for block in _system(body)]
    pieces = [*tools, *system]
    for turn in as_objects(body.get("messages")):
        content = turn.get("content")
        blocks = as_objects(content) or [{"type": "text", "text": content}]
        for number, block in enumerate(blocks):
            cost = (0 if number else PER_MESSAGE) + 3 * (block.get("type") == "tool_use")
            value = [{"role": turn.get("role")}, block]
            pieces.append(Piece(value, cost, "cache_control" in block))
    if "cache_control" in body and pieces:
        pieces[-1] = replace(pieces[-1], marked=True)
    return pieces


def _system(body: Object) -> list[Object]:
    system = body.get("system")
    if isinstance(system, str) and system:
        return [{"type": "text", "text": system}]
    return as_objects(system)


def _cap(body: Object) -> int | None:
    return body.get("max_tokens")


def _too_long(tokens: int, output: int, limit: int, terms: Terms) -> Refused:
    if tokens > limit:
        return Refused(f"prompt is too long: {tokens} tokens > {limit} maximum")
    return Refused(
        f"input length and `max_tokens` exceed context limit: {tokens} + {output} > {limit}, "
        "decrease input length or `max_tokens` and try again"
    )


_KINDS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
    529: "overloaded_error",
}  # fmt: skip
_WORDS = {
    429: "This request would exceed your rate limit. Try again later.",
    500: "Internal server error",
    529: "Overloaded",
}


def _error_kind(status: int) -> Refused:
    return Refused(_WORDS.get(status, "The request failed."), status)


def _error(refused: Refused, terms: Terms) -> Object:
    default = "api_error" if refused.status >= 500 else "invalid_request_error"
    kind = refused.kind or _KINDS.get(refused.status, default)
    return {"type": "error", "error": {"type": kind, "message": refused.message}}


def _error_event(refused: Refused, terms: Terms) -> bytes:
    return event(_error(refused, terms), "error")


def _whole(answer: Answer) -> Object:
    thinking = {"thinking": answer.thinking, "signature": answer.terms.seal.close(answer.thinking)}
    content: list[Object] = [{"type": "thinking", **thinking}] if answer.thinking else []
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for call in answer.calls:
        written = {"id": call.id, "name": call.name, "input": call.parsed()}
        content.append({"type": "tool_use", **written})
    return {
        **_head(answer),
        "content": content,
        "stop_reason": _ENDINGS[answer.ending],
        "usage": _usage(answer),
    }


def _head(answer: Answer) -> Object:
    head: Object = {"id": f"msg_{answer.id}", "type": "message", "role": "assistant"}
    return head | {"model": answer.model, "stop_sequence": None}


def _usage(answer: Answer) -> Object:
    """Here, input tokens are those that were neither read from the cache nor written to it.

    Where the numbers are missing they are 0, as from proxies that do not have them.
    """
    usage = answer.usage
    if usage is None:
        return {"input_tokens": 0, "output_tokens": 0}
    return {
        "input_tokens": usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    }


def _stream(answer: Answer) -> Iterator[bytes]:
    start: Object = {**_head(answer), "content": [], "stop_reason": None}
    start["usage"] = {**_usage(answer), "output_tokens": int(answer.usage is not None)}
    yield event({"type": "message_start", "message": start}, "message_start")
    yield event({"type": "ping"}, "ping")
    blocks = [*_streamed_words(answer), *_streamed_calls(answer)]
    for index, (opened, deltas) in enumerate(blocks):
        at = {"index": index}
        begun = {"type": "content_block_start", **at, "content_block": opened}
        yield event(begun, "content_block_start")
        for delta in deltas:
            piece = {"type": "content_block_delta", **at, "delta": delta}
            yield event(piece, "content_block_delta")
        yield event({"type": "content_block_stop", **at}, "content_block_stop")
    ended = {"stop_reason": _ENDINGS[answer.ending], "stop_sequence": None}
    output = {"output_tokens": _usage(answer)["output_tokens"]}
    yield event({"type": "message_delta", "delta": ended, "usage": output}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def _streamed_words(answer: Answer) -> Iterator[tuple[Object, list[Object]]]:
    if answer.thinking:
        sign = answer.terms.seal.close(answer.thinking)
        pieces = fragments(answer.thinking)
        deltas: list[Object] = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
        deltas.append({"type": "signature_delta", "signature": sign})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if answer.text:
        pieces = fragments(answer.text)
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in pieces]


def _streamed_calls(answer: Answer) -> Iterator[tuple[Object, list[Object]]]:
    for call in answer.calls:
        opened: Object = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        pieces = ["", *fragments(call.arguments)]
        yield opened, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


MESSAGES = Wire(
    form="messages",
    automatic=False,
    check=_check,
    pieces=_pieces,
    cap=_cap,
    too_long=_too_long,
    error=_error,
    error_event=_error_event,
    whole=_whole,
    stream=_stream,
    error_kind=_error_kind,
)
