"""The command line."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from tallybook.importer import import_orders
from tallybook.rates import RateTable
from tallybook.report import by_customer, render
from tallybook.store import Store


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    top = argparse.ArgumentParser(prog="tallybook", description=__doc__)
    top.add_argument("--db", type=Path, default=Path("tallybook.db"))
    top.add_argument("--verbose", action="store_true", help="log every row")
    commands = top.add_subparsers(dest="command", required=True)
    orders = commands.add_parser("import", help="make invoices of an order list")
    orders.add_argument("file", type=Path)
    orders.add_argument("--dry-run", action="store_true", help="store nothing")
    report = commands.add_parser("report", help="totals by customer")
    report.add_argument("--rates", type=Path, required=True)
    report.add_argument("--currency", default="EUR")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 1 if rows were left out."""
    options = parser().parse_args(argv)
    logging.basicConfig(
        level=logging.INFO if options.verbose else logging.ERROR,
        format="%(levelname)-5s %(name)s %(message)s",
        stream=sys.stdout,
    )
    if options.command == "import":
        result = import_orders(options.file)
        if not options.dry_run:
            store = Store(options.db)
            for invoice in result.invoices:
                store.save(invoice)
            store.close()
        print(f"{len(result.invoices)} invoices, {len(result.errors)} rows left out")
        return 0 if result.ok else 1
    store = Store(options.db)
    invoices = [store.load(number) for number in store.numbers()]
    store.close()
    totals = by_customer(invoices, RateTable.load(options.rates), options.currency)
    print(render(totals, options.currency), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
