"""OpenAI's Responses: `POST /v1/responses`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from unremember.formats.shape import Object, as_list, as_object, as_objects, as_text
from unremember.testing.validity import check_responses
from unremember.testing.wire import openai
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
from unremember.testing.wire.prompts import CALL, tool
from unremember.tokens import PER_MESSAGE

_FIELDS = frozenset(
    """access_programs background background_options context_management conversation include input
    instructions max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls
    previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention
    reasoning safety_identifier service_tier store stream stream_options temperature text
    tool_choice tools top_logprobs top_p truncation user""".split()
)

LEAST_OUTPUT = 16
SEALED = "reasoning.encrypted_content"


def _check(body: Object, headers: Mapping[str, str], terms: Terms) -> None:
    openai.require_key(headers, terms)
    openai.require_model(body, terms)
    require_known(body, _FIELDS)
    output = require_whole_number(body, "max_output_tokens", LEAST_OUTPUT)
    openai.require_output(body, "max_output_tokens", output, terms)
    require_between(body, "temperature", 2)
    require_between(body, "top_p", 1)
    for field in ("stream", "store", "parallel_tool_calls"):
        require_flag(body, field)
    if not isinstance(body.get("instructions"), str | None):
        raise Refused("instructions: expected a string", param="instructions")
    items = _items(body, terms)
    if not items:
        raise Refused("input: expected a text or a list that is not empty", param="input")
    for place, item in enumerate(items):
        _check_item(f"input[{place}]", item, terms)
    for breach in check_responses(items):
        raise Refused(f"Invalid 'input': {breach}", param="input")
    _check_reasons(items, terms)
    openai.require_choice(body, _check_tools(body))
    form = as_object(as_object(body.get("text")).get("format"))
    openai.require_format("text.format", form, [items, body.get("instructions")])


def _items(body: Object, terms: Terms) -> list[Object]:
    """The whole input: what earlier answers left behind, then the new items."""
    before = body.get("previous_response_id")
    if before is not None and as_text(before) not in terms.store.conversations:
        raise Refused(
            f"Previous response with id '{before}' not found.",
            code="previous_response_not_found",
            param="previous_response_id",
        )
    earlier = terms.store.conversations[before] if before else []
    given = body.get("input")
    told = [{"role": "user", "content": given}] if isinstance(given, str) else given
    new = require_objects(told, "input")
    return [*earlier, *(_resolve(item, terms) for item in new)]


def _resolve(item: Object, terms: Terms) -> Object:
    if item.get("type") != "item_reference":
        return item
    id = as_text(item.get("id"))
    if id not in terms.store.items:
        raise _not_found(id)
    return terms.store.items[id]


def _not_found(id: str) -> Refused:
    return Refused(
        f"Item with id '{id}' not found. Items are not kept when `store` is false; leave the item "
        "out of the input, or send its encrypted content.",
        404,
        param="input",
    )


def _check_item(at: str, item: Object, terms: Terms) -> None:
    kind = as_text(item.get("type")) or "message"
    id = as_text(item.get("id"))
    prefix = {"message": "msg", "reasoning": "rs", "function_call": "fc"}.get(kind, "")
    if id and not id.startswith(prefix):
        raise Refused(f"{at}.id: '{id}' does not begin with '{prefix}'", param=f"{at}.id")
    if kind == "message":
        _check_parts(at, item)
    if kind != "reasoning":
        return
    if not isinstance(item.get("summary"), list):
        raise Refused(f"{at}.summary: expected a list", param=f"{at}.summary")
    if item.get("encrypted_content") is not None:
        if terms.seal.open(item["encrypted_content"]) is None:
            raise Refused(
                f"The encrypted content of item '{id}' could not be verified.",
                code="invalid_encrypted_content",
                param=at,
            )
    elif id not in terms.store.items:
        raise _not_found(id)


def _check_parts(at: str, item: Object) -> None:
    """What an assistant said is output, what others said is input."""
    kinds = (
        {"output_text", "refusal"}
        if item.get("role") == "assistant"
        else {"input_text", "input_image", "input_file", "input_audio"}
    )
    for place, part in enumerate(as_objects(item.get("content"))):
        if as_text(part.get("type")) not in kinds:
            raise Refused(
                f"{at}.content[{place}]: {part.get('type')!r} is none of "
                f"{', '.join(sorted(kinds))}, which a message of the {item.get('role')} has",
                code="invalid_value",
                param=f"{at}.content[{place}]",
            )


def _check_reasons(items: list[Object], terms: Terms) -> None:
    """A call or message that was reasoned about comes back with its reasoning."""
    there: set[str] = set()
    for item in items:
        id = as_text(item.get("id"))
        reason = terms.store.reasons.get(id, "")
        if reason and reason not in there:
            raise Refused(
                f"Item '{id}' of type '{item.get('type')}' was provided without its required "
                f"'reasoning' item: '{reason}'.",
                param="input",
            )
        there.add(id)


def _check_tools(body: Object) -> list[str]:
    names: list[str] = []
    for place, spec in enumerate(require_objects(body.get("tools"), "tools")):
        at = f"tools[{place}]"
        if spec.get("type") != "function":
            names.append(as_text(spec.get("name")) or as_text(spec.get("type")))
            continue
        if "function" in spec:
            raise Refused(f"{at}.name: a function stands in the tool itself here", param=at)
        names.append(openai.require_function(at, spec))
    return names


def _pieces(body: Object, terms: Terms) -> list[Piece]:
    tools = [tool(spec, "parameters") for spec in as_objects(body.get("tools"))]
    system = body.get("instructions")
    items: list[Object] = [{"role": "system", "content": system}] if system else []
    return [*tools, *(Piece(i, _cost(i)) for i in [*items, *_items(body, terms)])]


def _cost(item: Object) -> int:
    match item.get("type"):
        case "function_call" | "custom_tool_call":
            return CALL
        case "reasoning":
            return 0
        case _:
            return PER_MESSAGE


def _cap(body: Object) -> int | None:
    return body.get("max_output_tokens")


def _too_long(tokens: int, output: int, limit: int, terms: Terms) -> Refused:
    return openai.local_too_long(tokens, limit, terms) or Refused(
        "Your input exceeds the context window of this model.",  # no numbers: it gives none
        code="context_length_exceeded",
        param="input",
    )


def _output(answer: Answer) -> list[Object]:
    """The items of an answer."""
    items: list[Object] = []
    if answer.thinking:
        summary = [{"type": "summary_text", "text": answer.thinking}]
        item: Object = {"type": "reasoning", "id": f"rs_{answer.id}", "summary": summary}
        if SEALED in as_list(answer.request.get("include")):
            item["encrypted_content"] = answer.terms.seal.close(answer.thinking)
        items.append(item)
    if answer.text:
        part: Object = {
            "type": "output_text",
            "text": answer.text,
            "annotations": [],
            "logprobs": [],
        }
        head = {"type": "message", "id": f"msg_{answer.id}", "role": "assistant"}
        items.append({**head, "status": "completed", "content": [part]})
    for number, call in enumerate(answer.calls, 1):
        head = {"type": "function_call", "id": f"fc_{answer.id}_{number}", "call_id": call.id}
        told = {"name": call.name, "arguments": call.arguments, "status": "completed"}
        items.append({**head, **told})
    return items


def _remember(answer: Answer, output: list[Object]) -> None:
    store = answer.terms.store
    if output and output[0]["type"] == "reasoning":
        # Only what follows at once belongs to the reasoning.
        store.reasons.update({item["id"]: output[0]["id"] for item in output[1:2]})
    if answer.request.get("store") is not False:
        store.items.update({item["id"]: item for item in output})
        before = _items(answer.request, answer.terms)
        store.conversations[f"resp_{answer.id}"] = [*before, *output]


def _response(answer: Answer, output: list[Object], *, ended: bool) -> Object:
    request = answer.request
    cut = {"length": "max_output_tokens", "refused": "content_filter"}.get(answer.ending)
    reason = {"reason": cut} if ended and cut else None
    status = ("incomplete" if cut else "completed") if ended else "in_progress"
    response: Object = {"id": f"resp_{answer.id}", "object": "response", "model": answer.model}
    return response | {
        "created_at": 1_700_000_000,
        "status": status,
        "error": None,
        "incomplete_details": reason,
        "instructions": request.get("instructions"),
        "max_output_tokens": request.get("max_output_tokens"),
        "metadata": request.get("metadata") or {},
        "output": output,
        "parallel_tool_calls": request.get("parallel_tool_calls") is not False,
        "previous_response_id": request.get("previous_response_id"),
        "store": request.get("store") is not False,
        "temperature": request.get("temperature"),
        "tool_choice": request.get("tool_choice") or "auto",
        "tools": request.get("tools") or [],
        "top_p": request.get("top_p"),
        "usage": _usage(answer) if ended else None,
    }


def _usage(answer: Answer) -> Object | None:
    usage = answer.usage
    return usage and {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": answer.thinking_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def _whole(answer: Answer) -> Object:
    output = _output(answer)
    _remember(answer, output)
    return _response(answer, output, ended=True)


def _stream(answer: Answer) -> Iterator[bytes]:
    numbers = count()
    for told in _events(answer):
        yield event({**told, "sequence_number": next(numbers)}, told["type"])


def _events(answer: Answer) -> Iterator[Object]:
    output = _output(answer)
    begun = _response(answer, [], ended=False)
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(output):
        at = {"output_index": index, "item_id": item["id"]}
        opened = _opened(item)
        yield {"type": "response.output_item.added", "output_index": index, "item": opened}
        yield from _item_events(item, at)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    _remember(answer, output)
    done = _response(answer, output, ended=True)
    yield {"type": f"response.{done['status']}", "response": done}


def _opened(item: Object) -> Object:
    """An item as it is announced, before its contents come."""
    match item["type"]:
        case "message":
            return {**item, "content": [], "status": "in_progress"}
        case "function_call":
            return {**item, "arguments": "", "status": "in_progress"}
        case _:
            return {**item, "summary": []}


def _item_events(item: Object, at: Object) -> Iterator[Object]:
    match item["type"]:
        case "function_call":
            kind, arguments = "response.function_call_arguments", item["arguments"]
            for piece in fragments(arguments):
                yield {"type": f"{kind}.delta", **at, "delta": piece}
            yield {"type": f"{kind}.done", **at, "name": item["name"], "arguments": arguments}
        case "message":
            [part] = item["content"]
            here = {**at, "content_index": 0}
            yield from _text_events(
                part, here, "response.content_part", "response.output_text", {"logprobs": []}
            )
        case _:
            [part] = item["summary"]
            here = {**at, "summary_index": 0}
            kind = "response.reasoning_summary"
            yield from _text_events(part, here, f"{kind}_part", f"{kind}_text", {})


def _text_events(part: Object, at: Object, whole: str, text: str, more: Object) -> Iterator[Object]:
    yield {"type": f"{whole}.added", **at, "part": {**part, "text": ""}}
    for piece in fragments(part["text"]):
        yield {"type": f"{text}.delta", **at, "delta": piece, **more}
    yield {"type": f"{text}.done", **at, "text": part["text"], **more}
    yield {"type": f"{whole}.done", **at, "part": part}


def _error_event(refused: Refused, terms: Terms) -> bytes:
    told = {"code": refused.code or "server_error", "message": refused.message, "param": None}
    return event({"type": "error", **told, "sequence_number": 0}, "error")


RESPONSES = Wire(
    form="responses",
    automatic=True,
    check=_check,
    pieces=_pieces,
    cap=_cap,
    too_long=_too_long,
    error=openai.error,
    error_event=_error_event,
    whole=_whole,
    stream=_stream,
    error_kind=openai.error_kind,
)
