"""Models at providers, against servers as strict as the vendors' own."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest
from opening import FORMS, QUICK, READ_FILE, ask, opened, said

from unremember.errors import (
    ContextTooLong,
    MissingKey,
    ProviderRefused,
    TimedOut,
    UnknownModel,
    Unreachable,
)
from unremember.messages import Message, Native, Text, Thinking, ToolCall, ToolResult
from unremember.models import Delta, Reply, Request, Retry, Usage, close_model, open_model
from unremember.testing import Cut, EmptyBody, Fail, Say, Slow, StrictServer, TooLong

BOTH = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
EACH = pytest.mark.parametrize("form", FORMS)


@EACH
@BOTH
async def test_a_text_comes_back_with_its_usage(form: str, streamed: bool):
    """The answer, why it ended, and what the provider counted, streamed or not."""
    usage = Usage(input_tokens=120, cached_tokens=80, output_tokens=7)
    with StrictServer([Say("A parser.", usage=usage)]) as server:
        async with opened(form, server) as model:
            reply, pieces = await ask(model, Request(said()), streamed=streamed)
    assert reply.message.text == "A parser."
    assert reply.finish == "stop"
    assert (reply.usage.input_tokens, reply.usage.cached_tokens) == (120, 80)
    assert reply.usage.output_tokens == 7
    assert reply.usage.reported
    if streamed:
        assert "".join(piece.text for piece in pieces) == "A parser."


@EACH
@BOTH
async def test_calls_go_round(form: str, streamed: bool):
    """Text beside several calls arrives whole; calls and results go back as a legal request."""
    calls: list[ToolCall | tuple[str, dict[str, Any] | str]] = [
        ("read_file", {"path": "a.py"}),
        ("read_file", {"path": "b.py", "first": 2}),
    ]
    with StrictServer([Say("I look.", calls=calls), Say("Done.")]) as server:
        async with opened(form, server) as model:
            history = said()
            reply, pieces = await ask(model, Request(history, (READ_FILE,)), streamed=streamed)
            results = [
                ToolResult(call.id, (Text(f"text of {call.parsed()['path']}"),), failed=bool(at))
                for at, call in enumerate(reply.message.calls)
            ]
            history = history.add(reply.message, Message("tool", tuple(results)))
            last, _ = await ask(model, Request(history, (READ_FILE,)), streamed=streamed)
        assert server.refusals == []
    assert reply.finish == "calls"
    assert [call.parsed()["path"] for call in reply.message.calls] == ["a.py", "b.py"]
    assert last.message.text == "Done."
    if streamed:
        assert {piece.call for piece in pieces if piece.call} == {"read_file"}


@pytest.mark.parametrize(
    ("form", "name"), [("openai-responses", "gpt-5-mini"), ("anthropic", "claude-sonnet-5")]
)
@pytest.mark.parametrize("changed", [False, True], ids=["unchanged", "changed"])
@BOTH
async def test_signed_thinking_goes_back(form: str, name: str, changed: bool, streamed: bool):
    """Reasoning goes back with the signature it came with, also when the text beside it changed."""
    call = ("read_file", {"path": "a.py"})
    with StrictServer([Say("Look.", [call], thinking="Hm, a.py."), Say("Done.")]) as server:
        async with opened(form, server, model=name) as model:
            history = said()
            reply, _ = await ask(model, Request(history, (READ_FILE,)), streamed=streamed)
            thoughts = [part for part in reply.message.parts if isinstance(part, Thinking)]
            result = ToolResult(reply.message.calls[0].id, (Text("x = 1"),))
            message = reply.message
            if changed:
                # As the compression leaves a message that it clipped.
                source = Native(message.source.format, None) if message.source else None
                message = replace(message, source=source)
            history = history.add(message, Message("tool", (result,)))
            await ask(model, Request(history, (READ_FILE,)), streamed=streamed)
        assert server.refusals == []
        sent = str(server.requests[1].body)
    assert [thought.text for thought in thoughts] == ["Hm, a.py."]
    assert thoughts[0].signature
    # OpenAI's reasoning has an id as well, so that of a changed message cannot go back.
    assert (thoughts[0].signature in sent) == (form == "anthropic" or not changed)
    assert ("Hm, a.py." in sent) == (form == "anthropic" or not changed)


@EACH
async def test_every_request_begins_with_the_one_before(form: str):
    """Between two turns nothing earlier changes, so that the provider's cache holds."""
    script = [Say("Look.", [("read_file", {"path": "a.py"})], thinking="Hm.") for _ in range(4)]
    with StrictServer([*script, Say("Done.")]) as server:
        async with opened(form, server) as model:
            history = said("word " * 1500)
            for _ in script:
                reply = await model.request(Request(history, (READ_FILE,)))
                result = ToolResult(reply.message.calls[0].id, (Text("x = 1"),))
                history = history.add(reply.message, Message("tool", (result,)))
            await model.request(Request(history, (READ_FILE,)))
        assert server.refusals == []
        assert all(asked.cached_tokens for asked in server.requests[1:])


