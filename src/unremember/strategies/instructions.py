"""Project instructions: the AGENTS.md files of a workspace, as they are on disk at each request.

They travel as one system message right after the system prompt. They are weighed, and never
forgotten: a compression does not touch them, and the archive does not hold them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from unremember.actions import read_action
from unremember.errors import ToolError
from unremember.events import InstructionsChanged
from unremember.messages import Message, Text, ToolCall
from unremember.prompts import prompt
from unremember.tools import Workspace

FILE = "AGENTS.md"


@dataclass(slots=True)
class Instructions:
    """The instructions in force: the root's from the start, a folder's once a tool touched it."""

    workspace: Workspace | None = None
    _folders: list[Path] = field(default_factory=list[Path])
    _texts: dict[Path, str] = field(default_factory=dict[Path, str])
    _message: Message | None = None

    def __post_init__(self) -> None:
        if self.workspace:
            self._folders.append(self.workspace.root)

    def touch(self, call: ToolCall, folder: str = ".") -> None:
        """Takes in the folders that a call touches; its paths are seen from `folder`."""
        if not self.workspace:
            return
        for action in read_action(call):
            for path in filter(None, (action.path, action.to, action.cwd)):
                with suppress(ToolError):
                    self._enter(self.workspace.find(path, folder), self.workspace)

    def _enter(self, path: Path, workspace: Workspace) -> None:
        root = next(folder for folder in workspace.folders if path.is_relative_to(folder))
        above = [folder for folder in path.parents if folder.is_relative_to(root)]
        for folder in (*reversed(above), *([path] if path.is_dir() else [])):
            if folder not in self._folders:
                self._folders.append(folder)

    def read(self) -> tuple[Message | None, tuple[InstructionsChanged, ...]]:
        """The message to send, and what changed since the last time.

        As long as nothing did it is the very same object, so that requests stay the same too.
        """
        if not self.workspace:
            return None, ()
        texts = dict(self._on_disk(self.workspace))
        if texts == self._texts and (self._message or not texts):
            return self._message, ()
        changes = tuple(_changes(self.workspace, self._texts, texts))
        self._texts = texts
        shown = [
            prompt("instructions").format(path=self.workspace.show(path), text=text)
            for path, text in texts.items()
        ]
        self._message = (
            Message("system", (Text("\n\n".join(shown)),), kind="program") if shown else None
        )
        return self._message, changes

    def _on_disk(self, workspace: Workspace) -> Iterator[tuple[Path, str]]:
        for folder in self._folders:
            # A file that cannot be read, or is a link to the outside, is none.
            with suppress(ToolError):
                path = workspace.find(str(folder / FILE))
                text = workspace.read(path).data.decode("utf-8", "replace").strip()
                if text:
                    yield path, text


def _changes(
    workspace: Workspace, before: dict[Path, str], now: dict[Path, str]
) -> Iterator[InstructionsChanged]:
    for path in before.keys() | now.keys():
        if before.get(path) == now.get(path):
            continue
        change = "gone" if path not in now else "changed" if path in before else "entered"
        yield InstructionsChanged(workspace.show(path), change)


def with_instructions(system: tuple[Message, ...], message: Message | None) -> tuple[Message, ...]:
    """The system messages with these instructions in place of earlier ones."""
    return (*without_instructions(system), *([message] if message else []))


def without_instructions(system: tuple[Message, ...]) -> tuple[Message, ...]:
    """The system messages that were said. Instructions are not: they have no ordinal."""
    return tuple(message for message in system if message.ordinal)
