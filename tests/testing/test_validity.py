"""The validators find each breach that a provider would refuse, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from unremember.testing import check_anthropic, check_openai, check_responses

Object = dict[str, Any]


def said(role: str, content: object = "hi") -> Object:
    return {"role": role, "content": content}


def call(id: str = "a", name: str = "ls", arguments: object = "{}") -> Object:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: Object) -> Object:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def tool(id: str = "a", content: object = "x") -> Object:
    return {"role": "tool", "tool_call_id": id, "content": content}


USER = said("user")


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [said("system"), said("developer"), USER, said("assistant"), USER],
        [USER, asks(call("a"), call("b")), tool("b"), tool("a"), USER],
        [USER, asks(call()), tool(), asks(call()), tool(content="")],
        [USER, asks(call()), tool(content=[{"type": "text", "text": "x"}])],
        [USER, {**said("assistant", None), "function_call": {"name": "f", "arguments": "{}"}},
         {"role": "function", "name": "f", "content": "x"}],
        [USER, asks({"id": "a", "type": "custom", "custom": {"name": "f", "input": ""}}), tool()],
        [USER, {**said("assistant", None), "refusal": "No."}],
        [said("user", [{"type": "image_url", "image_url": {"url": "https://x"}}])],
    ],
)  # fmt: skip
def test_openai_takes(messages: list[Object]):
    """Valid chat messages have no breach."""
    assert check_openai(messages) == []


@pytest.mark.parametrize(
    ("messages", "breach"),
    [
        ([said("tourist")], "unknown role"),
        ([said("user", "")], "empty content"),
        ([said("system", " \n")], "empty content"),
        ([said("user", [])], "no content"),
        ([said("user", None)], "no content"),
        ([said("user", [{"type": "text", "text": ""}])], "empty text part"),
        ([said("user", [{"text": "a"}])], "without a type"),
        ([USER, tool()], "no call right before"),
        ([USER, asks(call()), tool("b")], "no call right before"),
        ([USER, asks(call()), tool(), tool()], "no call right before"),
        ([USER, asks(call()), USER, tool()], "comes before the result"),
        ([USER, asks(call("a"), call("b")), tool("a"), said("assistant")], "comes before"),
        ([USER, asks(call())], "has no result"),
        ([USER, asks(call()), tool(content=None)], "no content"),
        ([USER, asks(call("a"), call("a")), tool(), tool()], "id of its own"),
        ([USER, asks(call("")), tool("")], "id of its own"),
        ([USER, asks(call(arguments={"a": 1})), tool()], "no string"),
        ([USER, asks(call(name="a.b")), tool()], "no legal name"),
        ([USER, asks()], "empty list"),
        ([USER, said("assistant", None)], "neither content nor calls"),
        ([USER, said("assistant", [{"type": "text", "text": ""}])], "empty text part"),
    ],
)
def test_openai_refuses(messages: list[Object], breach: str):
    """Each breach of the chat API's rules is named."""
    assert any(breach in found for found in check_openai(messages))


def test_open_ends_can_be_allowed():
    """Calls at the very end may wait where that is asked for, and nowhere else."""
    asked: Object = {"type": "tool_use", "id": "a", "name": "ls", "input": {}}
    item = {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"}
    assert check_openai([USER, asks(call())], allow_open=True) == []
    assert check_anthropic([USER, said("assistant", [asked])], allow_open=True) == []
    assert check_responses([item], allow_open=True) == []
    assert check_openai([USER, asks(call()), USER], allow_open=True) != []


def text(words: str = "hi") -> Object:
    return {"type": "text", "text": words}


def use(id: str = "a", name: str = "ls", given: object = None) -> Object:
    return {"type": "tool_use", "id": id, "name": name, "input": {} if given is None else given}


def result(id: str = "a", content: object = "x") -> Object:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def agent(*blocks: Object) -> Object:
    return said("assistant", list(blocks))


def user(*blocks: Object) -> Object:
    return said("user", list(blocks))


THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [USER, said("assistant"), USER],
        [USER, agent(THINKING, text(), use("a"), use("b")), user(result("b"), result("a"), text())],
        [USER, agent(use()), user({"type": "tool_result", "tool_use_id": "a"}), agent(text())],
        [USER, agent({"type": "redacted_thinking", "data": "x"}, text()), USER],
        [USER, agent(text("done\n")), USER],
    ],
)
def test_anthropic_takes(messages: list[Object]):
    """Valid turns have no breach."""
    assert check_anthropic(messages, "Be kind.") == []


