"""The agent: its loop, its answers, its archive, and what ends a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from playing import (
    BUDGET,
    LIMIT,
    SMALL,
    agent,
    breaches,
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
from unremember import Budget, History, InputError, Message, Text, ToolResult, write
from unremember.agent import Agent, Outcome
from unremember.archive import (
    CallStarted,
    Failed,
    MemoryArchive,
    Opened,
    SqliteArchive,
    view,
)
from unremember.errors import ArchiveError, GraphError, ModelError, NeedsAsync, ToolError
from unremember.events import CalledModel, Compressed, Event, PrefixBroken, RanTool
from unremember.models import Delta, Reply, Request, Usage
from unremember.models.scripted import Scripted
from unremember.strategies import (
    END,
    Edge,
    Graph,
    Node,
    Session,
    ask_for,
    program_message,
    single_run_strategy,
    single_run_strategy_with_history_compression,
)
from unremember.tools import tool


def results(request: Request) -> list[ToolResult]:
    """The tool results in a request, oldest first."""
    return [result for message in request.history.messages for result in message.results]


# The loop


def test_a_task_is_done():
    """The model is asked, its calls run, their results are sent, its last text is the answer."""
    with model(calls(call("look", n=7)), "There are 18 lines.") as played:
        done = agent(played, look).run_sync("How many lines has page 7?")
    assert (done.output, done.finish, done.turns) == ("There are 18 lines.", "stop", 2)
    assert results(played.requests[1])[0].text.startswith("page 7 line 0")
    check_requests(played.requests)


def test_text_beside_calls_runs_the_tools():
    """An answer with words and a call is no last answer."""
    with model(calls(call("look", n=1), text="I look first."), "done") as played:
        assert agent(played, look).run_sync("go").output == "done"
    assert len(results(played.requests[1])) == 1


@pytest.mark.parametrize("parallel", [True, False])
def test_all_calls_of_an_answer_run(parallel: bool):
    """Their results come all together and in the order of the calls."""
    three = calls(*(call("look", f"c{n}", n=n) for n in (3, 1, 2)))
    with model(three, "done") as played:
        agent(played, look, strategy=single_run_strategy(parallel)).run_sync("go")
    assert [result.call_id for result in results(played.requests[1])] == ["c3", "c1", "c2"]
    assert [r.text.split()[1] for r in results(played.requests[1])] == ["3", "1", "2"]


def test_calls_run_at_the_same_time():
    """Two calls that wait for each other both end."""
    met = asyncio.Barrier(2)

    @tool
    async def meet(who: str) -> str:
        """Waits for the other one."""
        await asyncio.wait_for(met.wait(), 5)
        return f"{who} met"

    with model(calls(call("meet", "a", who="a"), call("meet", "b", who="b")), "done") as played:
        agent(played, meet).run_sync("go")
    assert [result.text for result in results(played.requests[1])] == ["a met", "b met"]


def test_what_changes_something_runs_alone_and_in_order():
    """A look that was asked for after a change sees the change."""
    state = ["old"]

    @tool(effect="writes")
    async def change(to: str) -> str:
        """Changes it, slowly."""
        await asyncio.sleep(0.02)
        state[0] = to
        return "changed"

    @tool(effect="reads")
    async def see(n: int) -> str:
        """Sees it."""
        return state[0]

    made = calls(call("see", "a", n=1), call("change", "b", to="new"), call("see", "c", n=2))
    with model(made, "done") as played:
        agent(played, change, see).run_sync("go")
    assert [result.text for result in results(played.requests[1])] == ["old", "changed", "new"]


def test_calls_with_one_id_are_told_apart():
    """A model that gives two calls one id gets both results."""
    with model(calls(call("look", "x", n=1), call("look", "x", n=2)), "done") as played:
        agent(played, look).run_sync("go")
    assert len({result.call_id for result in results(played.requests[1])}) == 2
    check_requests(played.requests)


def test_mistakes_come_back_to_the_model():
    """An unknown tool, bad arguments and a tool that fails are failed results; the run goes on."""

    @tool
    def fail() -> str:
        """Fails."""
        raise ZeroDivisionError("by nothing")

    @tool
    def refuse() -> str:
        """Refuses."""
        raise ToolError("the door is locked; knock first")

    made = calls(
        call("lock", "a"),
        call("look", "b", n="many"),
        call("fail", "c"),
        call("refuse", "d"),
    )
    with model(made, "done") as played:
        assert agent(played, look, fail, refuse).run_sync("go").output == "done"
    given = results(played.requests[1])
    assert all(result.failed for result in given)
    for result, hint in zip(given, ("look", "n", "by nothing", "knock first"), strict=True):
        assert hint in result.text


def test_a_tool_that_cancels_itself_does_not_stop_the_run():
    """Only who runs the agent can stop it."""

    @tool
    async def give_up() -> str:
        """Gives up."""
        raise asyncio.CancelledError

    with model(calls(call("give_up", "a"), call("look", "b", n=1)), "done") as played:
        assert agent(played, give_up, look).run_sync("go").output == "done"
    assert [result.failed for result in results(played.requests[1])] == [True, False]


def test_the_same_call_again_and_again_is_noticed():
    """From the third time on the result says so; after a change of a file the count begins anew."""

    @tool(effect="writes")
    def change() -> str:
        """Changes."""
        return "changed"

    made = [calls(call("look", f"c{n}", n=1)) for n in range(3)]
    made += [calls(call("change", "w")), calls(call("look", "c9", n=1))]
    with model(*made, "done", facts=SMALL) as played:
        agent(played, look, change, budget=None).run_sync("go")
    newest = [results(request)[-1].text for request in played.requests[1:]]
    assert ["same call" in text for text in newest] == [False, False, True, False, False]
    assert "third time" in newest[2]


def test_the_limit_of_turns_ends_with_a_hand_over():
    """The model writes it and can call nothing; it is the answer, and no exception is raised."""
    endless = [calls(call("look", f"c{n}", n=n)) for n in range(3)]
    strategy = single_run_strategy_with_history_compression(max_turns=3)
    with model(*endless, "Two pages are read; page 4 is next.") as played:
        done = agent(played, look, strategy=strategy).run_sync("Read all pages")
    assert done.finish == "turn limit"
    assert done.output == "Two pages are read; page 4 is next."
    assert played.requests[-1].no_calls
    assert "hand-over" in played.requests[-1].history.messages[-1].text
    assert played.requests[-1].history.messages[-1].kind == "program"
    check_requests(played.requests)


def test_a_hand_over_that_cannot_be_written_is_said_by_the_program():
    """A limit of turns is no exception, whatever the model does."""
    strategy = single_run_strategy(max_turns=1)
    with model(calls(call("look", n=1)), ModelError("no connection")) as played:
        done = agent(played, look, strategy=strategy).run_sync("go")
    assert "no connection" in done.text


@pytest.mark.parametrize("empty", [Message("assistant", ()), Message("assistant", (Text(" "),))])
def test_an_answer_with_nothing_in_it_is_asked_for_once_more(empty: Message):
    """A second one is an error; the conversation can go on."""
    with model(empty, "here") as played:
        assert agent(played).run_sync("go").output == "here"
    with model(empty, empty, "now") as played:
        asked = agent(played)
        with pytest.raises(ModelError, match="no answer, twice"):
            asked.run_sync("go")
        assert asked.run_sync().output == "now"


def test_400_turns_in_a_window_of_4000_tokens():
    """None of 401 requests is over the limit; the task is still there word for word."""
    turns = [calls(call("look", f"c{n}", n=n), text=f"Page {n} next.") for n in range(400)]
    events: list[Event] = []
    task = "Read all 400 pages. Never skip one."
    with model(*turns, "All read.") as played:
        done = agent(played, look, events=events).run_sync(task)
    assert (done.output, done.turns, len(played.requests)) == ("All read.", 401, 401)
    assert max(map(weight, played.requests)) <= LIMIT
    assert len(of(Compressed, events)) > 20
    for request in played.requests[::20]:
        assert breaches(request.history) == []
        assert task in [message.text for message in request.history.messages]


def test_requests_begin_with_the_whole_one_before():
    """Byte for byte between two compressions; each break is an event (rule R10)."""
    turns = [calls(call("look", f"c{n}", n=n)) for n in range(60)]
    events: list[Event] = []
    with model(*turns, "done") as played:
        agent(played, look, events=events).run_sync("go")
    sent = [list(map(str, write(request.history, "openai"))) for request in played.requests]
    broken = sum(b[: len(a)] != a for a, b in pairwise(sent))
    assert broken == len(of(Compressed, events)) == len(of(PrefixBroken, events)) > 3


# What is given back


def test_a_second_task_continues_the_conversation():
    """The model sees what was said before."""
    with model("Seoul", "ten million") as played:
        asked = agent(played)
        asked.run_sync("What is the capital of Korea?")
        assert asked.run_sync("How many live there?").output == "ten million"
    assert [m.text for m in played.requests[1].history.messages][:2] == [
        "What is the capital of Korea?",
        "Seoul",
    ]


@dataclass
class City:
    name: str
    people: int


def test_an_answer_of_a_type():
    """The answer is read as the output type, from a fenced block too."""
    with model('```json\n{"name": "Seoul", "people": 9600000}\n```') as played:
        asked = Agent(played, system_prompt="Short.", output_type=City)
        assert asked.run_sync("capital?").output == City("Seoul", 9_600_000)
    assert played.requests[0].schema
    assert '"people"' in played.requests[0].history.system[0].text


def test_an_answer_of_the_wrong_type_is_asked_for_once_more():
    """The model is told what does not fit; after a second one it is an error."""
    with model("Seoul of course", '{"name": "Seoul", "people": 1}') as played:
        assert Agent(played, output_type=City).run_sync("capital?").output == City("Seoul", 1)
    assert played.requests[1].schema
    assert played.requests[1].history.messages[-1].kind == "program"
    with model("Seoul", "{}") as played, pytest.raises(ModelError, match="no City, twice"):
        Agent(played, output_type=City).run_sync("capital?")


def test_an_answer_that_is_no_object():
    """Values that are no JSON objects are wrapped for the provider, and come back bare."""
    with model('{"answer": [1, 2]}', "[3]") as played:
        assert Agent(played, output_type=list[int]).run_sync("which?").output == [1, 2]
        assert Agent(played, output_type=list[int]).run_sync("which?").output == [3]
    assert played.requests[0].schema is not None
    assert played.requests[0].schema["type"] == "object"


def test_usage_is_what_the_provider_said():
    """Tokens of a run, cached ones apart; each answer is an event with them."""
    usage = Usage(120, 100, 5, 7)
    reply = Reply(Message("assistant", (Text("done"),)), usage, model="real-name")
    events: list[Event] = []
    with model(reply, "again") as played:
        asked = agent(played, events=events)
        assert asked.run_sync("go").usage == usage
        asked.run_sync("go")
    assert of(CalledModel, events)[0].cached_tokens == 100
    assert of(CalledModel, events)[0].model == "real-name"
    assert not of(CalledModel, events)[1].reported


async def test_a_stream_gives_what_happens_and_the_outcome_last():
    """Pieces of the answer, events, then the outcome."""
    with model(calls(call("look", n=1)), "It is a long answer, written in pieces.") as played:
        items = [item async for item in agent(played, look).stream("go")]
    written = "".join(item.text for item in items if isinstance(item, Delta))
    assert written == "It is a long answer, written in pieces."
    assert len(of(RanTool, items)) == 1
    assert isinstance(items[-1], Outcome)
    assert items[-1].output == written


async def test_a_stream_raises_what_ended_the_run():
    """As `run` does, after what happened before."""
    with model(calls(call("look", n=1)), ModelError("no connection")) as played:
        seen: list[object] = []

        async def watch() -> None:
            async for item in agent(played, look).stream("go"):
                seen.append(item)  # noqa: PERF401 - what came before the error counts

        with pytest.raises(ModelError, match="no connection"):
            await watch()
    assert len(of(RanTool, seen)) == 1


async def test_run_sync_inside_a_loop_is_refused():
    """The error names the way that works."""
    with model() as played, pytest.raises(NeedsAsync, match="await run"):
        agent(played).run_sync("go")


def test_nothing_to_do_is_refused():
    """A run needs a task, unless one was interrupted."""
    with model("done") as played:
        asked = agent(played)
        with pytest.raises(InputError, match="give a task"):
            asked.run_sync()
        asked.run_sync("go")
        with pytest.raises(InputError, match="give a task"):
            asked.run_sync()


# The archive


def test_everything_goes_to_the_archive():
    """What is said and done is there, and the view of it is what the model sees next."""
    archive = MemoryArchive()
    with model(calls(call("look", n=1)), "done") as played:
        asked = agent(played, look, archive=archive)
        done = asked.run_sync("Look at page 1\nand say so")
    entries = [item.entry for item in archive.entries(done.conversation)]
    kinds = [type(entry).__name__ for entry in entries]
    started = ["Said", "CallStarted", "CallFinished", "Answered", "Said"]
    assert kinds == ["Opened", "Said", "Said", *started]
    assert isinstance(entries[0], Opened)
    assert entries[0].title == "Look at page 1"
    assert view(archive.entries(done.conversation)) == asked.history


def test_at_most_four_appends_a_turn():
    """Of several looks in one answer, too."""

    class Counting(MemoryArchive):
        appends = 0

        def append(self, conversation: str, *entries: object) -> int:
            self.appends += 1
            return super().append(conversation, *entries)  # pyright: ignore[reportArgumentType]

    archive = Counting()
    turns = [calls(*(call("look", f"c{n}-{i}", n=i) for i in range(5))) for n in range(10)]
    with model(*turns, "done") as played:
        agent(played, look, archive=archive, budget=Budget(30_000, 30_000, 15_000)).run_sync("go")
    assert archive.appends <= 4 * len(played.requests)


def test_a_result_over_the_cap_is_whole_in_the_archive():
    """The model sees an excerpt; the handle brings back all of it."""
    long = words(6_000)

    @tool(effect="reads")
    def read_log() -> str:
        """Reads."""
        return long

    archive = MemoryArchive()
    with model(calls(call("read_log")), "done") as played:
        asked = agent(played, read_log, archive=archive)
        asked.run_sync("go")
    assert len(results(played.requests[1])[0].text) < len(long) / 3
    answered = next(message for message in asked.history.messages if message.results)
    original = archive.recall(asked.conversation, f"m{answered.ordinal}")
    assert isinstance(original, ToolResult)
    assert original.text == long
    assert view(archive.entries(asked.conversation)) == asked.history


def test_what_was_forgotten_can_be_recalled():
    """By handle and by words, through the tool, while the model does not see it any more."""
    from unremember.tools.recall import recall

    @tool(effect="reads")
    def secret() -> str:
        """Tells."""
        return "the code of the safe is 4711-zebra\n" + words(300)

    turns = [calls(call("secret"))]
    turns += [calls(call("look", f"c{n}", n=n)) for n in range(30)]
    turns += [calls(call("recall", "r1", what="m5")), calls(call("recall", "r2", what="4711"))]
    with model(*turns, "done") as played:
        agent(played, secret, look, recall).run_sync("go")
    by_handle, by_words = (results(request)[-1].text for request in played.requests[-2:])
    assert by_handle.startswith("the code of the safe is 4711-zebra")
    assert "m5" in by_words


def test_calls_are_on_record_before_they_run():
    """A crash in the middle of a call leaves a start without an end."""
    archive = MemoryArchive()
    seen: list[str] = []

    @tool
    def effect() -> str:
        """Has an effect."""
        entries = archive.entries(archive.conversations()[0].id)
        seen.extend(type(item.entry).__name__ for item in entries)
        return "done"

    with model(calls(call("effect")), "done") as played:
        agent(played, effect, archive=archive).run_sync("go")
    assert seen[-2:] == ["Said", "CallStarted"]


def hang(began: asyncio.Event) -> Callable[..., object]:
    async def wait(n: int) -> str:
        """Waits for ever."""
        began.set()
        await asyncio.Event().wait()
        return "never"

    return wait


async def test_a_run_that_is_stopped_leaves_a_conversation_that_goes_on():
    """The call that ran has the result "interrupted", the one behind it "not run"."""
    began = asyncio.Event()
    wait = tool(effect="writes")(hang(began))
    made = calls(call("look", "a", n=1), call("wait", "b", n=1), call("wait", "c", n=2))
    with model(made, "I go on.") as played:
        asked = agent(played, look, wait)
        run = asyncio.create_task(asked.run("go"))
        await began.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert asked.history.open_calls == ()
        assert (await asked.run("What happened?")).output == "I go on."
    given = results(played.requests[1])
    assert given[0].text.startswith("page 1")
    assert "interrupted" in given[1].text
    assert "not run" in given[2].text
    check_requests(played.requests)


async def test_closing_a_stream_stops_the_run():
    """The same as cancelling; nothing runs on behind it."""
    began = asyncio.Event()
    wait = tool(effect="writes")(hang(began))
    with model(calls(call("wait", n=1))) as played:
        asked = agent(played, wait)
        stream = asked.stream("go")
        async for _ in stream:
            if began.is_set():
                break
        await stream.aclose()
    assert asked.history.open_calls == ()
    assert asked.context.cancelled.is_set()


def test_a_conversation_is_resumed_from_the_file(tmp_path: Path):
    """What was started and not finished is a failed result, and is not run again."""
    ran: list[int] = []

    @tool
    def effect() -> str:
        """Has an effect, in the middle of which the machine dies."""
        ran.append(1)
        raise KeyboardInterrupt

    store = tmp_path / "log.db"
    with SqliteArchive(store) as archive, model(calls(call("effect"))) as played:
        first = agent(played, effect, archive=archive)
        # As after kill -9: nothing of ours runs any more.
        first._stop = lambda session, error: None  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            first.run_sync("go")
        entries = [item.entry for item in archive.entries(first.conversation)]
        assert isinstance(entries[-1], CallStarted)
    with SqliteArchive(store) as archive, model("I look what came of it.") as played:
        second = agent(played, effect, archive=archive)
        second.resume(first.conversation)
        assert second.run_sync().output == "I look what came of it."
    assert ran == [1]
    assert "interrupted, outcome unknown" in results(played.requests[0])[0].text
    check_requests(played.requests)


def test_a_failed_run_is_on_record_and_can_go_on():
    """The user's words are not said twice."""
    archive = MemoryArchive()
    with model(ModelError("no connection"), "here") as played:
        asked = agent(played, archive=archive)
        with pytest.raises(ModelError):
            asked.run_sync("go")
        assert asked.run_sync().output == "here"
    assert [m.text for m in played.requests[1].history.messages] == ["go"]
    entries = [item.entry for item in archive.entries(asked.conversation)]
    assert [entry.why for entry in entries if isinstance(entry, Failed)] == [
        "ModelError: no connection"
    ]


