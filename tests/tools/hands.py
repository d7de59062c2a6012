"""Hands that call real tools as an agent does."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from unremember.events import Event
from unremember.messages import ToolCall
from unremember.tools import (
    Context,
    Ran,
    Tool,
    coding_tools,
    run_call,
)


@dataclass
class Hands:
    """Calls tools one after the other; each result takes the next ordinal."""

    context: Context
    root: Path
    events: list[Event]
    tools: dict[str, Tool] = field(default_factory=coding_tools)
    ordinal: int = 0

    async def run(self, name: str, **arguments: object) -> Ran:
        """Calls a tool and gives back all that came of it."""
        self.ordinal += 1
        call = ToolCall(f"call-{self.ordinal}", name, json.dumps(arguments, ensure_ascii=False))
        return await run_call(call, self.tools, self.context, self.ordinal)

    async def __call__(self, name: str, **arguments: object) -> str:
        """Calls a tool that must succeed and gives back its text."""
        result = (await self.run(name, **arguments)).result
        assert not result.failed, result.text
        return result.text

    async def fails(self, name: str, **arguments: object) -> str:
        """Calls a tool that must fail and gives back its text."""
        result = (await self.run(name, **arguments)).result
        assert result.failed, result.text
        return result.text
