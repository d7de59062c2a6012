"""Keep invoices in SQLite. The schema is in migrations/ and is applied in order."""

from __future__ import annotations

import sqlite3
from datetime import date
from decimal import Decimal
from pathlib import Path

from tallybook.invoice import Invoice, LineItem
from tallybook.money import Money

MIGRATIONS = Path(__file__).parents[2] / "migrations"


class Store:
    """Invoices in one database file."""

    def __init__(self, path: Path | str) -> None:
        self._db = sqlite3.connect(path)
        self._db.execute("PRAGMA foreign_keys = ON")
        self._migrate()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _migrate(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        for script in sorted(MIGRATIONS.glob("*.sql"))[version:]:
            with self._db:
                self._db.executescript(script.read_text(encoding="utf-8"))
                version += 1
                self._db.execute(f"PRAGMA user_version = {version}")

    def save(self, invoice: Invoice) -> None:
        """Store an invoice; one with the same number is replaced."""
        with self._db:
            self._db.execute("DELETE FROM line WHERE invoice = ?", (invoice.number,))
            self._db.execute("DELETE FROM invoice WHERE number = ?", (invoice.number,))
            self._db.execute(
                "INSERT INTO invoice VALUES (?, ?, ?, ?)",
                (
                    invoice.number,
                    invoice.customer,
                    invoice.issued_on.isoformat(),
                    invoice.currency,
                ),
            )
            self._db.executemany(
                "INSERT INTO line (invoice, position, description, quantity, tax_code, price_minor)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (
                        invoice.number,
                        position,
                        line.description,
                        str(line.quantity),
                        line.tax_code,
                        int(line.unit_price.amount * 100),
                    )
                    for position, line in enumerate(invoice.lines)
                ],
            )

    def load(self, number: str) -> Invoice:
        """The invoice with this number."""
        found = self._db.execute("SELECT * FROM invoice WHERE number = ?", (number,)).fetchone()
        if found is None:
            raise KeyError(f"no invoice {number!r}")
        _, customer, issued_on, currency = found
        rows = self._db.execute(
            "SELECT description, quantity, price_minor, tax_code FROM line"
            " WHERE invoice = ? ORDER BY position",
            (number,),
        )
        lines = tuple(
            LineItem(text, Decimal(quantity), Money(Decimal(minor) / 100, currency), tax_code)
            for text, quantity, minor, tax_code in rows
        )
        return Invoice(number, customer, date.fromisoformat(issued_on), currency, lines)

    def numbers(self) -> list[str]:
        """All invoice numbers, sorted."""
        return [n for (n,) in self._db.execute("SELECT number FROM invoice ORDER BY number")]
