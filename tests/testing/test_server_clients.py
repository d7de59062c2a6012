"""The vendors' own clients talk with the server as with their vendor."""

from __future__ import annotations

from typing import Any

import pytest

from unremember.testing import Cut, Fail, Say, StrictServer, TooLong

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

ARGUMENTS = {"path": "Übung/世界.py", "text": 'a\n"b" 🎉'}
TURN = Say("Schöne Grüße, 世界 🎉", calls=[("write", ARGUMENTS)] * 2, thinking="Wie wäre es?")
DONE = Say("Done.")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}


@pytest.mark.parametrize("stream", [True, False])
def test_openai_chat(stream: bool):
    """A call, its result and the answer, with usage, through the openai package."""
    tools: Any = [{"type": "function", "function": {"name": "write", "parameters": SCHEMA}}]
    messages: Any = [{"role": "user", "content": "hi"}]
    with (
        StrictServer([TURN, DONE]) as server,
        openai.OpenAI(base_url=server.openai_url, api_key="k", max_retries=0) as client,
    ):
        for _ in range(2):
            if stream:
                options: Any = {"stream_options": {"include_usage": True}}
                with client.chat.completions.stream(
                    model="m", messages=messages, tools=tools, **options
                ) as events:
                    got = events.get_final_completion()
            else:
                got = client.chat.completions.create(model="m", messages=messages, tools=tools)
            said = got.choices[0].message
            assert got.usage.prompt_tokens == server.requests[-1].input_tokens
            messages.append(
                said.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True)
            )
            for call in said.tool_calls or ():
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "ok"})
    assert server.refusals == []
    assert messages[1]["content"] == TURN.text
    assert messages[-1]["content"] == "Done."


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("store", [True, False])
def test_openai_responses(stream: bool, store: bool):
    """Reasoning, a call, its output and the answer, through the openai package."""
    more: Any = {
        "model": "m", "store": store, "include": ["reasoning.encrypted_content"],
        "tools": [{"type": "function", "name": "write", "parameters": SCHEMA, "strict": False}],
    }  # fmt: skip
    items: Any = [{"role": "user", "content": "hi"}]
    got: Any = None
    with (
        StrictServer([TURN, DONE]) as server,
        openai.OpenAI(base_url=server.openai_url, api_key="k", max_retries=0) as client,
    ):
        for _ in range(2):
            if stream:
                with client.responses.stream(input=items, **more) as events:
                    got = events.get_final_response()
            else:
                got = client.responses.create(input=items, **more)
            items += [
                item.model_dump(exclude_none=True, exclude={"parsed_arguments"})
                for item in got.output
            ]
            items += [
                {"type": "function_call_output", "call_id": item.call_id, "output": "ok"}
                for item in got.output
                if item.type == "function_call"
            ]
    assert server.refusals == []
    assert got.output_text == "Done."
    assert got.usage.input_tokens == server.requests[-1].input_tokens
    assert items[1]["summary"][0]["text"] == TURN.thinking


@pytest.mark.parametrize("stream", [True, False])
def test_anthropic_messages(stream: bool):
    """Thinking, calls, their results and the answer, through the anthropic package."""
    more: Any = {
        "model": "m", "max_tokens": 4_000, "thinking": {"type": "enabled", "budget_tokens": 2_000},
        "tools": [{"name": "write", "input_schema": SCHEMA}],
    }  # fmt: skip
    turns: Any = [{"role": "user", "content": "hi"}]
    got: Any = None
    with (
        StrictServer([TURN, DONE]) as server,
        anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client,
    ):
        for _ in range(2):
            if stream:
                with client.messages.stream(messages=turns, **more) as events:
                    got = events.get_final_message()
            else:
                got = client.messages.create(messages=turns, **more)
            content = [
                block.model_dump(exclude_none=True, exclude={"parsed_output"})
                for block in got.content
            ]
            turns.append({"role": "assistant", "content": content})
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": "ok"}
                for block in got.content
                if block.type == "tool_use"
            ]
            if results:
                assert [b.input for b in got.content if b.type == "tool_use"] == [ARGUMENTS] * 2
                turns.append({"role": "user", "content": results})
    assert server.refusals == []
    assert got.usage.input_tokens == server.requests[-1].input_tokens
    assert turns[-1]["content"] == [{"type": "text", "text": "Done."}]


def test_clients_know_the_errors():
    """Each failure is the client's own error for it, and what may be tried again is."""
    with (
        StrictServer([Fail(429, retry_after=0.01), Fail(500), DONE, TooLong(2_048)]) as server,
        openai.OpenAI(base_url=server.openai_url, api_key="k", max_retries=2) as client,
    ):
        assert client.responses.create(model="m", input="hi").output_text == "Done."
        with pytest.raises(openai.BadRequestError) as caught:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        assert caught.value.code == "context_length_exceeded"
        bad: Any = [{"role": "tourist", "content": "hi"}]
        with pytest.raises(openai.BadRequestError, match="unknown role"):
            client.chat.completions.create(model="m", messages=bad)


def test_the_anthropic_client_knows_the_errors():
    """Overload, an error within a stream, a cut, a wrong key."""
    ask: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    with (
        StrictServer([Fail(529), Fail(529, midway=True), Cut()], key="k") as server,
        anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client,
        anthropic.Anthropic(base_url=server.url, api_key="x", max_retries=0) as stranger,
    ):
        with pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(**ask)
        assert caught.value.status_code == 529
        with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
            list(client.messages.create(**ask, stream=True))
        with pytest.raises(anthropic.APIConnectionError):
            client.messages.create(**ask)
        with pytest.raises(anthropic.AuthenticationError):
            stranger.messages.create(**ask)
