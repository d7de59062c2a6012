"""Media are measured without decoding more than their head."""

from __future__ import annotations

import base64
from struct import pack

import pytest

from unremember.formats import media
from unremember.messages import Media

JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(9)
    + b"\xff\xc4\x00\x04\x00\x00"  # a Huffman table, which is no frame header
    + b"\xff\xc2\x00\x11\x08" + pack(">HH", 480, 640) + bytes(10)
)  # fmt: skip
WEBP = b"RIFF\x00\x00\x00\x00WEBP"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + pack(">II", 640, 480) + bytes(5), (640, 480)),
        (b"GIF89a" + pack("<HH", 640, 480) + bytes(3), (640, 480)),
        (JPEG, (640, 480)),
        (WEBP + b"VP8 " + bytes(10) + pack("<HH", 640, 480), (640, 480)),
        (WEBP + b"VP8L" + bytes(4) + b"\x2f" + pack("<I", 639 | 479 << 14) + bytes(9), (640, 480)),
        (WEBP + b"VP8X" + bytes(8) + b"\x7f\x02\x00\xdf\x01\x00", (640, 480)),
        (WEBP + b"????" + bytes(30), (0, 0)),
        (b"\xff\xd8\xff\xe0\x00\x00", (0, 0)),
        (b"not an image", (0, 0)),
    ],
)
def test_images_tell_their_measures(raw: bytes, expected: tuple[int, int]):
    """Width, height and size are read from the head of an inline image."""
    found = media.from_base64("image", "image/x", base64.b64encode(raw).decode())
    assert (found.width, found.height) == expected
    assert found.size == len(raw)


@pytest.mark.parametrize("data", ["", "a", "====", "%%%%", "데이터", "data:image/png;base64,%"])
def test_broken_data_is_kept_as_it_is(data: str):
    """Data that is no base64 is no reason to fail."""
    assert media.from_base64("image", "image/png", data).data == data
    assert media.from_url("image", data).data == data


def test_urls():
    """An address stays an address; inline data can be written both with and without a prefix."""
    far = media.from_url("image", "https://example.org/a.png")
    assert media.is_url(far)
    assert media.data_url(far) == "https://example.org/a.png"
    assert media.inline_base64(far) == ""
    near = media.from_url("image", "data:image/gif;base64,R0lGODlhAgADAAAA")
    assert (near.mime, near.width, near.height) == ("image/gif", 2, 3)
    assert media.inline_base64(near) == "R0lGODlhAgADAAAA"
    assert (
        media.data_url(media.from_base64("image", "image/gif", "R0lG"))
        == "data:image/gif;base64,R0lG"
    )


def test_kinds():
    """A MIME type names a kind; what is neither seen nor heard is a document."""
    kinds = [media.kind_of(f"{t}/x") for t in ("image", "audio", "video", "application", "")]
    assert kinds == ["image", "audio", "video", "document", "document"]


def test_placeholders_name_what_is_missing():
    """Where media cannot stand, one line says what was there."""
    assert media.placeholder(Media("image", width=2, height=3)) == "[image not shown 2×3]"
    assert media.placeholder(media.unknown({"type": "x"})) == "[part not shown]"