def test_a_fault_in_a_custom_strategy_names_its_node():
    """And the conversation can go on with another strategy."""

    async def fail(history: object, session: object) -> object:
        raise KeyError("nothing there")

    broken = Graph("mine", (Node("think", fail),), (Edge("think", END),))
    with model("here") as played:
        asked = agent(played, strategy=broken)
        with pytest.raises(GraphError, match="'think' of strategy 'mine'"):
            asked.run_sync("go")
        asked.strategy = single_run_strategy()
        assert asked.run_sync().output == "here"


def test_another_model_goes_on_with_its_own_window():
    """The first request to it fits it; the change is an event."""
    turns = [calls(call("look", f"c{n}", n=n)) for n in range(6)]
    events: list[Event] = []
    with model(*turns, "done") as played:
        asked = agent(played, look, events=events)
        asked.run_sync("go")
    with model("small and done") as other:
        asked.use(other, Budget(1_500, 1_200, 700))
        assert asked.run_sync("and now?").output == "small and done"
    check_requests(other.requests, 1_500)
    assert PrefixBroken("another model") in events


def test_a_budget_in_one_number():
    """It is the limit; without one the model's window gives it."""
    played = Scripted([], facts=SMALL)
    assert Agent(played, budget=2_000).budget == Budget(2_000, 1_600, 1_000)
    assert Agent(played).budget == Budget.of_window(4_000)
    assert agent(played).budget == BUDGET


