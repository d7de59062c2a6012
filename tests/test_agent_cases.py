"""What goes wrong in the field, through the agent: window 4,000, answer 500, trigger 3,000."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from playing import (
    BUDGET,
    LIMIT,
    SMALL,
    WEIGH,
    agent,
    call,
    calls,
    check_requests,
    look,
    model,
    of,
    texts,
    weight,
    words,
)
from unremember import Budget, BudgetTooSmall, CannotCompress, History, Job, Text
from unremember.agent import Agent
from unremember.archive import Failed, MemoryArchive, view
from unremember.compression import NoCompression, fit
from unremember.errors import ContextTooLong, OverLimit, ProviderRefused
from unremember.events import (
    Compressed,
    Counted,
    Event,
    InstructionsChanged,
    LimitLearned,
    PrefixBroken,
    Refused,
)
from unremember.messages import Message, ToolResult
from unremember.models import Reply, Request, Usage
from unremember.models.scripted import Scripted
from unremember.strategies import (
    CODE_AGENT_HISTORY_TOO_BIG,
    HistoryCompressionConfig,
    single_run_strategy,
    single_run_strategy_with_history_compression,
)
from unremember.tools import Context, Workspace, approve_all, tool
from unremember.tools.kit import coding_tools


def looks(count: int, first: int = 0) -> Iterator[Message]:
    """Turns that look at so many pages, about 330 tokens each."""
    return (calls(call("look", f"c{n}", n=n)) for n in range(first, first + count))


def said(request: Request) -> list[str]:
    """The user's own messages in a request."""
    own = (m for m in request.history.messages if m.role == "user" and m.kind == "said")
    return [message.text for message in own if message.text]


def newest(request: Request) -> ToolResult:
    return [result for message in request.history.messages for result in message.results][-1]


# F1


def test_f1_what_cannot_fit_is_said_before_any_call():
    """Fixed parts over the limit: no call, no attempt, an error that names the largest parts."""
    archive, events = MemoryArchive(), list[Event]()
    with model() as played:
        asked = agent(played, archive=archive, system=words(3_600), events=events)
        for n in range(3):
            with pytest.raises(BudgetTooSmall, match="system prompt") as error:
                asked.run_sync(words(50, f"prompt {n}"))
            assert error.value.parts[0][0] == "system prompt"
    assert played.requests == []
    assert of(Compressed, events) == of(Refused, events) == []
    assert view(archive.entries(asked.conversation)).system[0].text == words(3_600)


def test_f1_instructions_are_named_apart(tmp_path: Path):
    """Who has to shorten something is told what."""
    (tmp_path / "AGENTS.md").write_text(words(3_000))
    with model() as played, pytest.raises(BudgetTooSmall) as error:
        agent(played, folder=tmp_path, system=words(600)).run_sync("go")
    assert [name for name, _ in error.value.parts[:2]] == ["project instructions", "system prompt"]


def test_f1_no_loop_where_compressing_frees_too_little():
    """Fixed parts over the trigger: few attempts, then an error, and no call after it."""
    events: list[Event] = []
    with Scripted(["ok"] * 100, facts=SMALL) as played:
        asked = agent(played, system=words(3_200), events=events)

        def go_on() -> None:
            for n in range(100):
                asked.run_sync(words(50, f"prompt {n}"))

        with pytest.raises(CannotCompress, match="system prompt"):
            go_on()
        calls_made = len(played.requests)
        with pytest.raises(CannotCompress):
            asked.run_sync("again")
        assert len(played.requests) == calls_made < 10
        played._turns.clear()  # pyright: ignore[reportPrivateUsage]
    assert len(of(Compressed, events)) + len(of(Refused, events)) <= 3
    check_requests(played.requests)


# F2


