"""The ready strategies: one loop of asking the model and running its tools, until it is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from unremember.compression import NoCompression
from unremember.errors import ModelError
from unremember.history import History
from unremember.messages import Message, Text
from unremember.prompts import prompt
from unremember.strategies.asking import as_said, ask, without_calls
from unremember.strategies.calls import run_calls
from unremember.strategies.checkpoint import checkpoint
from unremember.strategies.config import HistoryCompressionConfig
from unremember.strategies.graph import END, Edge, Graph, Limits, Node
from unremember.strategies.session import Session, program_message

MAX_TURNS = 500
"""Model turns of a run; the longest recorded tasks of coding agents took about 300."""

Step = Callable[[History, Session], Awaitable[History]]


def single_run_strategy(parallel_tools: bool = True, max_turns: int = MAX_TURNS) -> Graph:
    """Asks the model and runs its tools until it answers without a call. Nothing is compressed.

    A request that would be over the limit is not sent: `OverLimit` says what can be done. After
    `max_turns` turns the model is asked for a hand-over, which is then the answer.
    """
    off = HistoryCompressionConfig(compression_strategy=NoCompression)
    return _loop("single_run", off, parallel_tools, max_turns)


def single_run_strategy_with_history_compression(
    config: HistoryCompressionConfig | None = None,
    parallel_tools: bool = True,
    max_turns: int = MAX_TURNS,
) -> Graph:
    """The same loop, with a history that is made to fit between tools and model.

    Without a `config` the budget alone decides when to compress, and no model is asked.
    """
    config = config or HistoryCompressionConfig()
    return _loop("single_run_with_history_compression", config, parallel_tools, max_turns)


def _loop(
    name: str, config: HistoryCompressionConfig, parallel_tools: bool, max_turns: int
) -> Graph:
    return Graph(
        name,
        nodes=(
            Node("checkpoint", checkpoint_with(config)),
            Node("call_model", call_model, is_turn=True),
            Node("execute_tools", execute_tools(parallel=parallel_tools)),
            Node("hand_over", hand_over),
        ),
        edges=(
            Edge("checkpoint", "call_model"),
            Edge("call_model", "execute_tools", has_calls, "calls"),
            Edge("call_model", "checkpoint", has_mail, "the user wrote meanwhile"),
            Edge("call_model", END, label="no calls"),
            Edge("execute_tools", "checkpoint", resumes=True),
            Edge("hand_over", END),
        ),
        limits=Limits(turns=max_turns, at_turns="hand_over"),
    )


def has_calls(history: History) -> bool:
    """Whether calls wait for their results; also when there is text beside them."""
    return bool(history.open_calls)


def has_mail(history: History) -> bool:
    """Whether the last word is the user's."""
    return bool(history.messages) and history.messages[-1].role == "user"


def checkpoint_with(config: HistoryCompressionConfig) -> Step:
    """The checkpoint as a node, with this way to compress from here on."""

    async def node(history: History, session: Session) -> History:
        session.compression = config
        return await checkpoint(history, session)

    return node


async def call_model(history: History, session: Session) -> History:
    """The node: one answer of the model. What the user wrote meanwhile follows a last answer."""
    session.commit(history)
    reply = await ask(session)
    session.add(as_said(reply))
    if not session.history.open_calls:
        session.record.write()
        session.deliver()
    return session.history


def execute_tools(*, parallel: bool = True) -> Step:
    """The node that runs the calls of the last answer; their results come all together."""

    async def node(history: History, session: Session) -> History:
        session.commit(history)
        return await run_calls(session, parallel=parallel)

    return node


async def hand_over(history: History, session: Session) -> History:
    """The node at the limit of turns: the model's own account of where things stand.

    No tool can be called. Where no answer comes, the program says so: a limit is no exception.
    """
    session.commit(history)
    session.add(program_message(prompt("handover")))
    try:
        said = without_calls(await ask(session, tools=False))
    except ModelError as error:
        said = Message("assistant", (Text(f"[no hand-over could be written: {error}]"),))
    session.add(said)
    session.record.write()
    session.finish = "turn limit"
    return session.history
