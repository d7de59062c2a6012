"""From the FILE of a command line to one conversation."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from unremember.cli.folders import newest_conversation
from unremember.cli.output import say
from unremember.errors import InputError
from unremember.formats import Conversation, read

STDIN = "standard input"


@dataclass(frozen=True, slots=True)
class Source:
    """What is read: a file, or bytes that came through a pipe. `number` counts from 1; 0: not said.

    `argument` is what to write on a command line to mean it again; "" where nothing is needed.
    """

    name: str
    given: Path | bytes
    number: int = 0
    argument: str = "FILE"

    @property
    def inputs(self) -> tuple[Path | int, ...]:
        """What must not be written to."""
        return (self.given,) if isinstance(self.given, Path) else (sys.stdin.fileno(),)


@dataclass(frozen=True, slots=True)
class Loaded:
    """One conversation of a source, the `number`th (from 1) of `count`."""

    source: Source
    conversation: Conversation
    number: int
    count: int


_NUMBERED = re.compile(r"(.+)#([0-9]{1,9})", re.DOTALL)


def find_source(argument: str | None) -> Source:
    """What FILE means; for none, the newest conversation of this folder, which is named."""
    if argument is None:
        return _newest()
    if argument == "":
        raise InputError("FILE is empty; name a recorded conversation, or - for standard input")
    number, name = 0, argument
    if not Path(argument).exists() and (found := _NUMBERED.fullmatch(argument)):
        name, number = found[1], int(found[2])
        if not number:
            raise InputError(f"{argument}: conversations are counted from 1")
    if name == "-":
        return Source(STDIN, sys.stdin.buffer.read(), number)
    path = Path(name)
    if path.exists() and not path.is_file() and not path.is_dir():
        # A pipe can be read once only, and a conversation may be read in two ways.
        return Source(name, path.read_bytes(), number)
    return Source(name, path, number, argument)


def _newest() -> Source:
    folder = Path.cwd()
    found = newest_conversation(folder)
    if not found:
        raise InputError(
            f"no conversation of Claude Code or Codex was found for {folder}; "
            "name the file of a recorded conversation"
        )
    say(f"reading the newest conversation of this folder ({found.agent}): {found.path}")
    return Source(str(found.path), found.path, 0, "")


def load(source: Source, *, whole: bool = False, quiet: bool = False) -> Loaded:
    """Reads the conversation that a source means: the one with its number, or the first.

    Says how many there are where that was not asked for. Raises `InputError`.
    """
    found = read(source.given, whole=whole, name=source.name)
    number = source.number or 1
    if number > len(found):
        many = f"only {len(found)} conversations" if len(found) > 1 else "only one conversation"
        raise InputError(f"{source.name}#{number}: there is no such one, the file holds {many}")
    if len(found) > 1 and not source.number and not quiet:
        say(
            f"{source.name} holds {len(found)} conversations; this is the first, "
            f"{source.name}#2 is the second"
        )
    return Loaded(source, found[number - 1], number, len(found))
