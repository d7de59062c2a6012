"""The server plays its script: answers whole and in pieces, failures, and honest numbers."""

from __future__ import annotations

import http.client
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any
from urllib.error import URLError
from urllib.request import Request

import pytest
from asking import HEADERS, LEAST, PATHS, Object, post, send

from unremember.errors import InputError
from unremember.messages import ToolCall
from unremember.models.base import Usage
from unremember.testing import (
    Asked,
    Cut,
    EmptyBody,
    Fail,
    Say,
    Slow,
    StrictServer,
    TooLong,
)

FORMS = ("chat", "responses", "messages")
ARGUMENTS = {"path": "Übung/世界.py", "text": 'a\n\t"b" \\ 🎉'}
FULL = Say("Schöne Grüße, 世界 🎉", calls=[("write", ARGUMENTS)], thinking="Wie wäre es?")


def piece_of_chat(event: Any) -> tuple[str, str, str]:
    delta: Any = event["choices"][0]["delta"] if event["choices"] else {}
    [call] = delta.get("tool_calls") or [{"function": {"arguments": ""}}]
    arguments = call["function"]["arguments"]
    return delta.get("content") or "", delta.get("reasoning_content", ""), arguments


def piece_of_messages(event: Any) -> tuple[str, str, str]:
    delta: Any = event.get("delta", {})
    return delta.get("text", ""), delta.get("thinking", ""), delta.get("partial_json", "")


def piece_of_responses(event: Any) -> tuple[str, str, str]:
    kinds = ("output_text", "reasoning_summary_text", "function_call_arguments")
    of_kind = [event["delta"] if event["type"] == f"response.{k}.delta" else "" for k in kinds]
    return of_kind[0], of_kind[1], of_kind[2]


PIECES = {
    "chat": piece_of_chat, "messages": piece_of_messages, "responses": piece_of_responses
}  # fmt: skip


def streamed(form: str, events: list[Any]) -> tuple[str, str, str]:
    """Text, thinking and arguments, put together from the pieces of a stream."""
    pieces = [PIECES[form](event) for event in events if event != "[DONE]"]
    text, thinking, arguments = map("".join, zip(*pieces, strict=True))
    return text, thinking, arguments


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_says_the_same_in_small_pieces(form: str):
    """Put together, the pieces are what was scripted; arguments are cut within their escapes."""
    with StrictServer([FULL]) as server:
        got = post(server, form, stream=True)
    text, thinking, arguments = streamed(form, got.events)
    assert (text, thinking) == (FULL.text, FULL.thinking)
    assert json.loads(arguments) == ARGUMENTS
    assert len(got.events) > 15


@pytest.mark.parametrize("form", FORMS)
def test_a_stream_is_torn_inside_of_characters(form: str):
    """The pieces on the wire end within characters of several bytes, and within escapes."""
    data = json.dumps(LEAST[form] | {"stream": True})
    with StrictServer([FULL]) as server, socket.create_connection(("127.0.0.1", port(server))) as s:
        head = "".join(f"{k}: {v}\r\n" for k, v in HEADERS[form].items())
        s.sendall(
            f"POST {PATHS[form]} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{head}"
            f"content-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n{data}".encode()
        )
        raw = b"".join(iter(lambda: s.recv(65_536), b""))
    pieces = list(chunks(raw.partition(b"\r\n\r\n")[2]))
    assert any(not is_text(piece) for piece in pieces)
    assert any(piece.endswith(b"\\") for piece in pieces)


def port(server: StrictServer) -> int:
    return int(server.url.rpartition(":")[2])


def chunks(body: bytes) -> Any:
    while body:
        size, _, body = body.partition(b"\r\n")
        yield body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]


