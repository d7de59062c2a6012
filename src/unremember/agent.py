"""The agent: a model, tools, a strategy and an archive, and nothing else.

Everything that is said and done goes to the archive as it happens. One `Agent` has one
conversation at a time; `run` continues it, `resume` takes up an earlier one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, cast

from unremember.archive import (
    Archive,
    Failed,
    MemoryArchive,
    Opened,
    Reached,
    Said,
    new_id,
)
from unremember.errors import ArchiveError, InputError, NeedsAsync
from unremember.events import Emit, EnteredNode, Event, PrefixBroken, ignore
from unremember.history import History
from unremember.messages import Message, Text
from unremember.models.base import Delta, Model, Usage
from unremember.prompts import prompt
from unremember.strategies import (
    Graph,
    Instructions,
    Record,
    ResumePoint,
    Room,
    Session,
    load,
    make_fit,
    single_run_strategy_with_history_compression,
    user_message,
)
from unremember.strategies.answers import Answers, answer_of, last_text
from unremember.tokens import Budget
from unremember.tools import CAP, Context, Tool, Workspace

T = TypeVar("T")

TITLE = 80
"""Characters of a conversation's title, which is the beginning of its first task."""

CAP_SHARE = 6
"""A tool's result may take one part in so many of the limit, and at most `CAP` tokens."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What a run came to.

    `output` is the answer as the agent's output type; None where a hand-over is no such value.
    `text` is what the agent said last. `finish` is "stop", "length" (the answer was cut off at the
    output cap), "refused", "other", or "turn limit": then the text is a hand-over. `turns` counts
    the model's answers of this run, `usage` their tokens.
    """

    output: T | None
    text: str
    finish: str
    turns: int
    usage: Usage
    conversation: str


