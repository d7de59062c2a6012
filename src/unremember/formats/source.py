"""From a file, bytes or text to parsed JSON: one document, or lines as a stream.

A file of JSON lines is never held as a whole: its lines are parsed one by one. What is wrong with
a file becomes one clear line of an `InputError`; what can be mended becomes a `Repair`.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from unremember.errors import InputError, UnknownFormat
from unremember.formats.shape import Object
from unremember.history import Repair

HEAD = 20
"""How many lines are looked at to tell which form a file has."""

_SAMPLE = 64 * 1024
_MOST_STRAY = 0.1  # of the characters; beyond it, it is not text that was damaged, it is no text


def _nothing() -> Iterator[tuple[int, Object]]:
    return iter(())


@dataclass(slots=True)
class Parsed:
    """What a source holds: a `document`, or `lines` with their numbers (then `document` is None).

    `head` are the first lines. `repairs` grows while the lines are read.
    """

    name: str
    document: Any = None
    head: list[tuple[int, Object]] = field(default_factory=list[tuple[int, Object]])
    lines: Iterator[tuple[int, Object]] = field(default_factory=_nothing)
    repairs: list[Repair] = field(default_factory=list[Repair])


@contextmanager
def parsed(source: Path | bytes | str, name: str = "") -> Generator[Parsed]:
    """Opens a source and parses its beginning. The lines can be read while it is open.

    Raises `InputError` if it is missing, a directory, unreadable, empty, not text, or broken JSON.
    """
    stream, name = _open(source, name)
    with stream:
        _refuse_what_is_no_text(stream, name)
        yield _parse(stream, name)


def _open(source: Path | bytes | str, name: str) -> tuple[BinaryIO, str]:
    if isinstance(source, str) and not _is_text(source):
        source = Path(source)
    if isinstance(source, str):
        return BytesIO(source.encode(errors="replace")), name or "text"
    if isinstance(source, bytes):
        return BytesIO(source), name or "input"
    name = name or str(source)
    try:
        if source.is_dir():
            raise InputError(f"{name}: this is a directory; name one file in it")
        stream = cast("BinaryIO", source.open("rb"))
        return (stream if stream.seekable() else _held(stream)), name
    except FileNotFoundError:
        raise InputError(
            f"{name}: there is no such file; name the file of a recorded conversation"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{name}: the file cannot be read ({reason}); check it") from None


def _held(pipe: BinaryIO) -> BinaryIO:
    """All that comes out of a pipe: what is read twice must be held."""
    with pipe:
        return BytesIO(pipe.read())


def _is_text(source: str) -> bool:
    """Whether a string is a conversation itself and not the path of one."""
    return "\n" in source or source.lstrip("\ufeff \t\r")[:1] in ("{", "[") or not source


def _refuse_what_is_no_text(stream: BinaryIO, name: str) -> None:
    sample = stream.read(_SAMPLE)
    stream.seek(0)
    if not sample.strip(b"\xef\xbb\xbf \t\r\n\0") and len(sample) < _SAMPLE:
        raise InputError(f"{name}: the file is empty; name one that holds a conversation")
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{name}: the file is UTF-16; save it as UTF-8 and try again")
    text = sample.decode(errors="replace")
    if b"\0" in sample or text.count("\ufffd") > max(4, _MOST_STRAY * len(text)):
        raise InputError(f"{name}: the file is binary; expected JSON in UTF-8")


def _parse(stream: BinaryIO, name: str) -> Parsed:
    """Lines if the first is JSON and others follow, else a document; a broken one may be lines."""
    first, more = _first_line(stream)
    stream.seek(0)
    repairs: list[Repair] = []
    if more and _loads(first) is not None:
        del first
        return _as_lines(stream, name, repairs)
    del first
    text = _decode(stream.read(), 0, repairs)
    try:
        return Parsed(name, _strict(text), repairs=repairs)
    except (ValueError, RecursionError) as error:
        del text
        stream.seek(0)
        as_lines = _as_lines(stream, name, [])
        # A broken document may hold a line that is an object by itself; lines are mostly sound.
        if len(as_lines.head) > len(as_lines.repairs):
            return as_lines
        raise _broken(stream, name, error) from None


def _first_line(stream: BinaryIO) -> tuple[str, bool]:
    """The first line that is not blank, and whether another follows."""
    written = (raw for raw in stream if raw.strip(b"\xef\xbb\xbf \t\r\n"))
    first = next(written, b"")
    more = next(written, None) is not None
    return _decode(first, 0, []), more


def _as_lines(stream: BinaryIO, name: str, repairs: list[Repair]) -> Parsed:
    lines = _lines(stream, repairs)
    head = list(islice(lines, HEAD))
    return Parsed(name, None, head, chain(iter(head), lines), repairs)


def _lines(stream: BinaryIO, repairs: list[Repair]) -> Iterator[tuple[int, Object]]:
    """The objects on the lines, one by one; what is none is reported and left out."""
    broken = 0
    decoder = _sharing_decoder()
    for number, raw in enumerate(stream, start=1):
        if not raw.strip():
            continue
        if broken:
            repairs.append(Repair(f"line {broken}", "it is not valid JSON and was skipped"))
            broken = 0
        value = _loads(_decode(raw, number, repairs), decoder)
        if isinstance(value, dict):
            yield number, cast("Object", value)
        elif value is None and raw.strip() != b"null":
            broken = number
        else:
            repairs.append(Repair(f"line {number}", "it holds no JSON object and was skipped"))
    if broken:
        repairs.append(Repair(f"line {broken}", "the last line was cut off and left out"))


def _decode(raw: bytes, line: int, repairs: list[Repair]) -> str:
    """Text of bytes; a byte order mark is left out, bytes that are not UTF-8 are replaced."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        text = raw.decode(errors="replace")
        place = line or raw.count(b"\n", 0, error.start) + 1
        what = f"bytes that are not UTF-8 were replaced ({text.count(_REPLACEMENT)} places)"
        repairs.append(Repair(f"line {place}", what))
    return text.removeprefix("\ufeff")


