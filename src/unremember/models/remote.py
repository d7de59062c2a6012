"""A model at a provider: asks, tries again, and reads the answer.

The whole of a request, its retries included, has one deadline. Cancelling the task or closing the
stream closes the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from unremember.messages import Message
from unremember.models.base import Delta, Finish, ModelFacts, Reply, Request, Usage
from unremember.models.counting import counted_usage
from unremember.models.facts import output_tokens
from unremember.models.failures import Address, Failure, NoAnswer, understand
from unremember.models.providers import Connection, Endpoint, connect
from unremember.models.retry import Retry, Tries
from unremember.models.text_calls import call_schema, take_text_calls
from unremember.models.wire import (
    ANTHROPIC,
    OLLAMA,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    Memo,
    to_message,
    to_messages,
)

if TYPE_CHECKING:
    from pydantic_ai import messages as pai
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_FINISHES: dict[str | None, Finish] = {
    "stop": "stop",
    "tool_call": "calls",
    "length": "length",
    "content_filter": "refused",
}


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request in pydantic-ai's terms."""

    messages: list[pai.ModelMessage]
    settings: ModelSettings
    parameters: ModelRequestParameters


class Remote:
    """A model behind a provider's API."""

    def __init__(self, at: Endpoint, retry: Retry | None = None) -> None:
        self._at = at
        self._retry = retry or Retry()
        self._address = Address(at.name, at.model, at.url, at.variable)
        self._memo = Memo()
        self._opening: tuple[asyncio.AbstractEventLoop, asyncio.Future[Connection]] | None = None

    @property
    def name(self) -> str:
        """The name it was opened by."""
        return self._at.name

    @property
    def facts(self) -> ModelFacts:
        """What it can do."""
        return self._at.facts

    async def request(self, request: Request) -> Reply:
        """Asks and waits for the whole answer. Raises `ModelError`s."""
        tries = Tries(self.name, self._retry)
        reply = await self._with_call(await self._answer(request, tries), request, tries)
        return replace(reply, notes=(*reply.notes, *tries.notes()))

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """Asks and gives the answer piece by piece, the whole `Reply` last. Raises `ModelError`s.

        When the connection breaks after pieces were given, a `Delta(again=True)` says that the
        answer begins anew.
        """
        tries = Tries(self.name, self._retry)
        given = False
        while True:
            failures = len(tries.failures)
            async with aclosing(self._pieces(request, tries)) as pieces:
                async for piece in pieces:
                    given = True
                    if isinstance(piece, Reply):
                        whole = await self._with_call(piece, request, tries)
                        piece = replace(whole, notes=(*whole.notes, *tries.notes()))
                    yield piece
            if len(tries.failures) == failures:
                return
            if given:
                yield Delta(again=True)

    async def aclose(self) -> None:
        """Closes its connections. It can be asked again; it opens new ones then."""
        opening, self._opening = self._opening, None
        if opening and opening[0] is asyncio.get_running_loop():
            await (await opening[1]).close()

    @property
    def _takes_schemas(self) -> bool:
        """Servers of this form often ignore that a call is wanted, and obey a schema."""
        return self._at.provider.wire in (OPENAI_CHAT, OLLAMA)

    async def _with_call(self, reply: Reply, request: Request, tries: Tries) -> Reply:
        """The reply; where a call was wanted and none came, one forced by the schema of a call."""
        if not request.must_call or reply.message.calls or not self._takes_schemas:
            return reply
        return _together(reply, await self._answer(_under_schema(request), tries))

    async def _answer(self, request: Request, tries: Tries) -> Reply:
        while True:
            try:
                async with asyncio.timeout_at(tries.ends):
                    return await self._once(request, len(tries.failures))
            except TimeoutError as error:
                if asyncio.get_running_loop().time() >= tries.ends:
                    raise tries.late() from error
                await tries.wait(self._understood(error), error)
            except Exception as error:  # noqa: BLE001 - sorted in there; a mistake of ours is raised
                await tries.wait(self._understood(error), error)

    async def _once(self, request: Request, failures: int) -> Reply:
        from pydantic_ai.direct import model_request

        model = (await self._connected()).model
        asked = self._asked(request, model.profile)
        response = await model_request(
            model,
            asked.messages,
            model_settings=asked.settings,
            model_request_parameters=asked.parameters,
            instrument=False,
        )
        return await self._reply(response, request, failures)

    async def _pieces(self, request: Request, tries: Tries) -> AsyncGenerator[Delta | Reply]:
        """One attempt at streaming; when it failed and is worth another, the wait is over."""
        try:
            async with aclosing(self._stream_once(request, len(tries.failures))) as pieces:
                while True:
                    try:
                        async with asyncio.timeout_at(tries.ends):
                            piece = await anext(pieces)
                    except StopAsyncIteration:
                        return
                    yield piece
        except TimeoutError as error:
            if asyncio.get_running_loop().time() >= tries.ends:
                raise tries.late() from error
            await tries.wait(self._understood(error), error)
        except Exception as error:  # noqa: BLE001 - sorted in there; a mistake of ours is raised
            await tries.wait(self._understood(error), error)

    async def _stream_once(self, request: Request, failures: int) -> AsyncGenerator[Delta | Reply]:
        from pydantic_ai.direct import model_request_stream

        model = (await self._connected()).model
        asked = self._asked(request, model.profile)
        calls: dict[int, str] = {}
        async with model_request_stream(
            model,
            asked.messages,
            model_settings=asked.settings,
            model_request_parameters=asked.parameters,
            instrument=False,
        ) as events:
            async for event in events:
                if delta := _delta(event, calls):
                    yield delta
            response = events.get()
        yield await self._reply(response, request, failures, streamed=True)

    def _understood(self, error: Exception) -> Failure:
        failure = understand(error, self._address)
        if failure is None:
            raise error
        return failure

    async def _connected(self) -> Connection:
        """The connection of this event loop; the imports behind it run in a thread."""
        loop = asyncio.get_running_loop()
        if self._opening is None or self._opening[0] is not loop:
            opening = loop.run_in_executor(None, connect, self._at, self._retry.deadline)
            self._opening = (loop, opening)
        return await asyncio.shield(self._opening[1])

    def _asked(self, request: Request, profile: Any) -> _Asked:
        wire, facts = self._at.provider.wire, self.facts
        return _Asked(
            to_messages(request.history, wire, sees_images=facts.sees_images, memo=self._memo),
            self._settings(request, profile),
            _parameters(request, profile),
        )

    def _settings(self, request: Request, profile: Any) -> ModelSettings:
        settings: dict[str, Any] = {"max_tokens": output_tokens(request, self.facts)}
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        if request.tools and not self.facts.parallel_calls:
            settings["parallel_tool_calls"] = False
        if request.tools and request.must_call and profile.get("supports_forced_tool_choice", True):
            settings["tool_choice"] = "required"
        if request.tools and request.no_calls:
            settings["tool_choice"] = "none"
        if self._at.provider.wire is ANTHROPIC:
            # The marks: what stays the same for the whole conversation, and all that was said.
            settings["anthropic_cache_tool_definitions"] = bool(request.tools)
            settings["anthropic_cache_instructions"] = bool(request.history.system)
            settings["anthropic_cache_messages"] = True
        if self._at.provider.wire is OPENAI_RESPONSES:
            # Nothing is to stay with the provider; reasoning then comes back to us, encrypted.
            settings["openai_store"] = False
        return cast("ModelSettings", settings)

    async def _reply(
        self,
        response: pai.ModelResponse,
        request: Request,
        failures: int,
        *,
        streamed: bool = False,
    ) -> Reply:
        """The reply in a response. Raises `NoAnswer` for one that holds nothing or breaks off."""
        message = to_message(response, self._at.provider.wire)
        said_why = _said_why(response)
        if streamed and not said_why and not failures and self._takes_schemas:
            # Some servers never say why they end; so only the first such answer is suspected.
            raise NoAnswer("the stream ended without a finish reason")
        usage = _usage(response)
        empty = not any((message.text.strip(), message.calls, len(message.parts) > 1))
        if empty and not usage.output_tokens and not said_why:
            raise NoAnswer("an empty answer")
        if not usage.reported:
            usage = await asyncio.to_thread(counted_usage, request, message, self.facts)
        finish = _FINISHES.get(response.finish_reason, "other")
        if message.calls and finish in ("stop", "other"):
            finish = "calls"
        notes = ("the model answered with nothing",) if _is_nothing(message) else ()
        model = response.model_name or self._at.model
        return take_text_calls(Reply(message, usage, finish, model, notes), request.offered)


