"""Write `conversation.jsonl`, an invented recording of a coding agent at work.

    python examples/make_conversation.py            write it anew
    python examples/make_conversation.py -o FILE    write it somewhere else

No person and no model said any of it: `story.py` does. What the tools return is real, though.
Files are read and edited in memory, starting from the small project in `tallybook/`, and what the
commands print was recorded by running them on that project, each in the state it had by then. The
same input gives the same bytes, on every platform. After a change to the story or the project:

    python examples/make_conversation.py --record   run the commands again (needs git and pytest)
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any
from uuid import UUID

from story import generated_files, tell

HERE = Path(__file__).parent
PROJECT = HERE / "tallybook"
RECORDED = HERE / "recorded.json"
HOME = PurePosixPath("/home/mina/tallybook")
START = datetime(2025, 3, 4, 9, 12, tzinfo=UTC)

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """One tool call and what it returned."""

    name: str
    arguments: Json
    output: str
    failed: bool = False


@dataclass
class Commands:
    """What the commands of the story print: looked up, or run again when `folder` is given."""

    entries: list[Json]
    folder: Path | None = None
    done: int = 0

    def run(self, command: str, files: dict[str, str]) -> tuple[int, str]:
        """Exit status and output of a command on the project as it is now."""
        if self.folder:
            self.entries.append(execute(command, files, self.folder))
        if self.done == len(self.entries) or self.entries[self.done]["command"] != command:
            sys.exit(f"{command!r} was not recorded at this place: run again with --record")
        entry = self.entries[self.done]
        self.done += 1
        return entry["status"], "\n".join(entry["output"])


@dataclass
class Session:
    """A recorded conversation that grows. Writes the form that Claude Code keeps on disk."""

    files: dict[str, str]
    commands: Commands
    rng: Random = field(default_factory=lambda: Random(20250304))
    lines: list[Json] = field(default_factory=list[Json])
    now: datetime = START

    def __post_init__(self) -> None:
        self.started_with = dict(self.files)
        self.session = self._uuid()

    def _uuid(self) -> str:
        return str(UUID(int=self.rng.getrandbits(128), version=4))

    def _id(self, prefix: str) -> str:
        return f"{prefix}_01{self.rng.getrandbits(104):026X}"

    def _write(self, kind: str, message: Json, seconds: float) -> None:
        self.now += timedelta(milliseconds=int(1000 * seconds * (0.5 + self.rng.random())))
        self.lines.append(
            {
                "parentUuid": self.lines[-1]["uuid"] if self.lines else None,
                "isSidechain": False,
                "cwd": str(HOME),
                "sessionId": self.session,
                "version": "2.1.7",
                "type": kind,
                "message": message,
                "uuid": self._uuid(),
                "timestamp": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
        )

    def user(self, text: str) -> None:
        """What the user types."""
        self._write("user", {"role": "user", "content": text}, seconds=90)

    def agent(self, *blocks: str | Call, thinking: str = "") -> None:
        """One answer of the agent: what it thinks, says and calls, and the results in order."""
        message_id = self._id("msg")
        content: list[Json] = []
        results: list[Json] = []
        if thinking:
            signature = f"{self.rng.getrandbits(512):0128x}"
            content.append({"type": "thinking", "thinking": thinking, "signature": signature})
        for block in blocks:
            if isinstance(block, str):
                content.append({"type": "text", "text": block})
                continue
            call_id = self._id("toolu")
            content.append(
                {"type": "tool_use", "id": call_id, "name": block.name, "input": block.arguments}
            )
            result: Json = {
                "tool_use_id": call_id,
                "type": "tool_result",
                "content": block.output,
                "is_error": block.failed,
            }
            results.append(result)
        # As the real thing does: one line for each block, all under one message id.
        for block in content:
            message: Json = {
                "model": "example-model",
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "content": [block],
            }
            self._write("assistant", message, seconds=3)
        for result in results:
            self._write("user", {"role": "user", "content": [result]}, seconds=1)

    def read(self, path: str, offset: int = 1, limit: int | None = None) -> Call:
        """Read a file, or `limit` lines of it from line `offset` on."""
        arguments: Json = {"file_path": str(HOME / path)}
        if limit:
            arguments |= {"offset": offset, "limit": limit}
        lines = self.files[path].splitlines()[offset - 1 :][:limit]
        return Call("Read", arguments, numbered(lines, offset))

    def edit(self, path: str, old: str, new: str) -> Call:
        """Replace one piece of a file; `old` must occur exactly once."""
        text = self.files[path]
        if text.count(old) != 1:
            sys.exit(f"the story edits {path}, but this occurs {text.count(old)} times:\n{old}")
        self.files[path] = text.replace(old, new)
        first = text[: text.index(old)].count("\n")
        start = max(0, first - 4)
        snippet = self.files[path].splitlines()[start : first + new.count("\n") + 5]
        return Call(
            "Edit",
            {"file_path": str(HOME / path), "old_string": old, "new_string": new},
            f"The file {HOME / path} has been updated. Here's the result of running `cat -n` on a "
            f"snippet of the edited file:\n{numbered(snippet, start + 1)}",
        )

    def grep(self, pattern: str, folder: str) -> Call:
        """Search the files of a folder."""
        hits = [
            f"{path}:{number}:{line}"
            for path, text in sorted(self.files.items())
            if path.startswith(folder)
            for number, line in enumerate(text.splitlines(), start=1)
            if re.search(pattern, line)
        ]
        arguments: Json = {
            "pattern": pattern,
            "path": str(HOME / folder),
            "output_mode": "content",
            "-n": True,
        }
        return Call("Grep", arguments, "\n".join(hits) or "No matches found")

    def glob(self, suffix: str) -> Call:
        """List the files with a suffix."""
        found = [str(HOME / path) for path in sorted(self.files) if path.endswith(suffix)]
        return Call("Glob", {"pattern": f"**/*{suffix}"}, "\n".join(found))

    def todo(self, done: int, *tasks: str) -> Call:
        """Keep the plan: the first `done` tasks are completed, the next is being worked on."""
        states = ["completed"] * done + ["in_progress"] + ["pending"] * len(tasks)
        todos = [
            {"content": task, "status": state, "activeForm": task}
            for task, state in zip(tasks, states, strict=False)
        ]
        return Call(
            "TodoWrite",
            {"todos": todos},
            "Todos have been modified successfully. Ensure that you continue to use the todo list "
            "to track your progress. Please proceed with the current tasks if applicable",
        )

    def bash(self, command: str, description: str) -> Call:
        """Run a command in the project."""
        status, output = self.commands.run(command, self.files)
        if restored := re.fullmatch(r"git checkout -- (\S+)", command):
            self.files[restored[1]] = self.started_with[restored[1]]
        if status:
            output = f"Exit code {status}\n{output}"
        arguments: Json = {"command": command, "description": description}
        return Call("Bash", arguments, output, failed=status != 0)


def numbered(lines: list[str], start: int) -> str:
    """Lines with their numbers, as the agent's tools show them."""
    return "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, start=start))


