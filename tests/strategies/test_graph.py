"""The graph engine: what it refuses, how it runs, where it can go on, how it is drawn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from unremember import History
from unremember.errors import BudgetTooSmall, GraphError
from unremember.strategies import END, Edge, Graph, Limits, Node, ResumePoint


async def add_one(value: int, session: Any) -> int:
    return value + 1


async def double(value: int, session: Any) -> int:
    return value * 2


def line(*nodes: Node, limits: Limits | None = None) -> Graph:
    """A graph whose nodes follow one another."""
    names = [node.name for node in nodes]
    edges = tuple(Edge(a, b) for a, b in zip(names, [*names[1:], END], strict=True))
    return Graph("line", nodes, edges, limits or Limits())


def loop(until: int, limits: Limits | None = None) -> Graph:
    return Graph(
        "loop",
        (Node("add", add_one, is_turn=True), Node("stop", double)),
        (
            Edge("add", "stop", lambda n: n >= until, "enough"),
            Edge("add", "add"),
            Edge("stop", END),
        ),
        limits or Limits(),
    )


def run(graph: Graph, value: Any, **more: Any) -> Any:
    return asyncio.run(graph.run(value, **more))


def test_nodes_run_along_the_edges():
    """Each node gets what the one before gave; the last value is the result."""
    assert run(line(Node("a", add_one), Node("b", double)), 3) == 8


def test_the_first_edge_that_holds_is_taken():
    """Conditions are tried in the order in which the edges were declared."""
    graph = Graph(
        "choice",
        (Node("a", add_one), Node("b", add_one), Node("c", double)),
        (
            Edge("a", "b", lambda n: n > 0),
            Edge("a", "c", lambda n: n > 1),
            Edge("a", END),
            Edge("b", END),
            Edge("c", END),
        ),
    )
    assert run(graph, 5) == 7
    assert run(graph, -5) == -4


def test_a_node_is_given_the_session():
    """The session is handed through as it is."""

    async def ask(value: str, session: dict[str, str]) -> str:
        return session[value]

    assert asyncio.run(line(Node("ask", ask)).run("key", {"key": "value"})) == "value"


@pytest.mark.parametrize(
    ("nodes", "edges", "named"),
    [
        ((), (), "no nodes"),
        (("a", "a"), (("a", END),), "'a'"),
        (("a",), (("a", "b"), ("a", END)), "'b'"),
        (("a",), (("b", "a"), ("a", END)), "'b'"),
        (("a", "b"), (("a", END), ("b", END)), "'b' of strategy 'bad' can never be reached"),
        (("a",), (("a", "a"),), "'a' of strategy 'bad' has no way to 'end'"),
        (("end",), (("end", END),), "'end'"),
        (("a", "b"), (("a", END), ("a", "b"), ("b", END)), "always taken"),
    ],
)
def test_what_cannot_be_run_is_refused_when_built(
    nodes: tuple[str, ...], edges: tuple[tuple[str, str], ...], named: str
):
    """Names used twice or unknown, dead nodes, no way to the end: refused, with the name."""
    with pytest.raises(GraphError, match=named):
        Graph(
            "bad",
            tuple(Node(name, add_one) for name in nodes),
            tuple(Edge(source, target) for source, target in edges),
        )


def test_types_that_cannot_fit_are_refused_when_built():
    """A node that gives a text cannot lead to one that takes a number."""

    async def spell(value: int, session: Any) -> str:
        return str(value)

    with pytest.raises(GraphError, match="'spell' of strategy 'line' gives a str, but 'double'"):
        line(Node("spell", spell), Node("double", double))


def test_a_value_without_an_edge_is_reported_with_the_node():
    """Where no condition holds the run stops and names the node."""
    graph = Graph("few", (Node("a", add_one),), (Edge("a", END, lambda n: n > 10),))
    with pytest.raises(GraphError, match="'a' of strategy 'few' has no edge"):
        run(graph, 1)


def test_a_fault_in_a_node_is_reported_with_the_node():
    """An exception becomes a `GraphError` that names the node and keeps its cause."""

    async def fail(value: int, session: Any) -> int:
        raise ZeroDivisionError("by nothing")

    with pytest.raises(GraphError, match="'bad' of strategy 'line' failed: ZeroDivisionError") as e:
        run(line(Node("bad", fail)), 1)
    assert isinstance(e.value.__cause__, ZeroDivisionError)


def test_errors_of_this_library_come_out_as_they_are():
    """Who catches `BudgetTooSmall` need not know of graphs; the node is in a note."""

    async def fail(value: int, session: Any) -> int:
        raise BudgetTooSmall([("system prompt", 10)], 5)

    with pytest.raises(BudgetTooSmall) as caught:
        run(line(Node("bad", fail)), 1)
    assert caught.value.__notes__ == ["in node 'bad' of strategy 'line'"]


def test_a_fault_in_a_condition_names_the_edge():
    """A condition that raises is reported with its label and both nodes."""
    edges = (Edge("a", END, lambda n: n / 0 > 1, "share"),)
    with pytest.raises(GraphError, match="'share' from node 'a' to 'end'"):
        run(Graph("bad", (Node("a", add_one),), edges), 1)


def test_a_circle_ends_at_the_limit_of_visits():
    """A graph that never ends is stopped, with the node's name."""
    with pytest.raises(GraphError, match="'add' of strategy 'loop' would be visit 11"):
        run(loop(1_000, Limits(visits=10)), 0)


