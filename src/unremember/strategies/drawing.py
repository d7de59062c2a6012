"""A graph as a Mermaid flowchart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from unremember.strategies.wiring import END

if TYPE_CHECKING:
    from unremember.strategies.graph import Graph


def draw(graph: Graph) -> str:
    """The text of the flowchart; a graph that is a node of another is drawn inside it."""
    lines = ["flowchart TD", "  begin([start])", *_inside(graph, "", "  ")]
    return "\n".join([*lines, f"  begin --> {_id('', graph.nodes[0].name)}"])


def _inside(graph: Graph, prefix: str, indent: str) -> Iterator[str]:
    for node in graph.nodes:
        id = _id(prefix, node.name)
        if callable(node.run):
            yield f'{indent}{id}["{node.name}"]'
            continue
        yield f'{indent}subgraph {id}["{node.name}: {node.run.name}"]'
        yield from _inside(node.run, f"{id}_", indent + "  ")
        yield f"{indent}end"
    yield f"{indent}{_id(prefix, END)}([end])"
    for edge in graph.edges:
        label = f'|"{edge.label}"|' if edge.label else ""
        yield f"{indent}{_id(prefix, edge.source)} -->{label} {_id(prefix, edge.target)}"
    if graph.limits.at_turns:
        at = _id(prefix, graph.limits.at_turns)
        turns = [_id(prefix, node.name) for node in graph.nodes if node.is_turn]
        yield from (f'{indent}{turn} -.->|"turn limit"| {at}' for turn in turns)


def _id(prefix: str, name: str) -> str:
    """A name as Mermaid takes it; `end` alone is a word of its language."""
    return prefix + ("finish" if name == END else "n_" + re.sub(r"\W", "_", name))
