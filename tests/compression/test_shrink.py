"""Clipping a step in place: pairs, keys and the user's words survive, marks say what is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unremember import Media, Message, Text, Thinking, ToolCall, ToolResult, Weigher
from unremember.compression import CLIP_MARK
from unremember.compression.clip import clip_text
from unremember.compression.shorten import shorten, shorten_text
from unremember.compression.shrink import clip_arguments, shrink_step
from unremember.history import Step
from unremember.messages import Native

WEIGH = Weigher()
WORDS = " ".join(f"word{n}" for n in range(3_000))


def weight(step: Step) -> int:
    return sum(WEIGH.messages(step.messages))


def step(*results: str, words: str = "Now I look.", arguments: str = "{}") -> Step:
    calls = tuple(ToolCall(f"c{n}", "run", arguments) for n in range(len(results)))
    answers = (ToolResult(f"c{n}", (Text(text),)) for n, text in enumerate(results))
    first = Message("assistant", (Text(words), *calls), ordinal=5)
    return Step((first, *(Message("tool", (a,), ordinal=20 + n) for n, a in enumerate(answers))))


def test_results_go_first_then_arguments_then_words():
    """What the agent decided stays whole while output alone can make the room."""
    arguments = json.dumps({"command": "x " * 200})
    small = shrink_step(step(WORDS, arguments=arguments), 1_500, WEIGH)
    assert weight(small) <= 1_500
    assert small.messages[0].parts == step(WORDS, arguments=arguments).messages[0].parts
    [result] = small.results
    assert CLIP_MARK.search(result.text)


def test_thirty_huge_parallel_results_share_the_room():
    """Each keeps about as much as the others, and every call keeps its result."""
    small = shrink_step(step(*[WORDS] * 30), 6_000, WEIGH)
    assert weight(small) <= 6_000
    assert [r.call_id for r in small.results] == [c.id for c in small.calls]
    sizes = WEIGH.texts([result.text for result in small.results])
    assert max(sizes) - min(sizes) < 20


def test_short_results_beside_a_huge_one_stay_whole():
    """Room is taken from what is large."""
    small = shrink_step(step("ok", WORDS, "done"), 1_000, WEIGH)
    assert [r.text for r in small.results][::2] == ["ok", "done"]


def test_what_a_user_typed_beside_results_is_cut_last():
    """Pins are parts: the result gives way to the words."""
    call = Message("assistant", (ToolCall("a", "run", "{}"),), ordinal=1)
    parts = (ToolResult("a", (Text(WORDS),)), Text("Stop, use the other file."))
    small = shrink_step(Step((call, Message("user", parts, ordinal=3))), 200, WEIGH)
    assert small.messages[1].text == "Stop, use the other file."


def test_unchanged_messages_are_the_same_objects():
    """So that they go back exactly as they came."""
    given = step(WORDS)
    small = shrink_step(given, 1_000, WEIGH)
    assert small.messages[0] is given.messages[0]
    assert shrink_step(given, 100_000, WEIGH) is given


def test_signed_thinking_goes_back_as_it_came():
    """A provider refuses an open tool loop whose signed thinking is missing or changed."""
    thought = Thinking("Hm. " * 50, "c2lnbmF0dXJl")
    call = ToolCall("a", "run", json.dumps({"text": WORDS}))
    message = Message("assistant", (thought, call), source=Native("anthropic", {"role": "x"}))
    result = Message("tool", (ToolResult("a", (Text(WORDS),)),))
    small = shrink_step(Step((message, result)), 500, WEIGH)
    assert small.messages[0].parts[0] is thought
    assert small.messages[0].source == Native("anthropic", None)
    bare = shrink_step(Step((message, result)), 100, WEIGH, thinking=False)
    assert [type(part) for part in bare.messages[0].parts] == [ToolCall]


def test_a_message_of_thinking_alone_is_never_empty():
    """What only thought leaves a mark."""
    lone = Step((Message("assistant", (Thinking("Hm. " * 500),), ordinal=7),))
    [message] = shrink_step(lone, 50, WEIGH).messages
    assert CLIP_MARK.fullmatch(message.text)


def test_a_picture_that_takes_more_than_half_is_named():
    """A result's picture cannot be cut, so it stays or is said to be missing."""
    picture = Media("image", "image/png", 4_096, data="iVBOR")
    result = Message("tool", (ToolResult("a", (Text("Shot."), picture)),), ordinal=9)
    call = Message("assistant", (ToolCall("a", "shot", "{}"),), ordinal=8)
    [kept] = shrink_step(Step((call, result)), 300, WEIGH).results
    assert "image of 4,096 bytes: left out · m9" in kept.text
    [kept] = shrink_step(Step((call, result)), 4_000, WEIGH).results
    assert picture in kept.content


