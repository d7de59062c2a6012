"""What travels with every request is small: each token of it is paid for each time."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from unremember.actions import tool_kind
from unremember.models.counting import written
from unremember.prompts import prompt
from unremember.tokens import exact_counter
from unremember.tools import Tool, coding_tools, system_prompt


def weigh(*texts: str) -> int:
    pytest.importorskip("toktok")
    return sum(exact_counter().count(texts))


def as_sent(kit: Iterable[Tool]) -> str:
    """Tools as they stand in a request of the most talkative of the wire formats."""
    functions = (
        {"type": "function", "function": function}
        for function in json.loads(written([made.spec for made in kit]))
    )
    return json.dumps([*functions], ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(("lean", "tools", "all_in_all"), [(False, 1_000, 1_500), (True, 600, 900)])
def test_schemas_and_prompt(lean: bool, tools: int, all_in_all: int):
    """Tools weigh at most 1,000 tokens (600 lean), with the system prompt 1,500 (900)."""
    kit = coding_tools(lean=lean).values()
    schemas = weigh(as_sent(kit))
    assert weigh(written([made.spec for made in kit])) <= schemas <= tools
    assert schemas + weigh(system_prompt("/home/somebody/project", lean=lean)) <= all_in_all


@pytest.mark.parametrize("lean", [False, True])
def test_nothing_is_named_that_is_not_there(lean: bool):
    """A tool's description, and the system prompt, speak of tools on offer only."""
    kit = coding_tools(lean=lean)
    texts = [made.spec.description for made in kit.values()] + [system_prompt("/", lean=lean)]
    for name in set(coding_tools()) - set(kit):
        assert not any(f"`{name}`" in text or f"{name} " in text for text in texts)


def test_each_tool_is_known_to_the_engine():
    """The ledger knows what each tool does by its name."""
    kinds = {name: tool_kind(name) for name in coding_tools()}
    assert kinds.pop("jobs") == ""
    assert "" not in kinds.values()


def test_prompts_are_short_texts():
    """Each description is a file of one short paragraph."""
    for name in coding_tools():
        text = prompt(name)
        assert "\n" not in text
        assert weigh(text) <= 40
