"""Read the order lists that the web shop exports, and make invoices of them."""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path

from tallybook.invoice import Invoice, LineItem
from tallybook.money import Money

log = logging.getLogger("tallybook.importer")

COLUMNS = ("order", "customer", "day", "currency", "item", "quantity", "price", "tax")


@dataclass(frozen=True)
class RowError:
    """A row that could not be read, and why."""

    row: int
    reason: str


@dataclass
class ImportResult:
    """What an import made, and the rows that it could not use."""

    invoices: list[Invoice] = field(default_factory=list)
    errors: list[RowError] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.errors


def sniff_delimiter(header: str) -> str:
    """The character between columns: a semicolon if there is one, else a comma."""
    return ";" if ";" in header else ","


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Row number (the header is row 1) and cells of each row that is not empty."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        header = file.readline()
        file.seek(0)
        reader = csv.DictReader(file, delimiter=sniff_delimiter(header))
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"{path.name}: missing columns {', '.join(missing)}")
        for number, row in enumerate(reader, start=2):
            if any(row.values()):
                yield number, row


def parse_line(row: dict[str, str]) -> LineItem:
    """The invoice line that a row describes."""
    return LineItem(
        description=row["item"].strip(),
        quantity=Decimal(row["quantity"]),
        unit_price=Money.parse(row["price"], row["currency"]),
        tax_code=row["tax"].strip() or "standard",
    )


def import_orders(path: Path) -> ImportResult:
    """Read a file of orders. Rows of one order become one invoice.

    A row that cannot be read is reported and its order is left out whole: half an invoice is
    worse than none.
    """
    result = ImportResult()
    invoices: dict[str, Invoice] = {}
    broken: set[str] = set()
    for number, row in read_rows(path):
        order = row["order"].strip()
        try:
            line = parse_line(row)
            invoice = invoices.get(order) or Invoice(
                number=order,
                customer=row["customer"].strip(),
                issued_on=date.fromisoformat(row["day"].strip()),
                currency=row["currency"].strip().upper(),
            )
            invoices[order] = invoice.with_line(line)
        except (ValueError, KeyError, ArithmeticError) as error:
            log.error("row %d: order %s: %s", number, order, error)
            result.errors.append(RowError(number, str(error)))
            broken.add(order)
        else:
            log.info("row %d: order %s: %s, %s", number, order, line.description, line.net)
    result.invoices = [invoice for order, invoice in invoices.items() if order not in broken]
    log.info("imported %d invoices, left out %d", len(result.invoices), len(broken))
    return result


def duplicates(invoices: Iterable[Invoice]) -> list[str]:
    """Numbers that occur more than once."""
    seen: set[str] = set()
    twice: list[str] = []
    for invoice in invoices:
        if invoice.number in seen:
            twice.append(invoice.number)
        seen.add(invoice.number)
    return twice