def is_text(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


# Done, calls, the output cap, refused.
ENDINGS = {
    "chat": ("stop", "tool_calls", "length", "content_filter"),
    "messages": ("end_turn", "tool_use", "max_tokens", "refusal"),
    "responses": ("completed", "completed", "incomplete", "incomplete"),
}


def ending(form: str, body: Any) -> str:
    match form:
        case "chat":
            return body["choices"][0]["finish_reason"]
        case "messages":
            return body["stop_reason"]
        case _:
            return body["status"]


@pytest.mark.parametrize("form", FORMS)
def test_answers_end_for_the_vendors_reasons(form: str):
    """Done, calls, the output cap, a refusal: each form has its word, and the cap is kept."""
    field = "max_output_tokens" if form == "responses" else "max_tokens"
    turns = [
        Say("Yes."),
        Say(calls=[("read", {})]),
        Say("word " * 100),
        Say("No.", ending="refused"),
    ]
    with StrictServer(turns) as server:
        bodies = [post(server, form, **{field: 20}).json for _ in turns]
    assert tuple(ending(form, body) for body in bodies) == ENDINGS[form]
    if form == "responses":
        reasons = [body["incomplete_details"] for body in bodies[2:]]
        assert reasons == [{"reason": "max_output_tokens"}, {"reason": "content_filter"}]


@pytest.mark.parametrize("form", FORMS)
def test_the_cap_can_cut_a_call(form: str):
    """A call that exceeds the cap is cut in the middle of its arguments, as the vendors do."""
    field = "max_output_tokens" if form == "responses" else "max_tokens"
    with StrictServer([Say("ok", calls=[("write", {"text": "word " * 100})])]) as server:
        got = post(server, form, stream=True, **{field: 20})
    _, _, arguments = streamed(form, got.events)
    assert arguments.startswith('{"text": "word word')
    with pytest.raises(ValueError, match="Unterminated"):
        json.loads(arguments)


def test_calls_can_be_given_in_every_way():
    """With their own id, without one, and with arguments that are no JSON."""
    calls = [ToolCall("mine", "a", "{}"), ("b", {"x": 1}), ("c", '{"x": ')]
    with StrictServer([Say(calls=calls)]) as server:
        [choice] = post(server, "chat").json["choices"]
    ids = [call["id"] for call in choice["message"]["tool_calls"]]
    assert ids[0] == "mine"
    assert len(set(ids)) == 3
    arguments = [call["function"]["arguments"] for call in choice["message"]["tool_calls"]]
    assert arguments == ["{}", '{"x": 1}', '{"x": ']


# Numbers


def numbers(form: str, body: Any) -> tuple[int, int, int, int]:
    """Input (with what was cached), read from the cache, written to it, output."""
    match form, body["usage"]:
        case "chat", usage:
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            return usage["prompt_tokens"], cached, 0, usage["completion_tokens"]
        case "responses", usage:
            cached = usage["input_tokens_details"]["cached_tokens"]
            return usage["input_tokens"], cached, 0, usage["output_tokens"]
        case _, usage:
            read, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
            return usage["input_tokens"] + read + written, read, written, usage["output_tokens"]


def talk(form: str, *texts: str, mark: int | None = None) -> Object:
    """A conversation of these texts; `mark` puts a cache mark on that one."""
    messages: list[Object] = []
    for place, text in enumerate(texts):
        content: object = text
        if place == mark:
            content = [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]
        messages.append({"role": "assistant" if place % 2 else "user", "content": content})
    return LEAST[form] | {"input" if form == "responses" else "messages": messages}


LONG = "word " * 1_500


@pytest.mark.parametrize("form", ["chat", "responses"])
def test_cached_tokens_are_those_of_the_same_beginning(form: str):
    """What stood at the beginning of an answered request is cached, message by message."""
    with StrictServer(repeat(Say("Yes."))) as server:
        first = numbers(form, post(server, form, talk(form, LONG)).json)
        longer = numbers(form, post(server, form, talk(form, LONG, "Yes.", "And?")).json)
        changed = numbers(form, post(server, form, talk(form, LONG + "!", "Yes.", "And?")).json)
        other = numbers(form, post(server, form, talk(form, LONG) | {"model": "other"}).json)
        short = [numbers(form, post(server, form, talk(form, "hi")).json) for _ in range(2)]
    assert first[1] == changed[1] == other[1] == 0
    assert longer[1] == first[0]
    # The vendors do not cache what is short.
    assert [cached for _, cached, *_ in short] == [0, 0]
    assert [asked.cached_tokens for asked in server.requests[:2]] == [0, first[0]]


def test_other_tools_break_the_cache():
    """Tools stand before the messages."""
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
    with StrictServer(repeat(Say("Yes."))) as server:
        for tools in ([tool], [tool], [tool, tool]):
            post(server, "chat", talk("chat", LONG) | {"tools": tools})
    assert [bool(asked.cached_tokens) for asked in server.requests] == [False, True, False]


def test_anthropic_caches_up_to_its_marks():
    """Written is what a mark stands behind; read what an earlier mark wrote, if a mark asks."""
    with StrictServer(repeat(Say("Yes."))) as server:
        bodies = [
            talk("messages", LONG, "Yes.", "And?"),
            talk("messages", LONG, "Yes.", "And?", mark=0),
            talk("messages", LONG, "Yes.", "And?", "Yes.", "More?", mark=4),
            talk("messages", LONG, "Yes.", "And?"),
        ]
        seen = [numbers("messages", post(server, "messages", body).json) for body in bodies]
    (plain, _, _, _), (_, _, wrote, _), (_, read, _, _), _ = seen
    assert [(cached, written) for _, cached, written, _ in seen[:1]] == [(0, 0)]
    assert seen[1][1] == 0
    assert 1_500 < wrote < plain
    assert read == wrote
    assert 0 < seen[2][2] < 30
    assert seen[3][1:3] == (0, 0)


@pytest.mark.parametrize("form", FORMS)
def test_requests_that_fail_cache_nothing(form: str):
    """A prompt is cached by being answered."""
    with StrictServer([Fail(500), Say("Yes.")], least_cached=1) as server:
        for _ in range(2):
            post(server, form, talk(form, LONG))
    assert server.requests[1].cached_tokens == 0


@pytest.mark.parametrize("form", FORMS)
def test_usage_can_be_given_or_left_out(form: str):
    """A script can say other numbers, or none at all."""
    given = Usage(900, 300, 0, 7)
    with StrictServer(
        [Say("Yes.", usage=given), Say("Yes.", usage=Usage(reported=False))]
    ) as server:
        assert numbers(form, post(server, form).json) == (900, 300, 0, 7)
        missing = post(server, form).json.get("usage")
    # Who has no numbers says 0 where the form demands some.
    assert missing in (None, {"input_tokens": 0, "output_tokens": 0})


@pytest.mark.parametrize("asked_for", [True, False])
def test_a_chat_stream_has_usage_only_if_asked(asked_for: bool):
    """Without `include_usage` a stream ends without numbers."""
    options = {"stream_options": {"include_usage": True}} if asked_for else {}
    with StrictServer([Say("Yes.")]) as server:
        events = post(server, "chat", stream=True, **options).events
    assert events[-1] == "[DONE]"
    assert any(event.get("usage") for event in events[:-1]) == asked_for


def test_reasoning_is_part_of_the_output():
    """Thinking counts as output, and the parts are told apart."""
    with StrictServer([FULL] * 2) as server:
        usage = post(server, "chat").json["usage"]
        told = usage["completion_tokens_details"]["reasoning_tokens"]
        assert 0 < told < usage["completion_tokens"]
        usage = post(server, "responses").json["usage"]
        assert usage["output_tokens_details"]["reasoning_tokens"] == told


def test_pictures_are_counted_by_their_size():
    """A picture costs what its size class costs, in every form, and not its base64."""
    data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" + "A" * 40_000
    url = f"data:image/png;base64,{data}"
    parts = {
        "chat": {"type": "image_url", "image_url": {"url": url}},
        "responses": {"type": "input_image", "image_url": url},
        "messages": {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": data},
        },
    }
    with StrictServer(repeat(Say("Yes."))) as server:
        for form, part in parts.items():
            body = talk(form, "x")
            body["input" if form == "responses" else "messages"][0]["content"] = [part]
            assert post(server, form, body).status == 200
    assert {asked.input_tokens for asked in server.requests} == {4 + 85}


def test_prompts_can_be_counted_alone():
    """Anthropic's counting endpoint gives the same number as the answer, and plays no turn."""
    body = talk("messages", LONG)
    with StrictServer([Say("Yes.")]) as server:
        named = {"content-type": "application/json", **HEADERS["messages"]}
        url = f"{server.url}/v1/messages/count_tokens"
        counted = send(Request(url, json.dumps(body).encode(), named, method="POST")).json
        answered = post(server, "messages", body).json
    assert counted == {"input_tokens": answered["usage"]["input_tokens"]}


# Failures


KINDS = {
    ("chat", 429): "rate_limit_error", ("chat", 500): "server_error", ("chat", 503): "server_error",
    ("messages", 429): "rate_limit_error", ("messages", 500): "api_error",
    ("messages", 529): "overloaded_error", ("responses", 500): "server_error",
}  # fmt: skip


@pytest.mark.parametrize(("form", "status"), KINDS)
def test_failures_have_the_vendors_form(form: str, status: int):
    """An error has its status, its kind, and the seconds to wait; then the script goes on."""
    with StrictServer([Fail(status, retry_after=2), Say("Yes.")]) as server:
        got = post(server, form)
        assert (got.status, got.headers["retry-after"]) == (status, "2")
        assert got.json["error"]["type"] == KINDS[form, status]
        assert post(server, form).status == 200
    assert server.refusals == []


def test_failures_can_have_any_body():
    """A page of a proxy, or JSON of one's own."""
    with StrictServer([Fail(502, "<h1>Bad gateway</h1>"), Fail(418, {"tea": True})]) as server:
        assert post(server, "chat").raw == b"<h1>Bad gateway</h1>"
        assert post(server, "chat").json == {"tea": True}


@pytest.mark.parametrize("form", FORMS)
def test_an_error_can_come_inside_a_stream(form: str):
    """Status 200, first words, then an error event and the end."""
    with StrictServer([Fail(529, midway=True)]) as server:
        got = post(server, form, stream=True)
    assert got.status == 200
    assert "error" in json.dumps(got.events[-1])
    assert len(got.events) == 4


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("chat", "maximum context length is 2048 tokens"),
        ("responses", "exceeds the context window"),
        ("messages", "prompt is too long: 2049 tokens > 2048 maximum"),
    ],
)
def test_a_script_can_say_that_a_prompt_is_too_long(form: str, words: str):
    """Whatever its length, it is refused as longer than the limit."""
    with StrictServer([TooLong(2_048)]) as server:
        got = post(server, form)
    assert (got.status, words in got.message) == (400, True)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_connections_break(form: str, stream: bool):
    """After so many bytes of the body, or before any answer at all."""
    with StrictServer([Cut(100), Cut()]) as server:
        with pytest.raises(http.client.IncompleteRead):
            post(server, form, stream=stream)
        with pytest.raises((URLError, ConnectionError, http.client.RemoteDisconnected)):
            post(server, form, stream=stream)


