"""A small graph engine: nodes, edges with conditions, a strategy as a node of another.

A node is an async function `(value, session) -> value`; the edges out of it are tried in the order
in which they were declared, and the first whose condition holds is taken. The engine knows nothing
of models; whoever runs a graph gives the `session` that its nodes work with.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from unremember.errors import GraphError, UnrememberError
from unremember.history import History
from unremember.strategies.drawing import draw
from unremember.strategies.wiring import END, check, failure, takes_of

Run = Callable[[Any, Any], Awaitable[Any]]
"""What a node does: takes the value that an edge brought, and the session; gives the next value."""


@dataclass(frozen=True, slots=True)
class Node:
    """A named place in a graph: an async function, or a whole graph.

    A graph as a node may have its own kind of value: `into(value, session)` makes the value that
    it begins with, `out(value, result)` the one that goes on from here. `is_turn` says that a
    visit counts against `Limits.turns`.
    """

    name: str
    run: Run | Graph
    is_turn: bool = False
    into: Callable[[Any, Any], Any] | None = None
    out: Callable[[Any, Any], Any] | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from a node to another, or to `END`; taken when `when(value)` holds (None: always).

    `label` says the condition in a drawing. With `resumes` the value is saved before the edge is
    taken, so that a run can go on from there after a crash.
    """

    source: str
    target: str
    when: Callable[[Any], bool] | None = None
    label: str = ""
    resumes: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a graph may run.

    `visits` counts all nodes and guards against a circle that asks no model. `turns` counts visits
    to nodes that are turns (None: no limit); instead of one more, the run goes to `at_turns`.
    """

    visits: int = 100_000
    turns: int | None = None
    at_turns: str = ""


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """Where a run can go on: (node, value) from the outermost graph to the innermost, all JSON.

    The last one comes next; those before it are the nodes that it runs inside of. A history is
    null here: the archive holds it.
    """

    frames: tuple[tuple[str, Any], ...]


Save = Callable[[ResumePoint], None]

Enter = Callable[[str], None]
"""Told the path of each node that is entered, such as `work/call_model`."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges; a run begins at the first node and ends where an edge leads to `END`.

    Raises `GraphError` when it is built with a name that is used twice or unknown, a node that
    cannot be reached, a node from which the end cannot be reached, an edge after one that is
    always taken, or two nodes whose types do not fit together.
    """

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        check(self)

    def node(self, name: str) -> Node:
        """The node called `name`. Raises `GraphError`."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise GraphError(f"strategy {self.name!r} has no node {name!r}; it may have been changed")

    def out_of(self, name: str) -> tuple[Edge, ...]:
        """The edges out of a node, in the order in which they are tried."""
        return tuple(edge for edge in self.edges if edge.source == name)

    async def run(
        self,
        value: Any,
        session: Any = None,
        *,
        save: Save | None = None,
        enter: Enter | None = None,
        resume: ResumePoint | None = None,
    ) -> Any:
        """Runs from the first node, or from a resume point, to the end; gives the last value.

        `value` is also what null in a resume point stands for: the history. Errors of this library
        come out as they are, with a note of the node; any other becomes a `GraphError`.
        """
        walk = _Walk(session, save, enter, value)
        return await walk.through(self, value, (), resume.frames if resume else ())

    def to_mermaid(self) -> str:
        """The graph as a Mermaid flowchart."""
        return draw(self)


_Around = tuple[tuple[Node, Any], ...]
"""The nodes that a graph runs inside of, the outermost first, with the values they were given."""


@dataclass(slots=True)
class _Walk:
    session: Any
    save: Save | None
    enter: Enter | None
    history: Any

    async def through(
        self, graph: Graph, value: Any, around: _Around, frames: Sequence[tuple[str, Any]]
    ) -> Any:
        node, visits, turns = graph.nodes[0], 0, 0
        if frames:
            node = graph.node(frames[0][0])
            value = self._restored(node, frames[0][1])
        while True:
            node = _within_limits(graph, node, visits, turns)
            visits, turns = visits + 1, turns + node.is_turn
            value = await self._visit(graph, node, value, around, frames[1:])
            frames = ()
            edge = _choose(graph, node, value)
            if edge.target == END:
                return value
            if edge.resumes:
                self._keep(graph, edge, value, around)
            node = graph.node(edge.target)

    async def _visit(
        self,
        graph: Graph,
        node: Node,
        value: Any,
        around: _Around,
        frames: Sequence[tuple[str, Any]],
    ) -> Any:
        if self.enter:
            self.enter("/".join([*(outer.name for outer, _ in around), node.name]))
        try:
            if not isinstance(node.run, Graph):
                return await node.run(value, self.session)
            begin = node.into(value, self.session) if node.into and not frames else value
            result = await self.through(node.run, begin, (*around, (node, value)), frames)
            return node.out(value, result) if node.out else result
        except UnrememberError as error:
            error.add_note(f"in node {node.name!r} of strategy {graph.name!r}")
            raise
        except Exception as error:
            raise GraphError(
                f"node {node.name!r} of strategy {graph.name!r} failed: "
                f"{type(error).__name__}: {error}"
            ) from error

    def _keep(self, graph: Graph, edge: Edge, value: Any, around: _Around) -> None:
        """Makes the resume point, also when nobody saves it: a fault must not wait for a crash."""
        try:
            frames = [(outer.name, _stored(outer, held)) for outer, held in around]
            frames.append((edge.target, _stored(graph.node(edge.target), value)))
        except Exception as error:
            raise GraphError(
                f"what node {edge.source!r} of strategy {graph.name!r} gives to "
                f"{edge.target!r} cannot be stored at the resume point: {error}"
            ) from error
        if self.save:
            self.save(ResumePoint(tuple(frames)))

    def _restored(self, node: Node, stored: Any) -> Any:
        if stored is None:
            return self.history
        return _adapter(takes_of(node)).validate_python(stored)


def _within_limits(graph: Graph, node: Node, visits: int, turns: int) -> Node:
    """The node to visit: this one, or where the run goes at the limit of turns."""
    limits = graph.limits
    if node.is_turn and limits.turns is not None and turns >= limits.turns:
        if not limits.at_turns:
            raise failure(
                graph, node, f"would be model turn {turns + 1}; the limit is {limits.turns}"
            )
        node = graph.node(limits.at_turns)
    if visits >= limits.visits:
        raise failure(graph, node, f"would be visit {visits + 1:,}; the limit is {limits.visits:,}")
    return node


def _choose(graph: Graph, node: Node, value: Any) -> Edge:
    for edge in graph.out_of(node.name):
        try:
            if edge.when is None or edge.when(value):
                return edge
        except Exception as error:
            raise GraphError(
                f"the condition {edge.label!r} from node {node.name!r} to {edge.target!r} of "
                f"strategy {graph.name!r} failed: {type(error).__name__}: {error}"
            ) from error
    raise failure(graph, node, f"has no edge for this value of type {type(value).__name__}")


def _stored(node: Node, value: Any) -> Any:
    """A value as JSON that gives the same value back. Raises where there is none."""
    if isinstance(value, History):
        return None
    adapter = _adapter(takes_of(node))
    stored = json.loads(json.dumps(adapter.dump_python(value, mode="json", warnings="error")))
    if stored is None or adapter.validate_python(stored) != value:
        raise ValueError(f"a {type(value).__name__} does not come back the same from JSON")
    return stored


def _adapter(kind: Any) -> Any:
    # Late: pydantic takes longer to import than all the rest.
    from pydantic import TypeAdapter

    return TypeAdapter(kind)
