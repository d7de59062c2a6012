"""`update_plan` and `recall`: what the program keeps for the agent."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hands import Hands

from unremember.archive import MemoryArchive, Opened, Said
from unremember.events import Recalled
from unremember.messages import Message, Text, ToolCall, ToolResult, parse_handle

LOG = "\n".join(f"line {n} of the build" for n in range(1, 2_001))
GIANT = "a" * 400_000 + "needle" + "b" * 400_000


def looks_in(archive: MemoryArchive) -> Callable[[str], str]:
    """What an agent gives its tools: exact texts by handle, places by words."""

    def look(what: str) -> str:
        if parse_handle(what):
            original = archive.recall("talk", what)
            return original.text if isinstance(original, Message | ToolResult) else str(original)
        hits = archive.search(what, "talk")
        return "\n".join(f"{hit.handle}: {hit.snippet}" for hit in hits) or f"nothing: {what}"

    return look


@pytest.fixture
def remembering(hands: Hands) -> Hands:
    archive = MemoryArchive()
    archive.append("talk", Opened(), Said(Message("user", (Text("The port is 4711. 🙂"),))))
    for number, text in enumerate((LOG, GIANT)):
        call = ToolCall(f"c{number}", "run_command", '{"command": "make"}')
        archive.append("talk", Said(Message("assistant", (call,))))
        archive.append("talk", Said(Message("tool", (ToolResult(call.id, (Text(text),)),))))
    hands.context.recall = looks_in(archive)
    return hands


async def test_a_handle_brings_back_the_original(remembering: Hands):
    """What a handle names comes back exactly, and an event says so."""
    assert await remembering("recall", what="m1") == "The port is 4711. 🙂"
    assert await remembering("recall", what=" m1 ") == "The port is 4711. 🙂"
    assert remembering.events[0] == Recalled(
        "m1", remembering.context.count("The port is 4711. 🙂")
    )


async def test_words_are_looked_for_everywhere(remembering: Hands):
    """Words that are no handle are searched in all that was said."""
    assert (await remembering("recall", what="port")).startswith("m1: ")


async def test_a_mark_is_a_handle_too(remembering: Hands):
    """A clip mark given to recall means its handle."""
    text = await remembering("recall", what="[… 12 lines left out · m1 …]")
    assert text == "The port is 4711. 🙂"


async def test_a_long_original_comes_in_pages(remembering: Hands):
    """An original larger than the cap comes page by page; together the pages are exact."""
    remembering.context.cap = 2_000
    start, lines = 1, list[str]()
    while start:
        text = await remembering("recall", what="m4", start_line=start)
        assert "left out" not in text
        _, *rows = text.split("\n")
        more = rows.pop() if rows[-1].startswith("[") else ""
        lines += rows
        start = int(more.partition("start_line=")[2].rstrip("]") or 0)
    assert "\n".join(lines) == LOG
    assert "2,000 lines" in await remembering.fails("recall", what="m4", start_line=2_001)


async def test_words_within_an_original(remembering: Hands):
    """A handle and words give the places in that original, also amid one giant line."""
    text = await remembering("recall", what="m4 line 1234 ")
    assert text == "[m4: 'line 1234' is at 1 places]\n1234\tline 1234 of the build"
    text = await remembering("recall", what="m7 NEEDLE")
    assert "aneedleb" in text
    assert remembering.context.count(text) <= remembering.context.cap
    assert "does not stand in m4" in await remembering.fails("recall", what="m4 elsewhere")


async def test_what_cannot_be_recalled(remembering: Hands):
    """A handle that names nothing, an empty question, a run without an archive: each says why."""
    assert "m99" in await remembering.fails("recall", what="m99")
    assert "empty" in await remembering.fails("recall", what="  ")
    remembering.context.recall = None
    assert "no archive" in await remembering.fails("recall", what="m1")


async def test_the_plan_is_kept_by_the_program(hands: Hands):
    """The plan is the program's state; the answer says how far it is."""
    steps = [
        {"step": "find the fault", "status": "done"},
        {"step": "mend it", "status": "doing"},
        {"step": "run the tests"},
    ]
    assert await hands("update_plan", steps=steps) == "plan: 1 of 3 done; now: mend it"
    assert [(item.text, item.state) for item in hands.context.plan] == [
        ("find the fault", "done"),
        ("mend it", "doing"),
        ("run the tests", "open"),
    ]
    text = await hands.fails("update_plan", steps=[{"step": "x", "status": "half done"}])
    assert "- steps.0.status: " in text
    assert len(hands.context.plan) == 3
