"""The public face: telling forms apart, mending what can be mended, refusing the rest."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections import Counter
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unknowns import JSON, Object, lines

from unremember import formats
from unremember.errors import InputError, UnknownFormat
from unremember.history import History
from unremember.messages import find

DATA = Path(__file__).parents[2] / "../shared/data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="no recorded conversations beside the repo"
)

CHAT: list[Object] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": "done"},
]


def line(role: str, text: str, place: int = 0) -> Object:
    message = {"role": role, "id": f"a{place}", "content": [{"type": "text", "text": text}]}
    return {"type": role, "uuid": f"u{place}", "sessionId": "s", "message": message}


def texts(source: Path | bytes | str) -> list[str]:
    [conversation] = formats.read(source)
    return [message.text for message in conversation.history.messages]


# Sources


def test_a_path_bytes_and_text_give_the_same(tmp_path: Path) -> None:
    """A source can be a file, its bytes, its text, or its path as a string."""
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT))
    for source in (path, path.read_bytes(), path.read_text(), str(path)):
        assert texts(source) == ["go", "done"]
        assert formats.detect(source) == "openai"


def test_a_byte_order_mark_is_accepted() -> None:
    """Editors on Windows put one there; it is no part of the JSON."""
    assert texts(b"\xef\xbb\xbf" + json.dumps(CHAT).encode()) == ["go", "done"]
    assert texts(b"\xef\xbb\xbf" + lines([line("user", "go")])) == ["go"]


def test_a_pipe_is_read(tmp_path: Path) -> None:
    """What cannot be read twice, such as `<(command)` of a shell, is a source too."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=[json.dumps(CHAT)])
    writer.start()
    assert texts(pipe) == ["go", "done"]
    writer.join()


# What is mended


def test_a_torn_last_line_is_a_repair() -> None:
    """A file that was written to while it was copied loses its last line only."""
    whole = lines([line("user", "one", 1), line("assistant", "two", 2), line("user", "three", 3)])
    [conversation] = formats.read(whole[:-20])
    assert [m.text for m in conversation.history.messages] == ["one", "two"]
    assert [str(r) for r in conversation.repairs] == [
        "line 3: the last line was cut off and left out"
    ]


@pytest.mark.parametrize(("broken", "place"), [(b"{torn\n", 0), (b"{torn\n", 1), (b"[1]\n", 1)])
def test_a_broken_line_is_skipped_and_named(broken: bytes, place: int) -> None:
    """One bad line, the first or another, does not take the others with it."""
    rows = lines([line("user", "one", 1), line("assistant", "two", 2)]).splitlines(keepends=True)
    rows.insert(place, broken)
    [conversation] = formats.read(b"".join(rows))
    assert [m.text for m in conversation.history.messages] == ["one", "two"]
    [repair] = conversation.repairs
    assert repair.where == f"line {place + 1}"


def test_stray_bytes_are_replaced_and_reported() -> None:
    """A byte that is not UTF-8 costs one character and is named by its line."""
    rows = lines([line("user", "one", 1), line("assistant", "tXo", 2)]).replace(b"tXo", b"t\xffo")
    [conversation] = formats.read(rows)
    assert conversation.history.messages[1].text == "t\ufffdo"
    assert [r.where for r in conversation.repairs] == ["line 2"]


def test_half_an_emoji_can_be_written_again() -> None:
    """A character cut in two by a log's limit is replaced, so that the text can be encoded."""
    cut = '[{"role": "user", "content": "ok \\ud83d\\ude00, cut \\ud83d"}]'
    assert texts(cut) == ["ok 😀, cut \ufffd"]


