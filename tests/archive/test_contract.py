"""What every archive does, on disk or in memory."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sayings import TALK, calls, gives, result, says

from unremember.archive import (
    INTERRUPTED,
    NOT_RUN,
    Answered,
    Archive,
    CallFinished,
    CallStarted,
    Compressed,
    Failed,
    Opened,
    Said,
    Undone,
    compressed,
    new_id,
    said,
    settle,
    view,
)
from unremember.errors import ArchiveError, InputError, InvalidHistory, UnknownHandle
from unremember.history import History
from unremember.messages import Message, Native, Text, ToolCall, ToolResult
from unremember.notes import Notes, OutlineEntry


def test_entries_come_back_in_order_and_numbered(archive: Archive):
    """What was appended comes back as it was, numbered from 1, with the time it was taken."""
    assert archive.append("talk", *TALK) == len(TALK)
    logged = list(archive.entries("talk"))
    assert [item.number for item in logged] == list(range(1, len(TALK) + 1))
    assert all(item.at.utcoffset() == timedelta(0) for item in logged)
    assert [item.number for item in archive.entries("talk", after=6)] == [7, 8]


def test_messages_are_numbered_when_they_are_said(archive: Archive):
    """Messages without an ordinal get the next one; calls and results take their own."""
    archive.append("talk", *TALK)
    history = view(archive.entries("talk"))
    assert [message.ordinal for message in history.system] == [1]
    assert [message.ordinal for message in history.messages] == [2, 3, 6, 7, 8, 9]
    assert history.next_ordinal == 10


def test_an_append_is_all_or_nothing(archive: Archive):
    """When one of several entries is refused, none is taken."""
    archive.append("talk", *TALK)
    before = list(archive.entries("talk"))
    with pytest.raises(InvalidHistory):
        archive.append("talk", says("user", "Go on."), gives(7, "nobody asked"))
    assert list(archive.entries("talk")) == before
    with pytest.raises(InvalidHistory):
        archive.append("other", Opened(), gives(7, "nobody asked"))
    assert [info.id for info in archive.conversations()] == ["talk"]


def test_a_conversation_begins_with_opened(archive: Archive):
    """Nothing is written to a conversation that was never opened, and none is opened twice."""
    with pytest.raises(ArchiveError, match="no conversation 'talk'"):
        archive.append("talk", says("user", "Hello."))
    with pytest.raises(ArchiveError, match="no conversation 'talk'"):
        archive.entries("talk")
    archive.append("talk", Opened())
    with pytest.raises(InputError, match="opened once"):
        archive.append("talk", Opened())
    with pytest.raises(InputError, match="cannot be the id"):
        archive.append("\ud800", Opened())
    with pytest.raises(InputError, match="fork"):
        archive.append("other", Opened(parent="talk", forked_at=1))


def test_an_ordinal_names_one_thing_only(archive: Archive):
    """A message with an ordinal that is taken is refused; ordinals may be left out."""
    archive.append("talk", *TALK, says("user", "Later.", ordinal=20))
    with pytest.raises(InvalidHistory, match="next free one is m21"):
        archive.append("talk", says("user", "Again.", ordinal=20))
    with pytest.raises(UnknownHandle):
        archive.recall("talk", "m15")


def test_a_message_that_may_not_follow_is_refused(archive: Archive):
    """The archive never holds what no history can be built from."""
    archive.append("talk", Opened(), calls("{}", "{}"))
    with pytest.raises(InvalidHistory, match="before the result"):
        archive.append("talk", says("user", "Wait."))
    archive.append("talk", gives(1, "second"), gives(0, "first"), says("user", "Thanks."))
    assert view(archive.entries("talk")).open_calls == ()


def test_results_of_finished_calls_are_stored_once(archive: Archive):
    """A result is taken when its call finishes, and enters the history when all are there."""
    archive.append("talk", Opened(), calls('{"command": "a"}', '{"command": "b"}'))
    archive.append("talk", CallStarted(2), CallStarted(3))
    archive.append("talk", CallFinished(result(1, "from b"), ordinal=5, seconds=0.1))
    archive.append("talk", CallFinished(result(0, "from a"), ordinal=4))
    assert len(view(archive.entries("talk")).messages) == 1
    archive.append("talk", Answered((4, 5)))
    assert list(view(archive.entries("talk")).messages)[1:] == [
        Message("tool", (result(0, "from a"),), ordinal=4),
        Message("tool", (result(1, "from b"),), ordinal=5),
    ]
    assert archive.recall("talk", "m5") == result(1, "from b")


def test_results_that_do_not_fit_are_refused(archive: Archive):
    """A result needs an open call and a free ordinal; what enters the history must be there."""
    archive.append("talk", Opened(), calls("{}", "{}"))
    with pytest.raises(InvalidHistory, match="no open call"):
        archive.append("talk", CallFinished(result(9, "?")))
    with pytest.raises(InvalidHistory, match="m2 names something else"):
        archive.append("talk", CallFinished(result(0, "!"), ordinal=2))
    with pytest.raises(ArchiveError, match="m4"):
        archive.append("talk", Answered((4,)))


def test_interrupted_calls_become_failed_results(archive: Archive):
    """On resuming, what came in is kept; a started call fails as interrupted and is not lost."""
    archive.append("talk", Opened(), calls("{}", "{}", "{}"), CallStarted(2), CallStarted(3))
    archive.append("talk", CallFinished(result(0, "done"), ordinal=5))
    resumed = view(archive.entries("talk"), resume=True)
    texts = [message.results[0].text for message in resumed.messages[1:]]
    assert texts == ["done", INTERRUPTED, NOT_RUN]
    assert [message.results[0].failed for message in resumed.messages[1:]] == [False, True, True]
    archive.append("talk", *settle(archive.entries("talk")))
    assert view(archive.entries("talk")) == resumed
    assert settle(archive.entries("talk")) == ()


def test_calls_without_any_record_of_a_start_have_an_unknown_outcome(archive: Archive):
    """Where starts are not recorded, nobody can say that a call was not run."""
    archive.append("talk", Opened(), calls("{}"))
    last = view(archive.entries("talk"), resume=True).messages[-1]
    assert last.results[0].text == INTERRUPTED


def test_handles_give_exact_originals(archive: Archive):
    """A handle names a message, a call or a result, exactly as it was said."""
    archive.append("talk", *TALK)
    assert archive.recall("talk", "m2") == Message(
        "user", (Text("The parser drops the last line."),), ordinal=2
    )
    assert archive.recall("talk", "m5") == ToolCall("c1", "shell", '{"command": "pytest"}')
    assert archive.recall("talk", " m7 ") == result(1, "1 failed")
    for wrong in ("m10", "#7", "a1.m1", "m", ""):
        with pytest.raises(UnknownHandle):
            archive.recall("talk", wrong)


def test_native_forms_come_back(archive: Archive):
    """The form that a message had elsewhere comes back with it, exactly."""
    text = "a long text that stands in both forms " * 20
    value = {"content": [{"text": text}, "\0 7", {"n": [1, 2.5, None, 10**30]}], "\0": ""}
    message = Message("user", (Text(text),), source=Native("some-form", value))
    archive.append("talk", Opened(), Said(message))
    got = archive.recall("talk", "m1")
    assert isinstance(got, Message)
    assert got.source == Native("some-form", value)


def shorter(history: History) -> History:
    """A compression: the first four messages become notes, the last one is clipped."""
    kept = list(history.messages)[4:]
    kept[-1] = Message("user", (Text("한국어로"),), ordinal=kept[-1].ordinal)
    outline = (OutlineEntry(3, "shell cat parser.py", ()),)
    notes = Notes(outline=outline, before=8, next=history.next_ordinal)
    return History(history.system, kept, notes)


def test_a_compression_is_one_entry_and_can_be_undone(archive: Archive):
    """The view follows a compression; undoing it gives the exact earlier request (F21)."""
    archive.append("talk", *TALK[:5], TALK[5], *TALK[6:])
    before = view(archive.entries("talk"))
    after = History(
        before.system, [*before.messages][4:], Notes((OutlineEntry(3, "shell"),), next=10)
    )
    entry = compressed(after, said(archive.entries("talk")), strategy="x", before=90, after=40)
    assert entry.messages == ((8, 2),)
    number = archive.append("talk", entry)
    assert view(archive.entries("talk")) == after
    archive.append("talk", says("assistant", "네."))
    assert view(archive.entries("talk")) == after.add(
        Message("assistant", (Text("네."),), ordinal=10)
    )
    archive.append("talk", Undone(number))
    assert view(archive.entries("talk")) == before.add(
        Message("assistant", (Text("네."),), ordinal=10)
    )
    with pytest.raises(InputError, match="no compression"):
        archive.append("talk", Undone(2))


def test_originals_outlive_compressions(archive: Archive):
    """What was clipped or forgotten is still recalled exactly; the clipped form is in the view."""
    archive.append("talk", *TALK)
    originals = said(archive.entries("talk"))
    after = shorter(view(archive.entries("talk")))
    archive.append("talk", compressed(after, originals))
    assert view(archive.entries("talk")) == after
    assert view(archive.entries("talk")).messages[-1].text == "한국어로"
    for message in originals.values():
        found = archive.recall("talk", f"m{message.ordinal}")
        assert found == (message.results[0] if message.is_single_result else message)


def test_what_a_compression_wrote_is_an_original_too(archive: Archive):
    """A summary that a compression brought in can be recalled after the next one dropped it."""
    archive.append("talk", *TALK)
    history = view(archive.entries("talk"))
    summary = Message("user", (Text("So far: the parser."),), ordinal=10, kind="summary")
    first = History(history.system, (summary,))
    archive.append("talk", compressed(first, said(archive.entries("talk"))))
    archive.append("talk", says("user", "Next task."))
    assert view(archive.entries("talk")).messages[-1].ordinal == 11
    second = History(history.system, view(archive.entries("talk")).messages[1:])
    entry = compressed(second, said(archive.entries("talk")))
    assert entry.messages == ((11, 1),)
    number = archive.append("talk", entry)
    assert archive.recall("talk", "m10") == summary
    archive.append("talk", Undone(number))
    assert view(archive.entries("talk")).messages[0] == summary


def test_ordinals_are_not_reused_after_an_undo(archive: Archive):
    """The view goes on after the highest ordinal ever given, also of a compression undone."""
    archive.append("talk", *TALK)
    history = view(archive.entries("talk"))
    summary = Message("user", (Text("So far."),), ordinal=10, kind="summary")
    number = archive.append("talk", compressed(History((), (summary,)), {}))
    archive.append("talk", Undone(number))
    assert view(archive.entries("talk")) == history
    assert view(archive.entries("talk")).next_ordinal == 11


def test_a_failed_compression_leaves_only_its_record(archive: Archive):
    """The record of a failure changes nothing in the view (R4)."""
    archive.append("talk", *TALK)
    before = view(archive.entries("talk"))
    archive.append("talk", Failed("compression", "the model answered nothing"))
    assert view(archive.entries("talk")) == before


def test_each_message_is_in_the_view_or_was_forgotten_once(archive: Archive):
    """Over three compressions no message vanishes, and none is compressed twice (F19)."""
    archive.append("talk", *TALK)
    forgotten: list[int] = []
    for turn in range(3):
        archive.append("talk", says("user", f"turn {turn}"), says("assistant", f"done {turn}"))
        history = view(archive.entries("talk"))
        kept = [*history.messages][-3:]
        forgotten += [m.ordinal for m in history.messages if m not in kept]
        after = History(history.system, kept, Notes(next=history.next_ordinal))
        archive.append("talk", compressed(after, said(archive.entries("talk"))))
    tail = [m.ordinal for m in view(archive.entries("talk")).messages]
    everything = [m.ordinal for m in said(archive.entries("talk")).values() if m.role != "system"]
    assert forgotten + tail == everything


def test_forks_share_the_past_and_nothing_else(archive: Archive):
    """A fork has the same ordinals up to its point; what is said later stays on its own side."""
    archive.append("talk", *TALK)
    fork = archive.fork("talk", 7)
    archive.append("talk", says("assistant", "only in the first"))
    archive.append(fork, says("assistant", "only in the fork"))
    assert [item.number for item in archive.entries(fork)] == list(range(1, 10))
    assert archive.recall(fork, "m8") == archive.recall("talk", "m8")
    assert archive.recall(fork, "m9") == Message(
        "assistant", (Text("only in the fork"),), ordinal=9
    )
    again = archive.fork(fork, 9)
    assert view(archive.entries(again)) == view(archive.entries(fork))
    early = archive.fork(again, 3)
    assert [m.ordinal for m in view(archive.entries(early)).messages] == [2]
    assert archive.search("only in", early) == []
    for wrong in (0, 99):
        with pytest.raises(InputError, match="fork"):
            archive.fork("talk", wrong)


def test_a_fork_amid_calls_goes_on_where_it_was(archive: Archive):
    """Calls that were open at the point of the fork are open in it."""
    archive.append("talk", *TALK)
    fork = archive.fork("talk", 5)
    with pytest.raises(InvalidHistory):
        archive.append(fork, says("user", "Stop."))
    archive.append(fork, *settle(archive.entries(fork)), says("user", "Stop."))
    assert [m.ordinal for m in view(archive.entries(fork)).messages] == [2, 3, 6, 7, 8]


def test_handles_reach_into_sub_agents(archive: Archive):
    """`a3.m1` is what the third sub-agent of a conversation said first, from its forks as well."""
    archive.append("talk", *TALK)
    for n in range(1, 4):
        archive.append(f"agent {n}", Opened(parent="talk"), says("user", f"task number {n}"))
    archive.append("deep", Opened(parent="agent 2"), says("user", "a task of a task"))
    found = archive.recall("talk", "a3.m1")
    assert isinstance(found, Message)
    assert found.text == "task number 3"
    assert archive.recall("talk", "a2.a1.m1") == archive.recall("deep", "m1")
    fork = archive.fork("talk", 3)
    archive.append("fourth", Opened(parent=fork), says("user", "task number 4"))
    assert archive.recall(fork, "a3.m1") == found
    assert archive.recall(fork, "a4.m1") == archive.recall("fourth", "m1")
    assert {i.id: i.nth for i in archive.conversations()} == {
        "talk": 0,
        "agent 1": 1,
        "agent 2": 2,
        "agent 3": 3,
        "deep": 1,
        fork: 0,
        "fourth": 4,
    }
    handles = [hit.handle for hit in archive.search("task number", "talk")]
    assert sorted(handles) == ["a1.m1", "a2.m1", "a3.m1", "a4.m1"]
    assert [hit.handle for hit in archive.search("of a task", "talk")] == ["a2.a1.m1"]
    with pytest.raises(UnknownHandle):
        archive.recall("talk", "a9.m1")


def test_conversations_are_listed_the_last_used_first(archive: Archive):
    """The list says what a conversation is about, where it was held, and how long it is."""
    archive.append("old", Opened(title="Old", cwd="/a/\udce9"))
    archive.append("new", Opened(title="New"))
    archive.append("old", says("user", "Still here."))
    first, second = archive.conversations()
    assert (first.id, first.title, first.cwd, first.entries) == ("old", "Old", "/a/\udce9", 2)
    assert (second.id, second.title, second.entries) == ("new", "New", 1)
    assert first.started <= second.started <= first.last


@pytest.mark.parametrize(
    ("query", "handles"),
    [
        ("The parser drops", ["m2"]),
        ("the PARSER drops", ["m2"]),
        ("parser", ["m4", "m2"]),
        ("한국", ["m9"]),
        ("설명", ["m9"]),
        ("주", ["m9"]),
        ('"command"', ["m4", "m5"]),
        ("1 failed", ["m7"]),
        ("line parser last", ["m2"]),
        ("parser OR failed", []),
        ("par*", []),
        ("p_rser", []),
        ("%", []),
        ('"', ["m4", "m5"]),
        ("NEAR(parser drops)", []),
        ("(text): ...", ["m6"]),
        ("", []),
        ("   ", []),
        ("careful\0", []),
    ],
)
def test_search_takes_queries_literally(archive: Archive, query: str, handles: list[str]):
    """A query of any length is text and not a language; several words are found apart as well."""
    archive.append("talk", *TALK)
    assert [hit.handle for hit in archive.search(query)] == handles
    assert [hit.handle for hit in archive.search(query, "talk")] == handles


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("before\0after", "after"),
        ("before\0after", "e\0a"),
        ("a lone \ud800 surrogate", "lone \ud800 sur"),
        ("path C:\\Users\\é", "C:\\USERS\\É"),
        ("x" * 5000 + "needle" + "y" * 5000, "xneedley"),
        ("中文的搜索", "搜索"),
        ("emoji 👩‍💻 here", "👩‍💻"),
        ("line\nbreak\ttab", "line\nbreak\ttab"),
    ],
)
def test_search_finds_any_text(archive: Archive, text: str, query: str):
    """Whatever was said can be found, and the snippet shows it on one line."""
    archive.append("talk", Opened(), says("user", text))
    (hit,) = archive.search(query)
    assert hit.handle == "m1"
    assert "\n" not in hit.snippet
    assert len(hit.snippet) < 300


def test_search_is_limited_and_newest_first(archive: Archive):
    """At most `limit` hits come back, those said last before others; one conversation if named."""
    archive.append("a", Opened(), *(says("user", f"same words {n}") for n in range(5)))
    archive.append("b", Opened(), says("user", "same words again"))
    found = [(hit.conversation, hit.handle) for hit in archive.search("same words", limit=3)]
    assert found == [("b", "m1"), ("a", "m5"), ("a", "m4")]
    assert {hit.conversation for hit in archive.search("same words", "a")} == {"a"}
    with pytest.raises(ArchiveError):
        archive.search("same words", "nowhere")


def test_results_are_found_before_they_enter_the_history(archive: Archive):
    """A finished result is searchable at once, under the handle that it keeps."""
    archive.append("talk", Opened(), calls("{}"), CallFinished(result(0, "unusual output")))
    assert [hit.handle for hit in archive.search("unusual")] == ["m3"]


def test_compressions_of_systems_and_notes_replay(archive: Archive):
    """A compression holds all of the history: system, notes, kept and changed messages."""
    archive.append("talk", *TALK)
    history = shorter(view(archive.entries("talk")))
    entry = compressed(history, said(archive.entries("talk")), reason="over the limit")
    archive.append("talk", entry)
    (logged,) = archive.entries("talk", after=len(TALK))
    assert logged.entry == entry
    assert isinstance(logged.entry, Compressed)
    assert logged.entry.system == ((1, 1),)


def test_parallel_results_in_one_message(archive: Archive):
    """Results that came in one message, with words of the user beside them, each have a handle."""
    archive.append("talk", Opened(), calls("{}", "{}"))
    parts = (ToolResult("c0", (Text("one"),)), ToolResult("c1", (Text("two"),)), Text("and this"))
    archive.append("talk", Said(Message("user", parts)))
    assert archive.recall("talk", "m6") == parts[1]
    assert [hit.handle for hit in archive.search("and this")] == ["m4"]


def test_new_ids_differ():
    """Ids for conversations do not collide."""
    assert len({new_id() for _ in range(1000)}) == 1000


def test_a_compression_that_keeps_what_nobody_said(archive: Archive):
    """Such an entry cannot be replayed: the error names it, and undoing it mends the view."""
    archive.append("talk", *TALK)
    before = view(archive.entries("talk"))
    number = archive.append("talk", Compressed(messages=((90, 1),)))
    with pytest.raises(ArchiveError, match=f"entry {number} keeps m90"):
        view(archive.entries("talk"))
    archive.append("talk", Undone(number))
    assert view(archive.entries("talk")) == before
