"""What is checked when a graph is built: names, ways, and types that cannot fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_type_hints

from unremember.errors import GraphError

if TYPE_CHECKING:
    from unremember.strategies.graph import Graph, Node

END = "end"
"""The target of an edge that ends the graph; the value it carries is the result."""

RESERVED = (END, "start", "")


def check(graph: Graph) -> None:
    """Raises `GraphError`, with the name of the node, for a graph that cannot be run as it is."""
    _check_names(graph)
    _check_ways(graph)
    _check_types(graph)


def failure(graph: Graph, node: Node, what: str) -> GraphError:
    """The error about a node."""
    return GraphError(f"node {node.name!r} of strategy {graph.name!r} {what}")


def _check_names(graph: Graph) -> None:
    names = [node.name for node in graph.nodes]
    if not names:
        raise GraphError(f"strategy {graph.name!r} has no nodes; give it one")
    for name, times in Counter(names).items():
        if times > 1:
            raise GraphError(
                f"strategy {graph.name!r} has {times} nodes named {name!r}; rename one"
            )
        if name in RESERVED or "/" in name:
            raise GraphError(
                f"strategy {graph.name!r} cannot have a node named {name!r}; rename it"
            )
    wanted = {edge.source for edge in graph.edges} | {edge.target for edge in graph.edges} - {END}
    for name in sorted((wanted | {graph.limits.at_turns or names[0]}) - set(names)):
        raise GraphError(f"strategy {graph.name!r} has no node {name!r}, which is named in it")


def _check_ways(graph: Graph) -> None:
    forward = {node.name: [edge.target for edge in graph.out_of(node.name)] for node in graph.nodes}
    backward: dict[str, list[str]] = {}
    for edge in graph.edges:
        backward.setdefault(edge.target, []).append(edge.source)
    begins = [graph.nodes[0].name, *filter(None, [graph.limits.at_turns])]
    reached, ending = _closure(begins, forward), _closure([END], backward)
    for node in graph.nodes:
        if node.name not in reached:
            raise failure(graph, node, "can never be reached; give it an edge, or leave it out")
        if node.name not in ending:
            raise failure(graph, node, f"has no way to {END!r}; give it one")
        if any(edge.when is None for edge in graph.out_of(node.name)[:-1]):
            raise failure(
                graph, node, "has an edge after one that is always taken; put that one last"
            )


def _closure(begins: Sequence[str], ways: Mapping[str, Sequence[str]]) -> set[str]:
    found, ahead = set[str](), list(begins)
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead.extend(ways.get(name, ()))
    return found


def _check_types(graph: Graph) -> None:
    for edge in graph.edges:
        if edge.target == END:
            continue
        source, target = graph.node(edge.source), graph.node(edge.target)
        gives, takes = gives_of(source), takes_of(target)
        if not _may_fit(gives, takes):
            raise failure(
                graph,
                source,
                f"gives a {gives.__name__}, but {target.name!r} takes a {takes.__name__}",
            )


def _may_fit(gives: Any, takes: Any) -> bool:
    """Only what is surely wrong is refused: two plain classes with nothing in common."""
    if not (type(gives) is type and type(takes) is type):
        return True
    return issubclass(gives, takes) or issubclass(takes, gives)


def takes_of(node: Node) -> Any:
    """The declared type of what a node takes; Any where none is declared."""
    if not callable(node.run) and node.into is None:
        return takes_of(node.run.nodes[0])
    return next((kind for name, kind in _hints(node, node.into) if name != "return"), Any)


def gives_of(node: Node) -> Any:
    """The declared type of what a node gives; Any where none is declared."""
    return dict(_hints(node, node.out)).get("return", Any)


def _hints(node: Node, change: object) -> Iterable[tuple[str, Any]]:
    """The type hints of a node's function; of a graph as a node, those of its way in or out."""
    try:
        return get_type_hints(node.run if callable(node.run) else change).items()
    except (NameError, TypeError):  # names that only a type checker sees; something without hints
        return ()