async def test_marks_for_the_prompt_cache():
    """Anthropic is told to cache the tools, the system prompt and all that was said."""
    with StrictServer([Say("Done.")]) as server:
        async with opened("anthropic", server) as model:
            await model.request(Request(said(), (READ_FILE,)))
        body = server.requests[0].body
    assert "cache_control" in body["system"][-1]
    assert "cache_control" in body["tools"][-1]
    assert "cache_control" in body["messages"][-1]["content"][-1]


@EACH
@pytest.mark.parametrize("status", [429, 500, 503])
@BOTH
async def test_passing_failures_are_tried_again(form: str, status: int, streamed: bool):
    """An overloaded provider is asked again, and the reply says so."""
    with StrictServer([Fail(status), Fail(status), Say("Done.")]) as server:
        async with opened(form, server) as model:
            reply, _ = await ask(model, Request(said()), streamed=streamed)
        assert len(server.requests) == 3
    assert reply.message.text == "Done."
    assert "sent again 2 times" in reply.notes[0]
    assert str(status) in reply.notes[0]


@EACH
@BOTH
async def test_retry_after_is_kept_to(form: str, streamed: bool):
    """The provider's own waiting time counts, not ours."""
    with StrictServer([Fail(429, retry_after=1), Say("Done.")]) as server:
        async with opened(form, server) as model:
            began = time.monotonic()
            await ask(model, Request(said()), streamed=streamed)
    assert time.monotonic() - began >= 1


async def test_a_wait_beyond_the_deadline_is_not_begun():
    """A provider that asks to come back in an hour is told of at once."""
    with StrictServer([Fail(429, retry_after=3600)]) as server:
        async with opened("openai", server) as model:
            began = time.monotonic()
            with pytest.raises(TimedOut, match=r"due in 3600 s.*429"):
                await model.request(Request(said()))
    assert time.monotonic() - began < 15


@EACH
@pytest.mark.parametrize("after", [0, 100], ids=["before", "within"])
@BOTH
async def test_a_cut_connection_is_tried_again(form: str, after: int, streamed: bool):
    """A connection that breaks is made anew; pieces already given are declared void."""
    with StrictServer([Cut(after), Say("Done.")]) as server:
        async with opened(form, server) as model:
            reply, pieces = await ask(model, Request(said()), streamed=streamed)
    assert reply.message.text == "Done."
    if voided := [at for at, piece in enumerate(pieces) if piece.again]:
        pieces = pieces[voided[-1] + 1 :]
    if streamed:
        assert "".join(piece.text for piece in pieces) == "Done."


@EACH
async def test_a_stream_cut_after_words_begins_anew(form: str):
    """Who shows a stream learns that what it showed is void."""
    long = Say("word " * 200)
    with StrictServer([Cut(2_000, long), Say("Done.")]) as server:
        async with opened(form, server) as model:
            _, pieces = await ask(model, Request(said()), streamed=True)
    assert any(piece.again for piece in pieces)
    assert "".join(piece.text for piece in pieces if piece.text).endswith("Done.")


