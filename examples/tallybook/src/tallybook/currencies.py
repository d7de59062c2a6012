"""The currencies that an invoice may be written in, after ISO 4217."""

from __future__ import annotations

from dataclasses import dataclass


class UnknownCurrency(KeyError):
    """A code that is not in the table."""


@dataclass(frozen=True)
class Currency:
    """A currency; `minor_units` is the number of decimals that can be paid."""

    code: str
    minor_units: int
    name: str


TABLE: dict[str, Currency] = {
    currency.code: currency
    for currency in (
        Currency("AED", 2, "UAE dirham"),
        Currency("ARS", 2, "Argentine peso"),
        Currency("AUD", 2, "Australian dollar"),
        Currency("BGN", 2, "Bulgarian lev"),
        Currency("BHD", 3, "Bahraini dinar"),
        Currency("BIF", 0, "Burundian franc"),
        Currency("BRL", 2, "Brazilian real"),
        Currency("CAD", 2, "Canadian dollar"),
        Currency("CHF", 2, "Swiss franc"),
        Currency("CLP", 0, "Chilean peso"),
        Currency("CNY", 2, "Chinese yuan"),
        Currency("COP", 2, "Colombian peso"),
        Currency("CRC", 2, "Costa Rican colon"),
        Currency("CZK", 2, "Czech koruna"),
        Currency("DJF", 0, "Djiboutian franc"),
        Currency("DKK", 2, "Danish krone"),
        Currency("EGP", 2, "Egyptian pound"),
        Currency("EUR", 2, "Euro"),
        Currency("GBP", 2, "Pound sterling"),
        Currency("GNF", 0, "Guinean franc"),
        Currency("HKD", 2, "Hong Kong dollar"),
        Currency("HUF", 2, "Hungarian forint"),
        Currency("IDR", 2, "Indonesian rupiah"),
        Currency("ILS", 2, "Israeli shekel"),
        Currency("INR", 2, "Indian rupee"),
        Currency("IQD", 3, "Iraqi dinar"),
        Currency("ISK", 0, "Icelandic krona"),
        Currency("JOD", 3, "Jordanian dinar"),
        Currency("JPY", 0, "Japanese yen"),
        Currency("KES", 2, "Kenyan shilling"),
        Currency("KRW", 0, "South Korean won"),
        Currency("KWD", 3, "Kuwaiti dinar"),
        Currency("LYD", 3, "Libyan dinar"),
        Currency("MAD", 2, "Moroccan dirham"),
        Currency("MXN", 2, "Mexican peso"),
        Currency("MYR", 2, "Malaysian ringgit"),
        Currency("NGN", 2, "Nigerian naira"),
        Currency("NOK", 2, "Norwegian krone"),
        Currency("NZD", 2, "New Zealand dollar"),
        Currency("OMR", 3, "Omani rial"),
        Currency("PEN", 2, "Peruvian sol"),
        Currency("PHP", 2, "Philippine peso"),
        Currency("PKR", 2, "Pakistani rupee"),
        Currency("PLN", 2, "Polish zloty"),
        Currency("PYG", 0, "Paraguayan guarani"),
        Currency("QAR", 2, "Qatari riyal"),
        Currency("RON", 2, "Romanian leu"),
        Currency("RSD", 2, "Serbian dinar"),
        Currency("RWF", 0, "Rwandan franc"),
        Currency("SAR", 2, "Saudi riyal"),
        Currency("SEK", 2, "Swedish krona"),
        Currency("SGD", 2, "Singapore dollar"),
        Currency("THB", 2, "Thai baht"),
        Currency("TND", 3, "Tunisian dinar"),
        Currency("TRY", 2, "Turkish lira"),
        Currency("TWD", 2, "New Taiwan dollar"),
        Currency("UAH", 2, "Ukrainian hryvnia"),
        Currency("UGX", 0, "Ugandan shilling"),
        Currency("USD", 2, "US dollar"),
        Currency("UYU", 2, "Uruguayan peso"),
        Currency("VND", 0, "Vietnamese dong"),
        Currency("XAF", 0, "Central African franc"),
        Currency("XOF", 0, "West African franc"),
        Currency("ZAR", 2, "South African rand"),
    )
}


def get(code: str) -> Currency:
    """The currency with this code, in either case."""
    try:
        return TABLE[code.upper()]
    except KeyError:
        raise UnknownCurrency(f"{code!r} is not a currency that tallybook knows") from None


def codes() -> list[str]:
    """All codes, sorted."""
    return sorted(TABLE)
