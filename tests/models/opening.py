"""Opening models against servers on the loopback interface, in all the forms they speak."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from unremember.history import History
from unremember.messages import Message, Text
from unremember.models import (
    Delta,
    Model,
    Reply,
    Request,
    Retry,
    ToolSpec,
    close_model,
    open_model,
)
from unremember.testing import StrictServer

FORMS = ("openai", "openai-responses", "anthropic")

QUICK = Retry(attempts=4, first=0.01, longest=0.05, deadline=20)

READ_FILE = ToolSpec(
    "read_file",
    "Reads a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "first": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)


@asynccontextmanager
async def opened(
    form: str,
    server: StrictServer,
    *,
    model: str = "test-model",
    retry: Retry = QUICK,
    **overrides: Any,
) -> AsyncGenerator[Model]:
    """A model at the server, its connections closed at the end."""
    url = server.url if form == "anthropic" else server.openai_url
    facts: dict[str, Any] = {"context_window": 128_000, "max_output": 4_096, **overrides}
    found = open_model(f"{form}:{model}", base_url=url, key="key", retry=retry, **facts)
    try:
        yield found
    finally:
        await close_model(found)


def said(text: str = "What is in a.py?", system: str = "Be brief.") -> History:
    """A history in which a user said something."""
    head = (Message("system", (Text(system),)),) if system else ()
    return History(head).add(Message("user", (Text(text),)))


async def ask(model: Model, request: Request, *, streamed: bool) -> tuple[Reply, list[Delta]]:
    """The reply, and the pieces it came in."""
    if not streamed:
        return await model.request(request), []
    items = [item async for item in model.stream(request)]
    assert isinstance(items[-1], Reply)
    return items[-1], [item for item in items if isinstance(item, Delta)]
