"""The server refuses what the vendors refuse, with their status and in their form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from asking import HEADERS, LEAST, Object, post, post_with

from unremember.testing import Say, StrictServer

FORMS = ("chat", "responses", "messages")

SCHEMA: Object = {"type": "object", "properties": {"path": {"type": "string"}}}


@pytest.fixture
def server() -> Iterator[StrictServer]:
    with StrictServer(lambda _: Say("Yes."), models=["m"], key="k", max_output=1_000) as server:
        yield server


def chat_tool(schema: object = SCHEMA, name: str = "read", **more: object) -> Object:
    return {"type": "function", "function": {"name": name, "parameters": schema, **more}}


def flat_tool(schema: object = SCHEMA, name: str = "read", **more: object) -> Object:
    return {"type": "function", "name": name, "parameters": schema, **more}


def claude_tool(schema: object = SCHEMA, name: str = "read", **more: object) -> Object:
    return {"name": name, "input_schema": schema, **more}


def claude_turns(*blocks: Object, results: tuple[str, ...] = ()) -> list[Object]:
    """A turn of the assistant with these blocks, and the results of these calls."""
    back = [{"type": "tool_result", "tool_use_id": id, "content": "x"} for id in results]
    turns = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": list(blocks)}]
    return [*turns, {"role": "user", "content": back or "go on"}]


USE: Object = {"type": "tool_use", "id": "a", "name": "read", "input": {}}
THOUGHT: Object = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
HIDDEN: Object = {"type": "redacted_thinking", "data": "eA=="}
REASON: Object = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "eA=="}
CALL: Object = {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"}
OUTPUT: Object = {"type": "function_call_output", "call_id": "a", "output": "x"}
ASKED: Object = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}]}  # fmt: skip
USER: Object = {"role": "user", "content": "hi"}
SAID: Object = {"role": "assistant", "content": "x"}
TEXT: Object = {"type": "text", "text": "x"}
MARK: Object = {"cache_control": {"type": "ephemeral"}}
STRICT: Object = {**SCHEMA, "additionalProperties": False, "required": ["path"]}


TOOLS: Object = {"tools": [claude_tool()]}
ANY: Object = {"type": "any"}
SEALED: Object = {"include": ["reasoning.encrypted_content"], "store": False}


def told(content: object, role: str = "user") -> Object:
    return {"role": role, "content": content}


def choose(name: str) -> Object:
    return {"type": "function", "function": {"name": name}}


def thinks(budget: int) -> Object:
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def json_schema(**more: object) -> Object:
    return {"type": "json_schema", "json_schema": {"name": "n", "schema": STRICT, **more}}


GOOD: list[tuple[str, Object]] = [
    ("chat", {"tools": [chat_tool()], "tool_choice": "required", "parallel_tool_calls": True}),
    ("chat", {"tools": [chat_tool(STRICT, strict=True)], "temperature": 0.5, "max_tokens": 1_000}),
    ("chat", {"tools": [chat_tool()], "tool_choice": choose("read")}),
    ("chat", {"response_format": json_schema(strict=True), "max_completion_tokens": 9}),
    ("chat", {"messages": [USER, ASKED, {**told("", "tool"), "tool_call_id": "a"}]}),
    ("chat", {"messages": [told("as JSON")], "response_format": {"type": "json_object"}}),
    ("responses", {"tools": [flat_tool()], "tool_choice": {"type": "function", "name": "read"}}),
    ("responses", {"input": "hi", "instructions": "be brief", "max_output_tokens": 16}),
    ("responses", {"input": [USER, CALL, OUTPUT], **SEALED}),
    ("responses", {"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}}),
    ("messages", {"tools": [claude_tool()], "tool_choice": {"type": "any"}, "system": "be brief"}),
    ("messages", {"tools": [claude_tool()], "messages": claude_turns(USE, results=("a",))}),
    ("messages", {"tools": [claude_tool()], "thinking": {"type": "adaptive"}}),
    ("messages", {"output_config": {"format": {"type": "json_schema", "schema": STRICT}}}),
    ("messages", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
]  # fmt: skip


@pytest.mark.parametrize(("form", "fields"), GOOD)
def test_legal_requests_are_answered(server: StrictServer, form: str, fields: Object):
    """What a vendor takes is answered."""
    got = post(server, form, **fields)
    assert (got.status, server.refusals) == (200, [])


BAD: list[tuple[str, Object, str]] = [
    # Settings
    ("chat", {"max_tokens": 1_001}, "too large: 1001. This model supports at most 1000"),
    ("chat", {"max_completion_tokens": 1_001}, "too large"),
    ("chat", {"max_tokens": 5, "max_completion_tokens": 5}, "not both"),
    ("chat", {"max_tokens": 0}, "at least 1"),
    ("chat", {"max_tokens": "5"}, "whole number"),
    ("chat", {"temperature": 2.1}, "from 0 to 2"),
    ("chat", {"stream_options": {"include_usage": True}}, "only allowed when 'stream'"),
    ("chat", {"stream": "yes"}, "true or false"),
    ("chat", {"stop": list("abcde")}, "at most four"),
    ("chat", {"top_k": 5}, "not known"),
    ("chat", {"model": ""}, "model is needed"),
    ("responses", {"max_output_tokens": 15}, "at least 16"),
    ("responses", {"max_output_tokens": 1_001}, "too large"),
    ("responses", {"messages": []}, "not known"),
    ("responses", {"instructions": 5}, "expected a string"),
    ("messages", {"max_tokens": None}, "max_tokens: Field required"),
    ("messages", {"max_tokens": 1_001}, "1001 > 1000, which is the maximum"),
    ("messages", {"temperature": 1.1}, "from 0 to 1"),
    ("messages", {"tool_result": 1}, "not known"),
    # Roles, pairs and contents
    ("chat", {"messages": []}, "not empty"),
    ("chat", {"messages": [{"role": "tourist", "content": "x"}]}, "unknown role"),
    ("chat", {"messages": [USER, ASKED]}, "has no result"),
    ("chat", {"messages": [USER, ASKED, USER]}, "before the result"),
    ("chat", {"messages": [USER, {**told("x", "tool"), "tool_call_id": "a"}]}, "no call"),
    ("chat", {"messages": [{"role": "user", "content": " "}]}, "empty content"),
    ("responses", {"input": []}, "not empty"),
    ("responses", {"input": [USER, CALL]}, "has no output"),
    ("responses", {"input": [USER, OUTPUT]}, "made"),
    ("responses", {"input": [told([TEXT])]}, "input_text"),
    ("responses", {"input": [told([TEXT], "assistant")]}, "output_text"),
    ("messages", {"messages": []}, "at least one"),
    ("messages", {"messages": [USER, USER]}, "alternate"),
    ("messages", {"messages": [{"role": "system", "content": "x"}]}, "role"),
    ("messages", {"messages": [{**USER, "id": "m41"}]}, "messages.0.id: this field is not known"),
    ("messages", {"messages": [told([{**TEXT, "id": "1"}])]}, "not known"),
    ("messages", {"messages": [told([{"text": "x"}])]}, "type: Field required"),
    ("messages", {**TOOLS, "messages": claude_turns(USE)}, "0 results of the call 'a'"),
    ("messages", {**TOOLS, "messages": claude_turns(USE, results=("a", "a"))}, "2 results"),
    ("messages", {**TOOLS, "messages": claude_turns(TEXT, results=("a",))}, "did not call"),
    ("messages", {"messages": claude_turns(USE, results=("a",))}, "need tools"),
    ("messages", {"system": 5}, "system: expected"),
    # Reasoning
    ("messages", {"messages": claude_turns(THOUGHT, TEXT)}, "Invalid `signature`"),
    ("messages", {"messages": claude_turns(HIDDEN, TEXT)}, "Invalid `data`"),
    ("messages", thinks(1_023), "at least 1024"),
    ("messages", thinks(1_024), "greater than thinking"),
    ("messages", {"thinking": {"type": "on"}}, "thinking.type"),
    ("messages", {"thinking": {"type": "adaptive"}, "temperature": 0}, "only be set to 1"),
    ("messages", {"thinking": {"type": "adaptive"}, **TOOLS, "tool_choice": ANY}, "forces"),
    ("responses", {"input": [USER, REASON, SAID]}, "could not be verified"),
    ("responses", {"input": [USER, {**REASON, "summary": None}, SAID]}, "summary: expected"),
    ("responses", {"previous_response_id": "resp_0"}, "not found"),
    ("responses", {"input": [USER, {**CALL, "id": "x1"}, OUTPUT]}, "begin with 'fc'"),
    # Tools
    ("chat", {"tools": []}, "not empty"),
    ("chat", {"tools": [flat_tool()]}, "type 'function'"),
    ("chat", {"tool_choice": "auto"}, "when 'tools' are"),
    ("chat", {"parallel_tool_calls": True}, "when 'tools' are"),
    ("chat", {"tools": [chat_tool()], "tool_choice": "must"}, "none of none, auto"),
    ("chat", {"tools": [chat_tool()], "tool_choice": choose("x")}, "no tool is called"),
    ("chat", {"tools": [chat_tool(name="my tool")]}, "legal name"),
    ("chat", {"tools": [chat_tool(name="x" * 65)]}, "legal name"),
    ("chat", {"tools": [chat_tool(SCHEMA, strict=True)]}, "additionalProperties"),
    ("chat", {"tools": [chat_tool({**STRICT, "required": []}, strict=True)]}, "also path"),
    ("responses", {"tools": [chat_tool()]}, "stands in the tool itself"),
    ("responses", {"tools": [flat_tool({"type": "string"})]}, "must be 'object'"),
    ("messages", {"tools": [{"name": "read"}]}, "input_schema: Field required"),
    ("messages", {"tools": [claude_tool(), claude_tool()]}, "unique"),
    ("messages", {"tools": [claude_tool(name="a.b")]}, "legal name"),
    ("messages", {"tool_choice": {"type": "auto"}}, "together with tools"),
    ("messages", {**TOOLS, "tool_choice": {"type": "tool", "name": "x"}}, "no tool is called"),
    ("messages", {"tools": [claude_tool()], "tool_choice": "auto"}, "expected auto"),
    ("messages", {**MARK, "system": [{**TEXT, **MARK}] * 4}, "maximum of 4"),
    # Formats of answers
    ("chat", {"response_format": {"type": "json_object"}}, "the word 'json'"),
    ("chat", {"response_format": {"type": "yaml"}}, "not known"),
    ("chat", {"response_format": json_schema(name="a b")}, "legal name"),
    ("chat", {"response_format": json_schema(schema=None)}, "needs a schema"),
    ("chat", {"response_format": json_schema(schema=SCHEMA, strict=True)}, "additionalProperties"),
    ("responses", {"text": {"format": {"type": "json_schema", "schema": SCHEMA}}}, "legal name"),
    ("messages", {"output_config": {"format": {"type": "json_schema"}}}, "and a schema"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "fields", "words"), BAD)
def test_illegal_requests_are_refused(server: StrictServer, form: str, fields: Object, words: str):
    """What a vendor refuses is refused with status 400, in its form, and recorded as refused."""
    got = post(server, form, **fields)
    assert got.status == 400
    assert words in got.message
    assert server.refusals == [got.message]
    assert got.json["error"]["type"] == "invalid_request_error"
    assert ("param" in got.json["error"]) == (form != "messages")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"},
        {"type": "array"},
        {"type": "object", "properties": []},
        {"enum": []},
        {"anyOf": {}},
        {"required": "x"},
        {"pattern": "("},
        {"minLength": -1},
        {"description": 5},
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "https://example.com/schema"},
        {"items": {"type": "object", "properties": {"y": {"type": "date"}}}},
        {"$defs": {"y": {"type": "date"}}},
        {"additionalProperties": 5},
        "string",
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_schemas_of_tools_are_checked(server: StrictServer, form: str, schema: object):
    """A tool whose schema is wrong anywhere inside is refused."""
    whole = {"type": "object", "properties": {"x": schema}}
    make = {"chat": chat_tool, "responses": flat_tool, "messages": claude_tool}[form]
    assert post(server, form, tools=[make(whole)]).status == 400


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
@pytest.mark.parametrize("form", FORMS)
def test_a_tool_takes_one_object(server: StrictServer, form: str, word: str):
    """A schema that mixes others at its top is refused, inside it is taken."""
    make = {"chat": chat_tool, "responses": flat_tool, "messages": claude_tool}[form]
    mixed = {word: [{"type": "object"}]}
    assert post(server, form, tools=[make({"type": "object", **mixed})]).status == 400
    inside = {"type": "object", "properties": {"x": mixed}}
    assert post(server, form, tools=[make(inside)]).status == 200


def test_schemas_may_refer_to_their_own_parts(server: StrictServer):
    """What pydantic writes for nested models is taken."""
    node = {
        "type": "object",
        "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
    }
    schema = {
        "type": "object",
        "$defs": {"Node": node},
        "properties": {"n": {"$ref": "#/$defs/Node"}},
    }
    assert post(server, "chat", tools=[chat_tool(schema)]).status == 200


@pytest.mark.parametrize("form", FORMS)
def test_keys_are_checked(server: StrictServer, form: str):
    """No key and a wrong key are refused with status 401."""
    wrong = {name: value.replace("k", "x") for name, value in HEADERS[form].items()}
    version = {"anthropic-version": "2023-06-01"}
    for headers in (version, wrong):
        got = post_with(headers, server, form)
        assert got.status == 401
    kinds = {"messages": "authentication_error"}
    assert got.json["error"]["type"] == kinds.get(form, "invalid_request_error")


def test_anthropic_needs_its_version(server: StrictServer):
    """Without the header `anthropic-version` nothing is answered."""
    got = post_with({"x-api-key": "k"}, server, "messages")
    assert (got.status, "anthropic-version" in got.message) == (400, True)


@pytest.mark.parametrize("form", FORMS)
def test_unknown_models_are_not_found(server: StrictServer, form: str):
    """A model that is not served is a 404 that names it."""
    got = post(server, form, model="gpt-nought")
    assert got.status == 404
    assert "gpt-nought" in got.message
    kind = {"type": "not_found_error"} if form == "messages" else {"code": "model_not_found"}
    assert kind.items() <= got.json["error"].items()


@pytest.mark.parametrize(
    ("body", "headers", "words"),
    [
        (b"{", {}, "not valid JSON"),
        (b"[]", {}, "no JSON object"),
        (b'{"model": "m", "input": "half of a pair: \\ud83c"}', {}, "not valid JSON"),
        (b"{}", {"content-type": "text/plain"}, "application/json"),
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_bodies_are_json(
    server: StrictServer, form: str, body: bytes, headers: dict[str, str], words: str
):
    """A body that is no JSON object is refused."""
    got = post_with(HEADERS[form] | headers, server, form, body)
    assert (got.status, words in got.message) == (400, True)


# Reasoning that goes back and forth


def think(server: StrictServer, form: str, **more: object) -> list[Any]:
    """What the model said with thinking and a call, as it is to be sent back."""
    got = post(server, form, **more).json
    return got["content"] if form == "messages" else got["output"]


CALLS = Say("Looking.", calls=[("read", {"path": "a"})], thinking="Which file? Perhaps ä.")


def test_anthropic_takes_its_own_thinking():
    """Thinking goes back as it came; changed, or from elsewhere, it is refused."""
    with StrictServer([CALLS, Say("Yes.")]) as server, StrictServer() as other:
        said = think(server, "messages", **TOOLS)
        turns = claude_turns(*said, results=(said[-1]["id"],))
        changed = [{**said[0], "thinking": "Another thought."}, *said[1:]]
        assert post(server, "messages", **TOOLS, messages=turns).status == 200
        assert "signature" in post(other, "messages", **TOOLS, messages=turns).message
        turns = claude_turns(*changed, results=(said[-1]["id"],))
        assert "signature" in post(server, "messages", **TOOLS, messages=turns).message


def test_servers_with_one_secret_take_each_others_thinking():
    """A conversation can go on with another server that has the same secret."""
    with StrictServer([CALLS], secret="s") as one, StrictServer([Say("Yes.")], secret="s") as two:
        said = think(one, "messages", **TOOLS)
        turns = claude_turns(*said, results=(said[-1]["id"],))
        assert post(two, "messages", **TOOLS, messages=turns).status == 200


def test_an_open_loop_begins_with_thinking():
    """With thinking enabled, a call without the thinking before it is refused."""
    thinking = {**thinks(1_024), "max_tokens": 2_000, **TOOLS}
    with StrictServer([CALLS, Say("Yes.")]) as server:
        said = think(server, "messages", **thinking)
        bare = claude_turns(*said[1:], results=(said[-1]["id"],))
        whole = claude_turns(*said, results=(said[-1]["id"],))
        got = post(server, "messages", **thinking, messages=bare)
        assert "Expected `thinking`" in got.message
        assert post(server, "messages", **thinking, messages=whole).status == 200


def outputs(items: list[Any]) -> list[Object]:
    return [{**OUTPUT, "call_id": i["call_id"]} for i in items if i["type"] == "function_call"]


THINKS = Say(calls=[("read", {"path": "a"})], thinking="Which file?")


def test_responses_takes_its_own_reasoning():
    """Encrypted reasoning goes back as it came; from elsewhere it is refused."""
    with StrictServer([THINKS, Say("Yes.")]) as server, StrictServer() as other:
        said = think(server, "responses", **SEALED)
        items = [USER, *said, *outputs(said)]
        assert "verified" in post(other, "responses", input=items, **SEALED).message
        assert post(server, "responses", input=items, **SEALED).status == 200


def test_reasoning_that_was_not_kept_is_not_found():
    """Without encrypted content, only reasoning that the server keeps can be named."""
    with StrictServer([THINKS, THINKS, Say("Yes.")]) as server:
        lost, kept = think(server, "responses", store=False), think(server, "responses")
        got = post(server, "responses", input=[USER, *lost, *outputs(lost)])
        assert (got.status, lost[0]["id"] in got.message) == (404, True)
        assert post(server, "responses", input=[USER, *kept, *outputs(kept)]).status == 200


def test_items_come_with_their_reasoning():
    """A call sent back without the reasoning before it is refused, and so is the reverse."""
    with StrictServer([THINKS, Say("Yes.")]) as server:
        said = think(server, "responses", **SEALED)
        got = post(server, "responses", input=[USER, *said[1:], *outputs(said)])
        assert f"without its required 'reasoning' item: '{said[0]['id']}'" in got.message
        got = post(server, "responses", input=[USER, said[0]])
        assert "reasoning without the item" in got.message
        # Without its id it is nobody's item.
        bare = [{k: v for k, v in item.items() if k != "id"} for item in said[1:]]
        assert post(server, "responses", input=[USER, *bare, *outputs(said)]).status == 200


def test_responses_can_go_on_from_what_is_kept():
    """A previous answer and single items can be referred to; calls must still be answered."""
    with StrictServer([THINKS, Say("Yes."), Say("Yes.")]) as server:
        got = post(server, "responses").json
        before, said = {"previous_response_id": got["id"]}, got["output"]
        assert "has no output" in post(server, "responses", input="hm", **before).message
        assert post(server, "responses", input=outputs(said), **before).status == 200
        referred = [{"type": "item_reference", "id": item["id"]} for item in said]
        assert post(server, "responses", input=[USER, *referred, *outputs(said)]).status == 200
        lost = [{"type": "item_reference", "id": "msg_0"}]
        assert post(server, "responses", input=lost).status == 404


# The window

LONG = "word " * 3_000


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("chat", "maximum context length is 2000 tokens. However, your messages resulted in 30"),
        ("responses", "exceeds the context window"),
        ("messages", "prompt is too long: 30"),
    ],
)
def test_prompts_longer_than_the_window_are_refused(form: str, words: str):
    """A prompt that is too long is refused with status 400 in the vendor's kind of words."""
    body = LEAST[form].copy()
    body["input" if form == "responses" else "messages"] = [{"role": "user", "content": LONG}]
    with StrictServer(window=2_000) as server:
        got = post(server, form, body)
    assert got.status == 400
    assert words in got.message
    assert server.requests[0].input_tokens > 3_000
    if form != "messages":
        assert got.json["error"]["code"] == "context_length_exceeded"


