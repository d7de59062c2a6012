"""`unremember inspect --why m41`: why something would stay or go at a budget."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

from rich.console import Group
from rich.text import Text

from unremember.cli.output import one_line, put
from unremember.cli.screen import cut, headed, rendered, stack, width
from unremember.cli.sources import find_source, load
from unremember.compression import Explanation, Job, explain
from unremember.compression.explain import LineReason
from unremember.errors import InputError
from unremember.messages import parse_handle
from unremember.tokens import Budget, Weigher, parse_tokens

SHOWN = 12
"""Lines listed at most: the kept ones, then those that came next."""


def run(file: str | None, wanted: str, budget: str, *, whole: bool, as_json: bool) -> int:
    """The command: explains and prints. Raises `InputError` and `UnknownHandle`."""
    ordinal = parse_handle(wanted)
    if ordinal is None:
        raise InputError(f"--why takes a handle such as m41, not {wanted!r}")
    history = load(find_source(file), whole=whole).conversation.history
    weigh = Weigher()
    target = parse_tokens(budget, weigh(history))
    found = explain(history, Job(Budget.exactly(target), weigh), ordinal)
    if as_json:
        put(json.dumps(to_json(found), ensure_ascii=False, indent=2) + "\n", sys.stdout)
    else:
        put(rendered(_drawn(found, target), sys.stdout), sys.stdout)
    return 0


def to_json(explanation: Explanation) -> dict[str, Any]:
    """The explanation as JSON values."""
    return asdict(explanation)


def _drawn(explanation: Explanation, target: int) -> Group:
    kept = [line for line in explanation.lines if line.kept]
    gone = sorted(
        (line for line in explanation.lines if not line.kept),
        key=lambda line: -line.worth / max(1, line.tokens),
    )
    first = f"{explanation.handle} at {target:,} tokens: {explanation.sentence}."
    return stack(
        [
            Text(first),
            _lines(f"kept ({len(kept)} lines)", kept),
            _lines(f"gone ({len(gone)} lines), the best of them", gone),
        ]
    )


def _lines(title: str, lines: list[LineReason]) -> Group | None:
    if not lines:
        return None
    return headed(title, *(Text(row) for line in lines[: SHOWN // 2] for row in _rows(line)))


def _rows(line: LineReason) -> list[str]:
    """A line, below it what it was worth and the terms that made it so."""
    reason = {"error": " · an error line", "user": " · a rule of yours"}.get(line.reason, "")
    rows = [
        _row(f"  {line.text.strip()}"),
        f"    worth {line.worth:.2f} for {line.tokens} tokens{reason}",
    ]
    rows += [_row(f"    {term.text}: {term.chance:.0%}, {term.because}") for term in line.terms[:2]]
    return rows


def _row(text: str) -> str:
    """A text that fits a row, its indentation kept."""
    blanks = text[: len(text) - len(text.lstrip())]
    return cut(blanks + one_line(text), width())
