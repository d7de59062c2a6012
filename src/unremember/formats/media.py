"""Images, sounds and files inside messages: their kind, their size, and the way back to JSON."""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import replace
from struct import unpack
from typing import Any

from unremember.messages import Media, MediaKind

_DATA_URL = re.compile(r"data:([^;,]*)[^,]*,")

# Enough for the frame header behind a JPEG's colour profile and thumbnail; a multiple of 4.
_HEAD_CHARACTERS = 256 * 1024


def from_base64(kind: MediaKind, mime: str, data: str) -> Media:
    """Media that is given inline, as base64 without a prefix."""
    return _measured(Media(kind, mime, data=data), data)


def from_url(kind: MediaKind, url: str) -> Media:
    """Media that is given as a URL, be it inline (`data:`) or elsewhere."""
    found = _DATA_URL.match(url[:200])
    if not found:
        return Media(kind, data=url)
    return _measured(Media(kind, found[1], data=url), url[found.end() :])


def unknown(part: object) -> Media:
    """A part of a kind that is not known here, kept as its JSON."""
    return Media("other", data=json.dumps(part, ensure_ascii=False))


def kind_of(mime: str) -> MediaKind:
    """The kind of media that a MIME type names; what is no picture or sound is a document."""
    match mime.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case _:
            return "document"


def is_url(media: Media) -> bool:
    """Whether the media lies elsewhere and only its address is known."""
    return "://" in media.data[:20]


def data_url(media: Media) -> str:
    """The media as a URL: its own, or an inline one."""
    if is_url(media) or media.data.startswith("data:"):
        return media.data
    return f"data:{media.mime or 'application/octet-stream'};base64,{media.data}"


def inline_base64(media: Media) -> str:
    """The media's base64 without a prefix; empty if only its address is known."""
    if is_url(media):
        return ""
    found = _DATA_URL.match(media.data[:200])
    return media.data[found.end() :] if found else media.data


def original_part(media: Media) -> dict[str, Any]:
    """The JSON of a part of unknown kind."""
    part: dict[str, Any] = json.loads(media.data)
    return part


def placeholder(media: Media) -> str:
    """One line in place of media that cannot be written where it stands."""
    size = f" {media.width}×{media.height}" if media.width else ""
    return f"[{'part' if media.kind == 'other' else media.kind} not shown{size}]"


def _measured(media: Media, data: str) -> Media:
    size = len(data) * 3 // 4 - data[-2:].count("=")
    width, height = _dimensions(data) if media.kind == "image" else (0, 0)
    return replace(media, size=max(size, 0), width=width, height=height)


def _dimensions(data: str) -> tuple[int, int]:
    """Width and height in pixels of a PNG, GIF, WebP or JPEG in base64; zeros if unknown."""
    head = data[:_HEAD_CHARACTERS]
    try:
        raw = base64.b64decode(head[: len(head) // 4 * 4])
    except (binascii.Error, ValueError):
        return 0, 0
    if raw.startswith(b"\x89PNG\r\n\x1a\n") and len(raw) >= 24:
        return unpack(">II", raw[16:24])
    if raw.startswith((b"GIF87a", b"GIF89a")) and len(raw) >= 10:
        return unpack("<HH", raw[6:10])
    if raw.startswith(b"RIFF") and raw[8:12] == b"WEBP" and len(raw) >= 30:
        return _webp_dimensions(raw)
    if raw.startswith(b"\xff\xd8"):
        return _jpeg_dimensions(raw)
    return 0, 0


def _webp_dimensions(raw: bytes) -> tuple[int, int]:
    match raw[12:16]:
        case b"VP8 ":
            width, height = unpack("<HH", raw[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = unpack("<I", raw[21:25])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(
                raw[27:30], "little"
            )
        case _:
            return 0, 0


def _jpeg_dimensions(raw: bytes) -> tuple[int, int]:
    """Walks the segments to the frame header (SOF0 to SOF15, which are not DHT, JPG or DAC)."""
    at = 2
    while at + 9 <= len(raw) and raw[at] == 0xFF:
        marker = raw[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = unpack(">HH", raw[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(raw[at + 2 : at + 4], "big")
    return 0, 0
