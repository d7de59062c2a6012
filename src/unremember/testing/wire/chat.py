"""OpenAI's chat completions: `POST /v1/chat/completions`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unremember.formats.shape import Object, as_list, as_object, as_objects, as_text
from unremember.testing.validity import check_openai
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
from unremember.testing.wire.prompts import message, tool

_FIELDS = frozenset(
    """audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens messages metadata modalities model moderation n parallel_tool_calls prediction
    presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
    response_format safety_identifier seed service_tier stop store stream stream_options
    temperature tool_choice tools top_logprobs top_p user verbosity web_search_options""".split()
)

_ENDINGS = {
    "stop": "stop", "calls": "tool_calls", "length": "length", "refused": "content_filter"
}  # fmt: skip


def _check(body: Object, headers: Mapping[str, str], terms: Terms) -> None:
    openai.require_key(headers, terms)
    openai.require_model(body, terms)
    # Local servers take settings of their own, such as top_k.
    if terms.flavour == "vendor":
        require_known(body, _FIELDS)
    _check_settings(body, terms)
    messages = require_objects(body.get("messages"), "messages")
    if not messages:
        raise Refused("messages: expected a list that is not empty", param="messages")
    for place, said in enumerate(messages):
        require_objects(said.get("tool_calls"), f"messages[{place}].tool_calls")
    for breach in check_openai(messages):
        raise Refused(f"Invalid 'messages': {breach}", param="messages")
    openai.require_choice(body, _check_tools(body))
    form = as_object(body.get("response_format"))
    openai.require_format("response_format", form, body["messages"])


def _check_settings(body: Object, terms: Terms) -> None:
    for field in ("max_tokens", "max_completion_tokens"):
        openai.require_output(body, field, require_whole_number(body, field), terms)
    if body.get("max_tokens") and body.get("max_completion_tokens"):
        raise Refused("Set max_tokens or max_completion_tokens, not both.", param="max_tokens")
    require_between(body, "temperature", 2)
    require_between(body, "top_p", 1)
    for field in ("stream", "parallel_tool_calls", "store"):
        require_flag(body, field)
    if body.get("stream_options") is not None and not body.get("stream"):
        raise Refused(
            "'stream_options' is only allowed when 'stream' is true.", param="stream_options"
        )
    if len(as_list(body.get("stop"))) > 4:
        raise Refused("stop: at most four sequences", param="stop")


def _check_tools(body: Object) -> list[str]:
    if body.get("tools") is None:
        return []
    tools = require_objects(body["tools"], "tools")
    if not tools:
        raise Refused("tools: expected a list that is not empty", param="tools")
    names: list[str] = []
    for place, spec in enumerate(tools):
        at = f"tools[{place}]"
        if spec.get("type") == "custom":
            names.append(as_text(as_object(spec.get("custom")).get("name")))
            continue
        if spec.get("type") != "function" or not as_object(spec.get("function")):
            raise Refused(f"{at}: expected a tool of type 'function'", param=at)
        names.append(openai.require_function(f"{at}.function", as_object(spec["function"])))
    return names


def _pieces(body: Object, terms: Terms) -> list[Piece]:
    tools = [tool(spec, "parameters") for spec in as_objects(body.get("tools"))]
    messages = as_objects(body.get("messages"))
    return [*tools, *(message(m, calls=len(as_list(m.get("tool_calls")))) for m in messages)]


def _cap(body: Object) -> int | None:
    return body.get("max_completion_tokens") or body.get("max_tokens")


def _too_long(tokens: int, output: int, limit: int, terms: Terms) -> Refused:
    local = openai.local_too_long(tokens, limit, terms)
    if local:
        return local
    told = (
        f"you requested {tokens + output} tokens ({tokens} in the messages, {output} in the "
        "completion). Please reduce the length of the messages or completion."
        if tokens <= limit
        else f"your messages resulted in {tokens} tokens. Please reduce the length of the messages."
    )
    return Refused(
        f"This model's maximum context length is {limit} tokens. However, {told}",
        code="context_length_exceeded",
        param="messages",
    )


def _whole(answer: Answer) -> Object:
    said: Object = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.thinking:
        said["reasoning_content"] = answer.thinking
    if answer.calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in answer.calls
        ]
    elif not answer.text:
        said["content"] = ""
    choice = {
        "index": 0, "message": said, "logprobs": None, "finish_reason": _ENDINGS[answer.ending]
    }  # fmt: skip
    usage = {"usage": _usage(answer)} if answer.usage else {}
    return {**_head(answer, "chat.completion"), "choices": [choice], **usage}


def _head(answer: Answer, kind: str) -> Object:
    head: Object = {"id": f"chatcmpl-{answer.id}", "object": kind, "created": 1_700_000_000}
    return head | {"model": answer.model}


def _usage(answer: Answer) -> Object | None:
    usage = answer.usage
    return usage and {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": answer.thinking_tokens},
    }


def _stream(answer: Answer) -> Iterator[bytes]:
    head = _head(answer, "chat.completion.chunk")
    # Without being asked for, usage is not part of a stream.
    wanted = as_object(answer.request.get("stream_options")).get("include_usage") is True
    usage: Object = {"usage": None} if wanted and answer.usage else {}
    for delta in _deltas(answer):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        yield event({**head, "choices": [choice], **usage})
    last: Object = {
        "index": 0,
        "delta": {},
        "logprobs": None,
        "finish_reason": _ENDINGS[answer.ending],
    }
    yield event({**head, "choices": [last], **usage})
    if usage:
        yield event({**head, "choices": [], "usage": _usage(answer)})
    yield b"data: [DONE]\n\n"


def _deltas(answer: Answer) -> Iterator[Object]:
    yield {"role": "assistant", "content": None if answer.calls else "", "refusal": None}
    for piece in fragments(answer.thinking):
        yield {"reasoning_content": piece}
    for piece in fragments(answer.text):
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        opened = {"name": call.name, "arguments": ""}
        first = {"index": index, "id": call.id, "type": "function", "function": opened}
        yield {"tool_calls": [first]}
        for piece in fragments(call.arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


CHAT = Wire(
    form="chat",
    automatic=True,
    check=_check,
    pieces=_pieces,
    cap=_cap,
    too_long=_too_long,
    error=openai.error,
    error_event=openai.error_event,
    whole=_whole,
    stream=_stream,
    error_kind=openai.error_kind,
)