def long_talk() -> MemoryArchive:
    """A conversation of 12,000 tokens with one result of 6,000 in it."""
    from unremember.archive import Opened, Said

    archive = MemoryArchive()
    history = History().add(Message("user", (Text("First: never touch main.py."),)))
    for n, size in enumerate([1_500, 6_000, 1_500, 1_500, 1_500]):
        history = history.add(
            calls(call("look", f"old{n}", n=n)),
            Message("tool", (ToolResult(f"old{n}", (Text(words(size, f"page {n}")),)),)),
        )
    archive.append("old", Opened(), *map(Said, history.messages))
    return archive


def break_down(history: History, job: Job) -> History:
    raise ProviderRefused("HTTP 500: no", 500)


@pytest.mark.parametrize("way", [fit, break_down])
def test_f2_what_is_far_too_big_already_is_compressed(way: object):
    """Never over the limit, few calls, the user's words whole; also when the chosen way fails."""
    config = HistoryCompressionConfig(compression_strategy=way)  # type: ignore[arg-type]
    events: list[Event] = []
    with model("done") as played:
        asked = agent(
            played,
            look,
            archive=long_talk(),
            strategy=single_run_strategy_with_history_compression(config),
            events=events,
        )
        asked.resume("old")
        assert asked.weigh() > 11_000
        asked.run_sync("Last: say what page 3 holds.")
    check_requests(played.requests)
    assert weight(played.requests[0]) <= BUDGET.target
    assert said(played.requests[0]) == [
        "First: never touch main.py.",
        "Last: say what page 3 holds.",
    ]
    assert len(of(Compressed, events)) == 1
    assert [refused.reason for refused in of(Refused, events)] == (
        [] if way is fit else ["HTTP 500: no"]
    )


# F5


def test_f5_instructions_are_always_as_on_disk(tmp_path: Path):
    """Once in each request, also after three compressions and a change; a typed rule stays too."""
    rules = tmp_path / "AGENTS.md"
    rules.write_text("Rule one: never run git push.")
    rule = "From now on, never delete a test."
    events: list[Event] = []

    def edit(request: Request) -> Message:
        rules.write_text("Rule one: never run git push. Rule two: speak softly.")
        return next(looks(1, 90))

    with model(*looks(30), edit, *looks(30, 100), "done") as played:
        agent(played, look, folder=tmp_path, events=events).run_sync(rule)
    assert len(of(Compressed, events)) >= 5
    for place, request in enumerate(played.requests):
        seen = texts(replace(request.history, system=()))
        assert "git push" not in seen
        whole = "\n".join(message.text for message in request.history.system)
        assert whole.count("never run git push") == 1
        assert whole.count("speak softly") == (1 if place > 30 else 0)
        assert rule in said(request)
    assert [change.change for change in of(InstructionsChanged, events)] == ["entered", "changed"]
    assert PrefixBroken("the project instructions changed") in events
    check_requests(played.requests)


def test_f5_nested_instructions_enter_when_their_folder_is_touched(tmp_path: Path):
    """Not before, and from then on in every request; also after resuming."""
    inner = tmp_path / "web" / "forms"
    inner.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("Root rule.")
    (tmp_path / "web" / "AGENTS.md").write_text("Web rule.")
    (inner / "page.py").write_text("x = 1\n")
    archive = MemoryArchive()
    kit = coding_tools()
    turns = (
        calls(call("list_directory", "a")),
        calls(call("read_file", "b", path="web/forms/page.py")),
        *(calls(call("list_directory", f"c{n}", depth=n)) for n in range(1, 3)),
    )

    def seen(request: Request) -> bool:
        return "Web rule." in request.history.system[-1].text

    budget = Budget(20_000, 16_000, 8_000)
    with model(*turns, "done") as played:
        first = agent(played, *kit.values(), archive=archive, folder=tmp_path, budget=budget)
        first.run_sync("Look around.")
    assert [seen(request) for request in played.requests] == [False, False, True, True, True]
    assert "Root rule." in played.requests[0].history.system[-1].text
    with model("hello") as played:
        second = agent(played, *kit.values(), archive=archive, folder=tmp_path, budget=budget)
        second.resume(first.conversation)
        second.run_sync("And now?")
    assert seen(played.requests[0])


