"""The engine as one call on a list of messages."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from measured import tokens_sent
from unremember import BudgetTooSmall, InputError, acompress, compress
from unremember.events import Event, Shortened
from unremember.formats import anthropic, openai_chat
from unremember.formats.base import conversation
from unremember.library import Form
from unremember.messages import Message, ToolCall, ToolResult
from unremember.notes import OPEN
from unremember.testing import check_anthropic, check_openai, check_responses

RULE = "Never run git push without asking me."


def output(key: str, lines: int = 300) -> str:
    return "\n".join(f"{key}.py:{n}: value_{n * 7} = load({n})" for n in range(lines))


def openai_turn(key: str, command: str, text: str) -> list[dict[str, Any]]:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    return [
        {
            "role": "assistant",
            "content": f"Now {key}.",
            "tool_calls": [{"id": f"call_{key}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"call_{key}", "content": text},
    ]


def anthropic_turn(key: str, command: str, text: str) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": f"call_{key}", "name": "bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": f"call_{key}", "content": text}
    return [
        {"role": "assistant", "content": [{"type": "text", "text": f"Now {key}."}, use]},
        {"role": "user", "content": [result]},
    ]


def responses_turn(key: str, command: str, text: str) -> list[dict[str, Any]]:
    return [
        {"type": "message", "role": "assistant", "content": f"Now {key}."},
        {
            "type": "function_call",
            "call_id": f"call_{key}",
            "name": "bash",
            "arguments": json.dumps({"command": command}),
        },
        {"type": "function_call_output", "call_id": f"call_{key}", "output": text},
    ]


TURNS: dict[Form, Any] = {
    "openai": openai_turn,
    "anthropic": anthropic_turn,
    "responses": responses_turn,
}
CHECKS: dict[Form, Any] = {
    "openai": check_openai,
    "anthropic": check_anthropic,
    "responses": check_responses,
}
FORMS = tuple(TURNS)


def sent(form: Form, messages: list[dict[str, Any]]) -> int:
    return tokens_sent(form, {"messages": messages} if form == "anthropic" else messages)


def long_run(form: Form, turns: int = 12) -> list[dict[str, Any]]:
    made = [{"role": "user", "content": f"Fix the loader. {RULE}"}]
    if form == "responses":
        made[0]["type"] = "message"
    for n in range(turns):
        made += TURNS[form](f"part{n}", f"cat part{n}.py", output(f"part{n}"))
    return made


@pytest.mark.parametrize("form", FORMS)
def test_a_list_comes_back_in_its_form_within_the_budget(form: Form):
    """Recognised, valid, not over by the exact count of what is sent; the given list untouched."""
    given = long_run(form)
    before = copy.deepcopy(given)
    kept, report = compress(given, 3_000)
    assert given == before
    assert sent(form, kept) <= report.tokens_after <= 3_000
    assert CHECKS[form](kept) == []
    assert RULE in json.dumps(kept)


@pytest.mark.parametrize("form", FORMS)
def test_messages_that_stay_are_the_very_same_objects(form: Form):
    """Signatures, cache marks and unknown fields survive because nothing is rebuilt."""
    given = [*long_run(form), *TURNS[form]("last", "ls", "a.py")]
    kept, _ = compress(given, 6_000)
    assert kept[0] is given[0] or form == "anthropic"  # whose notes are merged into that turn
    assert kept[-1] is given[-1]
    assert kept[-2] is given[-2]


@pytest.mark.parametrize("form", FORMS)
def test_a_list_that_fits_comes_back_as_it_is(form: Form):
    """The same objects, nothing forgotten."""
    given = long_run(form, 2)
    kept, report = compress(given, 100_000)
    assert all(a is b for a, b in zip(kept, given, strict=True))
    assert report.forgotten == {}
    assert report.tokens_before == report.tokens_after


def test_what_was_forgotten_is_in_the_report():
    """By handle: a message, a call or a result, exact to the character."""
    given = long_run("openai")
    _, report = compress(given, 2_000)
    originals = list(report.forgotten.values())
    results = [o.text for o in originals if isinstance(o, ToolResult)]
    assert output("part0") in results
    assert any(isinstance(o, ToolCall) and "part0.py" in o.arguments for o in originals)
    assert any(isinstance(o, Message) and o.text == "Now part0." for o in originals)


def test_calls_that_wait_stay_open():
    """The caller is about to run them."""
    given = [*long_run("openai"), openai_turn("next", "ls", "")[0]]
    kept, _ = compress(given, 3_000)
    assert kept[-1] is given[-1]
    assert check_openai(kept, allow_open=True) == []


def test_shortened_pins_are_told_of():
    """A user's message too large for its share is an event."""
    events: list[Event] = []
    story = "\n".join(f"Chapter {n}. It rained in town_{n}." for n in range(4_000))
    compress([{"role": "user", "content": story}, *long_run("openai")], 3_000, emit=events.append)
    assert [e.ordinal for e in events if isinstance(e, Shortened)] == [1]


