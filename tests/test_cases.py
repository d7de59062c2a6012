"""Faults seen in the field, one case for each kind that the engine answers for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from measured import WEIGH, breaches
from unremember import (
    Budget,
    CannotCompress,
    History,
    Job,
    Message,
    Text,
    ToolCall,
    ToolResult,
    fit,
    read,
    sliding_window,
)
from unremember.archive import Opened, Said, SqliteArchive, compressed, said, view
from unremember.compression import CLIP_MARK, report_on
from unremember.compression.floor import fixed_parts
from unremember.compression.progress import Progress
from unremember.messages import find, handle, number
from unremember.notes import render

# A window of 4,000 tokens with 500 for the answer.
BUDGET = Budget(limit=3_500, trigger=3_000, target=1_750)
JOB = Job(BUDGET, WEIGH)


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def ran(key: str, command: str, output: str, *, words: str = "") -> list[Message]:
    call = ToolCall(key, "bash", json.dumps({"command": command}))
    said = (Text(words),) if words else ()
    return [
        Message("assistant", (*said, call)),
        Message("tool", (ToolResult(key, (Text(output),)),)),
    ]


def lines(key: str, tokens: int) -> str:
    """About so many tokens of different lines."""
    return "\n".join(f"{key}_{n} = {n * 13}" for n in range(tokens // 9))


def history_of(*messages: Message) -> History:
    return History((), number(messages))


class TestF2AlreadyTooBig:
    """Cannot compress because it is too big already: the most frequent of all."""

    def test_twelve_thousand_tokens_with_one_result_of_six_thousand(self):
        """Within the target, first and last user message word for word, valid for everybody."""
        steps = [m for n in range(8) for m in ran(f"s{n}", f"cat s{n}.py", lines(f"s{n}", 700))]
        huge = ran("huge", "cat huge.log", lines("huge", 6_000))
        first, last = user("Fix the parser; keep Python 3.11."), user("Now run the tests.")
        history = history_of(first, *steps, *huge, last)
        assert WEIGH(history) > 11_000
        after = fit(history, JOB)
        assert WEIGH(after) <= BUDGET.target
        assert [m.text for m in after.pins] == [first.text, last.text]
        assert breaches(after) == []


class TestF4Orphans:
    """Calls without results and results without calls."""

    def history(self) -> History:
        """Forty messages: parallel calls, an aborted one, and room for two compressions."""
        messages = [user("Do it.")]
        for n in range(9):
            calls = tuple(ToolCall(f"{n}_{k}", "bash", '{"command": "ls"}') for k in range(3))
            messages.append(Message("assistant", calls))
            for call in calls:
                aborted = n == 4 and call is calls[-1]
                text = "[interrupted by user]" if aborted else lines(f"r{call.id}", 300)
                messages.append(Message("tool", (ToolResult(call.id, (Text(text),), aborted),)))
        messages += [user("Go on."), Message("assistant", (Text("Done."),)), user("Thanks.")]
        assert len(messages) == 40
        return history_of(*messages)

    @pytest.mark.parametrize("cut", range(1, 41))
    def test_every_cut_of_forty_messages_after_two_compressions(self, cut: int):
        """Whatever was cut and compressed before, the request is valid."""
        whole = self.history()
        open_at_cut = History((), whole.messages[:cut])
        # A step is complete before it is sent.
        end = cut + len(open_at_cut.open_calls)
        history = History((), whole.messages[:end])
        for target in (2_500, 1_750):
            history = fit(history, Job(Budget.exactly(target), WEIGH))
            assert breaches(history) == []
        history = history.add(*whole.messages[end:])
        assert breaches(fit(history, JOB)) == []
        assert breaches(sliding_window(history, JOB)) == []

    def test_a_recording_with_orphans_is_mended_and_told_of_once(self, tmp_path: Path):
        """Each fault is one repair with its place."""
        function = {"name": "bash", "arguments": "{}"}
        call = {"id": "lost", "type": "function", "function": function}
        recorded = [
            {"role": "user", "content": "Hello."},
            {"role": "tool", "tool_call_id": "never_asked", "content": "stray"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "assistant", "content": "Then this."},
        ]
        path = tmp_path / "broken.json"
        path.write_text(json.dumps(recorded), encoding="utf-8")
        [found] = read(path)
        assert breaches(found.history) == []
        told = " ".join(map(str, found.repairs))
        assert len(found.repairs) == 2
        assert told.count("never_asked") == told.count("'lost'") == 1


class TestF10OneHugeOutput:
    """Five megabytes in one line."""

    @pytest.mark.parametrize("text", ["a😀" * 1_250_000, "x = 1; " * 700_000])
    def test_it_is_clipped_within_its_share(self, text: str):
        """Head and tail, the exact count of what is missing, a handle to the whole, legal text."""
        history = history_of(user("Show it."), *ran("big", "cat big.bin", text))
        after = fit(history, JOB)
        assert WEIGH(after) <= BUDGET.target
        [kept] = [result.text for message in after.messages for result in message.results]
        kept.encode("utf-8")
        marks = list(CLIP_MARK.finditer(kept))
        missing = sum(int(mark[0].split()[1].replace(",", "")) for mark in marks)
        assert len(CLIP_MARK.sub("", kept)) + missing == len(text)
        assert (kept[0], kept[-1]) == (text[0], text[-1])
        [ordinal] = {mark[0].split()[-2] for mark in marks}
        report = report_on(history, after, JOB, seconds=0)
        original = report.forgotten[ordinal]
        assert isinstance(original, ToolResult)
        assert original.text == text


class TestF11TruncationHidesTheError:
    """A build log of 20,000 lines whose only error stands at 60 %."""

    def log(self) -> list[str]:
        log = [f"[{n}/20000] Compiling unit_{n}.c -> unit_{n}.o" for n in range(20_000)]
        log[12_000] = "src/lexer.c:88:5: error: unknown type name 'token_kind'"
        return log

    def test_in_the_newest_step(self):
        """That line and two lines on each side are in the excerpt."""
        log = self.log()
        after = fit(history_of(user("Build."), *ran("b", "make", "\n".join(log))), JOB)
        assert WEIGH(after) <= BUDGET.target
        [kept] = [result.text for message in after.messages for result in message.results]
        assert "\n".join(log[11_998:12_003]) in kept
        assert kept.startswith(log[0])
        assert kept.endswith(log[-1])

    def test_in_an_old_step(self):
        """The error line is kept when the log is only notes any more."""
        log = self.log()
        later = [m for n in range(5) for m in ran(f"s{n}", f"cat s{n}.py", lines(f"s{n}", 600))]
        after = fit(history_of(user("Build."), *ran("b", "make", "\n".join(log)), *later), JOB)
        assert log[12_000] in render(after.notes)


class TestF16Resume:
    """Three windows of work, compressed twice, quit, and resumed with half the window."""

    def test_the_view_of_the_archive_is_compressed_before_sending(self, tmp_path: Path):
        """First request valid, within the smaller limit, nothing twice, every original there."""
        path = tmp_path / "work.db"
        history = self.worked(path)
        with SqliteArchive(path) as archive:
            entries = list(archive.entries("work"))
            resumed = view(entries)
            assert resumed == history
            half = fit(resumed, Job(Budget(1_750, 1_500, 875), WEIGH))
            assert WEIGH(half) <= 1_750
            assert breaches(half) == []
            ordinals = [message.ordinal for message in half.messages]
            assert ordinals == sorted(set(ordinals))
            originals = said(entries)
            report = report_on(resumed, half, JOB, seconds=0)
            for name, original in report.forgotten.items():
                assert archive.recall("work", name) == find(originals.values(), int(name[1:]))
                assert original is not None

    def worked(self, path: Path) -> History:
        """Three windows of work, archived, compressed whenever the trigger is passed."""
        history = history_of(user("Mend all parts. Never touch part_0."))
        compressions = 0
        with SqliteArchive(path) as archive:
            archive.append("work", Opened(title="Work"), *map(Said, history.messages))
            for n in range(14):
                grown = history.add(*ran(f"s{n}", f"cat part_{n}.py", lines(f"p{n}", 900)))
                archive.append("work", *map(Said, grown.messages[-2:]))
                history = grown
                if (before := WEIGH(history)) > BUDGET.trigger:
                    history = fit(history, JOB)
                    so_far = said(archive.entries("work"))
                    after = WEIGH(history)
                    entry = compressed(history, so_far, strategy="fit", before=before, after=after)
                    archive.append("work", entry)
                    compressions += 1
        assert compressions >= 2
        return history


class TestF19KeptMessagesVanish:
    """A message that was kept by one compression is gone after the next."""

    @settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.lists(st.integers(20, 900), min_size=1, max_size=6), min_size=3, max_size=3))
    def test_each_message_is_kept_or_was_forgotten_once(self, rounds: list[list[int]]):
        """Over three compressions: in the tail, or in the report of exactly one of them."""
        history = history_of(user("Begin."))
        forgotten: list[str] = []
        everything = {1}
        for number_of, sizes in enumerate(rounds):
            for place, size in enumerate(sizes):
                key = f"k{number_of}_{place}"
                history = history.add(*ran(key, f"cat {key}", lines(key, size), words=f"{key}."))
            everything |= {message.ordinal for message in history.messages}
            after = fit(history, JOB)
            stay = {message.ordinal for message in after.messages}
            report = report_on(history, after, JOB, seconds=0)
            gone = [m.ordinal for m in history.messages if m.ordinal not in stay]
            assert all(handle(ordinal) in report.forgotten for ordinal in gone)
            forgotten += map(handle, gone)
            history = after
        assert len(set(forgotten)) == len(forgotten)
        stays = {handle(message.ordinal) for message in history.messages}
        assert stays.isdisjoint(forgotten)
        assert stays | set(forgotten) == set(map(handle, everything))


class TestF24NoGainReportedAsSuccess:
    """The newest three messages fill 90 % of the trigger."""

    def history(self) -> History:
        newest = ran("big", "cat big.py", lines("big", 3_200))
        return history_of(user("Start."), *ran("a", "ls", "a.py"), user("Now."), *newest)

    def test_the_next_stronger_rung_is_used(self):
        """What is newest is clipped rather than nothing being freed."""
        history = self.history()
        assert WEIGH(history) > 0.9 * BUDGET.trigger
        after = fit(history, JOB)
        assert WEIGH(after) <= BUDGET.target
        assert report_on(history, after, JOB, seconds=0).levels["clipped"] >= 1

    def test_a_way_that_frees_nothing_fails_with_what_could_not_shrink(self):
        """A window cannot cut the newest step: twice is an explicit failure."""
        history, progress = self.history(), Progress()
        parts = fixed_parts(history, WEIGH)
        after = sliding_window(history, JOB)
        progress = progress.tried(WEIGH(history), WEIGH(after), BUDGET, parts)
        with pytest.raises(CannotCompress, match="could not shrink"):
            progress.tried(WEIGH(after), WEIGH(sliding_window(after, JOB)), BUDGET, parts)
