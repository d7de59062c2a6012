"""The folders that tools may touch, and files in them opened without following a swapped link.

A path is resolved once, links and `..` included, and must then lie inside. Opening walks down from
the folder's root one name at a time and follows no link: what became a link after the check is
refused, not followed.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from unremember.errors import InputError, ToolError

LARGEST = 64 * 1024 * 1024
"""Bytes of a file that is read as a whole; above it a file is for search and commands only."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Opening a pipe that nobody writes to would wait for ever without O_NONBLOCK.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file and its permission bits."""

    data: bytes
    mode: int


@dataclass(frozen=True, slots=True)
class Workspace:
    """A root folder and further folders that the user added. Raises `InputError` if one is none."""

    root: Path
    extra: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        for folder in (self.root, *self.extra):
            if not folder.is_dir():
                raise InputError(f"{folder} is no folder; name one that exists")
        object.__setattr__(self, "root", self.root.resolve())
        object.__setattr__(self, "extra", tuple(folder.resolve() for folder in self.extra))

    @property
    def folders(self) -> tuple[Path, ...]:
        """The root and the folders that were added."""
        return (self.root, *self.extra)

    def find(self, path: str, folder: str = ".") -> Path:
        """The real place of a path, seen from `folder`; it need not exist. Raises `ToolError`."""
        if "\0" in path:
            raise ToolError("a path cannot hold a zero byte")
        try:
            real = Path(os.path.realpath(self.root / folder / Path(path).expanduser()))
        except (OSError, RuntimeError) as error:
            raise ToolError(f"{path}: {error}") from error
        if not self.holds(real):
            raise ToolError(
                f"{path} is outside the workspace {self.root}; use a path inside it "
                "(the user can allow another folder with --add-dir)"
            )
        return real

    def holds(self, real: Path) -> bool:
        """Whether a path without links lies inside."""
        return any(real.is_relative_to(folder) for folder in self.folders)

    def show(self, real: Path) -> str:
        """A real path as tools name it: relative to the root where it is inside that."""
        return (
            real.relative_to(self.root).as_posix()
            if real.is_relative_to(self.root)
            else real.as_posix()
        )

    def exists(self, real: Path) -> bool:
        """Whether something stands at a real path."""
        return os.path.lexists(real)

    def read(self, real: Path) -> Content:
        """The content of a regular file of at most `LARGEST` bytes. Raises `ToolError`."""
        with self._spoken(real), self._opened(real.parent) as folder:
            handle = os.open(real.name, _FILE, dir_fd=folder)
            with os.fdopen(handle, "rb") as file:
                status = os.fstat(handle)
                if not stat.S_ISREG(status.st_mode):
                    raise ToolError(f"{self.show(real)} is {_kind(status.st_mode)}, no file")
                if status.st_size > LARGEST:
                    raise ToolError(
                        f"{self.show(real)} has {status.st_size:,} bytes, too many to open; "
                        "use search_files, or run_command with sed or head"
                    )
                return Content(file.read(LARGEST + 1), stat.S_IMODE(status.st_mode))

    def write(self, real: Path, data: bytes, mode: int | None = None) -> None:
        """Writes a file whole or not at all, with missing folders above it. Raises `ToolError`.

        `mode` are the permission bits; None: those of a new file.
        """
        with self._spoken(real), self._opened(real.parent, make=True) as folder:
            draft = f".{real.name[:80]}.{secrets.token_hex(4)}.tmp"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(draft, flags, 0o666, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                    if mode is not None:
                        os.fchmod(handle, mode)
                        _keep_owner(handle, real.name, folder)
                os.replace(draft, real.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(draft, dir_fd=folder)
                raise

    @contextmanager
    def _opened(self, real: Path, *, make: bool = False) -> Generator[int]:
        """A handle on a folder, reached from its root without following a link."""
        base = next((folder for folder in self.folders if real.is_relative_to(folder)), None)
        if base is None:
            raise ToolError(f"{real} is outside the workspace {self.root}")
        handle = os.open(base, _FOLDER)
        try:
            for name in real.relative_to(base).parts:
                inner = _enter(name, handle, make=make)
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def _spoken(self, real: Path) -> Generator[None]:
        """Turns errors of the system into one line that the model can act on."""
        shown = self.show(real)
        try:
            yield
        except FileNotFoundError:
            raise ToolError(f"no such file: {shown}{self._nearest(real)}") from None
        except IsADirectoryError:
            raise ToolError(f"{shown} is a folder; list_directory shows it") from None
        except OSError as error:
            raise ToolError(f"{shown}: {error.strerror or error}") from error

    def _nearest(self, real: Path) -> str:
        parent = real.parent
        if not parent.is_dir():
            return f" (there is no folder {self.show(parent)})"
        names = [path.name for path in parent.iterdir()]
        close = [self.show(parent / name) for name in get_close_matches(real.name, names)]
        return f"; near it: {', '.join(close)}" if close else ""


def _enter(name: str, folder: int, *, make: bool) -> int:
    """A handle on the folder `name` in another one; made first if it is missing and `make`."""
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        return os.open(name, _FOLDER, dir_fd=folder)


def _keep_owner(handle: int, name: str, folder: int) -> None:
    """Gives a new file the owner of the one that it replaces, where that is allowed."""
    with suppress(OSError):
        before = os.stat(name, dir_fd=folder, follow_symlinks=False)
        os.fchown(handle, before.st_uid, before.st_gid)


def _kind(mode: int) -> str:
    for test, word in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISLNK, "a link"),
    ):
        if test(mode):
            return word
    return "a device"
