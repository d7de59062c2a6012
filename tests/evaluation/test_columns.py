"""The columns of a result, on recordings of which the right answer is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from recorded import CHINESE, ENGLISH, JAPANESE, KOREAN, talk

from unremember import Budget, History, Job, Message, Text, Weigher, fit, read
from unremember.evaluation import find_strategy
from unremember.evaluation.columns import Source, measure, source_of
from unremember.evaluation.recordings import Unusable, cut_at
from unremember.messages import ToolCall, ToolResult

DATA = Path(__file__).parents[2] / "../shared/data"
RECORDINGS = sorted(p for p in DATA.glob("*/*") if p.suffix in (".json", ".jsonl", ".traj"))

WEIGH = Weigher()


def source(messages: object, share: float = 0.6) -> Source:
    """A recording, cut."""
    data = json.dumps(messages, ensure_ascii=False)
    return source_of(cut_at(read(data)[0], share), WEIGH)


def columns(given: Source, after: History, share: float = 0.1) -> dict[str, float]:
    return measure(given, after, int(share * given.tokens), WEIGH)


def test_nothing_forgotten_is_nothing_missing():
    """Of a history that was not compressed everything is there, each line in its place."""
    given = source(talk())
    found = columns(given, given.cut.before, 1.0)
    rest = {name: share for name, share in found.items() if name != "size"}
    assert rest == dict.fromkeys(rest, 1.0)
    assert set(rest) >= {"recall", "line", "other", "phrases", "constraint", "errors", "users"}
    assert found["size"] == pytest.approx(1.0, abs=0.02)


def test_everything_forgotten_is_everything_missing():
    """Of an empty history nothing is there."""
    given = source(talk())
    after = History((), [Message("user", (Text("Go on."),))])
    found = columns(given, after)
    assert all(share == 0 for name, share in found.items() if name != "size")


def test_a_bag_of_names_is_recall_but_no_line():
    """Names without the lines they stood in count for recall, and not for line."""
    given = source(talk())
    bag = " ".join(sorted(given.needs.names))
    found = columns(given, History((), [Message("user", (Text(bag),))]))
    assert found["recall"] == 1
    assert found["line"] == 0


def test_what_was_shown_again_was_not_needed_from_memory():
    """A name that a tool prints after the cut, before its use, is not asked of the memory."""
    messages = talk()
    cut = cut_at(read(json.dumps(messages))[0], 0.6)
    name = "src/app/part_03.py"
    shown = [
        Message("assistant", (ToolCall("x1", "bash", '{"command": "ls"}'),)),
        Message("tool", (ToolResult("x1", (Text(name),)),)),
        Message("assistant", (ToolCall("x2", "bash", json.dumps({"command": f"cat {name}"})),)),
        Message("tool", (ToolResult("x2", (Text("empty"),)),)),
    ]
    for added, needed in ((shown, False), (shown[2:], True)):
        later = [m for step in cut.after for m in step.messages]
        steps = History((), [*added, *later]).steps
        again = source_of(type(cut)(0.6, cut.before, steps), WEIGH)
        assert (name in again.needs.names) is needed


@pytest.mark.parametrize("strategy", ["outline", "window", "head-tail", "mask"])
def test_every_strategy_keeps_the_budget(strategy: str):
    """Each named strategy gives a history within the budget, smaller than the one it was given."""
    given = source(talk())
    budget = given.tokens // 8
    after = find_strategy(strategy)(given.cut.before, Job(Budget.exactly(budget), WEIGH))
    assert WEIGH(after) <= budget < WEIGH(given.cut.before)


def test_rules_survive_in_every_language():
    """The same rules in English, Korean, Chinese and Japanese are counted and kept alike."""
    shares: list[float] = []
    counts: list[int] = []
    for rules in (ENGLISH, KOREAN, CHINESE, JAPANESE):
        given = source(talk(rules))
        after = fit(given.cut.before, Job(Budget.exactly(given.tokens // 10), WEIGH))
        counts.append(len(given.needs.rules))
        shares.append(columns(given, after)["constraint"])
    assert counts == [4, 4, 4, 4]
    assert shares == [1, 1, 1, 1]


def test_comments_without_spaces_are_needed_and_kept():
    """Phrases of an agent that writes Chinese are found in what it had read before."""
    messages = talk(CHINESE, comment="读取缓存的数据并检查限制")
    messages[-2]["content"] = "这里读取缓存的数据并检查限制，和之前一样。"
    given = source(messages)
    assert any("缓" in phrase for phrase in given.needs.phrases)


def test_a_short_recording_is_unusable():
    """A recording with too little before the cut is refused with the reason."""
    with pytest.raises(Unusable, match="characters stand before the cut"):
        source(talk(turns=12), 0.2)


@pytest.mark.skipif(not RECORDINGS, reason="the recorded conversations are not here")
def test_recordings_are_cut_before_their_first_compaction():
    """A cut stands between steps, before a message of the agent, and no summary is part of it."""
    usable = 0
    for path in RECORDINGS:
        for conversation in read(path, whole=True):
            try:
                cut = cut_at(conversation, 0.5)
            except Unusable:
                continue
            usable += 1
            messages = [*cut.before.messages, *(m for step in cut.after for m in step.messages)]
            assert cut.after[0].messages[0].role == "assistant"
            assert not cut.before.open_calls
            assert all(message.kind != "summary" for message in messages)
    assert usable >= 10
