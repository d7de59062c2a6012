"""Counting: exact where the tokenizer is, from above where it is not, anchored on real usage."""

from __future__ import annotations

import base64
import json
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured import WEIGH
from unremember import (
    Budget,
    History,
    InputError,
    Media,
    Message,
    Meter,
    Notes,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Weigher,
)
from unremember.messages import number
from unremember.tokens import (
    IMAGE_MAX,
    PER_MESSAGE,
    estimate_counter,
    estimate_texts,
    exact_counter,
    factor_of,
    parse_tokens,
    weigh_media,
)

LUCK = random.Random(7)
BYTES = bytes(LUCK.randrange(256) for _ in range(3_000))

CLASSES = {
    "English": (
        "The parser reads one line at a time and keeps what it has not understood, because a later "
        "line may explain it. When nothing does, the reader is told where the trouble began. "
    )
    * 12,
    "code": (
        "def load(self, path: Path, *, strict: bool = True) -> Store:\n"
        '    """Reads a store; raises `StoreError` where a line cannot be read."""\n'
        "    for number, line in enumerate(path.read_text().splitlines(), start=1):\n"
        "        if not line.strip() and strict:\n"
        "            raise StoreError(f'{path}:{number}: an empty line')\n"
    )
    * 8,
    "JSON": json.dumps(
        [{"id": n, "name": f"part_{n}", "tags": ["a", "b"], "price": n * 1.25} for n in range(60)]
    ),
    "indented JSON": json.dumps([{"id": n, "ok": True} for n in range(90)], indent=2),
    "logs": "\n".join(
        f"2024-03-14T09:{n % 60:02}:53.{n * 37 % 1000:03}Z INFO worker-{n % 9} done in {n * 7} ms"
        for n in range(60)
    ),
    "minified code": 'function a(b,c){return b&&c?a(b-1,c+1)+"":d[e]||(f=!0,g.h(i))}var j=k=>l;'
    * 30,
    "base64": base64.b64encode(BYTES).decode(),
    "hex": BYTES.hex(),
    "Korean": "계산 모듈의 테스트가 실패합니다. 원인을 찾아서 고쳐 주세요. " * 12,
    "Chinese": "不要修改公共接口，只修复缓存失效的问题，然后运行全部测试。" * 12,
    "Japanese": "日本語の入力でも正しく切り詰めて、テストを先に書いてください。" * 12,
    "Cyrillic": "Никогда не удаляйте таблицу; всегда запускайте тесты. " * 12,
    "Arabic": "لا تحذف جدول المستخدمين أبدا، وشغل الاختبارات دائما. " * 12,
    "emoji": "Done 🎉 tests pass ✅ but 🐛🐛 remain 😅👩‍💻🇰🇷 and 👍🏽 " * 20,
    "blanks": "value\n" + " " * 60 + "x\n\n\n\n" + "\t" * 9 + "deep\n" + "-" * 78 + "\n" + "=" * 40,
}


@pytest.mark.parametrize("text", CLASSES.values(), ids=CLASSES)
def test_the_estimate_is_from_above_for_each_class_of_text(text: str):
    """F14: never under 0.9 and never over 2 times the exact count."""
    [exact] = exact_counter().count([text])
    [estimate] = estimate_texts([text])
    assert 0.9 <= estimate / exact <= 2
    assert 0.9 <= Weigher(estimate_counter()).text(text) / exact <= 2


def test_a_weigher_without_the_exact_counter_adds_a_tenth():
    """What is not exact has a margin, so that no request is over."""
    text = CLASSES["English"]
    assert Weigher(estimate_counter()).text(text) > estimate_texts([text])[0]


def test_counts_agree_with_another_tokenizer_of_the_same_tables():
    """The exact counter is o200k, token for token."""
    tiktoken = pytest.importorskip("tiktoken")
    if "TIKTOKEN_CACHE_DIR" not in os.environ:
        pytest.skip("its tables would have to be downloaded")
    encoding = tiktoken.get_encoding("o200k_base")
    for text in CLASSES.values():
        assert exact_counter().count([text]) == [len(encoding.encode(text))]


def test_lone_surrogates_count_like_the_mark_for_them():
    """They are legal in a str but cannot be encoded."""
    assert exact_counter().count(["a \ud800 b"]) == exact_counter().count(["a ? b"])


@pytest.mark.parametrize(
    ("model", "factor"),
    [("", 1.0), ("gpt-5", 1.0), ("openai:o3", 1.0), ("anthropic/claude-x", 1.3), ("qwen3", 1.2)],
)
def test_families_have_a_stated_factor(model: str, factor: float):
    """Other vocabularies need more tokens; a model nobody knows gets a cautious factor."""
    assert factor_of(model) == factor
    assert exact_counter(model).exact == (factor == 1)


def test_a_message_weighs_what_is_sent():
    """Texts, names, arguments, and four tokens for each message that it becomes."""
    count = WEIGH.text
    call = Message("assistant", (Text("Look."), ToolCall("a", "read_file", '{"path": "a.py"}')))
    assert WEIGH.message(call) == 4 + count("Look.") + 3 + count("read_file") + count(
        '{"path": "a.py"}'
    )
    two = Message("tool", (ToolResult("a", (Text("x"),)), ToolResult("b", (Text("y"),))))
    assert WEIGH.message(two) == 2 * PER_MESSAGE + count("x") + count("y")
    beside = Message("user", (*two.parts, Text("stop")))
    assert WEIGH.message(beside) == 3 * PER_MESSAGE + count("x") + count("y") + count("stop")
    thought = Message("assistant", (Thinking("Hm.", "s" * 1_600),))
    assert WEIGH.message(thought) == PER_MESSAGE + count("Hm.") + 100


