from datetime import date
from decimal import Decimal

from tallybook.invoice import Invoice, LineItem
from tallybook.money import Money
from tallybook.rates import Rate, RateTable
from tallybook.report import by_customer, overdue, render

FRIDAY = date(2024, 11, 1)
SATURDAY = date(2024, 11, 2)
RATES = RateTable.of([Rate(FRIDAY, "USD", Decimal("1.0872")), Rate(FRIDAY, "JPY", Decimal("165.78"))])


def sold(number: str, customer: str, day: date, price: str, currency: str) -> Invoice:
    line = LineItem("oak shelf", Decimal(1), Money(Decimal(price), currency), "exempt")
    return Invoice(number, customer, day, currency, (line,))


INVOICES = [
    sold("R-1", "Bakery Lund", FRIDAY, "129.95", "EUR"),
    sold("R-2", "Cafe Nord", SATURDAY, "500.00", "USD"),
    sold("R-3", "Studio Hana", FRIDAY, "18000", "JPY"),
]


def test_largest_customer_first():
    assert [one.customer for one in by_customer(INVOICES, RATES, "EUR")] == [
        "Cafe Nord",
        "Bakery Lund",
        "Studio Hana",
    ]


def test_a_report_in_yen_has_no_decimals():
    table = render(by_customer(INVOICES[:1], RATES, "JPY"), "JPY")
    assert table.splitlines()[-1].split() == ["total", "1", "21,543", "JPY"]


def test_overdue_is_oldest_first():
    assert [one.number for one in overdue(reversed(INVOICES), date(2024, 12, 2))] == ["R-1", "R-3"]