def test_f5_a_link_to_the_outside_is_no_instruction(tmp_path: Path):
    """What a workspace's AGENTS.md points to elsewhere is not sent anywhere."""
    outside = tmp_path / "secret.txt"
    outside.write_text("password")
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "AGENTS.md").symlink_to(outside)
    with model("done") as played:
        agent(played, folder=inside).run_sync("go")
    assert "password" not in texts(played.requests[0].history)


# F6


def test_f6_what_is_done_stays_done():
    """Compressed in mid-turn: order kept, the correction last, side effects listed as run."""

    @tool
    def run_command(command: str) -> str:
        """Runs a command."""
        return "exit 0\nEverything up-to-date" if "push" in command else "exit 0\nok"

    push = "git push origin main"
    with model(calls(call("run_command", "p", command=push)), "Pushed.") as played:
        asked = agent(played, run_command, look)
        asked.run_sync("Push the branch to origin.")
    asked.use(model(next(looks(1)), "paused"))
    asked.run_sync("Now read pages 1 to 40.")
    with model(*looks(20, 1), "All read.") as played:
        asked.use(played, BUDGET)
        asked.run_sync("Correction: pages 1 to 20 only.")
    last = played.requests[-1]
    assert said(last) == [
        "Push the branch to origin.",
        "Now read pages 1 to 40.",
        "Correction: pages 1 to 20 only.",
    ]
    assert push in texts(last.history)
    assert any(push in str(entry) for entry in vars_of(last.history))
    check_requests(played.requests)


def vars_of(history: History) -> list[object]:
    """The commands in the ledger."""
    return list(history.notes.ledger.commands)


# F9


def test_f9_a_task_that_reads_more_than_the_window_ends(tmp_path: Path):
    """Reading, editing, a change by another hand, compressing, reading again; with real tools."""
    kit = coding_tools()
    page = tmp_path / "a.py"
    page.write_text("".join(f"value_{n} = {n}\n" for n in range(60)))
    for n in range(24):
        (tmp_path / f"part{n}.py").write_text(words(300, f"part {n}"))

    def format_outside(request: Request) -> Message:
        page.write_text(page.read_text().replace("value_9 = 9", "value_9 = 9  # formatted"))
        return calls(
            call("edit_file", "e2", path="a.py", old="value_3 = 3\n", new="value_3 = 33\n")
        )

    turns = [
        calls(call("read_file", "r1", path="a.py")),
        calls(call("edit_file", "e1", path="a.py", old="value_2 = 2\n", new="value_2 = 22\n")),
        format_outside,
        *(calls(call("read_file", f"p{n}", path=f"part{n}.py")) for n in range(24)),
        calls(call("read_file", "r2", path="a.py")),
        calls(call("read_file", "r3", path="a.py")),
        "done",
    ]
    events: list[Event] = []
    with model(*turns) as played:
        asked = Agent(
            played,
            kit,
            budget=Budget(5_000, 4_400, 2_500),
            context=Context(Workspace(tmp_path), approve=approve_all),
            emit=events.append,
        )
        assert asked.run_sync("Read every part.").output == "done"
    assert len(of(Compressed, events)) >= 2
    refused = newest(played.requests[3])
    assert refused.failed
    assert "changed" in refused.text
    again, unchanged = newest(played.requests[-2]), newest(played.requests[-1])
    assert "formatted" in again.text
    assert len(unchanged.text) < len(again.text) / 2
    check_requests(played.requests, 5_000)
    ledger = "\n".join(map(str, asked.history.notes.ledger.files))
    assert "a.py" in ledger


# F12


def test_f12_one_prompt_with_sixty_calls_is_compressed_inside_the_turn():
    """No request over the limit, whatever the model asks for; one answer may hold many calls."""
    many = calls(*(call("look", f"m{n}", n=n) for n in range(20)))
    with model(*looks(40), many, "done") as played:
        assert agent(played, look).run_sync("Read.").output == "done"
    check_requests(played.requests)
    assert len(played.requests) == 42


