"""A model in a GGUF file on this machine, run by the embedded llama.cpp (`gguf:PATH`).

The history is written by the writer of OpenAI chat messages. A call is forced by a JSON schema:
small models' chat templates often know no tools, and then the tools are described in the system
message, and calls are read from the text.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unremember.errors import ContextTooLong, ModelError, ProviderRefused, TimedOut, UnknownModel
from unremember.formats import openai_chat
from unremember.formats.shape import Object, as_list, as_object, as_objects, as_text
from unremember.messages import Message, Part, Text, Thinking, ToolCall
from unremember.models.base import Delta, Finish, ModelFacts, Reply, Request, ToolSpec, Usage
from unremember.models.counting import written
from unremember.models.facts import output_tokens
from unremember.models.gguf_file import read_head, trained_window
from unremember.models.llama import Engine, engine
from unremember.models.refusals import recognise, words_of
from unremember.models.retry import Retry
from unremember.models.text_calls import call_schema, take_text_calls
from unremember.prompts import prompt
from unremember.tokens import Counter

LARGEST_WINDOW = 8_192
"""Tokens of context unless the user asks for more: each costs memory, whether it is used or not."""

_FINISHES: dict[str, Finish] = {"stop": "stop", "length": "length", "tool_calls": "calls"}


def facts_of_file(path: Path) -> ModelFacts:
    """What a GGUF file says of its model. Raises `UnknownModel` if it cannot be read."""
    trained = trained_window(read_head(path))
    window = min(trained or LARGEST_WINDOW, LARGEST_WINDOW)
    return ModelFacts(
        context_window=window,
        max_output=max(1, window // 2),
        parallel_calls=False,
        known=bool(trained),
    )


class Gguf:
    """A model in a GGUF file. The window of its facts is the one that it is run with."""

    def __init__(self, path: Path, facts: ModelFacts, retry: Retry | None = None) -> None:
        self._path = path
        self._facts = facts
        self._deadline = (retry or Retry()).deadline
        self._engine: Engine = engine(path, facts.context_window)

    @property
    def name(self) -> str:
        """The name it was opened by."""
        return f"gguf:{self._path}"

    @property
    def facts(self) -> ModelFacts:
        """What it can do."""
        return self._facts

    @property
    def counter(self) -> Counter:
        """Counts exactly, by the model's own tokenizer; the first count loads the model."""
        return Counter("llama.cpp", lambda texts: self._engine.count(list(texts)))

    async def weigh(self, request: Request) -> int:
        """The tokens of a whole request exactly, as the model's chat template writes it."""
        body = await asyncio.to_thread(self._body, request)
        return await asyncio.to_thread(self._engine.count_request, body)

    async def request(self, request: Request) -> Reply:
        """Asks and waits for the whole answer. Raises `ModelError`s."""
        async with aclosing(self.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    return piece
        raise ProviderRefused(f"{self.name}: llama.cpp gave no answer")

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """Asks and gives the answer in pieces, the whole `Reply` last. Raises `ModelError`s."""
        ends = asyncio.get_running_loop().time() + self._deadline
        body = await asyncio.to_thread(self._body, request)
        answer = _Answer()
        async with aclosing(self._engine.chat(body)) as chunks:
            while True:
                try:
                    async with asyncio.timeout_at(ends):
                        chunk = await anext(chunks)
                except StopAsyncIteration:
                    break
                except TimeoutError:
                    raise TimedOut(
                        f"{self.name}: no complete answer within {self._deadline:g} s. "
                        "Raise the deadline, or take a smaller model."
                    ) from None
                if "error" in chunk:
                    raise self._refused(chunk)
                for delta in answer.take(chunk):
                    yield delta
        yield self._reply(answer, request)

    def _body(self, request: Request) -> dict[str, Any]:
        """The request in the form of the server's API."""
        messages = openai_chat.write(request.history)
        body: dict[str, Any] = {
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": output_tokens(request, self._facts),
            "cache_prompt": True,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        schema = request.schema
        if request.offered and request.must_call:
            schema = schema or call_schema(request.offered)
        if request.offered and (request.must_call or not self._engine.knows_tools()):
            body["messages"] = _with_tools(messages, request.offered)
        elif request.offered:
            body["tools"] = [_function(tool) for tool in request.offered]
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": schema},
            }
        body["messages"] = _written_plainly(body["messages"], with_calls="tools" in body)
        return body

    def _refused(self, chunk: Object) -> ModelError:
        said = words_of(chunk)
        line = f"{self.name}: llama.cpp said: {said}"
        if long := recognise(said):
            return ContextTooLong(line, 400, long.limit or self._facts.context_window)
        return ProviderRefused(line, 400)

    def _reply(self, answer: _Answer, request: Request) -> Reply:
        reply = answer.reply()
        if reply is None:
            raise ProviderRefused(f"{self.name}: llama.cpp broke off without an answer")
        return take_text_calls(replace(reply, model=self._path.name), request.offered)


def open_gguf(path: str) -> tuple[Path, ModelFacts]:
    """The file and its facts. Raises `UnknownModel` with the path for what cannot be read."""
    file = Path(path).expanduser()
    if not path:
        raise UnknownModel("gguf: names no file; write gguf:PATH")
    return file, facts_of_file(file)


@dataclass(slots=True)
class _Answer:
    """The answer as it comes in."""

    text: list[str] = field(default_factory=list[str])
    thinking: list[str] = field(default_factory=list[str])
    calls: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])
    finish: str = ""
    usage: Usage | None = None

    def take(self, chunk: Object) -> Iterator[Delta]:
        """Takes a chunk in, and gives what it adds."""
        if usage := as_object(chunk.get("usage")):
            self.usage = _usage(usage)
        for choice in as_objects(chunk.get("choices")):
            self.finish = as_text(choice.get("finish_reason")) or self.finish
            delta = as_object(choice.get("delta"))
            if text := as_text(delta.get("content")):
                self.text.append(text)
                yield Delta(text=text)
            if thought := as_text(delta.get("reasoning_content")):
                self.thinking.append(thought)
                yield Delta(thinking=thought)
            for call in as_objects(delta.get("tool_calls")):
                yield self._take_call(call)

    def _take_call(self, piece: Object) -> Delta:
        index = piece.get("index")
        call = self.calls.setdefault(
            index if isinstance(index, int) else 0, {"id": "", "name": "", "arguments": ""}
        )
        function = as_object(piece.get("function"))
        call["id"] += as_text(piece.get("id"))
        call["name"] += as_text(function.get("name"))
        call["arguments"] += as_text(function.get("arguments"))
        return Delta(call=call["name"])

    def reply(self) -> Reply | None:
        """The whole answer; None if it broke off."""
        if not self.finish:
            return None
        parts: list[Part] = []
        if thought := "".join(self.thinking):
            parts.append(Thinking(thought))
        if (text := "".join(self.text)).strip() or not self.calls:
            parts.append(Text(text))
        for index, call in sorted(self.calls.items()):
            id = call["id"] or f"call-{index + 1}"
            parts.append(ToolCall(id, call["name"], call["arguments"] or "{}"))
        finish = _FINISHES.get(self.finish, "other")
        if self.calls and finish == "stop":
            finish = "calls"
        return Reply(
            Message("assistant", tuple(parts)), self.usage or Usage(reported=False), finish
        )


