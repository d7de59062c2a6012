"""Exchange rates by day, as a bank publishes them: on business days only."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path

from tallybook.money import Money

BASE = "EUR"


class RateNotFound(LookupError):
    """No rate is known for a currency on a day."""


@dataclass(frozen=True)
class Rate:
    """How much of `currency` one euro bought on `day`."""

    day: date
    currency: str
    value: Decimal


@dataclass
class RateTable:
    """All known rates. Looking up is by currency and day."""

    _by_currency: dict[str, dict[date, Decimal]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> RateTable:
        """Read a table from a CSV file with the columns day, currency and rate."""
        table = cls()
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                table.add(
                    Rate(date.fromisoformat(row["day"]), row["currency"], Decimal(row["rate"]))
                )
        return table

    @classmethod
    def of(cls, rates: Iterable[Rate]) -> RateTable:
        """A table of the given rates."""
        table = cls()
        for rate in rates:
            table.add(rate)
        return table

    def add(self, rate: Rate) -> None:
        """Add a rate, or replace the one of the same currency and day."""
        if rate.value <= 0:
            raise ValueError(f"the rate of {rate.currency} on {rate.day} is not positive")
        self._by_currency.setdefault(rate.currency, {})[rate.day] = rate.value

    def __iter__(self) -> Iterator[Rate]:
        for currency in sorted(self._by_currency):
            for day in sorted(self._by_currency[currency]):
                yield Rate(day, currency, self._by_currency[currency][day])

    def dump(self, path: Path) -> None:
        """Write the table as `load` reads it."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["day", "currency", "rate"])
            writer.writerows([rate.day, rate.currency, rate.value] for rate in self)

    def lookup(self, currency: str, day: date) -> Decimal:
        """The rate of a currency on a day."""
        if currency == BASE:
            return Decimal(1)
        try:
            return self._by_currency[currency][day]
        except KeyError:
            raise RateNotFound(f"no rate for {currency} on {day}") from None

    def cross(self, source: str, target: str, day: date) -> Decimal:
        """How much of `target` one unit of `source` bought on a day."""
        return self.lookup(target, day) / self.lookup(source, day)

    def convert(self, money: Money, target: str, day: date) -> Money:
        """The amount in another currency, rounded as it can be paid."""
        if money.currency == target:
            return money
        return Money(money.amount * self.cross(money.currency, target, day), target).rounded()