# F13


def test_f13_a_limit_is_learned_from_the_refusal():
    """The request goes again, smaller; what is learned holds from then on."""
    events: list[Event] = []
    refusal = ContextTooLong("maximum is 2,048 tokens", 400, limit=2_048)
    with model(*looks(7), refusal, *looks(10, 10), "done") as played:
        asked = agent(played, look, events=events)
        assert asked.run_sync("Read.").output == "done"
    learned = Budget.of_window(2_048).limit
    assert of(LimitLearned, events) == [LimitLearned(LIMIT, learned, "maximum is 2,048 tokens")]
    check_requests(played.requests[:8])
    check_requests(played.requests[8:], learned)
    assert asked.budget.limit == learned


def test_f13_a_refusal_without_a_number_lowers_the_limit_by_a_tenth():
    """Below what was sent; a second refusal in a row is the user's to see."""
    refusal = ContextTooLong("too long", 400)
    with model(*looks(7), refusal, "done") as played:
        agent(played, look).run_sync("Read.")
    assert weight(played.requests[-1]) < weight(played.requests[-2]) * 0.9
    with model(*looks(7), refusal, refusal) as played:
        asked = agent(played, look)
        with pytest.raises(ContextTooLong, match="too long"):
            asked.run_sync("Read.")
    assert asked.history.open_calls == ()


def test_f13_the_users_value_wins():
    """A budget that was given counts, whatever is known of the model."""
    facts = replace(SMALL, context_window=200_000)
    with model(*looks(40), "done", facts=facts) as played:
        agent(played, look).run_sync("Read.")
    check_requests(played.requests)
    with model(*looks(40), "done", facts=facts) as played:
        agent(played, look, budget=None).run_sync("Read.")
    assert max(map(weight, played.requests)) > LIMIT


# F15


def test_f15_what_is_shown_is_what_is_sent():
    """After each compression too, and with a provider that counts 1.3 times as much."""
    events: list[Event] = []

    def counted(message: Message | str) -> object:
        def answer(request: Request) -> Reply:
            said = (
                message if isinstance(message, Message) else Message("assistant", (Text(message),))
            )
            return Reply(said, Usage(int(weight(request) * 1.3), output_tokens=20))

        return answer

    turns = [counted(turn) for turn in (*looks(60), "done")]
    with Scripted(turns, facts=SMALL) as played:  # pyright: ignore[reportArgumentType]
        agent(played, look, events=events).run_sync("Read.")
    shown = [event.tokens for event in of(Counted, events)]
    assert len(shown) == len(played.requests)
    for tokens, request in list(zip(shown, played.requests, strict=True))[1:]:
        assert tokens == pytest.approx(weight(request) * 1.3, rel=0.05)
        assert weight(request) * 1.3 <= LIMIT
    places = [n for n, event in enumerate(events) if isinstance(event, Compressed)]
    for first, second in pairwise(places):
        assert len(of(Counted, events[first:second])) > 2


# F16


def test_f16_resumed_with_half_the_window():
    """The first request is compressed before it is sent, and nothing stands in it twice."""
    archive, events = MemoryArchive(), list[Event]()
    with model(*looks(40), "done") as played:
        first = agent(played, look, archive=archive, events=events)
        first.run_sync("Read pages 0 to 39.")
    assert len(of(Compressed, events)) >= 2
    half = Budget(1_750, 1_500, 800)
    with model(*looks(3, 50), "more done") as played:
        second = agent(played, look, archive=archive, budget=half)
        second.resume(first.conversation)
        assert second.history == first.history
        assert second.run_sync("Now three more.").output == "more done"
    check_requests(played.requests, half.limit)
    for request in played.requests:
        ordinals = [message.ordinal for message in request.history.messages]
        assert len(ordinals) == len(set(ordinals))
        assert said(request).count("Now three more.") == 1
    assert view(archive.entries(first.conversation)) == second.history