_REPLACEMENT = "\ufffd"


def _loads(text: str, decoder: json.JSONDecoder | None = None) -> object:
    """The value of a JSON text; None if it is none."""
    try:
        return _strict(text, decoder)
    except (ValueError, RecursionError):
        return None


# Fields that say the same on every line of a log.
_REPEATED = frozenset(
    "type role name model provider api sessionId cwd version gitBranch slug userType stopReason "
    "status source action observation".split()
)


def _sharing_decoder() -> json.JSONDecoder:
    """A decoder whose values share their keys and repeated words from one line to the next.

    The standard one shares them within one text only; over many short lines that doubles the
    memory a conversation takes.
    """
    seen: dict[str, str] = {}

    def shared(pairs: list[tuple[str, Any]]) -> Object:
        return {
            seen.setdefault(key, key): (
                seen.setdefault(value, value)
                if key in _REPEATED and isinstance(value, str)
                else value
            )
            for key, value in pairs
        }

    return json.JSONDecoder(object_pairs_hook=shared)


def _strict(text: str, decoder: json.JSONDecoder | None = None) -> Any:
    value = decoder.decode(text) if decoder else json.loads(text)
    # Half an emoji, cut by a log's limit, could be neither counted, stored nor sent.
    return _whole_characters(value) if "\\ud" in text or "\\uD" in text else value


def _whole_characters(value: Any) -> Any:
    """The value with halves of characters (lone surrogates) replaced in all its strings."""
    match value:
        case str():
            halves = value.encode("utf-16", "surrogatepass")
            return value if value.isascii() else halves.decode("utf-16", "replace")
        case list():
            return [_whole_characters(item) for item in cast("list[Any]", value)]
        case dict():
            pairs = cast("Object", value).items()
            return {_whole_characters(key): _whole_characters(item) for key, item in pairs}
        case _:
            return value


def _broken(stream: BinaryIO, name: str, error: Exception) -> InputError:
    stream.seek(0)
    start = stream.read(200).decode(errors="replace").lstrip("\ufeff \t\r\n")
    if start[:1] not in ("{", "["):
        shown = start.splitlines()[0][:40]
        return UnknownFormat(
            f"{name}: line 1: expected JSON, found {shown!r}; name a recorded conversation"
        )
    if isinstance(error, json.JSONDecodeError):
        place, what = (
            f"line {error.lineno}, column {error.colno}",
            error.msg.lower().removesuffix(" starting at"),
        )
        if error.pos >= len(error.doc.rstrip()) or what.startswith("unterminated string"):
            what += " (was the file cut off?)"
        return InputError(f"{name}: {place}: the JSON is broken: {what}")
    return InputError(
        f"{name}: line 1: the JSON cannot be read: nested too deep, or a number too long"
    )
