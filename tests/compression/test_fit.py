"""Making histories of the awkward kinds fit."""

from __future__ import annotations

import json

import pytest

from unremember import (
    Budget,
    BudgetTooSmall,
    Fact,
    History,
    Job,
    Message,
    Notes,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Weigher,
    fit,
    sliding_window,
)
from unremember.compression import report_on
from unremember.events import Event, Shortened, ignore
from unremember.messages import number
from unremember.notes import render

WEIGH = Weigher()


def job(target: int, events: list[Event] | None = None) -> Job:
    return Job(Budget.exactly(target), WEIGH, emit=ignore if events is None else events.append)


def said(*messages: Message) -> History:
    return History((), number(messages))


def user(text: str) -> Message:
    return Message("user", (Text(text),))


def ran(key: str, output: str, *, pinned: bool = False) -> list[Message]:
    call = ToolCall(key, "bash", json.dumps({"command": f"cat {key}.txt"}))
    return [
        Message("assistant", (Text(f"Looking at {key}."), call), pinned=pinned),
        Message("tool", (ToolResult(key, (Text(output),)),)),
    ]


def log(key: str, lines: int = 400) -> str:
    return "\n".join(f"{key} line {n}: value_{n * 7} is fine" for n in range(lines))


def test_a_history_that_fits_is_the_same_object():
    """Nothing to do costs nothing."""
    history = said(user("Hello."))
    assert fit(history, job(100)) is history


def test_one_giant_user_message_keeps_its_ends_and_uses_the_budget():
    """The whole history may be one message of the user."""
    text = "\n".join(f"Requirement {n}: the field f_{n} must be positive." for n in range(2_000))
    events: list[Event] = []
    after = fit(said(user(text)), job(2_000, events))
    assert 1_900 <= WEIGH(after) <= 2_000
    [message] = after.messages
    assert message.text.startswith("Requirement 0:")
    assert message.text.endswith("must be positive.")
    assert [e.ordinal for e in events if isinstance(e, Shortened)] == [1]


def test_a_giant_message_without_lines_uses_the_budget_as_well():
    """Repetition has nothing to choose from, so the ends grow."""
    after = fit(said(user("漢字かな交じり文、" * 20_000)), job(2_000))
    assert 1_900 <= WEIGH(after) <= 2_000


def test_a_pinned_step_stays_with_its_results():
    """A pinned message with calls cannot stand without what they gave back."""
    history = said(
        user("Go."), *ran("a", "the key is 42", pinned=True), *sum_of_logs(), user("Next.")
    )
    after = fit(history, job(1_500))
    kept = {message.ordinal for message in after.messages}
    assert {2, 4} <= kept
    assert "the key is 42" in [r.text for m in after.messages for r in m.results]
    slid = sliding_window(history, job(1_500))
    assert {2, 4} <= {message.ordinal for message in slid.messages}


def sum_of_logs(count: int = 12) -> list[Message]:
    return [message for n in range(count) for message in ran(f"log{n}", log(f"log{n}"))]


def test_a_pinned_step_that_is_too_big_is_clipped_with_its_pairs():
    """Pins share half of the target; calls keep their results."""
    history = said(
        user("Go."), *ran("a", log("a", 3_000), pinned=True), *sum_of_logs(), user("Ok.")
    )
    after = fit(history, job(1_500))
    assert WEIGH(after) <= 1_500


def test_later_system_messages_and_pinned_prose_are_kept():
    """They are instructions too."""
    later = Message("system", (Text("The user is on a phone now."),))
    decided = Message("assistant", (Text("I decided to keep the old API."),), pinned=True)
    history = said(user("Go."), later, decided, *sum_of_logs(), user("Next."))
    texts = [message.text for message in fit(history, job(1_500)).messages]
    assert {later.text, decided.text} <= set(texts)


def test_calls_that_wait_for_their_results_still_wait():
    """Open calls at the end belong to the newest step."""
    waiting = Message("assistant", (ToolCall("w1", "bash", "{}"), ToolCall("w2", "bash", "{}")))
    after = fit(said(user("Go."), *sum_of_logs(), waiting), job(1_500))
    assert [call.id for call in after.open_calls] == ["w1", "w2"]


