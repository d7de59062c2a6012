"""What the tests of the command share: conversations to run it on, and its environment."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).parents[2]
EXAMPLE = REPOSITORY / "examples" / "conversation.jsonl"

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of whoever runs the tests, without what would change the output."""
    ours = ("NO_COLOR", "FORCE_COLOR", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "PWD", "COLUMNS")
    env = {name: value for name, value in os.environ.items() if name not in ours}
    env |= {"HOME": str(home), "COLUMNS": "80", "PYTHONPATH": str(REPOSITORY / "src")}
    return {**env, "PYTHONIOENCODING": "utf-8", **more}


def openai_messages() -> list[dict[str, Any]]:
    """A conversation of some 12,000 tokens in the form of OpenAI chat."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You mend programs."},
        {"role": "user", "content": "Mend the parser. Never touch the folder legacy."},
    ]
    for turn in range(30):
        arguments = json.dumps({"command": f"cat src/part_{turn}.py"})
        call: dict[str, Any] = {"id": f"c{turn}", "type": "function"}
        call["function"] = {"name": "bash", "arguments": arguments}
        body = "\n".join(f"def step_{turn}_{n}(value): return value + {n}" for n in range(25))
        messages += [
            {"role": "assistant", "content": f"Reading part {turn}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": body},
        ]
    return [*messages, {"role": "assistant", "content": "It is mended."}]


def anthropic_request() -> dict[str, Any]:
    """A request of some 12,000 tokens in the form of Anthropic."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read all parts."}]
    for turn in range(30):
        use = {
            "type": "tool_use",
            "id": f"t{turn}",
            "name": "read",
            "input": {"path": f"{turn}.py"},
        }
        body = "\n".join(f"def step_{turn}_{n}(value): return value + {n}" for n in range(25))
        answer = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": body}
        messages += [
            {"role": "assistant", "content": [{"type": "text", "text": f"Part {turn}."}, use]},
            {"role": "user", "content": [answer]},
        ]
    return {"system": "You read.", "messages": messages}


def responses_items() -> list[dict[str, Any]]:
    """A list of some 12,000 tokens in the form of OpenAI Responses."""
    items: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": "Read all."}]
    for turn in range(30):
        body = "\n".join(f"def step_{turn}_{n}(value): return value + {n}" for n in range(25))
        call = {"type": "function_call", "call_id": f"r{turn}", "name": "read"}
        items += [
            {**call, "arguments": json.dumps({"path": f"{turn}.py"})},
            {"type": "function_call_output", "call_id": f"r{turn}", "output": body},
        ]
    return items


def one_line_of(done: subprocess.CompletedProcess[bytes]) -> str:
    """Standard error, which is one line of the program."""
    text = done.stderr.decode()
    assert text.startswith("unremember: ")
    assert text.count("\n") == 1, text
    assert text.endswith("\n")
    assert done.stdout == b""
    return text