# What is refused


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"\x7fELF\x02\x01\x00\x00\x00", "binary"),
        (bytes(range(128, 256)) * 9, "binary"),
        ("[1]".encode("utf-16"), "UTF-16"),
        (b"hello\nworld", "line 1: expected JSON, found 'hello'"),
        (b'{"a": 1}', "line 1: found the keys a; expected a conversation of claude-code"),
        (b'{"x": 1}\n{"y": 2}\n', "line 1: found the keys x"),
        (b'[{"role": "user",\n "content" "hi"}]', "line 2, column 12: the JSON is broken"),
        (b'{"messages": [{"role": "us', "cut off"),
        (b"[" * 100_000, "line 1"),
        (b'{"type": "summary", "leafUuid": "x", "summary": "s"}', "no messages (read as claude"),
        (b"null", "line 1: found no message"),
    ],
)
def test_a_bad_source_is_refused_with_one_line(content: bytes, said: str, tmp_path: Path) -> None:
    """The line names the file, the place, and what is wrong or was expected."""
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        formats.read(path)
    text = str(refused.value)
    assert text.startswith(f"{path}: ")
    assert said in text
    assert "\n" not in text


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    """Each with its name and what to do."""
    with pytest.raises(InputError, match="no such file"):
        formats.read(tmp_path / "none.json")
    with pytest.raises(InputError, match="directory"):
        formats.read(tmp_path)


def test_an_unknown_form_is_an_error_of_its_own() -> None:
    """A caller can tell it from a broken file; `name` stands for the source."""
    with pytest.raises(UnknownFormat, match=r"^standard input: line 1: found the keys a, b;"):
        formats.read(b'{"a": 1, "b": 2}', name="standard input")


def test_a_form_that_cannot_be_written_is_refused() -> None:
    """The message names those that can."""
    with pytest.raises(InputError, match="openai, anthropic, responses, text"):
        formats.write(History(), "pi")


@settings(max_examples=100)
@given(st.lists(JSON, max_size=5), st.sampled_from(["uuid", "payload", "message", "history"]), JSON)
def test_no_json_brings_the_readers_down(junk: list[Any], key: str, value: object) -> None:
    """Whatever JSON a file holds, it is read or refused; nothing else happens."""
    shapes: list[Object] = [
        line("user", "go"),
        {"type": "response_item", "payload": value},
        {"type": "session", "id": value},
        {"type": "message", "message": {"role": "assistant", "content": [value, *junk]}},
        {"type": "message", "message": value},
        {"action": "run", "args": {"command": value}, "id": value, "tool_call_metadata": value},
        {"observation": "run", "content": value, "cause": value, "extras": value},
        {"sessionId": "g", "projectHash": value},
        {"type": "gemini", "content": value, "toolCalls": [value, {"result": junk}]},
        {"$rewindTo": value},
        {"type": "user", "uuid": "u", "message": {"role": "user", "content": junk}, key: value},
        {"type": "assistant", "uuid": value, "message": {"role": "assistant", "content": value}},
        {"type": "system", "subtype": "compact_boundary", "uuid": "x", "compactMetadata": value},
        {"type": "compacted", "payload": {"replacement_history": junk, "message": value}},
        {"role": "user", "parts": value},
        {"history": [*junk, value]},
        {"messages": [value, *junk]},
        {"trajectory": [value, *junk]},
    ]
    for first in shapes:
        for source in (lines([first, *shapes]), json.dumps(first), json.dumps([first, *junk])):
            with suppress(InputError):
                formats.read(source)


# Size


def _session(path: Path, size: int) -> None:
    """A session of about `size` bytes in lines such as a day's work leaves."""
    with path.open("w", encoding="utf-8") as file:
        turn = 0
        while file.tell() < size:
            call = {
                "type": "tool_use",
                "id": f"c{turn}",
                "name": "Edit",
                "input": {"new": "x" * 500},
            }
            told = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": f"{turn}\n" * 300}
            for role, block in (("assistant", call), ("user", told)):
                message = {"role": role, "id": f"a{turn}", "content": [block], "model": "m"}
                row = {"type": role, "uuid": f"{role}{turn}", "sessionId": "s", "message": message}
                file.write(json.dumps({**row, "cwd": "/repo", "version": "2.1"}) + "\n")
            turn += 1


