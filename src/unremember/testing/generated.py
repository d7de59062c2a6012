"""Generated histories: small choices are drawn, large texts are made of them by repetition."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count, islice, repeat

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from unremember.concepts import Fact
from unremember.history import History
from unremember.messages import (
    Kind,
    Media,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    number,
)
from unremember.notes import Excerpt, Notes, OutlineEntry, runs

_SENTENCES = (
    "Please make the parser accept trailing commas.",
    "Never run git push; ask me first.",
    "계산 모듈의 테스트가 실패합니다. 원인을 찾아 주세요.",
    "不要修改公共接口，只修复缓存失效的问题。",
    "日本語の入力でも正しく切り詰めてください。",
    "I renamed `load_all` to `load`; now src/app/store.py line 214 fails 😅",
    "Das gehört in tests/test_größe.py – nicht woanders hin.",
)

_LINES = (
    "   214\t    def load(self, path: Path) -> Store:",
    "tests/test_store.py::test_load_keeps_order PASSED                 [ 42%]",
    "E       AssertionError: assert 'größe' == 'groesse'",
    "error: src/app/store.py:214: undefined name 'load_all'",
    "drwxr-xr-x  7 user  group   224 Mar 14 09:26 migrations",
    "2024-03-14T09:26:53Z INFO worker-3 시작됨 job=8f3a 处理中",
    '{"id": 17, "name": "列車", "tags": ["a", "b"], "ok": true}',
    "",
)

# One line each: minified code, base64, a row of one letter, a sentence without spaces.
_RUNS = (
    'function a(b){return b?a(b-1)+"":0};',
    "iVBORw0KGgoAAAANSUhEUgAA",
    "a",
    "漢字かな交じり文、",
)

_PATHS = ("src/app/store.py", "tests/test_store.py", "docs/설계.md", "/tmp/out put.log")

_Shape = Callable[[int], list[Message]]
"""Makes the messages of one or more steps; the number makes ids differ where they should."""


def histories(*, characters: int, notes: bool, pending: bool) -> SearchStrategy[History]:
    """See `unremember.testing.histories`."""
    return _histories(characters, notes, pending)


@st.composite
def _histories(draw: DrawFn, characters: int, notes: bool, pending: bool) -> History:
    shapes = draw(st.lists(_shapes(characters), min_size=1, max_size=12))
    wanted = draw(st.sampled_from((0, characters // 3, characters, characters * 3)))
    messages = list(_repeated(shapes, wanted))
    if pending and draw(st.booleans()):
        messages.append(Message("assistant", draw(_calls())("pending").parts))
    system = [Message("system", (Text(text),)) for text in draw(st.lists(_prose(3), max_size=2))]
    if notes and draw(st.booleans()):
        return _with_notes(system, messages, draw(_earlier()))
    numbered = number((*system, *messages))
    return History(tuple(numbered[: len(system)]), numbered[len(system) :])


def _repeated(shapes: list[_Shape], characters: int) -> Iterator[Message]:
    """The messages of all shapes, over and over until they hold as many characters as wanted."""
    size = 0
    # After a few rounds of small things, logs make up what is missing: size must stay cheap.
    rounds = chain(shapes * 4, repeat(_log(characters // 6)))
    for index, shape in enumerate(rounds):
        if index >= len(shapes) and size >= characters:
            return
        for message in shape(index):
            size += sum(map(len, _texts(message)))
            yield message


def _log(characters: int) -> _Shape:
    """One call that prints a log of about `characters`, other lines each time."""

    def make(index: int) -> list[Message]:
        lines = (
            f"09:{n % 60:02}:{index % 60:02} worker-{n * 7 + index} {_LINES[5]}" for n in count()
        )
        text = "\n".join(islice(lines, characters // 60 + 1))
        call = ToolCall(f"log_{index}", "Bash", json.dumps({"command": f"cat /tmp/{index}.log"}))
        return [
            Message("assistant", (call,)),
            Message("tool", (ToolResult(call.id, (Text(text),)),)),
        ]

    return make


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        match part:
            case Text(text) | Thinking(text):
                yield text
            case ToolCall():
                yield part.arguments
            case ToolResult():
                yield part.text
            case Media():
                pass


def _with_notes(system: list[Message], messages: list[Message], earlier: Notes) -> History:
    """A history that was compressed before: the notes stand for what came after its system."""
    head = number(system)
    first = 1 + max((entry.ordinal for entry in earlier.outline), default=len(head) + 1)
    body = number(messages, first)
    end = body[-1].ordinal + body[-1].span
    kept = runs((*head, *body))
    return History(tuple(head), body, replace(earlier, before=first, kept=kept, next=end))


# Texts


def _prose(sentences: int) -> SearchStrategy[str]:
    return st.lists(st.sampled_from(_SENTENCES), min_size=1, max_size=sentences).map(" ".join)


@st.composite
def _output(draw: DrawFn, longest: int) -> str:
    """What a tool prints: many lines, or one giant one, up to about `longest` characters."""
    size = draw(st.sampled_from((0, 40, 400, longest // 4, longest)))
    if draw(st.integers(0, 4)) == 0:
        run = draw(st.sampled_from(_RUNS))
        return (run * (size // len(run) + 1))[:size]
    lines = draw(st.lists(st.sampled_from(_LINES), min_size=1, max_size=6))
    block = "\n".join(lines) + "\n"
    copies = size // len(block) + 1
    # Numbered, so that not every line is one that was seen before.
    return "".join(f"{n}: {block}" for n in range(copies))[:size]


# Steps


def _shapes(characters: int) -> SearchStrategy[_Shape]:
    result = _output(max(characters // 4, 40))
    return st.one_of(
        _steps(result),
        _steps(result),
        _steps(result),
        _prose(4).map(lambda text: _alone("user", text)),
        _prose(4).map(lambda text: _alone("assistant", text)),
        _output(characters).map(lambda text: _alone("user", text or "?")),
        st.integers(100, 300).map(_many_small),
        _media().map(lambda media: _alone("user", "What is wrong here?", media=media)),
        st.builds(_marked, _prose(2), st.sampled_from(("summary", "program", "demo"))),
        _prose(1).map(lambda text: _alone("system", text)),
        _prose(2).map(lambda text: _alone("assistant", text, pinned=True)),
    )


def _alone(
    role: str, text: str, *, media: Media | None = None, kind: Kind = "said", pinned: bool = False
) -> _Shape:
    parts = (Text(text), media) if media else (Text(text),)
    message = Message("user", parts, kind=kind, pinned=pinned)
    return lambda index: [replace(message, role=role)]


def _marked(text: str, kind: Kind) -> _Shape:
    return _alone("user", text, kind=kind)


def _many_small(messages: int) -> _Shape:
    def make(index: int) -> list[Message]:
        # Hundreds once are enough: repeated, they would be all there is.
        here = messages if index < 12 else 5
        return [Message("user", (Text(f"{n}. ok, next"),)) for n in range(here)]

    return make


def _media() -> SearchStrategy[Media]:
    return st.sampled_from(
        (
            Media("image", "image/png", 70, 1, 1, "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"),
            Media("image", "image/jpeg", 180_000, 1280, 720, "/9j/4AAQ" * 200),
            Media("image", data="https://example.org/screen.png"),
            Media("audio", "audio/wav", 44, data="UklGRiQAAABXQVZF"),
            Media("document", "application/pdf", 900, data="JVBERi0xLjcK" * 20),
            Media("other", data='{"type": "hologram", "depth": 3}'),
        )
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """The parts of an assistant message with calls, under the ids that a step gives them."""

    words: tuple[Text | Thinking, ...]
    calls: tuple[tuple[str, str], ...]

    def __call__(self, prefix: str) -> Message:
        named = enumerate(self.calls)
        calls = (ToolCall(f"{prefix}_{n}", name, arguments) for n, (name, arguments) in named)
        return Message("assistant", (*self.words, *calls))


def _calls() -> SearchStrategy[_Asked]:
    thinking = st.builds(Thinking, _prose(2), st.sampled_from(("", "c2lnbmF0dXJl")))
    words = st.one_of(st.just(()), st.tuples(_prose(2).map(Text)), st.tuples(thinking))
    return st.builds(_Asked, words, st.lists(_call(), min_size=1, max_size=4).map(tuple))


@st.composite
def _call(draw: DrawFn) -> tuple[str, str]:
    path, text = draw(st.sampled_from(_PATHS)), draw(_prose(2))
    line = draw(st.integers(1, 900))
    name, arguments = draw(
        st.sampled_from(
            (
                ("Bash", {"command": f"pytest -q {path}", "description": text}),
                ("Bash", {"command": f"git commit -am {json.dumps(text)}"}),
                ("Read", {"file_path": path, "offset": line, "limit": 40}),
                ("Edit", {"file_path": path, "old_string": text, "new_string": text * 9}),
                ("Write", {"file_path": path, "content": (text + "\n") * 30}),
                ("Grep", {"pattern": "load(_all)?", "path": path}),
            )
        )
    )
    broken = draw(st.integers(0, 19)) == 0
    whole = json.dumps(arguments, ensure_ascii=False)
    return name, whole[:-2] if broken else whole


@st.composite
def _steps(draw: DrawFn, output: SearchStrategy[str]) -> _Shape:
    """Calls with their results: parallel or single, some failed or aborted, some ids reused."""
    asked = draw(_calls())
    outputs = [draw(output) for _ in asked.calls]
    failed = draw(st.booleans())
    aborted = draw(st.integers(0, 5)) == 0
    same_ids, together = draw(st.booleans()), draw(st.booleans())
    beside = draw(st.one_of(st.none(), _prose(1)))
    picture = draw(st.one_of(st.none(), st.none(), st.none(), _media()))

    def make(index: int) -> list[Message]:
        message = asked("toolu" if same_ids else f"toolu_{index}")
        results = _results(message.calls, outputs, failed=failed, aborted=aborted)
        if picture:
            results[0] = replace(results[0], content=(*results[0].content, picture))
        if not together:
            return [message, *(Message("tool", (result,)) for result in results)]
        words = (Text(beside),) if beside else ()
        return [message, Message("user" if words else "tool", (*results, *words))]

    return make


def _results(
    calls: Iterable[ToolCall], outputs: Iterable[str], *, failed: bool, aborted: bool
) -> list[ToolResult]:
    results = [
        ToolResult(call.id, (Text(text),) if text else (), failed)
        for call, text in zip(calls, outputs, strict=True)
    ]
    if aborted:
        interrupted = (Text("[Request interrupted by user for tool use]"),)
        results[-1] = replace(results[-1], content=interrupted, failed=True)
    return results


# Notes of an earlier compression


@st.composite
def _earlier(draw: DrawFn) -> Notes:
    lines = draw(st.lists(st.sampled_from([line for line in _LINES if line]), max_size=4))
    outline = tuple(
        OutlineEntry(
            ordinal=10 + 3 * n,
            title=f"Bash pytest -q {_PATHS[n % 3]} → failed",
            excerpts=tuple(Excerpt(line, after_gap=n % 2 == 1) for line in lines),
            missing=n,
        )
        for n in range(draw(st.integers(1, 8)))
    )
    fact = Fact("rules", draw(_prose(1)), evidence=(2,))
    return Notes(outline=outline, facts=(fact,) if draw(st.booleans()) else ())
