"""Notes: what the program puts into a history in place of what it forgot.

Inside the program notes are typed data. `render` is the one function that makes text of them, and
`read` its exact inverse, used for one thing only: a conversation that was compressed, written in
a foreign form and loaded again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from unremember.concepts import Fact
from unremember.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line kept word for word in the outline.

    `ordinal` names the message, call or result it comes from, `line` is its place there (0 is the
    first). `skipped` is how many lines are missing right before it, since the last kept line of
    the same source or since its beginning.
    """

    ordinal: int
    line: int
    text: str
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An old step in one line (`title`: what was done and what came of it), and lines kept from it.

    `ordinal` is the step's first message; `left` is how many lines of the step are not here, after
    the last kept one.
    """

    ordinal: int
    title: str
    excerpts: tuple[Excerpt, ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class Notes:
    """What the program put into the history in place of what it forgot.

    They stand right before the first message whose ordinal is at least `before`.
    """

    outline: tuple[OutlineEntry, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    facts: tuple[Fact, ...] = ()
    before: int = 0

    def __bool__(self) -> bool:
        return bool(self.outline or self.ledger or self.facts)


