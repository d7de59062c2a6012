"""The scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest
from opening import READ_FILE, ask, said

from unremember.errors import InputError, ModelError, ProviderRefused
from unremember.messages import Message, Text, Thinking, ToolCall, ToolResult
from unremember.models import Reply, Request, Usage
from unremember.models.scripted import Scripted, from_file


async def test_turns_are_played_in_order():
    """Texts, messages, replies, functions of the request and errors are turns."""
    call = Message("assistant", (Text("I look."), ToolCall("c1", "read_file", "{}")))
    whole = Reply(Message("assistant", (Text("Cut"),)), Usage(9, output_tokens=1), "length", "m")
    refused = ProviderRefused("no", 400)
    model = Scripted(["One.", call, whole, lambda r: r.history.messages[-1].text, refused])
    assert (await model.request(Request(said()))).message.text == "One."
    second = await model.request(Request(said(), (READ_FILE,)))
    assert (second.message, second.finish) == (call, "calls")
    assert second.usage.input_tokens > 20
    assert not second.usage.reported
    assert await model.request(Request(said())) is whole
    assert (await model.request(Request(said("Hello?")))).message.text == "Hello?"
    with pytest.raises(ProviderRefused):
        await model.request(Request(said()))
    assert len(model.requests) == 5
    with pytest.raises(ModelError, match="no turn after 5"):
        await model.request(Request(said()))


async def test_what_is_left_is_an_error():
    """A run that ends before its script does is a failed test."""
    with pytest.raises(ModelError, match="2 turns were not played"), Scripted(["1", "2", "3"]) as m:
        await m.request(Request(said()))
    with Scripted(["1"]) as model:
        await model.request(Request(said()))


async def test_it_streams():
    """A stream is made of pieces and ends with the same reply."""
    text = "A sentence that is longer than one piece of a stream."
    parts = (Thinking("Hm, " * 10), Text(text), ToolCall("c", "read_file", "{}"))
    model = Scripted([Message("assistant", parts)])
    reply, pieces = await ask(model, Request(said()), streamed=True)
    assert "".join(piece.text for piece in pieces) == text
    assert "".join(piece.thinking for piece in pieces) == "Hm, " * 10
    assert pieces[-1].call == "read_file"
    assert len(pieces) > 4
    assert reply.message.parts == parts


def script(tmp_path: Path, *lines: str) -> Path:
    """A file with these lines."""
    file = tmp_path / "script.jsonl"
    file.write_text("\n".join(lines), "utf-8")
    return file


async def test_a_script_uses_what_it_read(tmp_path: Path):
    """What a turn waited for stands in later turns: it can only come from what was said."""
    file = script(
        tmp_path,
        '{"text": "I look.", "calls": [{"name": "read_file", "arguments": {"path": "a.py"}}]}',
        r'{"when": "limit = (?P<n>\\d+)",'
        r' "calls": [{"name": "edit", "arguments": {"to": ["${n}"]}}]}',
        '{"text": "It was ${n}, not ${other}.", "thinking": "Done.", "finish": "length"}',
    )
    with from_file(file) as model:
        history = said()
        reply = await model.request(Request(history))
        assert reply.message.calls == (ToolCall("call-1-1", "read_file", '{"path": "a.py"}'),)
        result = ToolResult("call-1-1", (Text("a = 1\nlimit = 4711\n"),))
        history = history.add(reply.message, Message("tool", (result,)))
        reply = await model.request(Request(history))
        assert reply.message.calls[0].parsed() == {"to": ["4711"]}
        reply = await model.request(Request(said()))
    assert reply.message.text == "It was 4711, not ${other}."
    assert reply.finish == "length"


async def test_a_script_stops_when_what_it_waits_for_is_not_there(tmp_path: Path):
    """What was said before the model's last turn does not count."""
    file = script(tmp_path, '{"when": "4711", "text": "Found."}')
    history = said("4711").add(
        Message("assistant", (Text("Noted."),)), Message("user", (Text("Go on."),))
    )
    with pytest.raises(ModelError, match=r"line 1: the script waits for '4711'"):
        await from_file(file).request(Request(history))


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{", "no JSON"),
        ("[]", "a turn is an object"),
        ('{"txt": "x"}', "a turn is an object with calls, finish"),
        ('{"text": "x", "finish": "done"}', "`finish` is one of stop, calls"),
        ('{"text": "x", "when": "("}', "no regular expression"),
    ],
)
def test_a_bad_script_names_the_line(tmp_path: Path, line: str, what: str):
    """What cannot be played is said when the file is read."""
    file = script(tmp_path, '{"text": "x"}', "", line)
    with pytest.raises(InputError, match=rf"line 3: .*{what}"):
        from_file(file)
