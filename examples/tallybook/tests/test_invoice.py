from datetime import date
from decimal import Decimal

import pytest

from tallybook.invoice import Invoice, LineItem
from tallybook.money import Money, total


def invoice(currency: str, *lines: tuple[str, str, str]) -> Invoice:
    return Invoice(
        number="R-1001",
        customer="Bakery Lund",
        issued_on=date(2024, 11, 4),
        currency=currency,
        lines=tuple(
            LineItem("a thing", Decimal(quantity), Money(Decimal(price), currency), tax)
            for quantity, price, tax in lines
        ),
    )


def test_lines_have_the_invoices_currency():
    with pytest.raises(ValueError, match="a line in USD"):
        invoice("EUR").with_line(LineItem("x", Decimal(1), Money(Decimal(1), "USD")))


def test_taxes_are_grouped_by_rule():
    taxes = list(
        invoice(
            "EUR", ("1", "100", "standard"), ("2", "10", "reduced"), ("1", "5", "standard")
        ).tax_lines()
    )
    assert [line.rule.label for line in taxes] == ["VAT 19 %", "VAT 7 %"]
    assert [str(line.tax.amount) for line in taxes] == ["19.95", "1.40"]


def test_tax_of_a_half_cent_is_rounded_up():
    # 19 % of 2.50 is 0.475, 7 % of 0.50 is 0.035, 19 % of 0.50 is 0.095
    assert str(invoice("EUR", ("1", "2.50", "standard")).tax_total.amount) == "0.48"
    assert str(invoice("EUR", ("1", "0.50", "reduced")).tax_total.amount) == "0.04"


def test_tax_in_yen_is_whole_yen():
    assert str(invoice("JPY", ("3", "333", "standard")).tax_total.amount) == "190"


def test_gross_is_net_and_tax():
    one = invoice("EUR", ("3", "19.90", "standard"), ("1", "4.20", "reduced"))
    assert one.gross_total == one.net_total + one.tax_total


def test_instalments_add_up():
    one = invoice("EUR", ("1", "100", "exempt"))
    shares = [share for _, share in one.instalments(3)]
    assert total(shares, "EUR") == one.gross_total
    assert [day.isoformat() for day, _ in one.instalments(2)] == ["2024-12-04", "2025-01-03"]
