"""What is known of a model by its name, from the table in `families.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from importlib.resources import files
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from unremember.errors import InputError
from unremember.models.base import ModelFacts, Request
from unremember.tokens import factor_of

LARGEST_RESERVE = 16_000
"""Tokens at most kept for an answer, as `Budget.of_window` reserves them."""

OLLAMA_WINDOW = 4_096
"""Ollama's own default. It does not refuse a longer request: it drops the beginning unsaid."""


@dataclass(frozen=True, slots=True)
class _Family:
    pattern: re.Pattern[str]
    facts: ModelFacts


def facts_of(model: str, *, local: bool = False) -> ModelFacts:
    """The facts of the model of this name; cautious ones, with `known` False, if it is not known.

    A `local` server may run a model with a smaller window than the model has, and serves one
    request at a time as fast as several: its facts are never `known`, and it shares no cache.
    """
    name = model.lower()
    families, one_call = _table()
    family = next((one for one in families if one.pattern.search(name)), None)
    facts = replace(
        family.facts if family else ModelFacts(),
        parallel_calls=not any(pattern.search(name) for pattern in one_call),
        counting_factor=factor_of(model),
    )
    return replace(facts, known=False, shares_cache=False) if local else facts


def overridden(facts: ModelFacts, overrides: Mapping[str, Any]) -> ModelFacts:
    """The facts with what the user says, whose word counts. Raises `InputError` for other names.

    Who gives the window is told nothing about assumptions: the facts are `known` then.
    """
    allowed = {one.name for one in fields(ModelFacts)}
    if unknown := sorted(set(overrides) - allowed):
        raise InputError(
            f"a model has no fact {unknown[0]!r}; there are {', '.join(sorted(allowed))}"
        )
    known = facts.known or "context_window" in overrides
    return replace(facts, **{"known": known, **overrides})


def output_tokens(request: Request, facts: ModelFacts) -> int:
    """The tokens that the answer to a request may have."""
    reserve = max(1, min(facts.context_window // 5, LARGEST_RESERVE))
    return min(request.max_output or reserve, facts.max_output)


def is_local(url: str) -> bool:
    """Whether a URL is of this machine or of a private network."""
    host = urlsplit(url).hostname or ""
    if host in ("localhost", "host.docker.internal") or host.endswith((".local", ".localhost")):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_private or address.is_loopback


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[_Family, ...], tuple[re.Pattern[str], ...]]:
    """The families, and the patterns of models that make one call at a time."""
    table = tomllib.loads((files("unremember.models") / "families.toml").read_text("utf-8"))
    one_call = tuple(_at_name(pattern) for pattern in table["one_call"])
    return tuple(map(_family, table["rows"])), one_call


def _family(row: tuple[str, int, int, bool, bool]) -> _Family:
    pattern, window, output, images, thinks = row
    facts = ModelFacts(
        context_window=window,
        max_output=output,
        shares_cache=True,
        sees_images=images,
        thinks=thinks,
        known=True,
    )
    return _Family(_at_name(pattern), facts)


def _at_name(pattern: str) -> re.Pattern[str]:
    """A pattern at the beginning of a name, be it behind the name of a vendor."""
    return re.compile(rf"(?:^|[/:]|\b[a-z]+\.)(?:{pattern})")
