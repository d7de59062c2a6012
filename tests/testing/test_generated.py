"""Generated histories are valid and as various as those of the field."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from hypothesis import given, settings

from unremember.history import History, is_pin
from unremember.messages import Message, number
from unremember.testing import histories


def size(history: History) -> int:
    return sum(
        len(message.text)
        + sum(len(call.arguments) for call in message.calls)
        + sum(len(result.text) for result in message.results)
        for message in history.messages
    )


@given(histories(characters=2_000))
def test_they_are_numbered_and_hold_the_rules(history: History):
    """Each can be built again from its values, and its ordinals are those of its messages."""
    again = History(history.system, tuple(history.messages), history.notes)
    assert again == history
    everything = [*history.system, *history.messages]
    ordinals = [message.ordinal for message in everything]
    assert ordinals == sorted(set(ordinals))
    assert history.next_ordinal >= ordinals[-1] + everything[-1].span
    if not history.notes:
        assert number(everything) == everything


def test_a_large_share_exceeds_the_budget():
    """At least a third hold as many characters as was asked for."""
    sizes: list[int] = []

    @settings(max_examples=200, database=None, derandomize=True)
    @given(histories(characters=20_000))
    def look(history: History) -> None:
        sizes.append(size(history))

    look()
    assert sum(size >= 20_000 for size in sizes) >= len(sizes) / 3


def kinds(history: History) -> Iterator[str]:
    """What of the field occurs in a history."""
    if history.open_calls:
        yield "open calls"
    if history.notes:
        yield "notes"
    if sum(message.role == "user" for message in history.messages) >= 100:
        yield "hundreds of user messages"
    ids = [call.id for message in history.messages for call in message.calls]
    if len(set(ids)) < len(ids):
        yield "reused ids"
    for message in history.messages:
        yield from kinds_of(message)


def kinds_of(message: Message) -> Iterator[str]:
    yield message.kind
    if message.role == "system":
        yield "later system message"
    if message.pinned:
        yield "pinned"
    if len(message.calls) > 1:
        yield "parallel calls"
    if message.role == "user" and message.results and is_pin(message):
        yield "words beside results"
    if message.role == "user" and len(message.text) >= 2_000:
        yield "large user message"
    for result in message.results:
        if result.failed and "interrupted" in result.text:
            yield "aborted"
        if any(len(line) >= 500 for line in result.text.split("\n")):
            yield "giant line"
    for part in message.parts:
        yield type(part).__name__


def test_the_kinds_of_the_field_occur():
    """Parallel, open, aborted and reused calls, media, thinking, notes, giant lines and more."""
    seen: set[str] = set()

    @settings(max_examples=200, database=None, derandomize=True)
    @given(histories(characters=4_000))
    def look(history: History) -> None:
        seen.update(kinds(history))

    look()
    assert seen == {
        *("said", "summary", "program", "demo", "pinned", "notes", "later system message"),
        *("Text", "Thinking", "Media", "ToolCall", "ToolResult", "words beside results"),
        *("open calls", "parallel calls", "reused ids", "aborted", "giant line"),
        *("hundreds of user messages", "large user message"),
    }


def test_without_hypothesis_one_line_says_what_to_do():
    """Validators work without hypothesis; `histories` says how to get it."""
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "from unremember.testing import check_openai, histories\n"
        "assert check_openai([]) == []\n"
        "histories()"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    last = found.stderr.strip().splitlines()[-1]
    assert (
        last
        == "unremember.errors.InputError: histories() needs hypothesis; run: pip install hypothesis"
    )
