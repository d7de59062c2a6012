"""Invoices, taxes and currencies for a small workshop."""

from tallybook.invoice import Invoice, LineItem
from tallybook.money import Money, parse_amount
from tallybook.rates import RateNotFound, RateTable

__all__ = ["Invoice", "LineItem", "Money", "RateNotFound", "RateTable", "parse_amount"]
