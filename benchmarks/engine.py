"""What compressing and counting cost, as ratios within one run: `python benchmarks/engine.py`."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

from unremember import Budget, History, Job, Message, Text, ToolCall, ToolResult, Weigher, fit
from unremember.messages import number

WORDS = (
    "def class return self import parse_amount RateTable invoice total currency value error "
    "tests/test_money.py src/tallybook/money.py assert expected found line number of the a to"
).split()


def conversation(characters: int, seed: int = 1) -> History:
    """A conversation of about so many characters: calls, and results of code-like lines."""
    luck = random.Random(seed)
    messages = [Message("user", (Text("Please get the tests green. Never touch migrations."),))]
    written = 0
    while written < characters:
        lines = [
            f"{'    ' * luck.randrange(4)}{' '.join(luck.choices(WORDS, k=luck.randrange(3, 12)))}"
            f" {luck.randrange(5000)}"
            for _ in range(luck.randrange(20, 200))
        ]
        text = "\n".join(lines)
        written += len(text)
        call = f"c{len(messages)}"
        arguments = f'{{"command": "sed -n 1,{len(lines)}p src/file_{luck.randrange(60)}.py"}}'
        messages.append(Message("assistant", (ToolCall(call, "bash", arguments),)))
        messages.append(Message("tool", (ToolResult(call, (Text(text),)),)))
    return History(messages=number(messages))


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The shortest of some runs."""
    took: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        took.append(time.perf_counter() - begun)
    return min(took)


def texts_of(history: History) -> list[str]:
    """All texts of a history."""
    found = [result.text for message in history.messages for result in message.results]
    return found + [call.arguments for message in history.messages for call in message.calls]


def compress(history: History) -> History:
    """To a tenth, with nothing counted before."""
    weigh = Weigher()
    return fit(history, Job(Budget.exactly(max(2_000, weigh(history) // 10)), weigh))


def against_the_counter() -> None:
    """Compressing a million characters, beside counting them once; and how it grows."""
    million = conversation(1_000_000)
    texts = texts_of(million)
    weigh = Weigher()
    weigh.texts(texts)  # loads the tables
    count, work = seconds(lambda: weigh.texts(texts), 5), seconds(lambda: compress(million))
    put("compress 1M characters / count them once (at most 40)", work / count)
    large = conversation(20_000_000)
    put("compress 20M / (20 x compress 1M)", seconds(lambda: compress(large), 1) / (20 * work))


def one_giant_line() -> None:
    """5 MB in one line beside the same characters in short lines."""
    luck = random.Random(2)
    words = [luck.choice(WORDS) + str(luck.randrange(999)) for _ in range(600_000)]
    line = " ".join(words)[:5_000_000]
    short = "\n".join(line[i : i + 80] for i in range(0, len(line), 80))

    def with_result(text: str) -> History:
        parts = [Message("user", (Text("Read it."),))]
        for place, content in enumerate((text, "ok", "done")):
            parts.append(Message("assistant", (ToolCall(f"c{place}", "bash", "{}"),)))
            parts.append(Message("tool", (ToolResult(f"c{place}", (Text(content),)),)))
        return History(messages=number(parts))

    giant, many = with_result(line), with_result(short)
    put(
        "one line of 5 MB / the same in short lines (at most 3)",
        seconds(lambda: compress(giant), 2) / seconds(lambda: compress(many), 2),
    )


def one_message_more() -> None:
    """Adding and weighing one message on 10,000 beside 100."""

    def growing(length: int) -> Callable[[], object]:
        history = History(messages=number([Message("user", (Text("hello there"),))] * length))
        weigh = Weigher()
        weigh(history)
        state = [history]

        def work() -> None:
            for _ in range(200):
                state[0] = state[0].add(Message("user", (Text("one message more"),)))
                weigh(state[0])

        return work

    put(
        "one message more on 10,000 / on 100 (at most 2)",
        seconds(growing(10_000), 5) / seconds(growing(100), 5),
    )


def put(name: str, ratio: float) -> None:
    """One ratio."""
    sys.stdout.write(f"{name:60} {ratio:6.2f}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    one_message_more()
    one_giant_line()
    against_the_counter()
