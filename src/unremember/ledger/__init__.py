"""What happened to files, commands and tests: typed values, read off tool calls by rule."""

from unremember.actions import PlanItem
from unremember.ledger.fold import extend
from unremember.ledger.lines import lines, parse
from unremember.ledger.records import (
    Attempt,
    CommandRecord,
    EditMark,
    ErrorRecord,
    FileRecord,
    Ledger,
    Range,
    Record,
    TestRecord,
)
from unremember.ledger.trim import trim

__all__ = [
    "Attempt",
    "CommandRecord",
    "EditMark",
    "ErrorRecord",
    "FileRecord",
    "Ledger",
    "PlanItem",
    "Range",
    "Record",
    "TestRecord",
    "extend",
    "lines",
    "parse",
    "trim",
]
