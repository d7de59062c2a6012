"""The story of `conversation.jsonl`: an agent gets the test suite of a small project green.

It is invented from beginning to end, and holds what makes long conversations hard to shorten:
rules that the user states once and means to the end, files read again after they changed, a wrong
approach that is undone, a correction, a long log with one error in its middle, three languages.
"""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from make_conversation import Session

QUARTER = (date(2024, 10, 1), date(2024, 12, 31))
HOLIDAYS = {date(2024, 12, 25), date(2024, 12, 26)}

MONEY = "src/tallybook/money.py"
RATES = "src/tallybook/rates.py"
INVOICE = "src/tallybook/invoice.py"
STORE = "src/tallybook/store.py"
ORDERS = "data/orders-2024-q4.csv"


# The two big files of the project.


def days() -> list[date]:
    """The days of the quarter."""
    first, last = QUARTER
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def rates_csv(rng: Random) -> str:
    """Exchange rates that wander a little each business day."""
    start = {"CHF": 0.9401, "GBP": 0.8317, "JPY": 159.62, "KRW": 1463.75, "USD": 1.1087}
    rows = ["day,currency,rate"]
    for day in days():
        if day.weekday() < 5 and day not in HOLIDAYS:
            for currency in start:
                start[currency] *= 1 + (rng.random() - 0.5) / 120
                digits = 2 if start[currency] > 100 else 4
                rows.append(f"{day},{currency},{start[currency]:.{digits}f}")
    return "\n".join(rows) + "\n"


CUSTOMERS = [
    ("Bakery Lund", "EUR"),
    ("Cafe Nord", "EUR"),
    ("Studio Hana", "JPY"),
    ("Brightwater Books", "GBP"),
    ("Atelier Roux", "EUR"),
    ("Seoul Tea House", "KRW"),
    ("Hotel Alpenblick", "CHF"),
    ("Prairie Dental", "USD"),
    ("Librairie du Port", "EUR"),
]
ITEMS = [
    ("oak shelf", "129.00", "standard"),
    ("wall bracket", "4.80", "standard"),
    ("walnut desk", "1250.00", "standard"),
    ("assembly on site", "85.00", "reduced"),
    ("reading lamp", "64.50", "standard"),
    ("cork board", "22.90", "standard"),
    ("catalogue, printed", "6.40", "reduced"),
]
PER_EURO = {"EUR": 1, "CHF": 1, "GBP": 1, "USD": 1, "JPY": 160, "KRW": 1500}