def execute(command: str, files: dict[str, str], folder: Path) -> Json:
    """Run a command for real, and take out of what it prints all that differs from run to run."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
    env = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
        "PYTHONPATH": "src",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_ADDOPTS": "-p no:cacheprovider -p no:asyncio",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in GIT},
    }
    if not (folder / ".git").exists():
        first = (
            "git init -q -b yen-and-dinars && printf '/data/\\n*.db\\n' >.git/info/exclude"
            " && git add . && git commit -qm 'Store amounts as whole minor units'"
        )
        subprocess.run(["bash", "-c", first], cwd=folder, env=env, check=True)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    output = done.stdout.rstrip("\n").replace(str(folder), str(HOME))
    output = re.sub(r"\bin \d+\.\d+s", "in 0.4s", output)
    output = re.sub(r"0x[0-9a-f]{8,}", "0x7f3c48e47450", output)
    output = re.sub(r"/tmp/pytest-of-\w+/pytest-\d+", "/tmp/pytest-of-mina/pytest-0", output)
    return {"command": command, "status": done.returncode, "output": output.split("\n")}


GIT = [
    ("NAME", "Mina"),
    ("EMAIL", "mina@tallybook.example"),
    ("DATE", "2025-03-03T16:40:00+00:00"),
]


def start_files() -> dict[str, str]:
    """The project as the story finds it, by path."""
    found = {
        path.relative_to(PROJECT).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PROJECT.rglob("*"))
        if path.is_file() and path.suffix in {".py", ".sql", ".toml", ".md"}
    }
    return found | generated_files()


def main() -> None:
    """Tell the story once and write it down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=HERE / "conversation.jsonl")
    parser.add_argument("--record", action="store_true", help="run the commands again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.record:
            commands = Commands([], Path(folder).resolve())
        else:
            commands = Commands(json.loads(RECORDED.read_text(encoding="utf-8")))
        session = Session(start_files(), commands)
        tell(session)
    if options.record:
        text = json.dumps(commands.entries, ensure_ascii=False, indent=1)
        RECORDED.write_text(text + "\n", encoding="utf-8", newline="\n")
    with options.output.open("w", encoding="utf-8", newline="\n") as file:
        for line in session.lines:
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
