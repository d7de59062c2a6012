"""Notices that the same call is made again and again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

from unremember.messages import ToolCall
from unremember.prompts import prompt

NOTICED = 3
"""From this time on the model is told."""

_WORDS = {3: "third", 4: "fourth", 5: "fifth"}


@dataclass(slots=True)
class Repeats:
    """Counts identical calls; one that changed files begins the count anew."""

    _times: Counter[str] = field(default_factory=Counter[str])

    def note(self, call: ToolCall, *, changed: bool) -> str:
        """Counts a call that ran; gives the note for its result, "" if there is none to give."""
        if changed:
            self._times.clear()
        key = f"{call.name} {_plain(call)}"
        self._times[key] += 1
        times = self._times[key]
        if times < NOTICED:
            return ""
        return prompt("repeated").format(times=_WORDS.get(times, f"{times}th"))


def _plain(call: ToolCall) -> str:
    """The arguments in one spelling."""
    try:
        return json.dumps(json.loads(call.arguments), sort_keys=True)
    except ValueError:
        return call.arguments