def test_an_archive_that_fails_loses_nothing():
    """A full disk is a clear error; when there is room again, the run goes on."""

    class Full(MemoryArchive):
        full = False

        def append(self, conversation: str, *entries: object) -> int:
            if self.full:
                raise ArchiveError("the disk is full")
            return super().append(conversation, *entries)  # pyright: ignore[reportArgumentType]

    archive = Full()

    def fill(request: Request) -> str:
        archive.full = True
        return "an answer that cannot be kept"

    with model(fill, "the next") as played:
        asked = agent(played, archive=archive)
        with pytest.raises(ArchiveError, match="disk is full"):
            asked.run_sync("go")
        archive.full = False
        asked.run_sync("and now?")
    assert view(archive.entries(asked.conversation)) == asked.history
    assert "an answer that cannot be kept" in texts(played.requests[1].history)


def two_parts(fault: list[str]) -> Graph:
    """A strategy that counts its steps; where `fault` is not empty the second one fails."""

    async def begin(history: History, session: Session) -> int:
        session.add(program_message("part one"))
        await ask_for(session, str, "begin")
        return 1

    async def go_on(number: int, session: Session) -> int:
        if fault:
            raise RuntimeError(fault[0])
        await ask_for(session, str, f"go on with {number}")
        return number + 1

    return Graph(
        "two_parts",
        (Node("begin", begin), Node("go_on", go_on)),
        (Edge("begin", "go_on", resumes=True), Edge("go_on", END)),
    )


def test_a_strategy_goes_on_where_it_was(tmp_path: Path):
    """After a fault and in another process, at its last resume point; once ended, it is over."""
    store = tmp_path / "log.db"
    with SqliteArchive(store) as archive, model("one") as played:
        first = agent(played, archive=archive, strategy=two_parts(["power cut"]))
        with pytest.raises(GraphError, match="power cut"):
            first.run_sync("go")
    with SqliteArchive(store) as archive, model("two") as played:
        second = agent(played, archive=archive, strategy=two_parts([]))
        second.resume(first.conversation)
        assert second.run_sync().output == "two"
        assert "go on with 1" in texts(played.requests[0].history)
        third = agent(played, archive=archive, strategy=two_parts([]))
        third.resume(first.conversation)
        with pytest.raises(InputError, match="give a task"):
            third.run_sync()