@pytest.mark.parametrize(
    ("messages", "breach"),
    [
        ([said("assistant")], "alternate"),
        ([USER, USER], "alternate"),
        ([said("system"), USER], "alternate"),
        ([USER, said("assistant"), said("assistant")], "alternate"),
        ([said("user", "")], "empty text block"),
        ([said("user", [])], "no content"),
        ([user(text(" "))], "empty text block"),
        ([USER, agent(use()), user(text())], "0 results"),
        ([USER, agent(use()), user(result(), result())], "2 results"),
        ([USER, agent(use()), user(text(), result())], "do not come first"),
        ([USER, agent(use()), user(result(content=[text("")]))], "empty text block in a result"),
        ([user(result())], "did not call"),
        ([USER, agent(use()), user(result()), agent(text()), user(result())], "did not call"),
        ([USER, agent(use())], "has no result"),
        ([user(use()), agent(text())], "not the assistant's"),
        ([USER, agent(result())], "not the user's"),
        ([USER, agent(use("a:b")), user(result("a:b"))], "not legal"),
        ([USER, agent(use()), user(result()), agent(use()), user(result())], "used before"),
        ([USER, agent(use(name="")), user(result())], "no legal name"),
        ([USER, agent(use(given="{}")), user(result())], "no object"),
        ([USER, agent({**THINKING, "signature": ""}, text()), USER], "without a signature"),
        ([USER, agent(text(), THINKING, use()), user(result())], "does not come first"),
        ([USER, agent(text(), THINKING), USER], "comes last"),
        ([user(THINKING, text())], "not the assistant's"),
        ([USER, agent(text("done "))], "white space"),
        ([USER, said("assistant", "done\n")], "white space"),
    ],
)
def test_anthropic_refuses(messages: list[Object], breach: str):
    """Each breach of the Messages API's rules is named."""
    assert any(breach in found for found in check_anthropic(messages))


def test_anthropic_refuses_an_empty_system_block():
    """Blocks of `system` are texts that say something."""
    assert check_anthropic([USER], [text("")]) != []


def fc(id: str = "a", **more: object) -> Object:
    return {"type": "function_call", "call_id": id, "name": "ls", "arguments": "{}", **more}


def out(id: str = "a", kind: str = "function_call", output: object = "x") -> Object:
    return {"type": f"{kind}_output", "call_id": id, "output": output}


REASONING: Object = {"type": "reasoning", "id": "rs_1", "summary": []}
CUSTOM: Object = {"type": "custom_tool_call", "call_id": "a", "name": "f", "input": "x"}


@pytest.mark.parametrize(
    "items",
    [
        [USER, REASONING, said("assistant")],
        [USER, REASONING, fc("a"), fc("b"), out("b"), out("a"), USER],
        [USER, fc(), out(), fc(), out()],
        [USER, CUSTOM, out(kind="custom_tool_call")],
        [USER, REASONING, {"type": "web_search_call", "id": "ws", "status": "completed"}],
        [{"type": "item_reference", "id": "m"}, {"type": "item_reference", "id": "m"}],
    ],
)
def test_responses_takes(items: list[Object]):
    """Valid items have no breach."""
    assert check_responses(items) == []


@pytest.mark.parametrize(
    ("items", "breach"),
    [
        ([said("tourist")], "unknown role"),
        ([said("user", "")], "empty content"),
        ([said("user", [])], "empty content"),
        ([said("user", [{"type": "input_text", "text": " "}])], "empty content"),
        ([USER, out()], "no function_call made"),
        ([USER, out(), fc()], "no function_call made"),
        ([USER, CUSTOM, out()], "no function_call made"),
        ([USER, fc(), out(), out()], "second output"),
        ([USER, fc()], "has no output"),
        ([USER, fc(), fc(), out()], "id of its own"),
        ([USER, fc(""), out("")], "id of its own"),
        ([USER, fc(), out(output=None)], "no output"),
        ([USER, fc(arguments={}), out()], "no string"),
        ([USER, {**CUSTOM, "input": None}, out(kind="custom_tool_call")], "no string"),
        ([USER, fc(name="a b"), out()], "no legal name"),
        ([USER, REASONING], "reasoning without"),
        ([REASONING, USER], "reasoning without"),
        ([USER, fc(), REASONING, out()], "reasoning without"),
        ([USER, REASONING, said("assistant"), REASONING, said("assistant")], "used before"),
    ],
)
def test_responses_refuses(items: list[Object], breach: str):
    """Each breach of the Responses API's rules is named."""
    assert any(breach in found for found in check_responses(items))