def test_fixed_tokens_travel_beside_the_messages():
    """Tool schemas count against the budget; alone over it, they are named."""
    kept, report = compress(long_run("openai"), 3_000, fixed=1_000)
    assert sent("openai", kept) <= 2_000
    assert report.tokens_after <= 3_000
    with pytest.raises(BudgetTooSmall, match="tool schemas 4,000"):
        compress(long_run("openai"), 3_000, fixed=4_000)


def test_broken_lists_are_mended_and_told_of():
    """F4: an orphan call and an orphan result, each repaired once, the result valid."""
    given = [*long_run("openai"), *openai_turn("lost", "ls", "x")[:1]]
    given.append({"role": "user", "content": "And now?"})
    given.append({"role": "tool", "tool_call_id": "call_unknown", "content": "who asked?"})
    kept, report = compress(given, 3_000)
    told = [repair.what for repair in report.repairs]
    assert sum("no result; a failed one" in what for what in told) == 1
    assert sum("'call_unknown' became a note" in what for what in told) == 1
    assert check_openai(kept) == []


@pytest.mark.parametrize("given", [[{"hello": "world"}], [1, 2]])
def test_other_lists_are_refused(given: Any):
    """One line that says what was expected."""
    with pytest.raises(InputError):
        compress(given, 1_000)


async def test_the_async_form_gives_the_same():
    """For those inside an event loop."""
    given = long_run("openai")
    kept, report = await acompress(given, 3_000)
    assert kept == compress(given, 3_000).messages
    assert report.tokens_after <= 3_000


def test_media_is_weighed_by_its_size_class():
    """A megabyte of base64 is an image, not a quarter of a million tokens."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 900_000}}
    given = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]
    _, report = compress(given, 5_000)
    assert report.tokens_before < 2_000


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_ten_rounds_through_a_foreign_form(form: Form):
    """R7: written, read back, extended and compressed again, ten times: notes are merged and not
    nested, ordinals ascend, the rule and what was pushed are still known."""
    made = [{"role": "user", "content": f"Fix the loader. {RULE}"}]
    made += TURNS[form]("push", "git push origin topic", "Everything up-to-date")
    given = 0
    for turn in range(10):
        for n in range(6):
            key = f"r{turn}_{n}"
            made += TURNS[form](key, f"cat {key}.py", output(key, 150))
        made += [*TURNS[form](f"ask{turn}", "ls", "a.py"), *answer(form, turn)]
        made, report = compress(made, 3_000)
        text = json.dumps(made)
        assert sent(form, made) <= report.tokens_after <= 3_000
        assert CHECKS[form](made, allow_open=True) == []
        assert text.count(OPEN) == 1
        assert RULE in text
        assert "git push origin topic" in text
        assert f"Question {turn}?" in text
        given = check_ordinals(form, made, given)


def answer(form: Form, turn: int) -> list[dict[str, Any]]:
    return [
        {"role": "assistant", "content": f"Answer {turn}."},
        {"role": "user", "content": f"Question {turn}?"},
    ]


def check_ordinals(form: Form, messages: list[dict[str, Any]], given: int) -> int:
    module = anthropic if form == "anthropic" else openai_chat
    history = conversation(module.to_messages(messages), form=form, close=False).history
    ordinals = [message.ordinal for message in history.messages]
    assert ordinals == sorted(set(ordinals))
    assert history.next_ordinal > given
    assert history.notes.next == history.next_ordinal
    return history.next_ordinal