# F20


async def test_f20_words_that_come_while_a_tool_runs_are_heard_after():
    """Once, behind the results, before the next answer; the open pair is kept."""
    asked: list[Agent[str]] = []

    @tool(effect="reads")
    async def slow(n: int) -> str:
        """Takes its time."""
        asked[0].say(f"by the way {n}")
        await asyncio.sleep(0.01)
        return f"slow {n}"

    two = calls(call("slow", "a", n=1), call("slow", "b", n=2))
    with model(two, "done") as played:
        asked.append(agent(played, slow))
        await asked[0].run("go")
    roles = [message.role for message in played.requests[1].history.messages]
    assert roles == ["user", "assistant", "tool", "tool", "user", "user"]
    assert said(played.requests[1]) == ["go", "by the way 1", "by the way 2"]
    check_requests(played.requests)


def test_f20_words_that_come_with_the_last_answer_are_answered():
    """The run does not end before the user was heard."""
    asked: list[Agent[str]] = []

    def interrupt(request: Request) -> str:
        asked[0].say("and also this")
        return "done, I think"

    with model(interrupt, "done with that too") as played:
        asked.append(agent(played))
        assert asked[0].run_sync("go").output == "done with that too"
    assert said(played.requests[1]) == ["go", "and also this"]


def test_f20_words_and_requests_that_come_during_a_compression():
    """Words are delivered once, after it; a second request to compress is merged with the first."""
    asked: list[Agent[str]] = []
    ran: list[str] = []

    async def slowly(history: History, job: Job) -> History:
        ran.append(job.focus)
        if len(ran) == 1:
            asked[0].say("while you were compressing")
        await asyncio.sleep(0.01)
        return fit(history, job)

    async def ask_twice(n: int) -> str:
        """Asks for a compression, twice."""
        await asked[0].compress("numbers")
        await asked[0].compress("names")
        return words(1_600)

    config = HistoryCompressionConfig(compression_strategy=slowly)
    made = [calls(call("ask_twice", n=1)), "done"]
    with model(*made) as played:
        strategy = single_run_strategy_with_history_compression(config)
        asked.append(agent(played, tool(effect="reads")(ask_twice), strategy=strategy))
        asked[0].context.cap = 4_000
        asked[0].run_sync("go")
    assert ran == ["names"]
    assert said(played.requests[1]) == ["go", "while you were compressing"]
    check_requests(played.requests)


# F22


def test_f22_forty_turns_break_the_prefix_only_where_they_compress():
    """Cached and uncached tokens are told apart in the usage of the run."""
    events: list[Event] = []
    sent: list[Request] = []

    def cached(turn: Message | str) -> object:
        def answer(request: Request) -> Reply:
            before, tokens = sent[-1] if sent else None, weight(request)
            sent.append(request)
            kept = weight(before) if before and request.history.extends(before.history) else 0
            said = turn if isinstance(turn, Message) else Message("assistant", (Text(turn),))
            return Reply(said, Usage(tokens, kept, tokens - kept, 20))

        return answer

    with Scripted([cached(t) for t in (*looks(39), "done")], facts=SMALL) as played:  # pyright: ignore[reportArgumentType]
        done = agent(played, look, events=events).run_sync("Read.")
    breaks = sum(not after.history.extends(before.history) for before, after in pairwise(sent))
    assert breaks == len(of(Compressed, events)) == len(of(PrefixBroken, events))
    assert done.usage.input_tokens == sum(map(weight, sent))
    assert done.usage.cached_tokens > done.usage.input_tokens / 2
    check_requests(played.requests)


# F23


