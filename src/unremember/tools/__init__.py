"""Tools: plain typed functions that a model can call, and what they may reach."""

from unremember.errors import ToolError
from unremember.tools.base import (
    CAP,
    Answer,
    Approve,
    Context,
    Effect,
    Output,
    Question,
    Ran,
    State,
    Tool,
    approve_all,
    refuse_all,
)
from unremember.tools.confirm import choose_approval
from unremember.tools.define import tool
from unremember.tools.kit import coding_tools, system_prompt
from unremember.tools.running import run_call
from unremember.tools.sandbox import Sandbox
from unremember.tools.workspace import Workspace

__all__ = [
    "CAP",
    "Answer",
    "Approve",
    "Context",
    "Effect",
    "Output",
    "Question",
    "Ran",
    "Sandbox",
    "State",
    "Tool",
    "ToolError",
    "Workspace",
    "approve_all",
    "choose_approval",
    "coding_tools",
    "refuse_all",
    "run_call",
    "system_prompt",
    "tool",
]
