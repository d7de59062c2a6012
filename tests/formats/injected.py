"""Generators of valid requests in each provider's form, with fields and parts that no one knows."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Object = dict[str, Any]

words = st.sampled_from(["hello", "테스트가 실패", "跑一下测试", "a\n\nb ", "🙂", "line " * 50])
values: SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), words, st.lists(st.integers(), max_size=2)
)
extras = st.dictionaries(st.sampled_from(["x_meta", "cache_control", "annotations2"]), values)


def _hologram(depth: Any) -> Object:
    return {"type": "hologram", "depth": depth}


unknown_part = st.builds(_hologram, values)
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAUCAYAAAC07w7bAAAAAElFTkSuQmCC"


def with_extras(made: SearchStrategy[Object]) -> SearchStrategy[Object]:
    """Objects with unknown fields behind the known ones."""
    return st.builds(_merged, made, extras)


def _merged(item: Object, extra: Object) -> Object:
    return {**item, **extra}


def _one(item: Object) -> SearchStrategy[Object]:
    return st.just(item)


def _text(words: str) -> Object:
    return {"type": "text", "text": words}


def _openai_content() -> SearchStrategy[Any]:
    url = f"data:image/png;base64,{PNG}"
    part = st.one_of(
        words.map(_text),
        _one({"type": "image_url", "image_url": {"url": url, "detail": "low"}}),
        _one({"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}),
        _one({"type": "file", "file": {"file_id": "file-1"}}),
        unknown_part,
    )
    return st.one_of(words, st.lists(with_extras(part), min_size=1, max_size=3))


@st.composite
def _openai_turn(draw: DrawFn) -> list[Object]:
    role = draw(st.sampled_from(["user", "assistant", "calls", "old call", "developer"]))
    said = {"role": role, "content": draw(_openai_content())}
    if role in ("user", "developer"):
        return [draw(with_extras(_one(said)))]
    reply = {"role": "assistant", "content": draw(words), "refusal": None}
    reply |= draw(st.sampled_from([{}, {"reasoning_content": "hm"}, {"reasoning": "so"}]))
    if role == "assistant":
        return [draw(with_extras(_one(reply)))]
    if role == "old call":
        call = {"name": "look", "arguments": '{"at": 1}'}
        result = {"role": "function", "name": "look", "content": draw(words)}
        return [{**reply, "content": None, "function_call": call}, result]
    function = {"name": "Bash", "arguments": draw(st.sampled_from(['{"command": "ls"}', "{", ""]))}
    custom = {"type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    shapes = draw(st.lists(st.booleans(), min_size=1, max_size=3))
    calls = [
        {"id": f"call_{n}", **(custom if odd else {"type": "function", "function": function})}
        for n, odd in enumerate(shapes)
    ]
    results = [{"role": "tool", "tool_call_id": c["id"], "content": draw(words)} for c in calls]
    asked = {**reply, "content": draw(st.sampled_from([None, "", "Let me see."]))}
    return [
        draw(with_extras(_one({**asked, "tool_calls": calls}))),
        *(draw(with_extras(_one(result))) for result in draw(st.permutations(results))),
    ]


def openai() -> SearchStrategy[list[Object]]:
    """Valid chat messages."""
    system = st.lists(_one({"role": "system", "content": "Be kind."}), max_size=1)
    turns = st.lists(_openai_turn(), min_size=1, max_size=6)
    return st.builds(_joined, system, turns)


def _joined(system: list[Object], turns: list[list[Object]]) -> list[Object]:
    return [*system, *(message for turn in turns for message in turn)]


def _anthropic_shown() -> SearchStrategy[Object]:
    image = {"type": "base64", "media_type": "image/png", "data": PNG}
    return with_extras(
        st.one_of(
            words.map(_text),
            _one({"type": "image", "source": image}),
            _one({"type": "document", "source": {"type": "file", "file_id": "f"}}),
            unknown_part,
        )
    )


@st.composite
def anthropic(draw: DrawFn) -> list[Object]:
    """Valid turns, ending with a user's."""
    turns: list[Object] = []
    open_calls: list[str] = []
    for step in range(draw(st.integers(1, 5))):
        results: list[Object] = [
            {
                "type": "tool_result",
                "tool_use_id": id,
                "content": draw(st.one_of(words, st.lists(_anthropic_shown(), min_size=1))),
                **draw(st.sampled_from([{}, {"is_error": True}])),
            }
            for id in open_calls
        ]
        beside = draw(st.lists(_anthropic_shown(), min_size=not results, max_size=2))
        content = draw(words) if not results and draw(st.booleans()) else [*results, *beside]
        turns.append(draw(with_extras(_one({"role": "user", "content": content}))))
        thinking: list[Object] = [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]
        redacted: list[Object] = [{"type": "redacted_thinking", "data": "x"}]
        nothing: list[Object] = []
        blocks = draw(st.sampled_from([nothing, thinking, redacted]))
        server: Object = {
            "type": "server_tool_use",
            "id": "srv_1",
            "name": "web_search",
            "input": {},
        }
        blocks = [*blocks, draw(with_extras(_one({"type": "text", "text": "I look."}))), server]
        open_calls = [f"toolu_{step}_{n}" for n in range(draw(st.integers(0, 3)))]
        blocks += [{"type": "tool_use", "id": i, "name": "Bash", "input": {}} for i in open_calls]
        turns.append({"role": "assistant", "content": blocks})
    return turns[:-1]


@st.composite
def responses(draw: DrawFn) -> list[Object]:
    """Valid items."""
    items: list[Object] = []
    for step in range(draw(st.integers(1, 5))):
        text: Object = {"type": "input_text", "text": draw(words)}
        parts = [text, *draw(st.lists(unknown_part, max_size=1))]
        content = draw(st.one_of(words, st.just(parts)))
        role = draw(st.sampled_from(["user", "developer"]))
        items.append(draw(with_extras(_one({"role": role, "content": content}))))
        reasoning: Object = {"type": "reasoning", "id": f"rs_{step}", "summary": []}
        items += draw(st.lists(with_extras(_one(reasoning)), max_size=1))
        output: Object = {"type": "output_text", "text": draw(words), "annotations": []}
        message: Object = {
            "type": "message",
            "id": f"msg_{step}",
            "role": "assistant",
            "content": [output],
        }
        items.append(draw(with_extras(_one(message))))
        kinds = draw(st.lists(st.sampled_from(sorted(CALLS)), max_size=3))
        ids = [f"call_{step}_{n}" for n in range(len(kinds))]
        pairs = list(zip(kinds, ids, strict=True))
        items += [{"type": kind, "call_id": id, **CALLS[kind]} for kind, id in pairs]
        items += draw(st.lists(_one({"type": "web_search_call", "status": "done"}), max_size=1))
        outputs = [{"type": f"{kind}_output", "call_id": id, "output": "x"} for kind, id in pairs]
        items += [draw(with_extras(_one(output))) for output in outputs]
    return items


CALLS: dict[str, Object] = {
    "function_call": {"name": "Bash", "arguments": '{"command": "ls"}', "status": "completed"},
    "custom_tool_call": {"name": "apply_patch", "input": "*** Begin Patch"},
    "local_shell_call": {"action": {"type": "exec", "command": ["ls"]}},
    "computer_call": {"action": {"type": "click", "x": 1, "y": 2}, "pending_safety_checks": []},
}
