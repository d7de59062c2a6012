"""What happened, as values. Everything that watches a run is a sink: a callable that takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Compressed:
    """A compression was done. Weights are in tokens; `levels` counts steps at each level."""

    before: int
    after: int
    strategy: str
    reason: str = ""
    levels: dict[str, int] = field(default_factory=dict[str, int], hash=False)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Refused:
    """A result of a compression was not taken; the history stayed as it was (rules R4, R5)."""

    strategy: str
    reason: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Shortened:
    """A pin did not fit whole (rule R3): message `ordinal`, cut from `before` to `after` tokens."""

    ordinal: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Recalled:
    """An original was brought back from the archive."""

    handle: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Unconfined:
    """Commands run without a sandbox: with network and with the user's rights. Said once."""

    reason: str


Event = Compressed | Refused | Shortened | Recalled | Unconfined
Emit = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The sink that does nothing."""
