"""Writing: files whole or not at all and never over the input, streams, and plain lines."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from unremember.errors import InputError

_CONTROL = re.compile(
    # Control characters, and those that reorder or hide what stands beside them.
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+"
)


def one_line(text: str) -> str:
    """A text on one line that cannot steer a terminal: control characters become a blank."""
    return _CONTROL.sub(" ", text).strip()


def say(message: str) -> None:
    """One line for whoever sits at the terminal, on standard error."""
    sys.stderr.write(f"unremember: {one_line(message)}\n")


def put(text: str, stream: TextIO) -> None:
    """Writes a report; signs that the terminal's encoding does not have become `?`."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding, "replace"))
    stream.flush()


def put_exactly(data: bytes) -> None:
    """Writes bytes to standard output as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def abandon_stdout() -> None:
    """Lets what is still buffered go nowhere, so that the interpreter ends without a word."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def check_target(target: str, inputs: Iterable[Path | int], option: str) -> Path:
    """Where a file is to be written, links followed; checked before any work is done.

    `inputs` are what is read (paths, or the descriptor of a stream). Raises `InputError` if the
    target is one of them, a directory, in no directory, or not writable.
    """
    path = Path(os.path.realpath(target))
    if path.is_dir():
        raise InputError(f"{option} {target}: this is a directory; name a file in it")
    if not path.parent.is_dir():
        raise InputError(f"{option} {target}: there is no directory {path.parent}; make it first")
    if any(_is_same(path, source) for source in inputs):
        raise InputError(f"{option} {target}: this is the input; choose another file")
    special = path.exists() and not path.is_file()
    if not os.access(path if special else path.parent, os.W_OK):
        raise InputError(f"{option} {target}: it cannot be written there; choose another place")
    return path


def _is_same(path: Path, source: Path | int) -> bool:
    try:
        there = os.fstat(source) if isinstance(source, int) else source.stat()
        # A pipe or a terminal as input and as output is no file that could be lost.
        return stat.S_ISREG(there.st_mode) and os.path.samestat(path.stat(), there)
    except OSError:
        return False


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all: beside it first, to the disk, then in its place.

    Raises `InputError` if that fails; then the old file stands as it was.
    """
    try:
        if path.exists() and not path.is_file():  # /dev/stdout, a named pipe
            path.write_bytes(data)
        else:
            _replace(path, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{path}: it cannot be written ({error.strerror or error})") from None


def _replace(path: Path, data: bytes) -> None:
    descriptor, name = tempfile.mkstemp(
        prefix=f".{path.name[:40]}.", suffix=".new", dir=path.parent
    )
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), _mode(path))
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _mode(path: Path) -> int:
    """The mode of the file that is replaced; of a new one what the user's mask allows."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable; not every file system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