@pytest.mark.parametrize("stream", [True, False])
def test_a_body_can_be_empty(stream: bool):
    """Status 200 and nothing in it."""
    with StrictServer([EmptyBody()]) as server:
        got = post(server, "chat", stream=stream)
    assert (got.status, got.raw) == (200, b"")


def test_streams_can_be_slow():
    """Each piece waits; who leaves meanwhile is noticed, and the end does not wait."""
    say = Say("A longer sentence, in many pieces of a stream.")
    with StrictServer([Slow(0.02, say), Slow(60, say), Slow(0.05, say)]) as server:
        begun = time.monotonic()
        post(server, "chat", stream=True)
        assert time.monotonic() - begun > 0.2
        for _ in range(2):
            connection = http.client.HTTPConnection("127.0.0.1", port(server))
            head = {**HEADERS["chat"], "content-type": "application/json"}
            connection.request(
                "POST", PATHS["chat"], json.dumps(LEAST["chat"] | {"stream": True}), head
            )
            connection.getresponse().close()
            connection.close()
        deadline = time.monotonic() + 5
        while not server.abandoned and time.monotonic() < deadline:
            time.sleep(0.01)
        begun = time.monotonic()
    assert server.abandoned == 1
    assert time.monotonic() - begun < 2


# Scripts


