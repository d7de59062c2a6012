"""Reads tool calls as typed actions, and their results as outcomes: by rule, without a model.

The names of the tools of many agents are known, and so is what shell commands do; of an unknown
tool the arguments that look like paths and commands count.
"""

from unremember.actions.action import Action, Effect, Kind, clean_path
from unremember.actions.calls import read_action, shell_text
from unremember.actions.names import plain_name, tool_kind
from unremember.actions.plans import PlanItem, PlanState, read_plan
from unremember.actions.results import (
    error_lines,
    exit_status,
    has_failed,
    is_error_line,
    is_unknown,
    judge,
    squeeze,
    telling_line,
    was_not_run,
    was_refused,
    worst_lines,
)
from unremember.actions.testruns import Outcome, TestCase, TestRun, read_tests, test_outcomes
from unremember.actions.titles import outcome, shorten_command, strip_frame, title

__all__ = [
    "Action",
    "Effect",
    "Kind",
    "Outcome",
    "PlanItem",
    "PlanState",
    "TestCase",
    "TestRun",
    "clean_path",
    "error_lines",
    "exit_status",
    "has_failed",
    "is_error_line",
    "is_unknown",
    "judge",
    "outcome",
    "plain_name",
    "read_action",
    "read_plan",
    "read_tests",
    "shell_text",
    "shorten_command",
    "squeeze",
    "strip_frame",
    "telling_line",
    "test_outcomes",
    "title",
    "tool_kind",
    "was_not_run",
    "was_refused",
    "worst_lines",
]
