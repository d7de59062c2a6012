"""For our tests and yours: strict servers, validators of what is sent, and generated histories.

`StrictServer` is a provider on the loopback interface that plays a script of turns (`Say`,
`Fail`, `Cut`, `EmptyBody`, `Slow`, `TooLong`) and refuses what the vendors refuse.

`check_openai`, `check_anthropic` and `check_responses` say what a provider would refuse.
`histories` is a hypothesis strategy for histories as they occur in the field; hypothesis itself
is not a dependency of this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unremember.errors import InputError
from unremember.testing.servers import StrictServer
from unremember.testing.turns import Asked, Cut, EmptyBody, Fail, Say, Slow, TooLong, Turn
from unremember.testing.validity import check_anthropic, check_openai, check_responses

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from unremember.history import History

__all__ = [
    "Asked",
    "Cut",
    "EmptyBody",
    "Fail",
    "Say",
    "Slow",
    "StrictServer",
    "TooLong",
    "Turn",
    "check_anthropic",
    "check_openai",
    "check_responses",
    "histories",
]


def histories(
    *, characters: int = 40_000, notes: bool = True, pending: bool = True
) -> SearchStrategy[History]:
    """A hypothesis strategy for valid histories.

    Two in five hold at least `characters`, some three times as many: choose it to exceed your
    budget (English has about four to a token). `notes` lets some begin with the notes of an
    earlier compression, `pending` lets some end with calls that wait for their results.
    Raises `InputError` where hypothesis is not installed.
    """
    try:
        from unremember.testing import generated
    except ModuleNotFoundError as missing:
        if missing.name != "hypothesis":
            raise
        raise InputError("histories() needs hypothesis; run: pip install hypothesis") from None
    return generated.histories(characters=characters, notes=notes, pending=pending)