def test_a_turn_can_be_a_function_of_the_request():
    """It is given the request and says what is played."""

    def echo(asked: Asked) -> Say:
        return Say(asked.body["messages"][-1]["content"].upper())

    with StrictServer([Say("One."), echo]) as server:
        texts = [post(server, "chat").json["choices"][0]["message"]["content"] for _ in range(2)]
    assert texts == ["One.", "HELLO."]


def test_one_function_can_be_the_whole_script():
    """Then it has no end."""
    with StrictServer(lambda asked: Say(str(len(asked.form)))) as server:
        for form in FORMS:
            assert post(server, form).status == 200
    assert [asked.form for asked in server.requests] == list(FORMS)


def test_faults_come_first():
    """Faults can be put before what is left of the script."""
    with StrictServer([Say("One."), Say("Two.")]) as server:
        assert post(server, "chat").status == 200
        server.faults(Fail(500), Fail(429))
        assert [post(server, "chat").status for _ in range(3)] == [500, 429, 200]


def test_a_script_must_be_used_up():
    """Turns that nobody asked for, and questions after the last turn, are failures of the test."""
    three = [Say("One."), Say("Two."), Say("Three.")]
    left = pytest.raises(AssertionError, match="2 turns of the script were never")
    with left, StrictServer(three) as server:
        post(server, "chat")
    missing = pytest.raises(AssertionError, match="1 requests came after")
    with missing, StrictServer() as server:
        assert post(server, "chat").status == 400
    with StrictServer([Say("One.")], complete=False):
        pass


