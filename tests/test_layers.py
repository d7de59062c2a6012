"""The package has one direction of imports, and importing it does no work."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "unremember"

PUBLIC = "__init__"

# The path of a conversation: said, held, counted, compressed, archived, sent, acted on, watched.
# A module may import from those before it. The public API stands near the end, because it offers
# what they all do; only the command line may use it from inside.
ORDER = [
    "errors",
    "prompts",
    "messages",
    "concepts",
    "actions",
    "ledger",
    "notes",
    "history",
    "events",
    "tokens",
    "compression",
    "archive",
    "formats",
    "library",
    "models",
    "tools",
    "strategies",
    "agent",
    "observability",
    "adapters",
    "evaluation",
    "testing",
    PUBLIC,
    "cli",
    "__main__",
]

FILES = sorted(PACKAGE.rglob("*.py"))


def layer(path: Path) -> str:
    """The top-level module that a source file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def layer_of(name: str) -> str:
    """The top-level module of a dotted name such as `unremember.formats.codex`."""
    return name.split(".")[1] if "." in name else PUBLIC


def absolute(node: ast.ImportFrom, path: Path) -> str:
    """The module that a `from … import` names, with leading dots resolved."""
    if not node.level:
        return node.module or ""
    package = ("unremember", *path.relative_to(PACKAGE).parts[:-1])
    base = package[: len(package) - node.level + 1]
    return ".".join((*base, node.module) if node.module else base)


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and top-level module of every import from this package.

    Imports inside functions and under `TYPE_CHECKING` count like all others.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found = [alias.name for alias in names]
            case ast.ImportFrom(names=names):
                module = absolute(node, path)
                found = [
                    f"{module}.{alias.name}"
                    if module == "unremember" and alias.name in ORDER
                    else module
                    for alias in names
                ]
            case ast.Call(
                func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(module)), *_]
            ):
                found = [module]
            case _:
                continue
        for name in found:
            if name.split(".")[0] == "unremember":
                yield node.lineno, layer_of(name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_only_from_above(path: Path):
    """A module imports only from itself and from those above it in the layout."""
    here = layer(path)
    assert here in ORDER, f"{here} has no place in ORDER: give it one, here and in docs/design.md"
    allowed = ORDER[: ORDER.index(here) + 1]
    wrong = [f"line {line}: {name}" for line, name in imports(path) if name not in allowed]
    assert not wrong, f"{path.name} imports from below or from an unknown module: {wrong}"


def test_order_holds_each_module_once():
    """Each module has one place in the order."""
    assert len(ORDER) == len(set(ORDER))


WATCH = """
import json, os, sys

own = [os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, sys.argv[1])]
seen = []

def watch(event, args):
    if event.startswith(("socket.", "subprocess.", "sqlite3.", "os.system", "os.mkdir")):
        seen.append(event)
    elif event == "open":
        path, mode, flags = args
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        outside = isinstance(path, str) and not any(
            os.path.realpath(path).startswith(p + os.sep) for p in own
        )
        if writes or outside:
            seen.append(f"open {path}")

sys.addaudithook(watch)
import unremember
print(json.dumps({"modules": sorted(sys.modules), "events": seen}))
"""


def test_importing_does_no_work():
    """`import unremember` reads nothing but modules, writes nothing, and loads nothing heavy."""
    # Without the variables that make coverage start in every child: it writes files.
    env = {k: v for k, v in os.environ.items() if not k.startswith("COV")}
    # -I keeps the folder and PYTHON* variables of whoever runs the tests out of it; -B, .pyc files.
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", WATCH, str(PACKAGE)],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    seen = json.loads(done.stdout)
    assert seen["events"] == []
    loaded = {name.split(".")[0] for name in seen["modules"]}
    assert loaded.isdisjoint({"toktok", "rich", "typer", "prompt_toolkit", "pydantic_ai"})
