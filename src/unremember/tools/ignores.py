"""Which files version control ignores: nested ignore files, read while a tree is walked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

FILES = (".gitignore", ".ignore")
"""Names of ignore files; a later one overrules an earlier one, as in ripgrep."""

# What hardly anybody means to see, where the package that reads ignore files is missing.
_FALLBACK = frozenset(("node_modules", "__pycache__", ".venv", "venv", "target", "dist", ".tox"))

_LARGEST = 1_000_000
"""Bytes of an ignore file that are read."""


class Match(Protocol):
    """Whether a pattern of an ignore file speaks of a path: True ignores, False takes back."""

    @property
    def include(self) -> bool | None:
        """None: it says nothing."""
        ...


class Spec(Protocol):
    """The patterns of one folder."""

    def check_file(self, file: str) -> Match:
        """What the last pattern that speaks of a relative path says; folders end with a slash."""
        ...


@dataclass(frozen=True, slots=True)
class Rules:
    """The ignore files of a folder and of those above it, nearest first."""

    specs: tuple[tuple[Path, Spec], ...] = ()

    def ignores(self, path: Path, *, folder: bool) -> bool:
        """Whether `path`, which lies in the folder of these rules, is ignored."""
        if path.name == ".git":
            return True
        for base, spec in self.specs:
            name = path.relative_to(base).as_posix() + ("/" if folder else "")
            if (found := spec.check_file(name).include) is not None:
                return found
        return _parser() is None and path.name in _FALLBACK

    def inside(self, folder: Path) -> Rules:
        """The rules for what lies in `folder`, a folder inside that of these rules."""
        new = tuple((folder, spec) for spec in _specs(folder))
        return Rules((*new, *self.specs)) if new else self


def rules_at(folder: Path, root: Path) -> Rules:
    """The rules for what lies in `folder`: its own ignore files and those above it.

    They go up to `root`, or to the top of the repository that `root` is in.
    """
    root = next((above for above in (root, *root.parents) if (above / ".git").exists()), root)
    rules = Rules(tuple((root, spec) for spec in _read(root / ".git" / "info" / "exclude")))
    steps = folder.relative_to(root).parts if folder.is_relative_to(root) else ()
    rules = rules.inside(root if folder.is_relative_to(root) else folder)
    for depth in range(1, len(steps) + 1):
        rules = rules.inside(root.joinpath(*steps[:depth]))
    return rules


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a folder. `depth` counts from the folder that is walked, whose own are at 1."""

    path: Path
    depth: int
    is_folder: bool
    is_link: bool


def walk(folder: Path, root: Path, depth: int = 0) -> Iterator[Entry]:
    """What is in a folder and not ignored, level by level, by name; links are not followed.

    `depth` is how many levels (0: all).
    """
    level = [(folder, rules_at(folder, root))]
    at = 0
    while level and (not depth or at < depth):
        at += 1
        following: list[tuple[Path, Rules]] = []
        for here, rules in level:
            for entry in _scan(here):
                path = Path(entry.path)
                is_folder = entry.is_dir(follow_symlinks=False)
                if rules.ignores(path, folder=is_folder):
                    continue
                yield Entry(path, at, is_folder, entry.is_symlink())
                if is_folder:
                    following.append((path, rules))
        level = [(path, rules.inside(path)) for path, rules in following]


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _specs(folder: Path) -> Iterator[Spec]:
    for name in reversed(FILES):
        yield from _read(folder / name)


def _read(path: Path) -> Iterable[Spec]:
    make = _parser()
    if make is None or not path.is_file():
        return ()
    with path.open(encoding="utf-8", errors="replace") as file:
        return (make(file.read(_LARGEST).splitlines()),)


def _parser():
    try:
        from pathspec import GitIgnoreSpec
    except ImportError:
        return None
    return GitIgnoreSpec.from_lines
