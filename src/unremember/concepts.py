"""What is worth remembering: concepts, and the facts found for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal


class FactType(StrEnum):
    """Whether a concept has one value or a list of them."""

    SINGLE = "single"
    MULTIPLE = "multiple"


@dataclass(frozen=True, slots=True)
class Concept:
    """Something worth remembering: `keyword` labels it, `description` is the question asked."""

    keyword: str
    description: str
    fact_type: FactType = FactType.MULTIPLE


FactState = Literal["holds", "superseded", "open", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Fact:
    """What was found for a concept.

    `evidence` are the ordinals of the messages that say it. `verified` is False when a name in it
    was not found there. `superseded_by` is the text of the fact that replaced it.
    """

    concept: str
    text: str
    evidence: tuple[int, ...] = ()
    state: FactState = "holds"
    verified: bool = True
    superseded_by: str = ""
    at: datetime | None = None