def orders_csv(rng: Random) -> str:
    """What the shop exported. One price was typed with a narrow no-break space in it."""
    rows = ["order;customer;day;currency;item;quantity;price;tax"]
    number = 2400
    for day in days():
        if rng.random() < 0.35:
            continue
        number += 1
        customer, currency = CUSTOMERS[int(rng.random() * len(CUSTOMERS))]
        for _ in range(1 + int(rng.random() * 5)):
            item, price, tax = ITEMS[int(rng.random() * len(ITEMS))]
            amount = Decimal(price) * PER_EURO[currency]
            text = f"{amount:.0f}" if PER_EURO[currency] > 1 else f"{amount:.2f}".replace(".", ",")
            quantity = 1 + int(rng.random() * 6)
            rows.append(f"R-{number};{customer};{day};{currency};{item};{quantity};{text};{tax}")
    middle = next(n for n in range(len(rows) // 2, len(rows)) if ";EUR;walnut desk;" in rows[n])
    rows[middle] = rows[middle].replace("1250,00", "1\u202f250,00")
    return "\n".join(rows) + "\n"


def generated_files() -> dict[str, str]:
    """The big files of the project, by path."""
    rng = Random(4)
    return {"data/rates-2024-q4.csv": rates_csv(rng), ORDERS: orders_csv(rng)}


# The story.

PLAN = (
    "Round by the currency's minor units, halves away from zero",
    "Weekend and holiday rates",
    "Check invoices, taxes and reports",
    "Store amounts with three decimals",
    "Run the whole suite",
)


def tell(s: Session) -> None:
    """The whole conversation."""
    look_around(s)
    mend_rounding(s)
    mend_rates(s)
    overreach_and_correct(s)
    mend_store(s)
    find_the_bad_row(s)
    finish(s)


def look_around(s: Session) -> None:
    """The task and its rules, and a first look."""
    s.user(
        "Since we began to invoice in yen and dinars the test suite of tallybook is red. Please "
        "get it green.\n\n"
        "Rules, and they hold to the end:\n"
        "- Never touch the migrations folder. Those files have run in production.\n"
        "- Keep the public function names and their signatures, the web shop imports them.\n"
        "- No new dependencies, and no floats anywhere near money.\n"
        "- Run the whole suite before you tell me that you are done."
    )
    s.agent(
        "I'll look at the project and run the suite before changing anything.",
        s.bash("git status --short && git log --oneline", "Show the state of the work tree"),
        s.glob(".py"),
        thinking="The user wants a green test suite under four rules: migrations are off limits, "
        "public names stay, no dependencies, no floats. I should see the failures first and group "
        "them by cause instead of mending them one at a time.",
    )
    s.agent(s.bash("python -m pytest -q", "Run the whole suite"))
    s.agent(
        "Fourteen failures, but far fewer causes. Rounding knows only cents (yen, won, dinars) "
        "and rounds halves to even; a weekend has no rate; and the store keeps two decimals "
        "whatever the currency. I'll start with rounding, since invoices and reports depend on it.",
        s.todo(0, *PLAN),
    )


def mend_rounding(s: Session) -> None:
    """Rounding by minor units: the first cause, and the biggest."""
    s.agent(
        s.read(MONEY),
        s.read("src/tallybook/currencies.py"),
        s.read("tests/test_money.py"),
    )
    s.agent(
        "`currencies.TABLE` already knows the minor units; `money.py` never asks it.",
        s.grep(r"CENT|quantize|ROUND_", "src"),
        thinking="CENT is used in rounded() twice over: directly and through allocate(). Nothing "
        "outside money.py uses it, so it can go. It has no underscore, but it is not in __all__ "
        "of the package, and the rule is about function names. Still, check that nobody imports "
        "it: the grep shows that nobody does.",
    )
    s.agent(
        s.edit(
            MONEY,
            "from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation",
            "from decimal import ROUND_HALF_UP, Decimal, InvalidOperation",
        )
    )
    s.agent(
        s.edit(
            MONEY,
            '        """The amount as it can be paid: in whole cents."""\n'
            "        return Money(self.amount.quantize(CENT, ROUND_HALF_EVEN), self.currency)\n",
            '        """The amount as it can be paid: in whole minor units, halves away from zero."""\n'
            "        return Money(self.amount.quantize(self._unit, ROUND_HALF_UP), self.currency)\n",
        ),
        s.edit(
            MONEY,
            "    @property\n    def is_zero(self) -> bool:\n",
            "    @property\n"
            "    def _unit(self) -> Decimal:\n"
            '        """The smallest amount that can be paid, such as 0.01 EUR or 1 JPY."""\n'
            "        return Decimal(1).scaleb(-currencies.get(self.currency).minor_units)\n\n"
            "    @property\n    def is_zero(self) -> bool:\n",
        ),
    )
    s.agent(s.bash("python -m pytest -q tests/test_money.py", "Run the tests of money"))
    s.agent(
        "Rounding is right now; `allocate` still counts in cents.",
        s.edit(
            MONEY,
            "        units = int(whole.amount / CENT)\n",
            "        units = int(whole.amount / self._unit)\n",
        ),
        s.edit(
            MONEY,
            "        return [Money(share * CENT, self.currency) for share in shares]\n",
            "        return [Money(share * self._unit, self.currency) for share in shares]\n",
        ),
        s.edit(MONEY, 'CENT = Decimal("0.01")\n\n', ""),
    )
    s.agent(s.bash("python -m pytest -q tests/test_money.py", "Run the tests of money again"))
    s.agent(
        "Green. I'll read the file once more as a whole, because three places changed.",
        s.read(MONEY),
    )
    s.agent(s.todo(1, *PLAN))
    s.user("원화(KRW)는 소수점이 없으니까, 보고서에서도 금액은 꼭 정수로만 보이게 해 주세요.")
    s.agent(
        "네, 원화 금액이 보고서와 `str()` 출력에서 정수로만 나오는지 확인하겠습니다.",
        s.bash(
            "python -c \"from tallybook import Money; print(Money('15000.5', 'KRW')); "
            "print(Money('15000.49', 'KRW')); print(Money('1234567', 'KRW'))\"",
            "Print amounts in won",
        ),
    )
    s.agent(
        "확인했습니다. `Money.__str__`이 통화의 소수 자릿수로 반올림하므로 원화는 언제나 정수로 "
        "표시됩니다: 15,001 KRW, 15,000 KRW, 1,234,567 KRW. 이제 환율로 넘어가겠습니다.",
        s.read(RATES),
        s.read("tests/test_rates.py"),
        s.read("data/rates-2024-q4.csv", 1, 60),
    )


def mend_rates(s: Session) -> None:
    """Weekend rates: a wrong approach, undone, and a right one."""
    s.agent(
        "The file has business days only. My first idea: fill the gaps once, when the table is "
        "made, so that `lookup` stays a plain dictionary access.",
        s.edit(
            RATES,
            '        """A table of the given rates."""\n'
            "        table = cls()\n"
            "        for rate in rates:\n"
            "            table.add(rate)\n"
            "        return table\n",
            '        """A table of the given rates."""\n'
            "        table = cls()\n"
            "        for rate in rates:\n"
            "            table.add(rate)\n"
            "        table._fill_gaps()\n"
            "        return table\n\n"
            "    def _fill_gaps(self) -> None:\n"
            '        """Give each day without a rate the one of the day before."""\n'
            "        for known in self._by_currency.values():\n"
            "            day, last = min(known), max(known)\n"
            "            while day < last:\n"
            "                known.setdefault(day + timedelta(days=1), known[day])\n"
            "                day += timedelta(days=1)\n",
        ),
        s.edit(
            RATES,
            "from datetime import date\n",
            "from datetime import date, timedelta\n",
        ),
    )
    s.agent(s.bash("python -m pytest -q tests/test_rates.py", "Run the tests of rates"))
    s.agent(
        "The weekend is right, but `test_dump_writes_what_was_loaded` fails now: the table writes "
        "rates that no bank published. Perhaps it is enough to remember which days were filled "
        "and to leave them out when iterating.",
        s.edit(
            RATES,
            "    _by_currency: dict[str, dict[date, Decimal]] = field(default_factory=dict)\n",
            "    _by_currency: dict[str, dict[date, Decimal]] = field(default_factory=dict)\n"
            "    _filled: set[tuple[str, date]] = field(default_factory=set)\n",
        ),
        s.edit(
            RATES,
            "        for known in self._by_currency.values():\n"
            "            day, last = min(known), max(known)\n"
            "            while day < last:\n"
            "                known.setdefault(day + timedelta(days=1), known[day])\n"
            "                day += timedelta(days=1)\n",
            "        for currency, known in self._by_currency.items():\n"
            "            day, last = min(known), max(known)\n"
            "            while day < last:\n"
            "                following = day + timedelta(days=1)\n"
            "                if following not in known:\n"
            "                    known[following] = known[day]\n"
            "                    self._filled.add((currency, following))\n"
            "                day = following\n",
        ),
        s.edit(
            RATES,
            "            for day in sorted(self._by_currency[currency]):\n"
            "                yield Rate(day, currency, self._by_currency[currency][day])\n",
            "            for day in sorted(self._by_currency[currency]):\n"
            "                if (currency, day) not in self._filled:\n"
            "                    yield Rate(day, currency, self._by_currency[currency][day])\n",
        ),
    )
    s.agent(
        s.bash("python -m pytest -q tests/test_rates.py", "Run the tests of rates again"),
        s.bash(
            'python -c "from datetime import date; from pathlib import Path; '
            "from tallybook import RateTable; "
            "t = RateTable.load(Path('data/rates-2024-q4.csv')); "
            "print(t.lookup('USD', date(2024, 11, 2)))\"",
            "Look up a Saturday in the real table",
        ),
    )
    s.agent(
        "The tests pass, and still this is wrong. `load` does not go through `of`, so the real "
        "table has no weekend rates: the tests only saw `of`. I would have to call `_fill_gaps` "
        "from `load` and after each `add`, and every filled day is one more thing to keep in "
        "step. The table should hold what the bank published and nothing else; the rule about "
        "weekends belongs into `lookup`. I take the whole attempt back.",
        s.bash(f"git checkout -- {RATES}", "Undo the changes to rates.py"),
        thinking="Filling gaps on load was the wrong approach: invented rows in the data "
        "structure, a second set to hide them again, and two constructors that must both remember "
        "it. Looking back from the day asked for is five lines and leaves load, add, iteration "
        "and dump alone. The stale rate test says how far back is too far: 20 November has no "
        "rate although 4 November has one. A long weekend with holidays is at most five days, so "
        "a week is a sensible limit.",
    )
    s.agent(s.bash("git status --short", "See that only money.py is changed"), s.read(RATES))
    s.agent(
        s.edit(
            RATES,
            'BASE = "EUR"\n',
            'BASE = "EUR"\n\n'
            "# Long enough for Christmas with a weekend beside it; older than that is a missing file.\n"
            "MAX_AGE_DAYS = 7\n",
        ),
        s.edit(
            RATES,
            '        """The rate of a currency on a day."""\n'
            "        if currency == BASE:\n"
            "            return Decimal(1)\n"
            "        try:\n"
            "            return self._by_currency[currency][day]\n"
            "        except KeyError:\n"
            '            raise RateNotFound(f"no rate for {currency} on {day}") from None\n',
            '        """The rate of a currency on a day: the last one published by then.\n\n'
            "        Banks publish on business days only. A rate older than a week is refused.\n"
            '        """\n'
            "        if currency == BASE:\n"
            "            return Decimal(1)\n"
            "        known = self._by_currency.get(currency, {})\n"
            "        for age in range(MAX_AGE_DAYS + 1):\n"
            "            rate = known.get(day - timedelta(days=age))\n"
            "            if rate is not None:\n"
            "                return rate\n"
            '        raise RateNotFound(f"no rate for {currency} on {day}, nor in the week before")\n',
        ),
    )
    s.agent(s.bash("python -m pytest -q --tb=short tests/test_rates.py", "Run the tests of rates"))
    s.agent(
        "I forgot the import: the checkout took it away as well.",
        s.edit(RATES, "from datetime import date\n", "from datetime import date, timedelta\n"),
    )
    s.agent(
        s.bash("python -m pytest -q tests/test_rates.py", "Run the tests of rates"),
        s.bash(
            'python -c "from datetime import date; from pathlib import Path; '
            "from tallybook import RateTable; "
            "t = RateTable.load(Path('data/rates-2024-q4.csv')); "
            "print(t.lookup('USD', date(2024, 11, 2)), t.lookup('JPY', date(2024, 12, 26)))\"",
            "Look up a Saturday and a holiday in the real table",
        ),
    )
    s.agent(s.todo(2, *PLAN))


def overreach_and_correct(s: Session) -> None:
    """A change that nobody asked for, and the user's correction."""
    s.agent(
        "Rates are done, also on the real file. Now invoices and reports.",
        s.read(INVOICE),
        s.read("src/tallybook/tax.py"),
        s.read("tests/test_invoice.py"),
    )
    s.agent(
        s.bash(
            "python -m pytest -q tests/test_invoice.py tests/test_report.py",
            "Run the tests of invoices and reports",
        )
    )
    s.agent(
        "All green through the change in `money.py`. One thing I noticed: tax is computed on the "
        "sum of a group, so the taxes that a customer could work out line by line need not add up "
        "to the total. I'll round the tax of each line, then the sums always match.",
        s.edit(
            INVOICE,
            "            yield TaxLine(rule, net.rounded(), (net * rule.rate).rounded())\n",
            "            taxes = ((line.net * rule.rate).rounded() for line in lines)\n"
            "            yield TaxLine(rule, net.rounded(), total(taxes, self.currency))\n",
        ),
    )
    s.agent(
        s.bash(
            "python -m pytest -q tests/test_invoice.py tests/test_report.py",
            "Run the tests of invoices and reports",
        )
    )
    s.user(
        "No, stop. Tax is rounded once per invoice and tax rule, not per line: that is the sum our "
        "tax adviser checks. Put tax_lines back as it was, and add a test that would have caught "
        "this. From now on don't change behaviour that no failing test asks for."
    )
    s.agent(
        "Understood: tax is rounded once per invoice and rule. I put `tax_lines` back and pin that "
        "with a test, and I'll keep to what failing tests ask for.",
        s.edit(
            INVOICE,
            "            taxes = ((line.net * rule.rate).rounded() for line in lines)\n"
            "            yield TaxLine(rule, net.rounded(), total(taxes, self.currency))\n",
            "            yield TaxLine(rule, net.rounded(), (net * rule.rate).rounded())\n",
        ),
        s.edit(
            "tests/test_invoice.py",
            "def test_tax_in_yen_is_whole_yen():\n",
            "def test_tax_is_rounded_once_per_invoice_and_rule():\n"
            "    # 19 % of 0.30 is 0.057; three times 0.06 would be 0.18, and 19 % of 0.90 is 0.171\n"
            '    one = invoice("EUR", *[("1", "0.30", "standard")] * 3)\n'
            '    assert str(one.tax_total.amount) == "0.17"\n\n\n'
            "def test_tax_in_yen_is_whole_yen():\n",
        ),
    )
    s.agent(
        s.bash(f"git diff --stat -- {INVOICE}", "See that invoice.py is as it was"),
        s.bash("python -m pytest -q tests/test_invoice.py", "Run the tests of invoices"),
    )
    s.agent(
        "`invoice.py` has no difference to the last commit, and the new test passes. On to the "
        "store.",
        s.todo(3, *PLAN),
    )


def mend_store(s: Session) -> None:
    """Three decimals in the database, without a change to the migrations."""
    s.agent(s.read(STORE), s.read("tests/test_store.py"))
    s.agent(
        "The store multiplies by 100 whatever the currency, so a dinar loses its third decimal. "
        "Before I decide how to mend that I want to see which columns exist. I only read the "
        "migrations, I won't change them.",
        s.read("migrations/0001_init.sql"),
        s.read("migrations/0002_minor_units.sql"),
    )
    s.agent(
        "Migration 0002 already has what is needed: a column `minor_units` that the code never "
        "wrote or read. New rows can say how many decimals they were stored with, and older rows "
        "have the default of two, which is what they were stored with. No migration needed.",
        s.edit(
            STORE,
            '                "INSERT INTO line (invoice, position, description, quantity, tax_code, price_minor)"\n'
            '                " VALUES (?, ?, ?, ?, ?, ?)",\n',
            '                "INSERT INTO line (invoice, position, description, quantity, tax_code,"\n'
            '                " price_minor, minor_units) VALUES (?, ?, ?, ?, ?, ?)",\n',
        ),
        s.edit(
            STORE,
            "                        int(line.unit_price.amount * 100),\n",
            "                        int(line.unit_price.rounded().amount.scaleb(decimals)),\n"
            "                        decimals,\n",
        ),
        s.edit(
            STORE,
            '        """Store an invoice; one with the same number is replaced."""\n',
            '        """Store an invoice; one with the same number is replaced."""\n'
            "        decimals = currencies.get(invoice.currency).minor_units\n",
        ),
        s.edit(
            STORE,
            '            "SELECT description, quantity, price_minor, tax_code FROM line"\n',
            '            "SELECT description, quantity, price_minor, minor_units, tax_code FROM line"\n',
        ),
        s.edit(
            STORE,
            "            LineItem(text, Decimal(quantity), Money(Decimal(minor) / 100, currency), tax_code)\n"
            "            for text, quantity, minor, tax_code in rows\n",
            "            LineItem(\n"
            "                text,\n"
            "                Decimal(quantity),\n"
            "                Money(Decimal(minor).scaleb(-decimals), currency),\n"
            "                tax_code,\n"
            "            )\n"
            "            for text, quantity, minor, decimals, tax_code in rows\n",
        ),
        s.edit(
            STORE,
            "from tallybook.invoice import Invoice, LineItem\n",
            "from tallybook import currencies\nfrom tallybook.invoice import Invoice, LineItem\n",
        ),
    )
    s.agent(s.bash("python -m pytest -q -x tests/test_store.py", "Run the tests of the store"))
    s.agent(
        "Seven columns, but I left six placeholders.",
        s.edit(
            STORE,
            '                " price_minor, minor_units) VALUES (?, ?, ?, ?, ?, ?)",\n',
            '                " price_minor, minor_units) VALUES (?, ?, ?, ?, ?, ?, ?)",\n',
        ),
    )
    s.agent(s.bash("python -m pytest -q tests/test_store.py", "Run the tests of the store"))
    s.agent(
        s.read(STORE, 40, 60),
        s.bash("python -m pytest -q", "Run the whole suite"),
        s.bash("git status --short", "See which files are changed"),
    )
    s.agent(
        "The whole suite is green: 50 passed. Changed are `money.py`, `rates.py`, `store.py` and "
        "one new test in `tests/test_invoice.py`; `migrations/` is untouched.",
        s.todo(5, *PLAN),
    )
    s.agent(
        "Done so far:\n\n"
        "- `Money.rounded` and `allocate` use the currency's minor units; halves go away from zero.\n"
        "- `RateTable.lookup` takes the last published rate, at most a week old.\n"
        "- `Store` writes and reads the `minor_units` column; older rows keep their value.\n"
        "- Tax is rounded once per invoice and rule, with a test that says so.\n\n"
        "Names and signatures are as they were, and there is no new dependency."
    )


def find_the_bad_row(s: Session) -> None:
    """A long log with one error in it."""
    s.user(
        f"很好。还有一件事：导入 {ORDERS} 的时候，日志里有一行报错。"
        "请先找到原因再改代码，不要只是跳过那一行。"
    )
    s.agent(
        "好的，我先用完整日志跑一次导入（不写数据库），找出那一行的原因。",
        s.bash(
            f"python -m tallybook.cli --verbose import --dry-run {ORDERS}",
            "Import with a log of every row, storing nothing",
        ),
    )
    row = next(n for n, line in enumerate(s.files[ORDERS].splitlines(), 1) if "\u202f" in line)
    s.agent(
        f"Row {row} is the one. Its price looks like any other; something in it is not what it "
        "looks like.",
        s.bash(f"sed -n '{row}p' {ORDERS} | cat -A", "Show the row with invisible characters"),
        s.bash(
            'python -c "import unicodedata as u; '
            f"line = open('{ORDERS}', encoding='utf-8').read().splitlines()[{row - 1}]; "
            'print([(c, hex(ord(c)), u.name(c)) for c in line if ord(c) > 127])"',
            "Name the characters that are not ASCII",
        ),
    )
    s.agent(
        "原因找到了：价格里的千位分隔符是 U+202F（NARROW NO-BREAK SPACE），法语排版常用它；"
        "而 `GROUPING` 只认识普通空格、U+00A0 和逗号。数据本身没有错，应该让解析器认识这个字符。",
        s.read("src/tallybook/importer.py"),
        s.read("tests/test_importer.py"),
        s.read(MONEY, 1, 24),
    )
    s.agent(
        "You asked for the cause first, and for no behaviour beyond a failing test. So: a test "
        "that fails, then the character.",
        s.edit(
            "tests/test_money.py",
            '        ("1 250,50", "1250.50"),\n',
            '        ("1 250,50", "1250.50"),\n        ("1\\u202f250,00", "1250.00"),\n',
        ),
        s.edit(
            "tests/test_importer.py",
            "def test_missing_columns_are_named(tmp_path):\n",
            "def test_a_price_with_a_narrow_no_break_space_is_read(orders):\n"
            '    row = "R-9;Atelier Roux;2024-11-16;EUR;walnut desk;1;1\\u202f250,00;standard"\n'
            "    result = import_orders(orders(row))\n"
            "    assert result.ok\n"
            '    assert result.invoices[0].net_total.amount == Decimal("1250.00")\n\n\n'
            "def test_missing_columns_are_named(tmp_path):\n",
        ),
    )
    s.agent(
        s.bash(
            "python -m pytest -q tests/test_money.py tests/test_importer.py",
            "See the new tests fail",
        )
    )
    s.agent(
        s.edit(
            MONEY,
            'GROUPING = re.compile(r"[ \\u00a0,](?=\\d{3}(\\D|$))")\n',
            'GROUPING = re.compile(r"[ \\u00a0\\u202f,](?=\\d{3}(\\D|$))")\n',
        )
    )
    s.agent(
        s.bash(
            "python -m pytest -q tests/test_money.py tests/test_importer.py",
            "See the new tests pass",
        ),
        s.bash(f"python -m tallybook.cli --db q4.db import {ORDERS}", "Import the orders"),
    )
    s.agent(
        "没有一行被跳过。再用真实数据跑一次报告，确认周末和节假日的订单也能换算。",
        s.bash(
            "python -m tallybook.cli --db q4.db report --rates data/rates-2024-q4.csv",
            "Report in euros",
        ),
        s.bash(
            "python -m tallybook.cli --db q4.db report --rates data/rates-2024-q4.csv --currency KRW",
            "Report in won",
        ),
    )


def finish(s: Session) -> None:
    """The last checks and the last wish."""
    s.agent(
        "Both reports are complete, and won and yen have no decimals. The last checks: the whole "
        "suite, and your rules.",
        s.bash("python -m pytest -q", "Run the whole suite"),
        s.bash("git status --short -- migrations pyproject.toml", "See that both are untouched"),
        s.grep(r"\bfloat\b", "src"),
    )
    s.user("Good. Put it into the changelog, under 0.8.3, and show me the final diff of src.")
    s.agent(s.read("CHANGELOG.md"))
    s.agent(
        s.edit(
            "CHANGELOG.md",
            "# Changelog\n\n",
            "# Changelog\n\n"
            "## 0.8.3\n\n"
            "- Amounts are rounded to what can be paid in their currency: whole yen and won, three\n"
            "  decimals for dinars. Halves are rounded away from zero.\n"
            "- A weekend or holiday has the rate of the last business day, at most a week back.\n"
            "- Dinars are stored with all three decimals.\n"
            "- The importer reads prices with a narrow no-break space between thousands.\n\n",
        )
    )
    s.agent(
        s.bash("git diff -- src", "Show the final diff of src"),
        s.bash("python -m pytest -q", "Run the whole suite a last time"),
    )
    s.agent(
        "Done. The whole suite passes: 52 tests, three of them new.\n\n"
        "- `money.py`: rounding and `allocate` follow the currency's minor units, halves go away "
        "from zero, and U+202F is a thousands separator.\n"
        "- `rates.py`: `lookup` takes the last published rate, at most seven days old. My first "
        "attempt filled the gaps inside the table and was taken back, because the table then held "
        "rates that no bank published.\n"
        "- `store.py`: writes and reads the existing column `minor_units`; rows from before keep "
        "their value.\n"
        "- `invoice.py` is unchanged: tax is rounded once per invoice and rule.\n\n"
        "`migrations/` and `pyproject.toml` are untouched, public names and signatures are the "
        "same, and there is no float in `src` but the two checks that refuse one."
    )
