"""Files as text and back, byte for byte where nothing was changed: encodings, marks, line ends."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from dataclasses import dataclass, replace

LOOKED_AT = 8_192
"""Bytes at the beginning of a file that decide whether it is binary, as version control does."""

_MARKS: tuple[tuple[bytes, str], ...] = (
    # The longer marks first: the mark of UTF-32 begins like that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Scripts by the code points that a text in them is mostly made of.
_HANGUL = ((0xAC00, 0xD7A4), (0x3130, 0x3190))
_KANA = ((0x3040, 0x3100),)
_HAN = ((0x4E00, 0xA000), (0x3000, 0x3040), (0xFF00, 0xFFF0))
_CYRILLIC = ((0x0400, 0x0500),)

# Encodings from before UTF-8, each with the scripts that show it was the right guess, and the
# share of characters beyond ASCII that must be in them. The first that fits is taken: small
# character sets before the large ones that hold them, in which almost any bytes mean something.
_OLD: tuple[tuple[str, tuple[tuple[int, int], ...], float], ...] = (
    ("euc_kr", _HANGUL, 0.8),
    ("euc_jp", _KANA, 0.3),
    ("shift_jis", _KANA, 0.3),
    ("gb2312", _HAN, 0.9),
    ("big5", _HAN, 0.9),
    ("cp949", _HANGUL, 0.8),
    ("gb18030", _HAN, 0.9),
    ("cp1251", _CYRILLIC, 0.9),
)

# An accented letter of a western text, read as another script, stands amid Latin letters.
_MIXED = re.compile(r"[A-Za-z][\u0400-\u04ff]|[\u0400-\u04ff][A-Za-z]")


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text with line ends `\\n` only, and what is needed to write it back as it was.

    `returns` are the places of the line ends that are `\\r\\n` in the file.
    """

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    returns: tuple[int, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Its lines, without line ends; a file of no bytes has none."""
        lines = self.text.split("\n")
        return lines[:-1] if lines[-1] == "" else lines


def decode(data: bytes) -> FileText | None:
    """The text of a file; None if it is binary."""
    for mark, encoding in _MARKS:
        if data.startswith(mark) and (text := _decoded(data[len(mark) :], encoding)) is not None:
            return _with_plain_ends(FileText(text, encoding, mark))
    if b"\0" in data[:LOOKED_AT]:
        return None
    if (text := _decoded(data, "utf-8")) is not None:
        return _with_plain_ends(FileText(text))
    encoding = _guess(data)
    return _with_plain_ends(FileText(data.decode(encoding, "surrogateescape"), encoding))


def encode(file: FileText) -> bytes:
    """The bytes of a file's text. Raises `UnicodeEncodeError` for what it cannot write."""
    text = file.text
    if file.returns:
        pieces: list[str] = []
        last = 0
        for place in file.returns:
            pieces += (text[last:place], "\r")
            last = place
        text = "".join((*pieces, text[last:]))
    return file.mark + text.encode(file.encoding, "surrogateescape")


def splice(file: FileText, start: int, end: int, new: str) -> FileText:
    """The file with the characters from `start` to `end` replaced.

    What is the same in old and new at both ends stays as it is, so that only lines that really
    change get new line ends: those of the line where the change begins, else the file's.
    """
    old = file.text[start:end]
    same = _common(old, new)
    start, old, new = start + same, old[same:], new[same:]
    same = _common(old[::-1], new[::-1])
    if same:
        end, new = end - same, new[:-same]
    before, behind = bisect_left(file.returns, start), bisect_left(file.returns, end)
    kept = file.returns[behind:]
    added: tuple[int, ...] = ()
    if _returns_at(file, start):
        added = tuple(start + at for at, letter in enumerate(new) if letter == "\n")
    shift = len(new) - (end - start)
    return replace(
        file,
        text=file.text[:start] + new + file.text[end:],
        returns=(*file.returns[:before], *added, *(place + shift for place in kept)),
    )


def _returns_at(file: FileText, place: int) -> bool:
    """Whether a line that begins at `place` should end with `\\r\\n`."""
    if not file.returns:
        return False
    next_end = file.text.find("\n", place)
    if next_end < 0:
        next_end = file.text.rfind("\n", 0, place)
    at = bisect_left(file.returns, next_end)
    return at < len(file.returns) and file.returns[at] == next_end


def _common(one: str, other: str) -> int:
    """How many characters two texts share at their beginning."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    return next(at for at in range(most) if one[at] != other[at])


def _with_plain_ends(file: FileText) -> FileText:
    if "\r\n" not in file.text:
        return file
    places: list[int] = []
    at = file.text.find("\r\n")
    while at >= 0:
        places.append(at - len(places))
        at = file.text.find("\r\n", at + 2)
    return replace(file, text=file.text.replace("\r\n", "\n"), returns=tuple(places))


def _decoded(data: bytes, encoding: str) -> str | None:
    """The text, if it decodes and encodes to the very same bytes again."""
    try:
        text = data.decode(encoding)
        return text if text.encode(encoding) == data else None
    except UnicodeError:
        return None


def _guess(data: bytes) -> str:
    """The encoding of text that is no valid UTF-8; at last UTF-8 with some broken bytes."""
    if _mostly_utf8(data):
        return "utf-8"
    for encoding, scripts, share in _OLD:
        if (text := _decoded(data, encoding)) is None:
            continue
        wide = [ord(letter) for letter in text if letter > "\x7f"]
        within = sum(any(low <= code < high for low, high in scripts) for code in wide)
        if within >= share * len(wide) and not _MIXED.search(text):
            return encoding
    return "cp1252" if _decoded(data, "cp1252") is not None else "utf-8"


def _mostly_utf8(data: bytes) -> bool:
    """Whether most of what is beyond ASCII is whole characters of UTF-8."""
    text = data.decode("utf-8", "surrogateescape")
    broken = sum("\udc80" <= letter <= "\udcff" for letter in text)
    whole = sum(letter > "\x7f" and not "\udc80" <= letter <= "\udcff" for letter in text)
    return whole > 2 * broken