def _parameters(request: Request, profile: Any) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    tools = [
        ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
        )
        for tool in request.tools
    ]
    if request.schema is None:
        return ModelRequestParameters(function_tools=tools)
    native = bool(profile.get("supports_json_schema_output", False))
    return ModelRequestParameters(
        function_tools=tools,
        output_mode="native" if native else "prompted",
        output_object=OutputObjectDefinition(json_schema=request.schema, name="answer"),
    )


def _under_schema(request: Request) -> Request:
    """The request for a call, as one for JSON of the shape of a call."""
    return replace(request, schema=call_schema(request.tools), must_call=False)


def _together(first: Reply, second: Reply) -> Reply:
    """The second reply, with what both cost; the first if the second is no call either."""
    usage = first.usage + second.usage
    if not second.message.calls:
        return replace(first, usage=usage)
    return replace(second, usage=usage)


def _delta(event: Any, calls: dict[int, str]) -> Delta | None:
    """What a streamed event adds; `calls` are the names of the calls begun, by their index."""
    from pydantic_ai import messages as pai

    match event:
        case pai.PartStartEvent(part=pai.TextPart(content=text)) if text:
            return Delta(text=text)
        case pai.PartStartEvent(part=pai.ThinkingPart(content=text)) if text:
            return Delta(thinking=text)
        case pai.PartStartEvent(index=index, part=pai.ToolCallPart(tool_name=name)):
            calls[index] = name
            return Delta(call=name)
        case pai.PartDeltaEvent(delta=pai.TextPartDelta(content_delta=text)) if text:
            return Delta(text=text)
        case pai.PartDeltaEvent(delta=pai.ThinkingPartDelta(content_delta=text)) if text:
            return Delta(thinking=text)
        case pai.PartDeltaEvent(index=index, delta=pai.ToolCallPartDelta()) if index in calls:
            return Delta(call=calls[index])
        case _:
            return None


def _said_why(response: pai.ModelResponse) -> bool:
    """Whether the provider itself gave a reason for the end of the answer."""
    details = response.provider_details or {}
    return bool(details.get("finish_reason"))


def _is_nothing(message: Message) -> bool:
    return not message.calls and not message.text.strip() and len(message.parts) == 1


def _usage(response: pai.ModelResponse) -> Usage:
    """What the provider counted; not `reported` where it gave no numbers."""
    given = response.usage
    return Usage(
        input_tokens=given.input_tokens,
        cached_tokens=given.cache_read_tokens,
        cache_write_tokens=given.cache_write_tokens,
        output_tokens=given.output_tokens,
        reported=bool(given.input_tokens),
    )