@pytest.mark.parametrize(
    "strategy",
    [
        single_run_strategy(),
        single_run_strategy_with_history_compression(
            HistoryCompressionConfig(compression_strategy=NoCompression)
        ),
    ],
    ids=lambda strategy: strategy.name,
)
def test_f23_off_is_off(strategy: object):
    """Nothing is compressed and nothing too large is sent; the choices are named, and they work."""
    events: list[Event] = []
    archive = MemoryArchive()
    with model(*looks(40), "done") as played:
        asked = agent(played, look, strategy=strategy, archive=archive, events=events)  # type: ignore[arg-type]
        with pytest.raises(OverLimit, match="compress the history; take a model") as error:
            asked.run_sync("Read.")
        played._turns.clear()  # pyright: ignore[reportPrivateUsage]
    assert error.value.tokens > LIMIT
    assert of(Compressed, events) == []
    check_requests(played.requests)
    assert view(archive.entries(asked.conversation)) == asked.history
    with model("done") as played:
        asked.use(played, BUDGET)
        asyncio.run(asked.compress())
        assert asked.run_sync().output == "done"
    assert len(of(Compressed, events)) == 1
    check_requests(played.requests)


def test_f23_off_is_off_when_a_limit_is_learned():
    """A refusal as too long does not switch it on."""
    with model(*looks(6), ContextTooLong("too long", 400, limit=1_000)) as played:
        asked = agent(played, look, strategy=single_run_strategy())
        with pytest.raises(OverLimit):
            asked.run_sync("Read.")
    assert len(played.requests) == 7


# Who decides


def test_the_predicate_decides_when_to_compress_early():
    """Below the trigger too; the same predicate again does not compress at each turn."""
    events: list[Event] = []
    config = HistoryCompressionConfig(lambda history: len(history.messages) > 6)
    strategy = single_run_strategy_with_history_compression(config)
    budget = Budget(20_000, 18_000, 1_500)
    with model(*looks(12), "done") as played:
        agent(played, look, strategy=strategy, budget=budget, events=events).run_sync("Read.")
    done = of(Compressed, events)
    assert done[0].reason == "too big"
    assert all(event.before < 5_000 for event in done)
    assert len(done) < 6


def test_a_way_that_makes_it_larger_is_refused():
    """The next cheaper way is taken, and the run goes on (rule R5)."""

    def inflate(history: History, job: Job) -> History:
        return History(
            history.system,
            [*history.messages, Message("user", (Text(words(500)),), kind="summary")],
        )

    events: list[Event] = []
    config = HistoryCompressionConfig(compression_strategy=inflate)
    strategy = single_run_strategy_with_history_compression(config)
    with model(*looks(12), "done") as played:
        assert agent(played, look, strategy=strategy, events=events).run_sync("go").output == "done"
    assert {event.strategy for event in of(Refused, events)} == {"inflate"}
    assert {event.strategy for event in of(Compressed, events)} == {"fit"}
    check_requests(played.requests)


def test_a_compression_that_fails_changes_nothing():
    """The history is as it was, but for a record of the failure (rule R4)."""
    archive = MemoryArchive()
    with model("one", "two") as played:
        asked = agent(played, archive=archive)
        asked.run_sync("go")
        before = asked.history
        asked.use(played, Budget(12, 11, 10))
        with pytest.raises(BudgetTooSmall):
            asked.run_sync(words(200))
        asked.use(played, BUDGET)
        assert asked.history.messages[: len(before.messages)] == tuple(before.messages)
        asked.run_sync("on")
    failures = [e.entry for e in archive.entries(asked.conversation) if isinstance(e.entry, Failed)]
    assert failures[0].what == "compression"


def test_the_thresholds_of_the_code_agent():
    """More than 200 messages, or more than 200,000 characters."""
    few = History().add(*(Message("user", (Text("word"),)) for _ in range(200)))
    assert not CODE_AGENT_HISTORY_TOO_BIG(few)
    assert CODE_AGENT_HISTORY_TOO_BIG(few.add(Message("user", (Text("word"),))))
    assert CODE_AGENT_HISTORY_TOO_BIG(History().add(Message("user", (Text("x" * 200_001),))))
    assert WEIGH(few) > 0
