"""Any sequence of things said and done means the same on disk, in memory, and reopened."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from unremember.archive import (
    Answered,
    Archive,
    CallFinished,
    CallStarted,
    Compressed,
    Entry,
    Failed,
    Handles,
    MemoryArchive,
    Opened,
    Said,
    SqliteArchive,
    Undone,
    compressed,
    said,
    settle,
    view,
)
from unremember.history import History
from unremember.messages import Message, Text, ToolCall, ToolResult, handle
from unremember.notes import Excerpt, Notes, OutlineEntry

TEXT = st.text(st.characters(exclude_categories=[]), min_size=1, max_size=12)


class TwoArchives(RuleBasedStateMachine):
    """Does the same to an archive on disk and to one in memory.

    Conversations are named by their place; forks have an id of their own in each archive.
    """

    conversations: Bundle[int] = Bundle("conversations")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.disk: Archive = SqliteArchive(self.folder / "a.db")
        self.memory: Archive = MemoryArchive()
        self.ids: list[tuple[str, str]] = []
        self.originals: list[dict[str, object]] = []

    def append(self, at: int, *entries: Entry) -> int:
        on_disk, in_memory = self.ids[at]
        number = self.disk.append(on_disk, *entries)
        assert self.memory.append(in_memory, *entries) == number
        return number

    def history(self, at: int) -> History:
        return view(self.memory.entries(self.ids[at][1]))

    def remember(self, at: int) -> None:
        for message in said(self.memory.entries(self.ids[at][1])).values():
            named: Iterable[tuple[int, object]] = message.numbered_parts()
            for ordinal, part in ((message.ordinal, message), *named):
                single = message.is_single_result
                original = message.results[0] if single else part
                self.originals[at].setdefault(handle(ordinal), original)

    @initialize(target=conversations)
    def begin(self) -> int:
        return self.open("")

    def open(self, parent: str) -> int:
        at = len(self.ids)
        self.ids.append((f"talk {at}", f"talk {at}"))
        self.originals.append({})
        self.append(at, Opened(parent=parent, title=f"talk {at}"))
        return at

    @rule(target=conversations, at=conversations)
    def begin_sub_agent(self, at: int) -> int:
        on_disk, in_memory = self.ids[at]
        parent = on_disk if on_disk == in_memory else ""
        return self.open(parent)

    @rule(at=conversations, texts=st.lists(TEXT, min_size=1, max_size=3))
    def say(self, at: int, texts: list[str]) -> None:
        self.append(at, *settle(self.memory.entries(self.ids[at][1])))
        self.append(at, *(Said(Message("user", (Text(text),))) for text in texts))
        self.remember(at)

    @rule(at=conversations, arguments=st.lists(TEXT, min_size=1, max_size=3), data=st.data())
    def call(self, at: int, arguments: list[str], data: st.DataObject) -> None:
        self.append(at, *settle(self.memory.entries(self.ids[at][1])))
        calls = tuple(ToolCall(f"c{n}", "t", text) for n, text in enumerate(arguments))
        first = self.history(at).next_ordinal
        self.append(at, Said(Message("assistant", calls)))
        self.remember(at)
        results = [ToolResult(call.id, (Text(data.draw(TEXT)),)) for call in calls]
        after = first + 1 + len(calls)
        for n in data.draw(st.permutations(range(len(calls)))):
            if data.draw(st.sampled_from(["run", "run", "run", "never", "killed"])) == "never":
                return
            self.append(at, CallStarted(first + 1 + n))
            self.append(at, CallFinished(results[n], after + n))
        self.append(at, Answered(tuple(range(after, after + len(calls)))))
        self.remember(at)

    @rule(at=conversations, data=st.data())
    def compress(self, at: int, data: st.DataObject) -> None:
        self.append(at, *settle(self.memory.entries(self.ids[at][1])))
        self.remember(at)
        history = self.history(at)
        steps = [step for step in history.steps if data.draw(st.booleans())]
        kept = [message for step in steps for message in step.messages]
        for n, message in enumerate(kept):
            if message.role == "user" and data.draw(st.booleans()):
                kept[n] = Message("user", (Text(message.text[:1] + "…"),), message.ordinal)
        outline = [OutlineEntry(m.ordinal, "line", (Excerpt(m.text),)) for m in history.messages]
        notes = Notes(tuple(outline[:3]), next=history.next_ordinal)
        if data.draw(st.booleans()):
            text = Text(data.draw(TEXT))
            kept.insert(0, Message("user", (text,), history.next_ordinal, kind="summary"))
        after = History(history.system, kept, notes)
        entry = compressed(after, said(self.memory.entries(self.ids[at][1])))
        self.append(at, entry)
        assert self.history(at) == after
        self.remember(at)

    @rule(at=conversations)
    def fail(self, at: int) -> None:
        before = self.history(at)
        self.append(at, Failed("compression", "refused"))
        assert self.history(at) == before

    @rule(at=conversations, data=st.data())
    def undo(self, at: int, data: st.DataObject) -> None:
        logged = list(self.memory.entries(self.ids[at][1]))
        numbers = [item.number for item in logged if isinstance(item.entry, Compressed)]
        if numbers:
            number = data.draw(st.sampled_from(numbers))
            self.append(at, Undone(number))
            without = [item for item in logged if item.number != number]
            if not any(isinstance(item.entry, Compressed | Undone) for item in without):
                assert self.history(at) == view(without)

    @rule(target=conversations, at=conversations, data=st.data())
    def fork(self, at: int, data: st.DataObject) -> int:
        on_disk, in_memory = self.ids[at]
        last = list(self.memory.entries(in_memory))[-1].number
        number = data.draw(st.integers(1, last))
        self.ids.append((self.disk.fork(on_disk, number), self.memory.fork(in_memory, number)))
        self.originals.append({})
        self.remember(len(self.ids) - 1)
        return len(self.ids) - 1

    @rule(at=conversations, data=st.data())
    def purge(self, at: int, data: st.DataObject) -> None:
        if not self.originals[at]:
            return
        names = sorted(self.originals[at], key=lambda name: int(name[1:]))
        first = data.draw(st.integers(0, len(names) - 1))
        last = data.draw(st.integers(first, min(first + 2, len(names) - 1)))
        on_disk, in_memory = self.ids[at]
        gone = self.disk.purge(Handles(on_disk, names[first], names[last]))
        assert self.memory.purge(Handles(in_memory, names[first], names[last])) == gone
        # What is left is compared between the two archives; from here on it is the original.
        for n in range(len(self.ids)):
            self.originals[n] = {}
            self.remember(n)

    @rule()
    def reopen(self) -> None:
        self.disk.close()
        self.disk = SqliteArchive(self.folder / "a.db")

    @rule(at=conversations, query=TEXT)
    def search(self, at: int, query: str) -> None:
        on_disk, in_memory = self.ids[at]
        found = [(hit.handle, hit.snippet) for hit in self.disk.search(query, on_disk)]
        assert found == [(hit.handle, hit.snippet) for hit in self.memory.search(query, in_memory)]

    @invariant()
    def the_same_is_seen(self) -> None:
        for on_disk, in_memory in self.ids:
            mine, other = self.disk.entries(on_disk), self.memory.entries(in_memory)
            assert [item.number for item in mine] == [item.number for item in other]
            for resume in (False, True):
                seen = view(self.disk.entries(on_disk), resume=resume)
                assert seen == view(self.memory.entries(in_memory), resume=resume)
                assert (
                    seen.next_ordinal
                    == view(self.memory.entries(in_memory), resume=resume).next_ordinal
                )

    @invariant()
    def originals_are_exact(self) -> None:
        for (on_disk, in_memory), originals in zip(self.ids, self.originals, strict=True):
            for name, original in originals.items():
                assert self.disk.recall(on_disk, name) == original
                assert self.memory.recall(in_memory, name) == original

    def teardown(self) -> None:
        self.disk.close()
        shutil.rmtree(self.folder)


TestTwoArchives = TwoArchives.TestCase
TestTwoArchives.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
