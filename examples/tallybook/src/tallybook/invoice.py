"""Invoices: lines, taxes and totals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal

from tallybook.money import Money, total
from tallybook.tax import TaxRule, rule_for

PAYABLE_WITHIN = timedelta(days=30)


@dataclass(frozen=True)
class LineItem:
    """One line: a quantity of something at a price, before tax."""

    description: str
    quantity: Decimal
    unit_price: Money
    tax_code: str = "standard"

    @property
    def net(self) -> Money:
        """Quantity times price, exact."""
        return self.unit_price * self.quantity


@dataclass(frozen=True)
class TaxLine:
    """The tax of one rule on an invoice."""

    rule: TaxRule
    net: Money
    tax: Money


@dataclass(frozen=True)
class Invoice:
    """An invoice in one currency. Immutable: `with_line` gives a new one."""

    number: str
    customer: str
    issued_on: date
    currency: str
    lines: tuple[LineItem, ...] = field(default=())

    def __post_init__(self) -> None:
        for line in self.lines:
            if line.unit_price.currency != self.currency:
                raise ValueError(
                    f"{self.number}: a line in {line.unit_price.currency} "
                    f"on an invoice in {self.currency}"
                )

    def with_line(self, line: LineItem) -> Invoice:
        """This invoice and one more line."""
        return replace(self, lines=(*self.lines, line))

    @property
    def due_on(self) -> date:
        return self.issued_on + PAYABLE_WITHIN

    @property
    def net_total(self) -> Money:
        """The sum of all lines before tax."""
        return total((line.net for line in self.lines), self.currency).rounded()

    def tax_lines(self) -> Iterator[TaxLine]:
        """The taxes by rule, in the order in which the rules first appear."""
        grouped: dict[TaxRule, list[LineItem]] = {}
        for line in self.lines:
            grouped.setdefault(rule_for(line.tax_code, self.issued_on), []).append(line)
        for rule, lines in grouped.items():
            net = total((line.net for line in lines), self.currency)
            yield TaxLine(rule, net.rounded(), (net * rule.rate).rounded())

    @property
    def tax_total(self) -> Money:
        """The sum of all taxes."""
        return total((line.tax for line in self.tax_lines()), self.currency)

    @property
    def gross_total(self) -> Money:
        """What the customer pays."""
        return self.net_total + self.tax_total

    def instalments(self, count: int) -> list[tuple[date, Money]]:
        """Equal monthly payments that add up to the gross total."""
        shares = self.gross_total.allocate([1] * count)
        return [
            (self.due_on + timedelta(days=30 * index), share) for index, share in enumerate(shares)
        ]