def test_turns_are_counted_apart_and_lead_to_a_node():
    """At the limit of turns the run goes where the limits say, instead of one more turn."""
    assert run(loop(1_000, Limits(turns=3, at_turns="stop")), 0) == 6
    with pytest.raises(GraphError, match="turn 4; the limit is 3"):
        run(loop(1_000, Limits(turns=3)), 0)


def test_a_graph_is_a_node_of_another():
    """With `into` and `out` it has values of its own; its nodes are entered by path."""

    def length(text: str, session: Any) -> int:
        return len(text)

    def put_behind(text: str, result: int) -> str:
        return f"{text}{result}"

    inner = line(Node("a", add_one), Node("b", double))
    outer = line(Node("work", inner, into=length, out=put_behind))
    entered: list[str] = []
    assert run(outer, "four", enter=entered.append) == "four10"
    assert entered == ["work", "work/a", "work/b"]


@dataclass(frozen=True)
class Plan:
    steps: tuple[str, ...] = ()
    done: int = 0


def planning(stop_at: int = 100) -> Graph:
    async def do(plan: Plan, session: Any) -> Plan:
        if plan.done == stop_at:
            raise RuntimeError("power cut")
        return Plan(plan.steps, plan.done + 1)

    async def check(plan: Plan, session: Any) -> Plan:
        return plan

    return Graph(
        "planning",
        (Node("do", do), Node("check", check)),
        (
            Edge("do", "check", resumes=True),
            Edge("check", "do", lambda plan: plan.done < len(plan.steps), resumes=True),
            Edge("check", END),
        ),
    )


def test_a_run_goes_on_from_its_last_resume_point():
    """After a fault the saved point gives the same end, without what was done before."""
    saved: list[ResumePoint] = []
    plan = Plan(("a", "b", "c"))
    with pytest.raises(GraphError, match="power cut"):
        run(planning(stop_at=2), plan, save=saved.append)
    assert saved[-1].frames == (("do", {"steps": ["a", "b", "c"], "done": 2}),)
    assert run(planning(), plan, resume=saved[-1]) == Plan(plan.steps, 3)


def test_a_run_goes_on_inside_of_a_graph_in_a_graph():
    """A resume point knows the nodes around it and their values; a history is not stored in it."""

    async def cut(history: History, session: list[str]) -> History:
        if not session:
            raise RuntimeError("power cut")
        return history

    async def before(history: History, session: list[str]) -> History:
        return history

    inner = Graph(
        "inner",
        (Node("before", before), Node("cut", cut)),
        (Edge("before", "cut", resumes=True), Edge("cut", END)),
    )

    def empty(value: int, session: Any) -> History:
        return History()

    def keep(value: int, history: History) -> int:
        return value

    outer = line(Node("work", inner, into=empty, out=keep), Node("add", add_one))
    saved: list[ResumePoint] = []
    with pytest.raises(GraphError):
        run(outer, 41, session=[], save=saved.append)
    assert saved[-1] == ResumePoint((("work", 41), ("cut", None)))
    assert run(outer, None, session=["on"], resume=saved[-1]) == 42


@dataclass
class Socket:
    open: bool = True
    _hidden: list[object] = field(default_factory=lambda: [object()])


def test_what_cannot_be_stored_is_reported_with_the_node():
    """At a resume point a value must come back from JSON; checked even if nobody saves it."""

    async def connect(value: int, session: Any) -> Any:
        return Socket()

    async def use(value: Any, session: Any) -> Any:
        return value

    nodes = (Node("connect", connect), Node("use", use))
    graph = Graph("net", nodes, (Edge("connect", "use", resumes=True), Edge("use", END)))
    with pytest.raises(GraphError, match=r"'connect' of strategy 'net'.*cannot be stored"):
        run(graph, 1)


def test_a_graph_that_changed_since_cannot_be_resumed():
    """A resume point of a node that is gone is refused, with its name."""
    with pytest.raises(GraphError, match="no node 'gone'"):
        run(planning(), Plan(), resume=ResumePoint((("gone", {}),)))


def test_the_drawing():
    """Mermaid text: nodes, labels of conditions, limits, and graphs inside."""
    inner = loop(3, Limits(turns=5, at_turns="stop"))
    drawn = line(Node("first one", add_one), Node("work", inner, out=lambda v, r: r)).to_mermaid()
    assert drawn.splitlines() == [
        "flowchart TD",
        "  begin([start])",
        '  n_first_one["first one"]',
        '  subgraph n_work["work: loop"]',
        '    n_work_n_add["add"]',
        '    n_work_n_stop["stop"]',
        "    n_work_finish([end])",
        '    n_work_n_add -->|"enough"| n_work_n_stop',
        "    n_work_n_add --> n_work_n_add",
        "    n_work_n_stop --> n_work_finish",
        '    n_work_n_add -.->|"turn limit"| n_work_n_stop',
        "  end",
        "  finish([end])",
        "  n_first_one --> n_work",
        "  n_work --> finish",
        "  begin --> n_first_one",
    ]
