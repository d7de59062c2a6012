"""What went wrong at a provider, as one clear line, and whether it is worth trying again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, cast

from unremember.errors import (
    ContextTooLong,
    ModelError,
    ProviderRefused,
    TimedOut,
    UnknownModel,
    Unreachable,
)
from unremember.models.refusals import recognise, words_of
from unremember.models.retry import Failure

# Too many requests, a conflict or time-out on their side, and everything of 5xx.
_PASSING = frozenset({408, 409, 425, 429, 499})

# Said with a status that usually passes, but waiting does not fill an account.
_EXHAUSTED = re.compile(
    r"insufficient_quota|exceeded your current quota|billing|credit balance|out of credits",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model\b.{0,80}(?:not found|does not exist|not exist|unknown|not supported|not available)"
    r"|(?:unknown|invalid|no such) model|model_not_found|not_found_error.{0,20}model|pulling it",
    re.IGNORECASE | re.DOTALL,
)

# A host that refuses connections may be starting; one that does so thrice is not there.
_CONNECTS = 3

# Attempts at most where an error came without a status.
_WITHOUT_STATUS = 3

# The roots of the modules whose errors mean that a connection was not made, or broke.
_TRANSPORTS = ("httpx", "httpx2", "httpcore", "httpcore2", "anyio", "h11", "aiohttp", "ssl")


class NoAnswer(Exception):
    """An answer with status 200 that holds none, or breaks off without saying so."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a model is asked: the name the user wrote, the model, the host, the key's variable."""

    name: str
    model: str
    url: str
    variable: str = ""


def understand(error: Exception, address: Address) -> Failure | None:
    """What a failed request means; None for an error that is not the provider's: a mistake here."""
    if isinstance(error, NoAnswer):
        return Failure(ProviderRefused(f"{address.name}: {error} (status 200)", 200), again=True)
    if isinstance(error, ModelError):
        return Failure(error)
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _refused(error, status, address)
    broken = next(filter(_is_transport, _causes(error)), None)
    if broken is not None:
        return _broken(broken, address)
    if any(isinstance(cause, ValueError) for cause in _causes(error)) and _is_of_provider(error):
        # JSON that cannot be read, or a body that is no answer of this API.
        return understand(NoAnswer(f"an answer that cannot be read: {_line(error)}"), address)
    kind = type(error).__name__
    if kind == "UnexpectedModelBehavior":
        return understand(NoAnswer(f"no usable answer: {_line(error)}"), address)
    if kind == "UserError":
        return Failure(ProviderRefused(f"{address.name}: {_line(error)}"))
    if _is_of_provider(error):
        return _refused(error, 0, address)
    return None


def _refused(error: Exception, status: int, address: Address) -> Failure:
    """The failure for an answer with an error in it; status 0 when it came inside a stream."""
    bodies = (getattr(cause, "body", None) for cause in _causes(error))
    said = words_of(next(filter(None, bodies), None), getattr(error, "message", "") or str(error))
    at = f" (status {status})" if status else ""
    line = f"{address.name}: the provider said: {said or 'nothing'}{at}"
    if long := recognise(said):
        return Failure(ContextTooLong(line, status, long.limit))
    if status == 413:
        return Failure(ContextTooLong(line, status))
    if status in (401, 403):
        hint = f". Check the key in {address.variable}" if address.variable else ""
        return Failure(ProviderRefused(f"{line}{hint}", status))
    if status == 404 or (status == 400 and _NO_MODEL.search(said)):
        return Failure(_not_found(said, address))
    if _EXHAUSTED.search(said):
        return Failure(ProviderRefused(line, status))
    # Errors in the middle of an answer have no status. What is wrong with a request is said before.
    passing = status in _PASSING or status >= 500 or not status
    most = 0 if status else _WITHOUT_STATUS
    refused = ProviderRefused(line, status)
    return Failure(refused, again=passing, asked=_retry_after(error), most=most)


def _not_found(said: str, address: Address) -> ModelError:
    if not said or not _NO_MODEL.search(said):
        return UnknownModel(
            f"{address.name}: nothing is served for {address.model!r} at {address.url} "
            f"(status 404: {said or 'no words'}). Check the model's name and the base URL."
        )
    hint = f"run `ollama pull {address.model}`" if "pull" in said else "check the model's name"
    return UnknownModel(
        f"{address.name}: {address.url} knows no model {address.model!r} ({said}); {hint}."
    )


def _broken(error: BaseException, address: Address) -> Failure:
    """The failure for a connection that was not made, or that broke."""
    kind = type(error).__name__
    said = " ".join(str(error).split()) or kind
    if "Timeout" in kind and "Connect" not in kind:
        late = TimedOut(f"{address.name}: {address.url} stopped answering ({said})")
        return Failure(late, again=True)
    made = not ("Connect" in kind or isinstance(error, ConnectionRefusedError))
    if made:
        line = f"{address.name}: the connection to {address.url} broke ({said})"
        return Failure(Unreachable(f"{line}. Try again later."), again=True)
    line = f"{address.name}: {address.url} cannot be reached ({said})"
    hint = "Is the server running, and is the base URL right?"
    return Failure(Unreachable(f"{line}. {hint}"), again=True, most=_CONNECTS)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came from, the innermost last."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__


def _is_transport(error: BaseException) -> bool:
    root = type(error).__module__.partition(".")[0]
    return root in _TRANSPORTS or isinstance(error, OSError | EOFError)


def _is_of_provider(error: Exception) -> bool:
    root = type(error).__module__.partition(".")[0]
    return root in ("pydantic_ai", "openai", "anthropic", "google", "pydantic") or isinstance(
        error, json.JSONDecodeError
    )


def _line(error: BaseException) -> str:
    line = " ".join(str(error).split())
    return line if len(line) <= 300 else line[:299] + "…"


def _retry_after(error: Exception) -> float | None:
    """The seconds that a provider asks to wait, from its headers."""
    asked = getattr(error, "retry_after", None)
    if isinstance(asked, int | float):
        return float(asked)
    for cause in _causes(error):
        headers: Any = getattr(getattr(cause, "response", None), "headers", None)
        if headers is not None and headers.get("retry-after-ms"):
            return _seconds(headers["retry-after-ms"], 0.001)
        if headers is not None and headers.get("retry-after"):
            return _seconds(headers["retry-after"])
    return None


def _seconds(value: object, unit: float = 1.0) -> float | None:
    """Seconds from a number or from an HTTP date."""
    text = cast("str", value)
    try:
        return max(0.0, float(text) * unit)
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time())
    except ValueError:
        return None
