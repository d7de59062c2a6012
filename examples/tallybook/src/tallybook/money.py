"""Amounts of money: exact decimals with a currency, never floats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

from tallybook import currencies

CENT = Decimal("0.01")

# What people type between groups of three digits.
GROUPING = re.compile(r"[ \u00a0,](?=\d{3}(\D|$))")


class CurrencyMismatch(ValueError):
    """Two amounts in different currencies were added or compared."""


@dataclass(frozen=True)
class Money:
    """An amount in one currency. Arithmetic is exact; only `rounded` rounds."""

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        if isinstance(self.amount, float):
            raise TypeError("a float is not an amount of money: use Decimal or str")
        object.__setattr__(self, "amount", Decimal(self.amount))
        object.__setattr__(self, "currency", currencies.get(self.currency).code)

    @classmethod
    def parse(cls, text: str, currency: str) -> Money:
        """An amount from what a person typed, such as `1,250.00` or `1 250,00`."""
        return cls(parse_amount(text), currency)

    def _check(self, other: Money) -> None:
        if self.currency != other.currency:
            raise CurrencyMismatch(f"{self.currency} and {other.currency} cannot be combined")

    def __add__(self, other: Money) -> Money:
        self._check(other)
        return Money(self.amount + other.amount, self.currency)

    def __sub__(self, other: Money) -> Money:
        self._check(other)
        return Money(self.amount - other.amount, self.currency)

    def __neg__(self) -> Money:
        return Money(-self.amount, self.currency)

    def __mul__(self, factor: Decimal | int) -> Money:
        if isinstance(factor, float):
            raise TypeError("multiply by a Decimal or an int, not by a float")
        return Money(self.amount * factor, self.currency)

    __rmul__ = __mul__

    def __lt__(self, other: Money) -> bool:
        self._check(other)
        return self.amount < other.amount

    @property
    def is_zero(self) -> bool:
        return self.amount == 0

    def rounded(self) -> Money:
        """The amount as it can be paid: in whole cents."""
        return Money(self.amount.quantize(CENT, ROUND_HALF_EVEN), self.currency)

    def allocate(self, weights: Sequence[int]) -> list[Money]:
        """Split in proportion to `weights`; what rounding leaves over goes to the first shares."""
        if not weights or sum(weights) <= 0:
            raise ValueError("weights must be positive and not empty")
        whole = self.rounded()
        units = int(whole.amount / CENT)
        shares = [units * weight // sum(weights) for weight in weights]
        for index in range(units - sum(shares)):
            shares[index % len(shares)] += 1
        return [Money(share * CENT, self.currency) for share in shares]

    def __str__(self) -> str:
        return f"{self.rounded().amount:,} {self.currency}"


def total(amounts: Iterable[Money], currency: str) -> Money:
    """The sum of amounts in one currency; zero for none."""
    result = Money(Decimal(0), currency)
    for amount in amounts:
        result += amount
    return result


def parse_amount(text: str) -> Decimal:
    """A decimal from what a person typed. A comma before one or two last digits is a decimal comma."""
    cleaned = text.strip()
    if re.search(r",\d{1,2}$", cleaned):
        cleaned = cleaned.replace(".", " ").replace(",", ".")
    cleaned = GROUPING.sub("", cleaned)
    try:
        return Decimal(cleaned)
    except InvalidOperation:
        raise ValueError(f"cannot parse amount {text!r}") from None