def test_thinking_can_be_as_large_as_the_newest_step():
    """Signed thinking stays while the budget can bear it; then it goes rather than the limit."""
    thought = Thinking("Let me think about this. " * 300, "c2ln")
    call = ToolCall("t", "bash", "{}")
    newest = [
        Message("assistant", (thought, call)),
        Message("tool", (ToolResult("t", (Text("ok"),)),)),
    ]
    history = said(user("Go."), *sum_of_logs(), *newest)
    kept = fit(history, job(4_000)).messages[-2]
    assert thought in kept.parts
    assert thought not in fit(history, job(1_000)).messages[-2].parts


def test_hundreds_of_small_user_messages_keep_the_rules():
    """First, latest, and sentences with an obligation come before small talk."""
    messages = [
        user(f"{n}. ok, carry on" if n % 40 else f"Never drop table_{n}.") for n in range(400)
    ]
    history = said(*messages)
    compressed = fit(history, job(1_200))
    report = report_on(history, compressed, job(1_200), seconds=0)
    assert WEIGH(compressed) <= 1_200
    everything = "\n".join([m.text for m in compressed.messages] + [render(compressed.notes)])
    assert all(f"Never drop table_{n}." in everything for n in range(0, 400, 40))
    assert report.tokens_after == WEIGH(compressed)


def test_other_programs_summaries_are_no_pins():
    """What another program summarised competes with everything else."""
    summary = Message("user", (Text(log("summary", 2_000)),), kind="summary")
    after = fit(said(summary, user("Go on."), *sum_of_logs()), job(1_500))
    assert 1 not in {message.ordinal for message in after.messages}


def test_facts_keep_to_their_share():
    """Facts that outweigh the budget are trimmed, those that hold and the newest first."""
    facts = tuple(
        Fact(
            "rules",
            f"Fact number {n} is about the file part_{n}.py.",
            (n,),
            "superseded" if n % 2 else "holds",
        )
        for n in range(200)
    )
    history = History((), number([user("Go."), *sum_of_logs()]), Notes(facts=facts))
    kept = fit(history, job(2_000)).notes.facts
    assert 0 < len(kept) < 100
    assert facts[198] in kept
    assert all(fact.state == "holds" for fact in kept)


def test_the_error_names_the_largest_parts():
    """R1's message, before any call: what cannot be forgotten, and what to do."""
    system = Message("system", (Text("Be careful. " * 2_000),))
    history = History(tuple(number([system])), number([user("Hi.")], 2))
    with pytest.raises(BudgetTooSmall) as raised:
        fit(history, Job(Budget.exactly(3_000), Weigher(fixed=700)))
    assert [name for name, _ in raised.value.parts][:2] == ["system prompt", "tool schemas"]
    assert "the limit is 3,000" in str(raised.value)


def test_between_target_and_limit():
    """Where the fixed part leaves no room below the target, the limit is what counts."""
    system = Message("system", (Text("Be careful. " * 400),))
    history = History(tuple(number([system])), number([user("Hi."), *sum_of_logs()], 2))
    after = fit(history, Job(Budget(limit=2_000, trigger=2_000, target=1_000), WEIGH))
    assert 1_000 < WEIGH(after) <= 2_000


def test_a_window_keeps_whole_steps_and_pins():
    """The simplest way: nothing is clipped, cuts fall between steps."""
    history = said(user("Go."), *sum_of_logs(), user("Next."))
    after = sliding_window(history, job(12_000))
    assert all(any(m is own for own in history.messages) for m in after.messages)
    assert after.messages[0] is history.messages[0]
    assert WEIGH(after) <= 12_000
    assert after.next_ordinal == history.next_ordinal


def test_a_window_carries_the_notes_of_an_earlier_compression():
    """What was noted before is not forgotten by forgetting more."""
    first = fit(said(user("Go."), *sum_of_logs()), job(2_000))
    more = first.add(*[m for n in range(9) for m in ran(f"more{n}", log(f"more{n}"))])
    after = sliding_window(more, job(6_000))
    assert after.notes.outline == first.notes.outline
    assert WEIGH(fit(after, job(6_000))) <= 6_000