def test_the_tests_own_error_is_not_hidden():
    """An error in the block comes out, and not the complaint about the script."""
    with pytest.raises(KeyError, match="mine"), StrictServer([Say("One.")]):
        raise KeyError("mine")


def test_what_a_function_of_the_script_raises_comes_out():
    """Assertions in a script's functions fail the test."""

    def refuse(asked: Asked) -> Say:
        raise AssertionError(f"{asked.form} is not what I expected")

    raised = pytest.raises(AssertionError, match="not what I expected")
    with raised, StrictServer([refuse]) as server:
        assert post(server, "chat").status == 400


def test_requests_are_kept_as_they_came():
    """Body, headers, path and form; also of those that were refused."""
    with StrictServer([Say("Yes.")]) as server:
        post(server, "messages", temperature=0.5)
        post(server, "chat", temperature=9)
    good, bad = server.requests
    assert good.body == LEAST["messages"] | {"temperature": 0.5}
    assert (good.form, good.path, good.streams) == ("messages", "/v1/messages", False)
    assert good.headers["anthropic-version"] == "2023-06-01"
    assert good.refused == ""
    assert bad.body["temperature"] == 9
    assert "temperature" in bad.refused


def test_many_can_ask_at_once():
    """Requests in parallel each get one turn, and ids of their own."""
    with StrictServer([Say(str(n)) for n in range(20)]) as server, ThreadPoolExecutor(5) as pool:
        got = [body.json for body in pool.map(post, repeat(server, 20), repeat("chat"))]
    said = {body["choices"][0]["message"]["content"] for body in got}
    assert said == {str(n) for n in range(20)}
    assert len({body["id"] for body in got}) == 20


def test_the_models_are_listed():
    """In OpenAI's form, or in Anthropic's if the request is one of theirs."""
    with StrictServer(models=["a", "b"]) as server:
        listed = send(Request(f"{server.openai_url}/models")).json
        assert [model["id"] for model in listed["data"]] == ["a", "b"]
        theirs = send(Request(f"{server.openai_url}/models", headers=HEADERS["messages"])).json
        assert theirs["data"][0]["type"] == "model"
        assert send(Request(f"{server.openai_url}/models/a")).json["id"] == "a"
        assert send(Request(f"{server.openai_url}/models/c")).status == 404


def test_other_paths_are_not_found():
    """A client with a wrong base URL gets a 404 that names the path."""
    with StrictServer() as server:
        url = f"{server.url}/chat/completions"
        got = send(Request(url, b"{}", {"content-type": "application/json"}, method="POST"))
    assert (got.status, "/chat/completions" in got.message) == (404, True)


def test_a_server_runs_only_in_its_block():
    """Before and without it there is no address."""
    with pytest.raises(InputError, match="with"):
        print(StrictServer().url)  # noqa: T201 - reading it is what is tested
