"""Entries survive storage byte for byte."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unremember.archive.codec import Damaged, decode, encode, kind_of
from unremember.archive.entries import (
    Answered,
    CallFinished,
    Compressed,
    Entry,
    Failed,
    Opened,
    Said,
)
from unremember.concepts import Fact
from unremember.errors import InputError
from unremember.ledger import Ledger
from unremember.ledger.records import CommandRecord, FileRecord
from unremember.messages import Media, Message, Native, Text, Thinking, ToolCall, ToolResult
from unremember.notes import Excerpt, Notes, OutlineEntry

# Every code point, lone surrogates and NUL included.
ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=60)
LONG_TEXT = ANY_TEXT.map(lambda text: text * 20)
TEXTS = ANY_TEXT | LONG_TEXT
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=8,
)
MEDIA = st.builds(Media, st.sampled_from(["image", "other"]), ANY_TEXT, data=TEXTS)
RESULTS = st.builds(
    ToolResult,
    TEXTS,
    st.lists(st.builds(Text, TEXTS) | MEDIA, max_size=3).map(tuple),
    st.booleans(),
)
PARTS = (
    st.builds(Text, TEXTS)
    | st.builds(Thinking, TEXTS, TEXTS)
    | st.builds(ToolCall, ANY_TEXT, ANY_TEXT, TEXTS)
    | RESULTS
    | MEDIA
)
MESSAGES = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.lists(PARTS, max_size=4).map(tuple),
    ordinal=st.integers(0, 10**9),
    id=ANY_TEXT,
    at=st.none() | st.datetimes(timezones=st.just(UTC)),
    kind=st.sampled_from(["said", "summary", "program", "demo"]),
    pinned=st.booleans(),
    source=st.none() | st.builds(Native, ANY_TEXT, JSON),
)
RUNS = st.tuples(st.integers(1, 99), st.integers(1, 9))
NOTES = st.builds(
    Notes,
    outline=st.lists(
        st.builds(
            OutlineEntry,
            st.integers(1, 99),
            TEXTS,
            st.lists(st.builds(Excerpt, TEXTS), max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
    ledger=st.builds(
        Ledger,
        files=st.lists(
            st.builds(FileRecord, TEXTS, ranges=st.lists(RUNS, max_size=2).map(tuple)), max_size=2
        ).map(tuple),
        commands=st.lists(
            st.builds(CommandRecord, TEXTS, exit_status=st.none() | st.integers(0, 255)),
            max_size=2,
        ).map(tuple),
    ),
    facts=st.lists(st.builds(Fact, ANY_TEXT, TEXTS), max_size=2).map(tuple),
    kept=st.lists(RUNS, max_size=2).map(tuple),
)
ENTRIES: st.SearchStrategy[Entry] = (
    st.builds(Said, MESSAGES)
    | st.builds(CallFinished, RESULTS, st.integers(0, 9), st.floats(0, 1e6))
    | st.builds(Answered, st.lists(st.integers(1, 99), max_size=3).map(tuple))
    | st.builds(Compressed, messages=st.lists(RUNS | MESSAGES, max_size=3).map(tuple), notes=NOTES)
    | st.builds(Failed, TEXTS, TEXTS)
    | st.builds(Opened, cwd=TEXTS, title=TEXTS)
)


def sources(entry: Entry) -> list[object]:
    """The native forms in an entry: equality of messages leaves them out."""
    messages = [entry.message] if isinstance(entry, Said) else []
    if isinstance(entry, Compressed):
        messages = [item for item in entry.messages if isinstance(item, Message)]
    return [message.source for message in messages]


@given(ENTRIES)
def test_entries_round_trip(entry: Entry):
    """Any entry comes back as it was: texts of any code points, part types, and native forms."""
    back = decode(kind_of(entry), encode(entry))
    assert back == entry
    assert sources(back) == sources(entry)


@given(TEXTS)
def test_texts_come_back_byte_for_byte(text: str):
    """No text is normalised: two lone surrogates in a row stay two."""
    entry = Said(Message("user", (Text(text), Text("\ud83d\ude00"))))
    back = decode("Said", encode(entry))
    assert isinstance(back, Said)
    assert back.message.parts == (Text(text), Text("\ud83d\ude00"))


def test_numbers_of_native_forms_come_back():
    """A native form keeps what readers of JSON take beside it: infinities, numbers of any size."""
    value = [float("inf"), float("-inf"), 10**400, -0.0, 1e-300]
    entry = Said(Message("user", (Text("x"),), source=Native("form", value)))
    assert sources(decode("Said", encode(entry))) == sources(entry)


def test_native_forms_that_are_no_json_are_refused():
    """A live object in the place of a native form is refused when it is appended."""
    entry = Said(Message("user", (Text("x"),), source=Native("form", {"x": object()})))
    with pytest.raises(InputError, match="only parsed JSON"):
        encode(entry)


def test_a_text_is_stored_once():
    """A text that stands in a message and in its native form costs its bytes once."""
    text = "".join(chr(0x4E00 + n * 37 % 20000) for n in range(20000))
    bare = Said(Message("user", (Text(text),)))
    both = Said(Message("user", (Text(text),), source=Native("form", {"content": text})))
    assert len(encode(both)) < len(encode(bare)) * 1.02


@pytest.mark.parametrize("body", [b"", b"[", b"[]", b"[{}]", b"[{},[]]", b'["\\u00009",[]]', b"x"])
def test_damaged_bytes_are_told(body: bytes):
    """Bytes that are no entry raise one error and nothing else."""
    with pytest.raises(Damaged):
        decode("Said", body)
    with pytest.raises(Damaged):
        decode("NoSuchKind", encode(Opened()))


def test_notes_of_an_earlier_release_are_read():
    """A field of the notes that is no more is left out; a message is never read by halves."""
    stored = b'[{"system":[],"messages":[[2,3]],"notes":{"outline":[],"mood":"good","next":7}},[]]'
    assert decode("Compressed", stored) == Compressed(messages=((2, 3),), notes=Notes(next=7))
    with pytest.raises(Damaged):
        decode("Said", b'[{"message":{"role":"user","parts":[{"text":"a","mood":"good"}]}},[]]')
