"""The tools of the coding agent, ready to use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from unremember.models.base import ToolSpec
from unremember.prompts import prompt
from unremember.tools.base import Tool
from unremember.tools.edit_file import edit_file
from unremember.tools.list_directory import list_directory
from unremember.tools.read_file import read_file
from unremember.tools.recall import recall
from unremember.tools.run_command import jobs, run_command
from unremember.tools.search_files import search_files
from unremember.tools.update_plan import update_plan
from unremember.tools.write_file import write_file

SMALL_WINDOW = 8_000
"""Tokens of a window below which the lean set is meant."""


def coding_tools(*, lean: bool = False) -> dict[str, Tool]:
    """The coding agent's tools by name; `lean` leaves out what a small window cannot pay for."""
    full = (
        list_directory,
        read_file,
        search_files,
        edit_file,
        write_file,
        run_command,
        jobs,
        update_plan,
        recall,
    )
    kit = [_slimmed(made) for made in full if made != jobs] if lean else full
    return {made.name: made for made in kit}


def system_prompt(workspace: str, *, lean: bool = False) -> str:
    """What the coding agent is told first; `workspace` is the folder it works in."""
    return prompt("coding_agent_lean" if lean else "coding_agent").format(workspace=workspace)


def _slimmed(made: Tool) -> Tool:
    """The tool with a shorter schema: no defaults, and nothing that needs another tool."""
    spec = made.spec
    properties: dict[str, Any] = {
        name: {key: value for key, value in field.items() if key != "default"}
        for name, field in spec.parameters["properties"].items()
        if (spec.name, name) != ("run_command", "background")
    }
    description = prompt("run_command_lean") if spec.name == "run_command" else spec.description
    parameters = spec.parameters | {"properties": properties}
    return replace(made, spec=ToolSpec(spec.name, description, parameters))
