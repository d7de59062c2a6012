"""Tax codes and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


class UnknownTaxCode(KeyError):
    """A tax code that no rule knows."""


@dataclass(frozen=True)
class TaxRule:
    """A rate that holds from a day on."""

    code: str
    since: date
    rate: Decimal
    label: str


RULES: tuple[TaxRule, ...] = (
    TaxRule("standard", date(2007, 1, 1), Decimal("0.19"), "VAT 19 %"),
    TaxRule("standard", date(2020, 7, 1), Decimal("0.16"), "VAT 16 %"),
    TaxRule("standard", date(2021, 1, 1), Decimal("0.19"), "VAT 19 %"),
    TaxRule("reduced", date(2007, 1, 1), Decimal("0.07"), "VAT 7 %"),
    TaxRule("reduced", date(2020, 7, 1), Decimal("0.05"), "VAT 5 %"),
    TaxRule("reduced", date(2021, 1, 1), Decimal("0.07"), "VAT 7 %"),
    TaxRule("exempt", date(1970, 1, 1), Decimal(0), "no VAT"),
    TaxRule("reverse", date(1970, 1, 1), Decimal(0), "reverse charge"),
)


def rule_for(code: str, day: date) -> TaxRule:
    """The rule that holds for a code on a day: the newest that had begun."""
    held = [rule for rule in RULES if rule.code == code and rule.since <= day]
    if not held:
        raise UnknownTaxCode(f"no tax rule {code!r} held on {day}")
    return max(held, key=lambda rule: rule.since)