def _usage(given: Object) -> Usage:
    def number(fields: Object, key: str) -> int:
        value = fields.get(key)
        return value if isinstance(value, int) else 0

    return Usage(
        input_tokens=number(given, "prompt_tokens"),
        cached_tokens=number(as_object(given.get("prompt_tokens_details")), "cached_tokens"),
        output_tokens=number(given, "completion_tokens"),
    )


def _function(tool: ToolSpec) -> Object:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def _with_tools(messages: list[Object], tools: Sequence[ToolSpec]) -> list[Object]:
    """The messages, the tools described at the end of the system message."""
    told = prompt("tools_as_text").format(tools=written(tools))
    head, rest = messages[:1], messages[1:]
    if head and head[0].get("role") == "system":
        return [{**head[0], "content": f"{_plain(head[0])}\n\n{told}"}, *rest]
    return [{"role": "system", "content": told}, *messages]


def _written_plainly(messages: list[Object], *, with_calls: bool) -> list[Object]:
    """The messages as plain templates take them: every content a text.

    Where the template knows no tools, calls stand in the text as the model was told to write them,
    and results are told by the user.
    """
    if with_calls:
        return [{**message, "content": _plain(message)} for message in messages]
    plain: list[Object] = []
    for message in messages:
        said = _plain(message)
        role = as_text(message.get("role"))
        calls = [as_object(call.get("function")) for call in as_objects(message.get("tool_calls"))]
        lines = [said] if said else []
        lines += [
            f'{{"name": "{call.get("name")}", "arguments": {call.get("arguments")}}}'
            for call in calls
        ]
        if role == "tool":
            role, lines = "user", [f"Result of the tool:\n{said}"]
        if plain and plain[-1]["role"] == role:
            plain[-1] = {"role": role, "content": "\n\n".join([plain[-1]["content"], *lines])}
        else:
            plain.append({"role": role, "content": "\n".join(lines)})
    return plain


def _plain(message: Object) -> str:
    """The text of a message, whichever way its content is written."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(as_text(as_object(part).get("text")) for part in as_list(content))
