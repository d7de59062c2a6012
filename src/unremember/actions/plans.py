"""Plans and todo lists that a tool keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from unremember.messages import ToolCall

PlanState = Literal["open", "doing", "done", "dropped"]

LONGEST_ITEM = 200
"""Characters of a plan item that are kept."""

_STATES: dict[str, PlanState] = {
    **dict.fromkeys("in_progress inprogress doing active started current".split(), "doing"),
    **dict.fromkeys("completed complete done finished closed x true".split(), "done"),
    **dict.fromkeys("cancelled canceled deleted skipped dropped".split(), "dropped"),
}
_TEXTS = ("content", "step", "description", "title", "subject", "text", "task", "name", "item")
_CHECKBOX = re.compile(r"^\s*(?:[-*]|\d+\.)\s*\[([ xX~/>-]?)\]\s*(\S[^\n]*)$", re.MULTILINE)
_NEW_ID = re.compile(r"(?:Task )?#(\d{1,6})\b")


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One item of a plan; `id` is the tool's own name for it, if it gave one. `ordinal` is the
    call that last set it."""

    text: str
    state: PlanState = "open"
    id: str = ""
    ordinal: int = 0


def read_plan(
    call: ToolCall, result: str, plan: tuple[PlanItem, ...], ordinal: int = 0
) -> tuple[PlanItem, ...]:
    """The plan after a call: replaced by tools that give the whole list, changed by those that
    make or update one task. `result` is the text that came back."""
    arguments = call.parsed()
    if items := _whole_list(arguments, ordinal):
        return items
    task = str(arguments.get("taskId") or arguments.get("task_id") or arguments.get("id") or "")
    state = _state(arguments)
    if task:
        known = any(item.id == task for item in plan)
        if not known:
            return (*plan, PlanItem(_text(arguments), state or "open", task, ordinal))
        return tuple(
            PlanItem(
                _text(arguments, ("subject", "title", "content")) or item.text,
                state or item.state,
                task,
                ordinal,
            )
            if item.id == task
            else item
            for item in plan
        )
    subject = _text(arguments, ("subject", "title"))
    if subject:
        found = _NEW_ID.search(result[:300])
        return (*plan, PlanItem(subject, state or "open", found[1] if found else "", ordinal))
    return plan


def _whole_list(arguments: Mapping[str, Any], ordinal: int) -> tuple[PlanItem, ...]:
    for value in cast("list[object]", list(arguments.values())):
        if isinstance(value, list) and value:
            items = tuple(_item(item, ordinal) for item in cast("list[object]", value))
            if all(item.text for item in items):
                return items
        if isinstance(value, str) and (boxes := _CHECKBOX.findall(value[:20_000])):
            return tuple(
                PlanItem(
                    _cut(text),
                    "done" if mark in "xX" and mark else "open" if mark in ("", " ") else "doing",
                    "",
                    ordinal,
                )
                for mark, text in boxes
            )
    return ()


def _item(item: object, ordinal: int) -> PlanItem:
    if isinstance(item, str):
        return PlanItem(_cut(item), ordinal=ordinal)
    if not isinstance(item, dict):
        return PlanItem("")
    fields = cast("dict[str, Any]", item)
    return PlanItem(_text(fields), _state(fields) or "open", str(fields.get("id") or ""), ordinal)


def _text(fields: Mapping[str, Any], keys: tuple[str, ...] = _TEXTS) -> str:
    return _cut(
        next((fields[key] for key in keys if isinstance(fields.get(key), str) and fields[key]), "")
    )


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_ITEM else text[: LONGEST_ITEM - 1] + "…"


def _state(fields: Mapping[str, Any]) -> PlanState | None:
    for key in ("status", "state", "done", "completed"):
        if key in fields:
            return _STATES.get(str(fields[key]).lower(), "open")
    return None
