"""Replaying recorded conversations: what is left, after a compression, of what was needed next.

`evaluate` cuts recordings, compresses what stands before the cut with any strategies, and measures
what the recorded agent needed afterwards: see docs/evaluation.md. Nothing of this is known to what
compresses.
"""

from unremember.evaluation.columns import COLUMNS, Check
from unremember.evaluation.replay import Plan, Results, evaluate, find_recordings
from unremember.evaluation.runs import CARRIES, Missing, Run, Way
from unremember.evaluation.strategies import STRATEGIES, Strategy, find_strategy
from unremember.evaluation.table import ALL, Mean, Row, as_csv, rows_of

__all__ = [
    "ALL",
    "CARRIES",
    "COLUMNS",
    "STRATEGIES",
    "Check",
    "Mean",
    "Missing",
    "Plan",
    "Results",
    "Row",
    "Run",
    "Strategy",
    "Way",
    "as_csv",
    "evaluate",
    "find_recordings",
    "find_strategy",
    "rows_of",
]