def _chat(path: Path, size: int) -> None:
    """One document of about `size` bytes."""
    messages: list[Object] = [{"role": "user", "content": "go"}]
    for turn in range(size // 2200):
        function = {"name": "bash", "arguments": json.dumps({"command": "x" * 500})}
        calls = [{"id": f"c{turn}", "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": "I look.", "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": f"{turn}\n" * 300})
    path.write_text(json.dumps({"messages": messages}))


@pytest.mark.parametrize("make", [_session, _chat])
def test_memory_stays_within_three_times_the_file(make: Any, tmp_path: Path) -> None:
    """The peak of reading 20 MB, as lines and as one document."""
    path = tmp_path / "big.json"
    make(path, 20_000_000)
    tracemalloc.start()
    try:
        [conversation] = formats.read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(conversation.originals) > 10_000
    assert peak < 3 * path.stat().st_size


def test_one_line_of_five_megabytes_is_read() -> None:
    """A giant line is a message like any other."""
    [text] = texts(lines([line("user", "x" * 5_000_000)]))
    assert len(text) == 5_000_000


# Recorded conversations

# Counted by hand in the files: conversations; then messages, calls and typed messages in all.
COUNTS = {
    "claude-code/0276a600-2f22-4d2b-844c-3feb9c5aa108.jsonl": (1, 406, 178, 27),
    "claude-code/03a1382e-ecd5-42c4-b3d4-5c659e165904.jsonl": (1, 419, 196, 34),
    "claude-code/3ae3ab59-52bc-413d-ad30-02b165c91785.jsonl": (1, 170, 87, 5),
    "claude-code/c010174c-a7cd-4bcc-b7d4-61258d6c463f.jsonl": (1, 208, 106, 6),
    "claude-code-korean/5f4c5a52-28ad-4269-b214-7cce051de917.jsonl": (1, 30, 15, 3),
    "claude-code-korean/b37d8cd5-41f3-43c7-ada0-17050cb42d7f.jsonl": (1, 42, 20, 1),
    "gemini-cli/full.json": (1, 15, 7, 1),
    "openhands-events/resolver_mock_output.jsonl": (2, 8, 3, 1),
    "pi/large-session.jsonl": (1, 918, 391, 88),
}


@needs_data
@pytest.mark.parametrize("name", COUNTS)
def test_the_logs_of_coding_agents_hold_what_was_counted(name: str) -> None:
    """Messages, calls and typed messages are as counted; all calls are answered."""
    found = formats.read(DATA / name, whole=True)
    messages = found[0].history.messages
    roles = Counter((message.role, message.kind) for message in messages)
    calls = sum(len(message.calls) for message in messages)
    assert (len(found), len(messages), calls, roles["user", "said"]) == COUNTS[name]
    assert calls == sum(len(message.results) for message in messages)
    assert found[0].format == name.split("/")[0].removesuffix("-korean").removesuffix("-events")


@needs_data
def test_every_recorded_conversation_loads_and_resolves_its_handles() -> None:
    """Both views of each file share ordinals, which rise, and resolve against the originals."""
    for path in sorted(DATA.glob("*/*")):
        pairs = zip(formats.read(path), formats.read(path, whole=True), strict=True)
        for live, whole in pairs:
            assert live.originals == whole.originals
            for view in (live, whole):
                shown = [*view.history.system, *view.history.messages]
                assert shown
                ordinals = [message.ordinal for message in shown]
                assert ordinals == sorted(set(ordinals))
                for message in shown[:: len(shown) // 9 + 1]:
                    found = find(view.originals, message.ordinal)
                    assert found == (message.results[0] if message.is_single_result else message)


@needs_data
def test_the_last_compaction_is_what_the_model_sees_next() -> None:
    """A real session, compacted twice: live are the second summary and what followed."""
    path = DATA / "claude-code/0276a600-2f22-4d2b-844c-3feb9c5aa108.jsonl"
    [live] = formats.read(path)
    [whole] = formats.read(path, whole=True)
    assert [m.kind for m in live.history.messages].count("summary") == 1
    assert [m.kind for m in whole.history.messages].count("summary") == 2
    assert live.history.messages[0].kind == "summary"
    assert list(live.history.messages) == list(whole.history.messages)[-28:]