@pytest.mark.parametrize(
    "value",
    [
        {"path": "a.py", "content": "line\n" * 3_000, "mode": 3, "deep": {"text": "é" * 4_000}},
        {"path": "a.py", "rows": list(range(9_000))},
        {"edits": [{"old": "x" * 60, "new": "y" * 60, "n": n} for n in range(900)]},
    ],
)
def test_clipped_arguments_stay_json_with_their_keys(value: dict[str, Any]):
    """Texts and long lists are clipped inside, whatever is large."""
    clipped = clip_arguments(json.dumps(value), 400, WEIGH, 3)
    assert WEIGH.text(clipped) <= 400
    assert json.loads(clipped).keys() == value.keys()
    assert CLIP_MARK.search(clipped)
    assert value.get("path") == json.loads(clipped).get("path")


def test_arguments_of_keys_alone_leave_one_mark():
    """Thousands of keys are data."""
    clipped = clip_arguments(json.dumps({f"key_{n}": n for n in range(9_000)}), 200, WEIGH, 3)
    assert list(json.loads(clipped)) == ["clipped"]


def test_arguments_that_are_no_json_are_clipped_as_text():
    """A model may have been cut off in mid-call."""
    clipped = clip_arguments('{"content": "' + WORDS, 100, WEIGH, 3)
    assert WEIGH.text(clipped) <= 100
    assert clipped.startswith('{"content"')


def test_the_count_in_a_mark_is_exact():
    """What is missing is what the mark says, to the character."""
    text = "abc def " * 5_000
    clipped = clip_text(text, 60, WEIGH.text, 4)
    [mark] = CLIP_MARK.finditer(clipped)
    missing = int(mark[0].split()[1].replace(",", ""))
    assert len(clipped) - len(mark[0]) + missing == len(text)
    assert mark[0].endswith("m4 …]")


def test_a_text_shorter_than_its_mark_is_left_alone():
    """A mark that is longer than what it replaces helps nobody."""
    assert clip_text("four short words here", 1, WEIGH.text, 4) == "four short words here"


def test_lone_surrogates_can_be_clipped():
    """They are legal in a str, and count like the mark for them."""
    clipped = clip_text("\ud800 broken " * 3_000, 80, WEIGH.text, 4)
    assert WEIGH.text(clipped) <= 80


def test_a_long_users_message_keeps_head_tail_and_rules():
    """Between them the sentences with an obligation, as many as fit; one mark names the rest."""
    filler = "The weather was nice and we walked along. " * 60
    text = f"Start here. {filler}Never delete the table users. {filler}That is all."
    short = shorten_text(text, 150, WEIGH.text, 2)
    assert WEIGH.text(short) <= 150
    assert short.startswith("Start here.")
    assert short.endswith("That is all.")
    assert "Never delete the table users." in short
    assert len(CLIP_MARK.findall(short)) == 1


@pytest.mark.parametrize("text", ["漢字かな交じり文、" * 900, "a" * 90_000, "x.y=z;" * 9_000])
def test_dense_texts_keep_both_ends_too(text: str):
    """Where ninety characters are too many tokens, fewer of each end stay."""
    short = shorten_text(text, 60, WEIGH.text, 2)
    assert WEIGH.text(short) <= 60
    assert short.startswith(text[:10])
    assert short.endswith(text[-10:])


def test_a_message_of_pictures_alone_says_how_many_are_missing():
    """An attachment that does not fit leaves a mark with the handle."""
    pictures = (Media("image", data="a"), Media("image", data="b"))
    short = shorten(Message("user", pictures, ordinal=6), 40, WEIGH)
    assert short.parts == (Text("[… 2 attachments left out · m6 …]"),)
