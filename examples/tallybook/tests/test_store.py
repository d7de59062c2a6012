from datetime import date
from decimal import Decimal

import pytest

from tallybook.invoice import Invoice, LineItem
from tallybook.money import Money
from tallybook.store import Store


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "test.db")
    yield opened
    opened.close()


def one_line(currency: str, price: str) -> Invoice:
    line = LineItem("oak shelf", Decimal("1.5"), Money(Decimal(price), currency))
    return Invoice("R-7", "Bakery Lund", date(2024, 11, 4), currency, (line,))


@pytest.mark.parametrize(
    ("currency", "price"), [("EUR", "129.95"), ("JPY", "18000"), ("KRW", "95000"), ("BHD", "12.345")]
)
def test_an_invoice_comes_back_as_it_was(store, currency, price):
    saved = one_line(currency, price)
    store.save(saved)
    assert store.load("R-7") == saved


def test_saving_again_replaces(store):
    store.save(one_line("EUR", "1.00"))
    store.save(one_line("EUR", "2.00"))
    assert store.numbers() == ["R-7"]
    assert store.load("R-7").lines[0].unit_price.amount == 2


def test_rows_that_are_older_than_the_second_migration_keep_their_value(store):
    store.save(one_line("JPY", "18000"))
    store._db.execute("UPDATE line SET price_minor = 1800000, minor_units = 2")
    assert store.load("R-7").lines[0].unit_price.amount == 18000
