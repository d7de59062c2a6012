from decimal import Decimal

import pytest

from tallybook.money import CurrencyMismatch, Money, parse_amount, total


def eur(text: str) -> Money:
    return Money(Decimal(text), "EUR")


def test_adding_needs_one_currency():
    with pytest.raises(CurrencyMismatch):
        eur("1") + Money(Decimal(1), "USD")


def test_a_float_is_refused():
    with pytest.raises(TypeError):
        Money(0.1, "EUR")
    with pytest.raises(TypeError):
        eur("1") * 0.5


def test_total_of_nothing_is_zero():
    assert total([], "EUR").is_zero


@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [
        ("10.004", "EUR", "10.00"),
        ("1234.4", "JPY", "1234"),
        ("15000.5", "KRW", "15001"),
        ("1.23456", "BHD", "1.235"),
    ],
)
def test_rounding_follows_the_currency(amount, currency, expected):
    rounded = Money(Decimal(amount), currency).rounded()
    assert str(rounded.amount) == expected


@pytest.mark.parametrize(
    ("amount", "expected"), [("0.125", "0.13"), ("0.135", "0.14"), ("-0.125", "-0.13")]
)
def test_a_half_is_rounded_away_from_zero(amount, expected):
    assert eur(amount).rounded() == eur(expected)


@pytest.mark.parametrize(
    ("amount", "currency", "shares"),
    [
        ("100.00", "EUR", ["33.34", "33.33", "33.33"]),
        ("100", "JPY", ["34", "33", "33"]),
        ("1.000", "BHD", ["0.334", "0.333", "0.333"]),
    ],
)
def test_allocating_loses_nothing(amount, currency, shares):
    money = Money(Decimal(amount), currency)
    result = money.allocate([1, 1, 1])
    assert [str(share.amount) for share in result] == shares
    assert total(result, currency) == money


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1250", "1250"),
        ("1,250.00", "1250.00"),
        ("1.250,00", "1250.00"),
        ("1 250,50", "1250.50"),
        ("12,5", "12.5"),
        ("-3,00", "-3.00"),
    ],
)
def test_amounts_as_people_type_them(text, expected):
    assert parse_amount(text) == Decimal(expected)


def test_nonsense_is_named():
    with pytest.raises(ValueError, match="cannot parse amount 'twelve'"):
        parse_amount("twelve")
