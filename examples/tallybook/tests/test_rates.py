from datetime import date
from decimal import Decimal

import pytest

from tallybook.money import Money
from tallybook.rates import Rate, RateNotFound, RateTable

THURSDAY = date(2024, 10, 31)
FRIDAY = date(2024, 11, 1)
SATURDAY = date(2024, 11, 2)
SUNDAY = date(2024, 11, 3)
MONDAY = date(2024, 11, 4)


@pytest.fixture
def table() -> RateTable:
    return RateTable.of(
        [
            Rate(THURSDAY, "USD", Decimal("1.0882")),
            Rate(FRIDAY, "USD", Decimal("1.0872")),
            Rate(MONDAY, "USD", Decimal("1.0895")),
            Rate(FRIDAY, "JPY", Decimal("165.78")),
        ]
    )


def test_a_business_day_has_its_own_rate(table):
    assert table.lookup("USD", MONDAY) == Decimal("1.0895")


def test_one_euro_is_one_euro(table):
    assert table.lookup("EUR", SUNDAY) == 1


@pytest.mark.parametrize("day", [SATURDAY, SUNDAY])
def test_a_weekend_has_the_rate_of_the_last_business_day(table, day):
    assert table.lookup("USD", day) == Decimal("1.0872")


def test_no_rate_before_the_first_day(table):
    with pytest.raises(RateNotFound):
        table.lookup("USD", date(2024, 10, 30))


def test_a_stale_rate_is_refused(table):
    with pytest.raises(RateNotFound, match="USD on 2024-11-20"):
        table.lookup("USD", date(2024, 11, 20))


def test_an_unknown_currency_is_named(table):
    with pytest.raises(RateNotFound, match="CHF"):
        table.lookup("CHF", FRIDAY)


def test_dump_writes_what_was_loaded(table, tmp_path):
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    table.dump(first)
    RateTable.load(first).dump(second)
    assert second.read_text() == first.read_text()
    assert len(first.read_text().splitlines()) == 5


def test_converting_to_yen_gives_whole_yen(table):
    converted = table.convert(Money(Decimal("10.00"), "EUR"), "JPY", FRIDAY)
    assert str(converted.amount) == "1658"
