from decimal import Decimal

import pytest

from tallybook.importer import duplicates, import_orders

HEADER = "order;customer;day;currency;item;quantity;price;tax\n"


@pytest.fixture
def orders(tmp_path):
    def write(*rows: str):
        path = tmp_path / "orders.csv"
        path.write_text(HEADER + "".join(row + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_rows_of_one_order_become_one_invoice(orders):
    result = import_orders(
        orders(
            "R-1;Bakery Lund;2024-11-04;EUR;oak shelf;2;129,00;standard",
            "R-1;Bakery Lund;2024-11-04;EUR;brackets;8;1,20;standard",
            "R-2;Cafe Nord;2024-11-05;EUR;oak table;1;1.250,00;standard",
        )
    )
    assert result.ok
    assert [(one.number, len(one.lines)) for one in result.invoices] == [("R-1", 2), ("R-2", 1)]
    assert result.invoices[1].net_total.amount == Decimal("1250.00")


def test_an_order_with_a_bad_row_is_left_out_whole(orders):
    result = import_orders(
        orders(
            "R-1;Bakery Lund;2024-11-04;EUR;oak shelf;2;129,00;standard",
            "R-1;Bakery Lund;2024-11-04;EUR;brackets;eight;1,20;standard",
            "R-2;Cafe Nord;2024-11-05;EUR;oak table;1;1.250,00;standard",
        )
    )
    assert [one.number for one in result.invoices] == ["R-2"]
    assert [error.row for error in result.errors] == [3]


def test_missing_columns_are_named(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text("order;customer\nR-1;x\n", encoding="utf-8")
    with pytest.raises(ValueError, match="missing columns day, currency"):
        import_orders(path)


def test_an_unknown_currency_is_an_error_of_its_row(orders):
    result = import_orders(orders("R-1;x;2024-11-04;XXX;shelf;1;1,00;standard"))
    assert "'XXX' is not a currency" in result.errors[0].reason


def test_duplicates_are_found(orders):
    result = import_orders(orders("R-1;x;2024-11-04;EUR;shelf;1;1,00;"))
    assert duplicates(result.invoices * 2) == ["R-1"]