def test_the_answer_needs_room_too():
    """Chat and Messages refuse a prompt that fits only without the answer; Responses does not."""
    with StrictServer([Say("Yes.")], window=1_000) as server:
        got = post(server, "chat", max_tokens=999)
        assert "(6 in the messages, 999 in the completion)" in got.message
        got = post(server, "messages", max_tokens=999)
        assert "exceed context limit: 6 + 999 > 1000" in got.message
        assert post(server, "responses", max_output_tokens=999).status == 200


def test_tokens_can_be_dearer_than_ours():
    """With a counting factor, the server counts that many tokens for each of o200k."""
    message = [{"role": "user", "content": LONG}]
    with StrictServer([Say()] * 2) as one, StrictServer([Say()] * 2, counting_factor=1.5) as other:
        counts = [
            post(server, "chat", messages=message).json["usage"]["prompt_tokens"]
            for server in (one, other)
        ]
        for server in (one, other):
            post(server, "chat", messages=message)
    assert 1.49 < counts[1] / counts[0] < 1.51


def test_a_llama_cpp_server_says_it_in_its_own_way():
    """It names both counts in fields, asks for no key, and takes any model and setting."""
    with StrictServer([Say("Yes.")], flavour="llama.cpp", window=2_000, models=["m"]) as server:
        got = post_with({}, server, "chat", model="other", top_k=5)
        assert got.status == 200
        got = post_with({}, server, "chat", messages=[{"role": "user", "content": LONG}])
    error = got.json["error"]
    assert (got.status, error["type"], error["n_ctx"]) == (400, "exceed_context_size_error", 2_000)
    assert error["n_prompt_tokens"] == server.requests[1].input_tokens


def test_an_ollama_server_drops_the_oldest_without_a_word():
    """A long conversation is answered from what fits; one message that is too long is refused."""
    turns = [USER, {"role": "assistant", "content": LONG}, USER]
    with StrictServer([Say("Yes.")], flavour="ollama", window=2_000) as server:
        got = post_with({}, server, "chat", messages=turns)
        assert got.json["usage"]["prompt_tokens"] == 2_000
        assert server.requests[0].input_tokens > 3_000
        got = post_with({}, server, "chat", messages=[{"role": "user", "content": LONG}])
        assert (got.status, "exceeds the context length" in got.message) == (400, True)
