"""Commands without network and without write access outside the workspace, by bubblewrap."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from unremember.tools.workspace import Workspace

PROBE = 10
"""Seconds that bubblewrap has to show that it works."""

# A new /proc is refused in many containers; without one the processes outside stay visible.
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("--unshare-pid", "--proc", "/proc"),
    (),
)
_BASE = ("--die-with-parent", "--unshare-ipc", "--ro-bind", "/", "/", "--dev", "/dev")

# A socket can be talked to without network and without writing; these ones lead out.
_DOORS = (
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
    "/run/user",
    "/run/dbus",
    "/run/systemd/private",
)


@dataclass(slots=True, weakref_slot=True)
class Sandbox:
    """How commands are confined; `network` and `writable` are what the user allows beside that.

    Temporary files of all its commands are in one folder that goes away with it.
    """

    wanted: bool = True
    network: bool = False
    writable: tuple[Path, ...] = ()
    announced: bool = False
    _temporary: Path | None = field(default=None, init=False)

    @property
    def absent(self) -> str:
        """Why commands are not confined; "" if they are."""
        return _probe(shutil.which("bwrap"))[1] if self.wanted else "it is switched off"

    def wrap(self, words: Sequence[str], workspace: Workspace) -> list[str]:
        """The words of the command that runs `words` confined; the same words if that cannot be."""
        if self.absent:
            return list(words)
        level, _ = _probe(program := shutil.which("bwrap"))
        return [program or "", *level, *self._rules(workspace), "--", *words]

    def _rules(self, workspace: Workspace) -> Iterator[str]:
        if not self.network:
            yield "--unshare-net"
        yield from ("--bind", str(self.temporary()), "/tmp")
        for folder in _needed(Path("/tmp")):
            yield from ("--ro-bind", folder, folder)
        for door in filter(os.path.exists, _DOORS):
            yield from ("--tmpfs", door) if Path(door).is_dir() else ("--bind", "/dev/null", door)
        for folder in (*workspace.folders, *self.writable):
            yield from ("--bind-try", str(folder), str(folder))
        yield from ("--setenv", "TMPDIR", "/tmp")
        # Tools that insist on a cache cannot write to the one at home.
        yield from ("--setenv", "XDG_CACHE_HOME", "/tmp/.cache")

    def temporary(self) -> Path:
        """The folder that commands see as /tmp."""
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="unremember-"))
            weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
        return self._temporary


def _needed(hidden: Path) -> Iterable[str]:
    """Installed programs and modules that lie in a folder which is about to be hidden."""
    places = [Path(sys.prefix), Path(sys.base_prefix)]
    places += [
        place.parent if place.name == "bin" else place
        for name in ("PATH", "PYTHONPATH")
        for place in map(Path, os.environ.get(name, "").split(os.pathsep))
    ]
    return dict.fromkeys(
        str(place)
        for place in places
        if place.is_relative_to(hidden) and place != hidden and place.is_dir()
    )


@cache
def _probe(program: str | None) -> tuple[tuple[str, ...], str]:
    """The strictest options with which bubblewrap really starts a program, or why none do."""
    if program is None:
        return (), "bubblewrap is not installed"
    words = "it gave no reason"
    for level in _LEVELS:
        options = (*_BASE, *level)
        try:
            done = subprocess.run(
                [program, *options, "--unshare-net", "--", "true"],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PROBE,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            words = str(error)
            continue
        if done.returncode == 0:
            return options, ""
        words = done.stderr.strip().split("\n")[-1] or words
    return (), f"bubblewrap does not work here: {words}"
