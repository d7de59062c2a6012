"""Reports in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from tallybook.invoice import Invoice
from tallybook.money import Money, total
from tallybook.rates import RateTable

WIDTH = 60


@dataclass(frozen=True)
class CustomerTotal:
    """What a customer was invoiced, in the report's currency."""

    customer: str
    invoices: int
    gross: Money


def by_customer(
    invoices: Iterable[Invoice], rates: RateTable, currency: str
) -> list[CustomerTotal]:
    """Totals by customer, largest first; each invoice is converted at the rate of its day."""
    grouped: dict[str, list[Money]] = {}
    for invoice in invoices:
        gross = rates.convert(invoice.gross_total, currency, invoice.issued_on)
        grouped.setdefault(invoice.customer, []).append(gross)
    totals = [
        CustomerTotal(customer, len(amounts), total(amounts, currency))
        for customer, amounts in grouped.items()
    ]
    return sorted(totals, key=lambda one: (-one.gross.amount, one.customer))


def overdue(invoices: Iterable[Invoice], today: date) -> list[Invoice]:
    """Invoices that should have been paid before today, oldest first."""
    return sorted(
        (invoice for invoice in invoices if invoice.due_on < today),
        key=lambda invoice: (invoice.due_on, invoice.number),
    )


def render(totals: Sequence[CustomerTotal], currency: str) -> str:
    """A table of totals, with the sum in the last row."""
    lines = [f"{'customer':<30}{'invoices':>10}{'gross':>20}", "-" * WIDTH]
    lines += [f"{one.customer:<30}{one.invoices:>10}{one.gross!s:>20}" for one in totals]
    lines.append("-" * WIDTH)
    grand = total((one.gross for one in totals), currency)
    lines.append(f"{'total':<30}{sum(one.invoices for one in totals):>10}{grand!s:>20}")
    return "\n".join(lines) + "\n"