@EACH
@BOTH
async def test_an_empty_body_is_an_error(form: str, streamed: bool):
    """Status 200 without an answer is tried again, and in the end is an error, not an answer."""
    with StrictServer([EmptyBody(), Say("Done.")]) as server:
        async with opened(form, server) as model:
            reply, _ = await ask(model, Request(said()), streamed=streamed)
    assert reply.message.text == "Done."
    with StrictServer([EmptyBody()] * 4) as server:
        async with opened(form, server) as model:
            with pytest.raises(ProviderRefused, match="status 200") as caught:
                await ask(model, Request(said()), streamed=streamed)
    assert caught.value.status == 200


@EACH
@BOTH
async def test_an_error_inside_a_stream(form: str, streamed: bool):
    """An error that comes after the first words is an error all the same."""
    fail = Fail(500, midway=True) if streamed else Fail(500)
    with StrictServer([fail, Say("Done.")]) as server:
        async with opened(form, server) as model:
            reply, _ = await ask(model, Request(said()), streamed=streamed)
    assert reply.message.text == "Done."


@EACH
@BOTH
async def test_too_long_a_context_is_recognised(form: str, streamed: bool):
    """The vendors' words become one error with the limit they name; it is not tried again."""
    with StrictServer([TooLong(2_048)]) as server:
        async with opened(form, server) as model:
            with pytest.raises(ContextTooLong) as caught:
                await ask(model, Request(said()), streamed=streamed)
        assert len(server.requests) == 1
    assert caught.value.limit in (2_048, None)
    if form != "openai-responses":  # its words name no number
        assert caught.value.limit == 2_048
    assert "\n" not in str(caught.value)


@EACH
@BOTH
async def test_usage_is_counted_where_none_is_given(form: str, streamed: bool):
    """Servers that report no usage: our own count, marked as such."""
    with StrictServer([Say("Done.", usage=Usage(reported=False))]) as server:
        async with opened(form, server) as model:
            reply, _ = await ask(model, Request(said(), (READ_FILE,)), streamed=streamed)
    assert not reply.usage.reported
    assert reply.usage.input_tokens > 40
    assert reply.usage.output_tokens > 0


@EACH
async def test_the_deadline_covers_everything(form: str):
    """A stream that drips is ended at the deadline, whatever was given."""
    slow = Slow(0.5, Say("word " * 200))
    with StrictServer([slow]) as server:
        async with opened(form, server, retry=Retry(deadline=6)) as model:
            began = time.monotonic()
            with pytest.raises(TimedOut, match="within 6 s"):
                await ask(model, Request(said()), streamed=True)
            assert time.monotonic() - began < 10


@EACH
async def test_cancelling_closes_the_connection(form: str):
    """Who stops listening to a stream does not leave the provider talking."""
    slow = Slow(0.1, Say("word " * 500))
    with StrictServer([slow]) as server:
        async with opened(form, server) as model:
            stream = model.stream(Request(said()))
            async for piece in stream:
                if isinstance(piece, Delta):
                    break
            await stream.aclose()  # type: ignore[attr-defined]
            for _ in range(100):
                if server.abandoned:
                    break
                await asyncio.sleep(0.05)
        assert server.abandoned == 1