class Agent(Generic[T]):
    """Runs tasks with a model and tools, within a budget, and keeps everything in an archive.

    `model` is a `Model`, or a name such as `openai:gpt-5`. Without a `strategy` it is the single
    run with compression by rules; without an `archive` everything is kept in memory. `budget` is
    in tokens; None: from the model's window; a number: that is the limit, and compression begins
    at four fifths of it. `context` is what tools may reach; with it, the AGENTS.md files of its
    workspace are part of every request. `emit` takes the events of a run.
    """

    def __init__(
        self,
        model: Model | str,
        tools: Iterable[Tool] | Mapping[str, Tool] = (),
        strategy: Graph | None = None,
        archive: Archive | None = None,
        system_prompt: str = "",
        *,
        output_type: type[T] = str,
        budget: Budget | int | None = None,
        context: Context | None = None,
        emit: Emit = ignore,
    ) -> None:
        self.model = _opened(model)
        self.tools = _by_name(tools)
        self.strategy = strategy or single_run_strategy_with_history_compression()
        self.archive: Archive = archive or MemoryArchive()
        self.system_prompt = system_prompt
        self._budget = budget
        self._answers = Answers[T](output_type)
        self._instructions = Instructions(context.workspace if context else None)
        self.context = context or Context(Workspace(Path.cwd()))
        self._emit = emit
        self._stream: Callable[[Event | Delta], None] | None = None
        self._running = False
        self._point: ResumePoint | None = None
        self._session = self._new_session()

    # What is known of it

    @property
    def conversation(self) -> str:
        """The id of its conversation in the archive."""
        return self._session.record.conversation

    @property
    def history(self) -> History:
        """What the model sees next."""
        return self._session.history

    @property
    def budget(self) -> Budget:
        """The budget in force; a provider's refusal may have lowered it."""
        return self._session.room.budget

    @property
    def usage(self) -> Usage:
        """Tokens of all its runs in this conversation, since it was begun or resumed here."""
        return self._session.usage

    def weigh(self) -> int:
        """Tokens of the next request as it stands."""
        return self._session.measure()

    # Running

    async def run(self, task: str | None = None) -> Outcome[T]:
        """Does a task, or goes on where the conversation stopped; gives what came of it.

        Without a task a strategy that saves resume points goes on at its last one.

        Raises `ModelError`, `BudgetTooSmall`, `CannotCompress`, `OverLimit`, `ArchiveError` and
        `GraphError`. Whatever ends a run, the conversation can go on: calls that were not finished
        have failed results, and are never run again by themselves.
        """
        return await self._run(task)

    def run_sync(self, task: str | None = None) -> Outcome[T]:
        """`run` for who has no event loop. Raises `NeedsAsync` inside of one."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(task))
        raise NeedsAsync("run_sync was called inside a running event loop; await run(task) there")

    async def stream(self, task: str | None = None) -> AsyncGenerator[Event | Delta | Outcome[T]]:
        """Does a task and gives what happens as it happens, the outcome last.

        Closing the iterator stops the run. Errors are raised as in `run`.
        """
        queue: asyncio.Queue[Event | Delta | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        # Tools may report from threads of their own.
        def put(item: Event | Delta | None) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, item)

        run = asyncio.create_task(self._run(task, put))
        run.add_done_callback(lambda _: put(None))
        try:
            while (item := await queue.get()) is not None:
                yield item
            yield await run
        finally:
            if not run.done():
                run.cancel()
                with suppress(asyncio.CancelledError):
                    await run

    def say(self, text: str) -> None:
        """Says something to an agent that is at work; it hears it before its next answer."""
        self._session.inbox.append(text)

    async def compress(self, focus: str = "") -> None:
        """Compresses the history now, or before the next answer where the agent is at work.

        `focus` is what is to be remembered above all. Asked for twice, it is done once.
        """
        self._session.asked = focus
        if not self._running and self._session.history.messages:
            self._session.refresh()
            await make_fit(self._session)

    def resume(self, conversation: str) -> None:
        """Takes up a conversation of the archive; `run` goes on with it.

        Calls that were started and not finished get a failed result, which says that the outcome
        is unknown. Raises `ArchiveError` for a conversation that is not there.
        """
        self._refuse_while_running()
        session = self._new_session(conversation)
        self._point = load(session)
        self._session = session

    def use(self, model: Model | str, budget: Budget | int | None = None) -> None:
        """Goes on with another model, and with its window or another `budget`."""
        self._refuse_while_running()
        self.model, self._budget = _opened(model), budget
        self._session.model = self.model
        self._session.room = self._room()
        if self._session.sent:
            self._session.sent = None
            self._tell(PrefixBroken("another model"))

    async def _run(
        self, task: str | None, stream: Callable[[Event | Delta], None] | None = None
    ) -> Outcome[T]:
        self._refuse_while_running()
        session = self._session
        if not self._point:
            _check_task(session, task)
        self._stream, self._running = stream, True
        try:
            self._begin(session, task, stream)
            turns, usage = session.turns, session.usage
            last = await self.strategy.run(
                session.history,
                session,
                save=self._save,
                enter=self._enter,
                resume=None if task else self._point,
            )
            if isinstance(last, History):
                session.commit(last)
            outcome = await self._outcome(session, turns, usage)
            self._end(session)
            return outcome
        except BaseException as error:
            self._stop(session, error)
            raise
        finally:
            self._stream, self._running = None, False

    def _begin(
        self, session: Session, task: str | None, stream: Callable[[Event | Delta], None] | None
    ) -> None:
        self._set_up(session.record, stream)
        session.on_delta, session.finish = stream, ""
        if task and not session.history.messages:
            self._open(session, task)
        elif task:
            session.add(user_message(task))
            session.record.write()

    def _open(self, session: Session, task: str) -> None:
        """The beginning of a conversation, in one append."""
        cwd = str(self.context.workspace.root)
        session.record.put(Opened(cwd=cwd, title=task.strip().split("\n")[0][:TITLE]))
        if text := self._system_text():
            message = Message("system", (Text(text),), ordinal=1)
            session.record.put(Said(message))
            session.history = History(system=(message,))
            session.said[1] = message
        session.add(user_message(task))
        session.record.write()

    def _system_text(self) -> str:
        if self._answers.is_text:
            return self.system_prompt
        asked = prompt("answer").format(schema=self._answers.written)
        return f"{self.system_prompt}\n\n{asked}".strip()

    def _set_up(self, record: Record, stream: Callable[[Event | Delta], None] | None) -> None:
        """Gives the tools what they may reach in this run."""
        context = self.context
        context.recall, context.emit = record.recall, self._tell
        context.visible = self._session.whole
        context.sees_images = self.model.facts.sees_images
        context.count = self._session.room.weigh.text
        # A new one for each run: an event belongs to the loop that first waited for it.
        context.cancelled = asyncio.Event()

    async def _outcome(self, session: Session, turns: int, usage: Usage) -> Outcome[T]:
        handed_over = session.finish == "turn limit" and not self._answers.is_text
        output = None if handed_over else await answer_of(session, self._answers)
        spent = session.usage
        return Outcome(
            output=output,
            text=last_text(session.history),
            finish=session.finish,
            turns=session.turns - turns,
            usage=Usage(
                spent.input_tokens - usage.input_tokens,
                spent.cached_tokens - usage.cached_tokens,
                spent.cache_write_tokens - usage.cache_write_tokens,
                spent.output_tokens - usage.output_tokens,
                spent.reported,
            ),
            conversation=self.conversation,
        )

    def _save(self, point: ResumePoint) -> None:
        """Puts on record where the strategy can go on; at its beginning it can do so anyway."""
        begin = ((self.strategy.nodes[0].name, None),)
        if point.frames != begin:
            self._session.record.write(Reached(json.dumps(point.frames)))
            self._point = point

    def _end(self, session: Session) -> None:
        if self._point:
            session.record.write(Reached(""))
            self._point = None

    def _stop(self, session: Session, error: BaseException) -> None:
        """Leaves a conversation that can go on, whatever ended the run."""
        self.context.cancelled.set()
        # A store that cannot be written is often the very error that is on its way.
        with suppress(ArchiveError):
            if isinstance(error, Exception):
                session.record.put(Failed("run", f"{type(error).__name__}: {error}"))
            session.record.write()
            if session.history.open_calls:
                load(session)

    # Sessions

    def _new_session(self, conversation: str = "") -> Session:
        return Session(
            model=self.model,
            tools=self.tools,
            context=self.context,
            record=Record(self.archive, conversation or new_id()),
            room=self._room(),
            instructions=self._instructions,
            schema=None if self._answers.is_text or self.tools else self._answers.schema,
            emit=self._tell,
        )

    def _room(self) -> Room:
        specs = tuple(tool.spec for tool in self.tools.values())
        # A schema is sent where there are no tools, and may weigh as much as they would.
        schema = "" if self._answers.is_text else self._answers.written
        room = Room(self.model, specs, self._limits(), schema)
        if self.context.cap == CAP:
            self.context.cap = max(1, min(CAP, room.budget.limit // CAP_SHARE))
        return room

    def _limits(self) -> Budget:
        match self._budget:
            case Budget():
                return self._budget
            case int(limit):
                return Budget(limit, max(1, limit * 4 // 5), max(1, limit // 2))
            case None:
                return Budget.of_window(self.model.facts.context_window)

    def _tell(self, event: Event) -> None:
        self._emit(event)
        if self._stream:
            self._stream(event)

    def _enter(self, path: str) -> None:
        self._tell(EnteredNode(path))

    def _refuse_while_running(self) -> None:
        if self._running:
            raise InputError("this agent is at work; use say(text), or wait until it is done")


def _check_task(session: Session, task: str | None) -> None:
    """Raises `InputError` where a run would have nothing to do."""
    said = session.history.messages
    if not task and not said:
        raise InputError("there is nothing to go on with; give a task")
    if not task and said[-1].role == "assistant" and not session.inbox:
        raise InputError("the last answer was given; give a task to go on with")


def _opened(model: Model | str) -> Model:
    if not isinstance(model, str):
        return model
    # Late: providers are slow to import, and not everybody needs them.
    from unremember.models import open_model

    return open_model(model)


def _by_name(tools: Iterable[Tool] | Mapping[str, Tool]) -> dict[str, Tool]:
    if isinstance(tools, Mapping):
        return dict(cast("Mapping[str, Tool]", tools))
    named: dict[str, Tool] = {}
    for one in tools:
        if one.name in named:
            raise InputError(f"two tools are named {one.name!r}; rename one")
        named[one.name] = one
    return named
