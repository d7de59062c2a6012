"""The public API is small, sorted, complete and described."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import unremember
from unremember import errors

MOST = 40
"""Names that somebody can still look through."""

DOCS = Path(__file__).parents[1] / "docs"

# What a page may import from inside the package, beside the public names.
SUBMODULES = {"ledger"}


def test_it_is_sorted_and_small():
    """`__all__` is in the order of the alphabet (classes first), and has at most 40 names."""
    assert unremember.__all__ == sorted(set(unremember.__all__))
    assert len(unremember.__all__) <= MOST


def test_every_name_is_there():
    """Each name can be imported, and `dir` lists it."""
    for name in unremember.__all__:
        assert getattr(unremember, name) is not None
    assert set(unremember.__all__) <= set(dir(unremember))


@pytest.mark.parametrize("name", unremember.__all__)
def test_every_name_is_described(name: str):
    """Each class and function says what it is; types that are plain aliases cannot."""
    value = getattr(unremember, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert value.__doc__
        assert not value.__doc__.startswith(f"{name}(")  # what a dataclass writes by itself


def test_nothing_public_is_left_out():
    """Errors of the engine are public; those of agents are in `unremember.errors`."""
    raised = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.UnrememberError)
    }
    of_agents = {
        "GraphError",
        "ModelError",
        "MissingKey",
        "UnknownModel",
        "Unreachable",
        "TimedOut",
    }
    of_agents |= {"ProviderRefused", "ContextTooLong", "ToolError", "OverLimit"}
    assert raised - set(unremember.__all__) == {"ArchiveTooNew", "NeedsAsync", *of_agents}


def test_pages_import_public_names():
    """What the documentation imports from `unremember` is public."""
    for path in DOCS.glob("*.md"):
        for names in re.findall(r"^from unremember import (.+)$", path.read_text(), re.MULTILINE):
            assert set(names.split(", ")) <= set(unremember.__all__) | SUBMODULES, path.name


def test_an_unknown_name_is_refused():
    """A name that does not exist is an `AttributeError` that says so."""
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        unremember.nothing_of_that_name  # noqa: B018 - reading it is what is tested