@EACH
async def test_cancelling_the_task_ends_a_request(form: str):
    """A task that is cancelled while it waits ends at once."""
    with StrictServer([Slow(5)], complete=False) as server:
        async with opened(form, server) as model:
            task = asyncio.create_task(model.request(Request(said())))
            await asyncio.sleep(0.5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task


@EACH
async def test_a_wrong_name_is_one_clear_line(form: str):
    """A model that the provider does not have is named, with the host."""
    with StrictServer([], models=["other"], complete=False) as server:
        async with opened(form, server) as model:
            with pytest.raises(UnknownModel) as caught:
                await model.request(Request(said()))
    line = str(caught.value)
    assert "test-model" in line
    assert "\n" not in line


@EACH
async def test_a_wrong_key_names_its_variable(form: str):
    """A refused key says which variable to look at, and is not tried again."""
    with StrictServer([], key="another", complete=False) as server:
        async with opened(form, server) as model:
            with pytest.raises(ProviderRefused, match="_API_KEY") as caught:
                await model.request(Request(said()))
        assert len(server.requests) <= 1
    assert caught.value.status == 401


@EACH
async def test_an_unreachable_host_is_named(form: str):
    """Nobody listens there: one line with the host and what to check."""
    with StrictServer([]) as server:
        url = server.url
    model = open_model(f"{form}:test-model", base_url=url, key="key", retry=QUICK)
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1") as caught:
        await model.request(Request(said()))
    await close_model(model)
    assert "\n" not in str(caught.value)


async def test_a_model_survives_its_event_loop():
    """A model that was asked in one event loop can be asked in another."""
    with StrictServer([Say("One."), Say("Two.")]) as server:
        model = open_model("openai:m", base_url=server.openai_url, key="key", retry=QUICK)

        def run() -> str:
            async def once() -> Reply:
                try:
                    return await model.request(Request(said()))
                finally:
                    await close_model(model)

            return asyncio.run(once()).message.text

        assert await asyncio.to_thread(run) == "One."
        assert await asyncio.to_thread(run) == "Two."


async def test_calls_in_text_count_when_they_fit():
    """A call that a small model wrote as JSON is a call, and this is noted."""
    text = 'Sure:\n```json\n{"name": "read_file", "arguments": {"path": "a.py"}}\n```'
    with StrictServer([Say(text), Say("Done.")]) as server:
        async with opened("openai", server) as model:
            reply = await model.request(Request(said(), (READ_FILE,)))
            result = ToolResult(reply.message.calls[0].id, (Text("x = 1"),))
            history = said().add(reply.message, Message("tool", (result,)))
            await model.request(Request(history, (READ_FILE,)))
        assert server.refusals == []
    assert reply.finish == "calls"
    assert reply.message.calls[0].parsed() == {"path": "a.py"}
    assert "taken as a call" in reply.notes[0]


@BOTH
async def test_a_wanted_call_is_forced_by_a_schema(streamed: bool):
    """A server that ignores that a call is wanted is asked again under the schema of a call."""
    call = '{"name": "read_file", "arguments": {"path": "a.py"}}'
    with StrictServer([Say("I would rather talk."), Say(call)], flavour="llama.cpp") as server:
        async with opened("openai", server) as model:
            request = Request(said(), (READ_FILE,), must_call=True)
            reply, _ = await ask(model, request, streamed=streamed)
        assert "response_format" in server.requests[1].body
    assert reply.message.calls[0].parsed() == {"path": "a.py"}


@EACH
async def test_an_answer_under_a_schema(form: str):
    """The schema of the answer is sent in the provider's own way."""
    schema = {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
        "required": ["facts"],
        "additionalProperties": False,
    }
    with StrictServer([Say('{"facts": ["a"]}')]) as server:
        async with opened(form, server) as model:
            reply = await model.request(Request(said(), schema=schema))
        assert "facts" in str(server.requests[0].body)
        assert server.refusals == []
    assert reply.message.text == '{"facts": ["a"]}'


async def test_settings_reach_the_provider():
    """Temperature and output cap are sent; the cap never exceeds what the model can."""
    with StrictServer([Say("Done.")] * 2) as server:
        async with opened("openai", server, max_output=1_000) as model:
            await model.request(Request(said(), temperature=0.2, max_output=50))
            await model.request(Request(said(), max_output=90_000))
        first, second = (asked.body for asked in server.requests)
    assert first["temperature"] == 0.2
    assert (first["max_tokens"], second["max_tokens"]) == (50, 1_000)


@pytest.mark.parametrize(
    ("form", "model", "field"),
    [
        ("openai", "qwen3", "max_tokens"),
        ("openai", "gpt-5-mini", "max_completion_tokens"),
        ("ollama", "qwen3:8b", "max_tokens"),
    ],
)
async def test_the_output_cap_has_the_name_that_the_server_knows(form: str, model: str, field: str):
    """OpenAI's newer models insist on the new name; other servers may only know the old one."""
    with StrictServer([Say("Done.")]) as server:
        async with opened(form, server, model=model) as found:
            await found.request(Request(said(), max_output=50))
    assert server.requests[0].body[field] == 50


def test_a_missing_key_is_said_when_opened(monkeypatch: pytest.MonkeyPatch):
    """Without a key the line names the variable to set, before anything is sent."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        open_model("openai:gpt-5")
    with pytest.raises(MissingKey, match="GOOGLE_API_KEY or GEMINI_API_KEY"):
        open_model("google:gemini-2.5-pro")
