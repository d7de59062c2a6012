"""The head of GGUF files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unremember.errors import UnknownModel
from unremember.models.gguf_file import read_head, trained_window


def text(value: str) -> bytes:
    """A string of the format."""
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(*pairs: tuple[str, int, bytes]) -> bytes:
    """A file with these keys."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs))
    return head + b"".join(text(key) + struct.pack("<I", kind) + raw for key, kind, raw in pairs)


WHOLE = gguf(
    ("general.architecture", 8, text("llama")),
    ("general.tags", 9, struct.pack("<IQ", 8, 2) + text("a") + text("b")),
    ("llama.rope.freq_base", 6, struct.pack("<f", 0.5)),
    ("llama.context_length", 4, struct.pack("<I", 32_768)),
    ("tokenizer.ggml.tokens", 9, b"never read"),
)


def test_the_window_is_read(tmp_path: Path):
    """The window stands under the name of the architecture; the vocabulary is not read."""
    file = tmp_path / "m.gguf"
    file.write_bytes(WHOLE)
    head = read_head(file)
    assert trained_window(head) == 32_768
    assert head["llama.rope.freq_base"] == 0.5
    assert "tokenizer.ggml.tokens" not in head


@given(at=st.integers(0, len(WHOLE) - 1), byte=st.integers(0, 255), cut=st.booleans())
def test_damage_is_survived(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int, cut: bool
):
    """A damaged or short file says less, or that it is none; nothing else happens."""
    file = tmp_path_factory.mktemp("gguf") / "m.gguf"
    file.write_bytes(WHOLE[:at] if cut else WHOLE[:at] + bytes([byte]) + WHOLE[at + 1 :])
    if file.read_bytes()[:4] == b"GGUF":
        assert trained_window(read_head(file)) >= 0
    else:
        with pytest.raises(UnknownModel, match="no GGUF file"):
            read_head(file)
