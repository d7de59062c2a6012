"""Models behind one port, `Model`: providers, local files, and a script for tests.

`open_model` takes a name such as `anthropic:claude-sonnet-5` and gives a model. Nothing is
imported from a provider, and nothing is sent, before the first request.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from unremember.errors import UnknownModel
from unremember.models.base import (
    Delta,
    Finish,
    Model,
    ModelFacts,
    Reply,
    Request,
    ToolSpec,
    Usage,
)
from unremember.models.counting import counter_of
from unremember.models.facts import output_tokens, overridden
from unremember.models.providers import PROVIDERS, endpoint
from unremember.models.retry import Retry

__all__ = [
    "PROVIDERS",
    "Delta",
    "Finish",
    "Model",
    "ModelFacts",
    "Reply",
    "Request",
    "Retry",
    "ToolSpec",
    "Usage",
    "close_model",
    "counter_of",
    "open_model",
    "output_tokens",
]


def open_model(
    name: str,
    *,
    base_url: str = "",
    key: str = "",
    retry: Retry | None = None,
    **overrides: Any,
) -> Model:
    """The model of a name: `openai:…`, `openai-responses:…`, `anthropic:…`, `google:…`,
    `ollama:…`, `gguf:PATH` or `scripted:FILE`.

    `base_url` and `key` go before the environment's; a base URL makes `openai:NAME` any server
    that speaks OpenAI's API. `overrides` are fields of `ModelFacts` whose value the user knows
    better. Raises `MissingKey`, `UnknownModel` and `InputError`, each with one line that says
    what to do.
    """
    provider, _, model = name.partition(":")
    match provider:
        case "gguf" if model:
            from unremember.models.gguf import Gguf, open_gguf

            path, facts = open_gguf(model)
            return Gguf(path, overridden(facts, overrides), retry)
        case "scripted" if model:
            from unremember.models.scripted import from_file

            script = from_file(model)
            if not overrides:
                return script
            return from_file(model, facts=overridden(script.facts, overrides))
        case _ if provider in PROVIDERS and model:
            from dataclasses import replace

            from unremember.models.remote import Remote

            at = endpoint(provider, model, base_url=base_url, key=key)
            return Remote(replace(at, facts=overridden(at.facts, overrides)), retry)
        case _:
            known = ", ".join((*PROVIDERS, "gguf", "scripted"))
            raise UnknownModel(
                f"{name!r} names no model; write PROVIDER:MODEL, the provider one of {known}."
            )


@runtime_checkable
class _Closable(Protocol):
    async def aclose(self) -> None: ...


async def close_model(model: Model) -> None:
    """Closes the connections of a model that has some; it can be asked again afterwards."""
    if isinstance(model, _Closable):
        await model.aclose()
