"""The user's settings and the repository's, in one form of TOML; where each value came from."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

from pydantic import ConfigDict, NonNegativeFloat, PositiveInt, TypeAdapter, ValidationError

from unremember.cli.trust import may_use
from unremember.concepts import Concept
from unremember.errors import InputError

VARIABLE = "UNREMEMBER_CONFIG"
"""The environment variable that names another file of the user's settings."""

REPOSITORY_FILE = ".unremember.toml"

DEFAULT = "default"
COMMAND_LINE = "command line"

_CLOSED: ConfigDict = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Permissions:
    """What is allowed without a question.

    `commands` are programs such as `pytest` or `git status`, or whole command lines. `writes` is
    whether changes of files are asked about at a terminal. `network` and `folders` are what
    confined commands may use beside the workspace.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    commands: tuple[str, ...] = ()
    writes: Literal["ask", "allow"] = "ask"
    network: bool = False
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs for a million tokens, in any one currency; None: not known."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    input: NonNegativeFloat
    output: NonNegativeFloat
    cached: NonNegativeFloat | None = None
    cache_write: NonNegativeFloat | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set. `budget` is in tokens, `retention_days` None: kept for ever."""

    __pydantic_config__: ClassVar[ConfigDict] = _CLOSED

    model: str = ""
    retrieval_model: str = ""
    budget: PositiveInt | str | None = None
    strategy: str = ""
    retention_days: PositiveInt | None = None
    permissions: Permissions = field(default_factory=Permissions)
    concepts: tuple[Concept, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict[str, Price])


@dataclass(frozen=True, slots=True)
class Merged:
    """Settings and where each came from, by dotted name; what is not named is a default."""

    settings: Settings
    origins: Mapping[str, str]

    def with_flags(self, **flags: str | None) -> Merged:
        """The same with what the command line says; None and "" say nothing."""
        said = {name: value for name, value in flags.items() if value}
        origins = {**self.origins, **dict.fromkeys(said, COMMAND_LINE)}
        return Merged(replace(self.settings, **cast("dict[str, Any]", said)), origins)


def load(folder: Path) -> Merged:
    """The user's settings, and over them those of the repository that `folder` is in, if trusted.

    Raises `InputError` with file and line for a file that cannot be used.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for path in _files(folder):
        for name, value in _flat(_checked(path, _read(path))).items():
            values[name], origins[name] = value, str(path)
    return Merged(_settings().validate_python(_nested(values)), origins)


def user_file() -> Path:
    """The file of the user's settings, be it there or not."""
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser()
    from platformdirs import user_config_path

    return user_config_path("unremember", appauthor=False) / "config.toml"


def repository_file(folder: Path) -> Path | None:
    """The nearest `.unremember.toml`, from `folder` up to the root of its repository."""
    for here in (folder, *folder.parents):
        if (found := here / REPOSITORY_FILE).is_file():
            return found
        if (here / ".git").exists():
            return None
    return None


def _files(folder: Path) -> list[Path]:
    found: list[Path] = []
    user = user_file()
    if user.is_file():
        found.append(user)
    elif os.environ.get(VARIABLE):
        raise InputError(f"{user}: there is no such file; {VARIABLE} names it")
    theirs = repository_file(folder)
    if theirs and may_use(theirs, _read(theirs)):
        found.append(theirs)
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: it cannot be read ({error.strerror or error})") from None


@cache
def _settings() -> TypeAdapter[Settings]:
    return TypeAdapter(Settings)


def _checked(path: Path, data: bytes) -> dict[str, Any]:
    """The values of a file. Raises `InputError` with the line that is wrong."""
    try:
        text = data.decode("utf-8")
        values = tomllib.loads(text)
    except UnicodeDecodeError:
        raise InputError(f"{path}: it is no UTF-8 text; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: this is no TOML: {error}") from None
    try:
        _settings().validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = tuple(first["loc"])
        line = line_of(text, where)
        raise InputError(f"{path}, line {line}: {_complaint(first, where)}") from None
    return values


def _complaint(error: Any, where: Sequence[str | int]) -> str:
    name = ".".join(str(part) for part in where)
    if error["type"] == "unexpected_keyword_argument":
        known = _known(where[:-1])
        return f"there is no setting {name!r}; there are {', '.join(known)}"
    return f"{name}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def _known(table: Sequence[str | int]) -> list[str]:
    kinds: dict[str, type[Any]] = {
        "permissions": Permissions,
        "concepts": Concept,
        "prices": Price,
    }
    kind = kinds.get(str(table[0]), Settings) if table else Settings
    return [name for name in kind.__dataclass_fields__ if not name.startswith("_")]


_HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]")
_ENTRY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w.\s-])+?)\s*=""")
_NAME = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s]+))\s*\.?""")


def line_of(text: str, where: Sequence[str | int]) -> int:
    """The line of a TOML text, from 1, that names `where` or comes nearest to it."""
    best, depth = 1, 0
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            names = _names(header[2])
            table = names
            if header[1] == "[[":
                table = (*names, counts.get(names, 0))
                counts[names] = counts.get(names, 0) + 1
            here = table
        elif entry := _ENTRY.match(line):
            here = (*table, *_names(entry[1]))
        else:
            continue
        if len(here) > depth and here == tuple(where[: len(here)]):
            best, depth = number, len(here)
    return best


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(m[1] or m[2] or m[3] or "" for m in _NAME.finditer(dotted))


# One model's price is one value: half of it from elsewhere would be no price of anybody's.
_TABLES = ("permissions", "prices")


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by dotted name, so that the repository's replace the user's one by one."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if name in _TABLES:
            found |= {f"{name}.{key}": inner for key, inner in value.items()}
        else:
            found[name] = value
    return found


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        table, dot, key = name.partition(".")
        if dot:
            found.setdefault(table, {})[key] = value
        else:
            found[name] = value
    return found


def rows(merged: Merged) -> list[tuple[str, str, str]]:
    """Every setting: its dotted name, its value as TOML writes it, where it came from."""
    settings = merged.settings
    values: dict[str, object] = {
        name: getattr(settings, name) for name in _known(()) if name not in (*_TABLES, "concepts")
    }
    values["concepts"] = [concept.keyword for concept in settings.concepts]
    values |= {
        f"permissions.{n}": getattr(settings.permissions, n) for n in _known(["permissions"])
    }
    for model, price in settings.prices.items():
        given = {n: getattr(price, n) for n in _known(["prices"])}
        values[f"prices.{model}"] = {n: v for n, v in given.items() if v is not None}
    return [(n, _written(v), merged.origins.get(n, DEFAULT)) for n, v in values.items()]


def _written(value: object) -> str:
    match value:
        case None | "" | () | []:
            return "not set"
        case bool():
            return str(value).lower()
        case str() | Path():
            return f'"{value}"'
        case tuple() | list():
            return f"[{', '.join(map(_written, cast('Sequence[object]', value)))}]"
        case dict():
            items = cast("dict[str, object]", value).items()
            return f"{{ {', '.join(f'{n} = {_written(v)}' for n, v in items)} }}"
        case _:
            return str(value)