@given(st.lists(st.text(max_size=40), max_size=12), st.integers(0, 500))
def test_a_growing_history_weighs_what_a_new_one_does(texts: list[str], fixed: int):
    """Counting goes on from what was counted, and gives the same."""
    weigh = Weigher(WEIGH.counter, fixed=fixed)
    history = History()
    for text in texts:
        history = history.add(Message("user", (Text(text),)))
        whole = History((), tuple(history.messages))
        assert weigh(history) == Weigher(WEIGH.counter, fixed=fixed)(whole)
    assert weigh(History()) == fixed


def test_two_histories_that_grow_from_one_are_told_apart():
    """A branch does not disturb the counts of the other."""
    weigh = Weigher()
    root = History((), number([Message("user", (Text("root"),))]))
    left = root.add(Message("user", (Text("left " * 50),)))
    right = root.add(Message("user", (Text("right"),)))
    assert weigh(left) - weigh(right) == weigh.text("left " * 50) - weigh.text("right")
    assert weigh(root) == WEIGH(root)


def test_notes_are_weighed_as_they_are_sent():
    """No notes weigh nothing."""
    assert WEIGH.notes(Notes()) == 0


@pytest.mark.parametrize(
    ("media", "tokens"),
    [
        (Media("image", width=750, height=1_000), 1_000),
        (Media("image", width=9_000, height=9_000), IMAGE_MAX),
        (Media("image", width=1, height=1), 85),
        (Media("image", data="A" * 4_000_000), IMAGE_MAX),
        (Media("document", size=150_000), 4_500),
        (Media("audio", size=5_000_000), 10_000),
        (Media("other", data="{}"), 0),
    ],
)
def test_media_weighs_by_its_size_class(media: Media, tokens: int):
    """Never by the length of its base64."""
    assert weigh_media(media) == tokens


# The meter


def test_the_meter_starts_with_the_count():
    """Before any usage was reported, ours is the best there is."""
    history = History().add(Message("user", (Text("Hello there."),)))
    assert Meter(WEIGH)(history) == WEIGH(history)


def test_the_meter_anchors_on_usage_and_scales_what_came_since():
    """F14, F15: the provider's number for what it saw, ours times the ratio for the rest."""
    meter = Meter(WEIGH)
    history = History().add(Message("user", (Text("one two three " * 40),)))
    seen = WEIGH(history) * 3 // 2
    meter.observe(history, seen)
    assert meter(history) == seen
    grown = history.add(Message("user", (Text("four five six " * 40),)))
    new = WEIGH(grown) - WEIGH(history)
    assert meter(grown) == pytest.approx(seen + new * seen / WEIGH(history), abs=1)


def test_after_a_compression_the_anchor_is_gone_and_the_ratio_stays():
    """F15: what was counted for another prefix says nothing about this one."""
    meter = Meter(WEIGH)
    long = History().add(Message("user", (Text("one two three " * 400),)))
    meter.observe(long, WEIGH(long) * 2)
    short = History().add(Message("user", (Text("notes"),)))
    assert meter(short) == pytest.approx(WEIGH(short) * 2, abs=1)


def test_a_report_of_nothing_is_not_believed():
    """Usage is missing while some providers stream."""
    meter = Meter(WEIGH)
    history = History().add(Message("user", (Text("Hello."),)))
    meter.observe(history, 0)
    assert meter(history) == WEIGH(history)


# Budgets


def test_a_budget_of_a_window():
    """Limit = window less what the answer needs; the target is well below."""
    assert Budget.of_window(200_000) == Budget(184_000, 147_200, 92_000)
    assert Budget.of_window(4_000, 500) == Budget(3_500, 2_800, 1_750)
    assert Budget.exactly(900) == Budget(900, 900, 900)


@pytest.mark.parametrize("numbers", [(10, 10, 11), (10, 11, 5), (10, 10, 0), (-1, -1, -1)])
def test_a_budget_in_the_wrong_order_is_refused(numbers: tuple[int, int, int]):
    """0 < target <= trigger <= limit."""
    with pytest.raises(InputError, match="0 < target <= trigger <= limit"):
        Budget(*numbers)


def test_a_window_smaller_than_its_reserve_is_refused():
    """It would leave nothing."""
    with pytest.raises(InputError, match="leaves nothing"):
        Budget.of_window(1_000, 1_000)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("20000", 20_000),
        ("20k", 20_000),
        ("1.5M", 1_500_000),
        ("25%", 2_000),
        (" 20,000 ", 20_000),
        ("2_000", 2_000),
        ("0.5 k", 500),
    ],
)
def test_amounts_are_read(text: str, tokens: int):
    """Plain, in thousands, in millions, or as a share of what is there."""
    assert parse_tokens(text, 8_000) == tokens


@pytest.mark.parametrize("text", ["", "many", "-5", "20kb", "k", "0", "0%", "1e5"])
def test_other_amounts_are_refused(text: str):
    """One line that quotes what was given."""
    with pytest.raises(InputError) as raised:
        parse_tokens(text, 8_000)
    assert repr(text) in str(raised.value)
