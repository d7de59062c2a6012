"""The providers: what each needs, and the pydantic-ai model that talks to it.

pydantic-ai and the providers' clients are imported on the first request, not before: it takes
seconds. What is missing (a key, a package) is said when a model is opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from unremember.errors import MissingKey, UnknownModel
from unremember.models import wire
from unremember.models.facts import OLLAMA_WINDOW, facts_of, is_local
from unremember.models.wire import Wire

if TYPE_CHECKING:
    from pydantic_ai.models import Model as PydanticModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    from unremember.models.base import ModelFacts

# Seconds until a connection must stand. That of the whole answer is the deadline of `Retry`.
CONNECT = 10.0

# OpenAI's models that refuse the old name of the output cap.
_INSISTS = re.compile(r"(?:^|/)(?:gpt-[5-9]|o[1-9])")

# Servers on one's own machine ask for no key, but the clients refuse to have none.
NO_KEY = "unused"


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: its wire, the variables of its key (first the one to name) and base URL."""

    wire: Wire
    package: str
    keys: tuple[str, ...]
    url: str
    url_variable: str


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(
        wire.OPENAI_CHAT,
        "openai",
        ("OPENAI_API_KEY",),
        "https://api.openai.com/v1",
        "OPENAI_BASE_URL",
    ),
    "openai-responses": Provider(
        wire.OPENAI_RESPONSES,
        "openai",
        ("OPENAI_API_KEY",),
        "https://api.openai.com/v1",
        "OPENAI_BASE_URL",
    ),
    "anthropic": Provider(
        wire.ANTHROPIC,
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        "https://api.anthropic.com",
        "ANTHROPIC_BASE_URL",
    ),
    "google": Provider(
        wire.GOOGLE,
        "google.genai",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL",
    ),
    "ollama": Provider(wire.OLLAMA, "openai", (), "http://127.0.0.1:11434/v1", "OLLAMA_HOST"),
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at a provider, with everything that is needed to ask it."""

    name: str
    model: str
    provider: Provider
    url: str
    key: str = field(repr=False)
    facts: ModelFacts

    @property
    def variable(self) -> str:
        """The environment variable of the key; empty if none is needed."""
        return self.provider.keys[0] if self.provider.keys else ""


def endpoint(provider: str, model: str, *, base_url: str = "", key: str = "") -> Endpoint:
    """A model at a provider. Raises `MissingKey`, and `UnknownModel` when a package is missing."""
    found = PROVIDERS[provider]
    name = f"{provider}:{model}"
    for package in ("pydantic_ai", found.package):
        if not _is_installed(package):
            raise UnknownModel(
                f"{name}: the package {package} is not installed: pip install 'unremember[agent]'"
            )
    given = base_url or os.environ.get(found.url_variable, "")
    url = (_ollama_url(given) if provider == "ollama" else given) or found.url
    key = key or next(filter(None, map(os.environ.get, found.keys)), "")
    if not key and found.keys and not given:
        raise MissingKey(f"{name}: no API key; set {' or '.join(found.keys)} in the environment.")
    facts = _ollama_facts(model) if provider == "ollama" else facts_of(model, local=is_local(url))
    return Endpoint(name, model, found, url, key or NO_KEY, facts)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _ollama_url(given: str) -> str:
    """The URL of an Ollama server from what its variable may hold, as in `0.0.0.0:11434`."""
    if not given:
        return ""
    parts = urlsplit(given if "://" in given else f"http://{given}")
    # The address that a server listens on is none to connect to.
    host = "127.0.0.1" if parts.hostname in (None, "0.0.0.0", "::") else parts.hostname
    host = f"[{host}]" if ":" in host else host
    port = parts.port or (443 if parts.scheme == "https" else 11434)
    path = parts.path.rstrip("/")
    return f"{parts.scheme}://{host}:{port}{path if path.endswith('/v1') else path + '/v1'}"


def _ollama_facts(model: str) -> ModelFacts:
    """Ollama's window is the server's setting, whatever the model could do."""
    told = os.environ.get("OLLAMA_CONTEXT_LENGTH", "")
    window = int(told) if told.isdigit() and int(told) else OLLAMA_WINDOW
    facts = facts_of(model, local=True)
    return replace(
        facts,
        context_window=window,
        max_output=min(facts.max_output, max(1, window // 2)),
        known=bool(told),
    )


@dataclass(frozen=True, slots=True)
class Connection:
    """A pydantic-ai model, and how to close its connections."""

    model: PydanticModel
    close: Callable[[], Awaitable[Any]]


def connect(at: Endpoint, deadline: float) -> Connection:
    """The pydantic-ai model of an endpoint. Its client retries nothing: that is done here."""
    match at.provider.wire:
        case wire.ANTHROPIC:
            return _anthropic(at, deadline)
        case wire.GOOGLE:
            return _google(at, deadline)
        case _:
            return _openai(at, deadline)


def _openai(at: Endpoint, deadline: float) -> Connection:
    from openai import AsyncOpenAI, Timeout
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        api_key=at.key,
        base_url=at.url,
        max_retries=0,
        timeout=Timeout(deadline, connect=CONNECT),
    )
    match at.provider.wire:
        case wire.OLLAMA:
            ollama = OllamaProvider(openai_client=client)
            model = OllamaModel(at.model, provider=ollama, profile=_chat_profile(at))
        case wire.OPENAI_RESPONSES:
            model = OpenAIResponsesModel(at.model, provider=OpenAIProvider(openai_client=client))
        case _:
            provider = OpenAIProvider(openai_client=client)
            model = OpenAIChatModel(at.model, provider=provider, profile=_chat_profile(at))
    return Connection(model, client.close)


def _chat_profile(at: Endpoint) -> OpenAIModelProfile | None:
    """What differs from pydantic-ai's profile: the name of the output cap.

    OpenAI has a new one, which its newer models insist on, be it behind a proxy; other servers
    know the old one, and many of them nothing else.
    """
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    host = urlsplit(at.url).hostname or ""
    if host.endswith(("openai.com", "azure.com")) or _INSISTS.search(at.model):
        return None
    return OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)


def _anthropic(at: Endpoint, deadline: float) -> Connection:
    from anthropic import AsyncAnthropic, Timeout
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=at.key,
        base_url=at.url,
        max_retries=0,
        timeout=Timeout(deadline, connect=CONNECT),
    )
    provider = AnthropicProvider(anthropic_client=client)
    return Connection(AnthropicModel(at.model, provider=provider), client.close)


def _google(at: Endpoint, deadline: float) -> Connection:
    from google.genai import Client
    from google.genai.types import HttpOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    options = HttpOptions(base_url=at.url, timeout=int(deadline * 1000))
    client = Client(api_key=at.key, vertexai=False, http_options=options)
    model = GoogleModel(at.model, provider=GoogleProvider(client=client))
    return Connection(model, client.aio.aclose)
