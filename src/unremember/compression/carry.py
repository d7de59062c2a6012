"""What notes carry on from one compression to the next: ledger and facts, each in its share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unremember import ledger as ledgers
from unremember.compression.clip import most
from unremember.concepts import Fact
from unremember.history import History
from unremember.ledger import Ledger
from unremember.notes import Notes, render
from unremember.tokens import Weigher


def ledger_now(history: History) -> Ledger:
    """The ledger brought up to the newest step."""
    since = history.notes.next
    return ledgers.extend(history.notes.ledger, (s for s in history.steps if s.ordinal >= since))


def trim_ledger(ledger: Ledger, share: int, weigh: Weigher) -> Ledger:
    """The most valuable records of a ledger within `share` tokens."""
    if share <= 0 or not ledger:
        return Ledger()

    def fits(lines: int) -> bool:
        return weigh.text("\n".join(ledgers.lines(ledgers.trim(ledger, lines)))) <= share

    return ledgers.trim(ledger, most(len(ledgers.lines(ledger)), fits))


def trim_facts(facts: Sequence[Fact], share: int, weigh: Weigher) -> tuple[Fact, ...]:
    """The facts within `share` tokens, in their order: what still holds first, then the newest."""
    newest_first = range(len(facts) - 1, -1, -1)
    ranked = sorted(newest_first, key=lambda number: facts[number].state == "superseded")

    def first(number: int) -> tuple[Fact, ...]:
        return tuple(facts[place] for place in sorted(ranked[:number]))

    frame = weigh.text(render(Notes()))

    def fits(number: int) -> bool:
        return weigh.text(render(replace(Notes(), facts=first(number)))) - frame <= share

    return first(most(len(facts), fits))
