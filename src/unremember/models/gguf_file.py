"""What a GGUF file says about its model, read from its head alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from unremember.errors import UnknownModel

_MAGIC = b"GGUF"

# The scalar kinds of the format, as struct codes: u8 i8 u16 i16 u32 i32 f32 bool, and behind the
# string (8) and the array (9) u64 i64 f64.
_SCALARS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9

# Far above what any real file holds: a damaged one must not make us read for hours.
_MOST_KEYS = 4_096
_LONGEST_TEXT = 1 << 20


def read_head(path: Path) -> dict[str, object]:
    """The scalar and text values at the head of a GGUF file, up to its tokenizer.

    Raises `UnknownModel` when there is no such file, or when it is none of this form.
    """
    try:
        with path.open("rb") as file:
            if file.read(4) != _MAGIC:
                raise UnknownModel(f"gguf:{path}: this is no GGUF file")
            return dict(_values(file))
    except OSError as error:
        raise UnknownModel(
            f"gguf:{path}: the file cannot be read ({error.strerror}). Check the path."
        ) from error


def trained_window(head: dict[str, object]) -> int:
    """The context window that the model was trained for, in tokens; 0 if the file does not say."""
    window = head.get(f"{head.get('general.architecture')}.context_length")
    return window if isinstance(window, int) else 0


def _values(file: BinaryIO) -> Iterator[tuple[str, object]]:
    with suppress(struct.error, UnicodeDecodeError):  # a damaged head says less
        _version, _tensors, count = _unpack(file, "IQQ")
        for _ in range(min(count, _MOST_KEYS)):
            key = _text(file)
            (kind,) = _unpack(file, "I")
            # Behind the model's own values comes its vocabulary: long, and not needed.
            if key.startswith("tokenizer."):
                return
            yield key, _value(file, kind)


def _value(file: BinaryIO, kind: int) -> object:
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        (inner, length) = _unpack(file, "IQ")
        for _ in range(length):
            _value(file, inner)
        return None
    if kind not in _SCALARS:
        raise struct.error(f"unknown kind {kind}")
    return _unpack(file, _SCALARS[kind])[0]


def _text(file: BinaryIO) -> str:
    (length,) = _unpack(file, "Q")
    if length > _LONGEST_TEXT:
        raise struct.error("a text too long to be one")
    return file.read(length).decode("utf-8")


def _unpack(file: BinaryIO, codes: str) -> tuple[int, ...]:
    return struct.unpack(f"<{codes}", file.read(struct.calcsize(f"<{codes}")))
