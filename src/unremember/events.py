"""What happened, as values. Everything that watches a run is a sink: a callable that takes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal


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


@dataclass(frozen=True, slots=True)
class Counted:
    """What the next request would weigh, in tokens, beside the budget: one for each checkpoint."""

    tokens: int
    limit: int
    trigger: int


@dataclass(frozen=True, slots=True)
class CalledModel:
    """A model answered. `counted` is our own count of what was sent, the other tokens are the
    provider's; with `reported` False it gave none. `notes` say what was done to the answer."""

    model: str
    finish: str
    counted: int
    input_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reported: bool
    seconds: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RanTool:
    """A call ran; `ordinal` is that of its result, `diff` what it changed in a file."""

    ordinal: int
    name: str
    arguments: str
    failed: bool
    seconds: float
    diff: str = ""


@dataclass(frozen=True, slots=True)
class PrefixBroken:
    """A request did not begin with the whole one before it (rule R10); said once, with why."""

    reason: str


@dataclass(frozen=True, slots=True)
class InstructionsChanged:
    """A file of project instructions entered, changed on disk, or is gone."""

    path: str
    change: Literal["entered", "changed", "gone"]


@dataclass(frozen=True, slots=True)
class LimitLearned:
    """A provider refused a request as too long; the limit was lowered, in tokens."""

    before: int
    after: int
    words: str


@dataclass(frozen=True, slots=True)
class EnteredNode:
    """A strategy entered a node; `path` names those around it too, such as `work/call_model`."""

    path: str


Event = (
    Compressed
    | Refused
    | Shortened
    | Recalled
    | Unconfined
    | Counted
    | CalledModel
    | RanTool
    | PrefixBroken
    | InstructionsChanged
    | LimitLearned
    | EnteredNode
)
Emit = Callable[[Event], None]


def ignore(event: Event) -> None:
    """The sink that does nothing."""
