"""`read_file`: lines of a file, numbered, page by page; images for models that see."""

from __future__ import annotations

import base64
from pathlib import Path

from unremember.errors import ToolError
from unremember.formats.media import from_base64
from unremember.messages import handle
from unremember.prompts import prompt
from unremember.tools.base import Context, Output
from unremember.tools.define import tool
from unremember.tools.page import Page, cut_page
from unremember.tools.seen import digest
from unremember.tools.text import FileText, decode

LARGEST_IMAGE = 5 * 1024 * 1024
"""Bytes of an image that the strictest of the large providers takes."""

IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
"""The kinds of image that all large providers take."""

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x7fELF", "an ELF program"),
    (b"SQLite format 3\0", "an SQLite database"),
)


@tool(effect="reads", description=prompt("read_file"))
def read_file(context: Context, path: str, start_line: int = 1, end_line: int = 0) -> Output:
    """Shows lines of a file, or an image; `end_line` 0 is the end."""
    real = context.workspace.find(path)
    data = context.workspace.read(real).data
    file = decode(data)
    if file is None:
        return _show_binary(context, real, data)
    return _show_text(context, real, file, (start_line, end_line), digest(data))


def _show_text(
    context: Context, real: Path, file: FileText, wanted: tuple[int, int], content: str
) -> Output:
    name = context.workspace.show(real)
    lines = file.lines
    if wanted[0] > max(len(lines), 1):
        raise ToolError(f"{name} has {len(lines):,} lines; there is no line {wanted[0]:,}")
    if 0 < wanted[1] < wanted[0]:
        raise ToolError(f"end_line {wanted[1]} comes before start_line {wanted[0]}")
    page = cut_page(lines, *wanted, context.cap, context.count, context.ordinal)
    seen, span = context.state.seen, (page.first, page.last)
    moved, shown = seen.changed(real, content), seen.shown(real, span, page.text)
    seen.note(real, content, context.ordinal)
    # What another hand changed is named as the ledger reads it.
    note = f"\nNote: {name} changed outside since {handle(moved)}" if moved else ""
    if shown and context.sees(shown):
        return Output(f"{_title(name, page, content)}: unchanged since {handle(shown)}{note}")
    seen.show(real, span, page.text, context.ordinal)
    text = page.text.encode("utf-8", "replace").decode("utf-8")
    return Output(f"{_title(name, page, content)}{_extra(file)}\n{text}{_rest(page, wanted)}{note}")


def _title(name: str, page: Page, content: str) -> str:
    if not page.total:
        return f"[{name}@{content} is empty]"
    if page.is_whole:
        return f"[{name}@{content} {page.total:,} lines]"
    return f"[{name}@{content} lines {page.first}-{page.last} of {page.total:,}]"


def _extra(file: FileText) -> str:
    """What is unusual about a file: its encoding and its line ends."""
    unusual = [file.encoding] if file.encoding != "utf-8" else []
    if file.returns:
        unusual.append("CRLF" if len(file.returns) == file.text.count("\n") else "some CRLF")
    return f" ({', '.join(unusual)})" if unusual else ""


def _rest(page: Page, wanted: tuple[int, int]) -> str:
    stop = min(wanted[1] or page.total, page.total)
    if page.last >= stop:
        return ""
    return f"\n[{page.total - page.last:,} more lines; go on with start_line={page.last + 1}]"


def _show_binary(context: Context, real: Path, data: bytes) -> Output:
    name, kind = context.workspace.show(real), kind_of(data)
    what = f"{name} is {kind or 'a binary file'}, {len(data):,} bytes"
    context.state.seen.note(real, digest(data), context.ordinal)
    if kind not in IMAGES:
        return Output(f"{what}; it has no text to show. Use run_command with a program for it")
    image = from_base64("image", kind, base64.b64encode(data).decode("ascii"))
    what += f", {image.width} x {image.height} pixels" if image.width else ""
    if not context.sees_images:
        return Output(f"{what}; this model cannot see images")
    if len(data) > LARGEST_IMAGE:
        return Output(f"{what}; too large to be shown, make it smaller first")
    return Output(what, media=(image,))


def kind_of(data: bytes) -> str:
    """What a binary file is, by its first bytes; "" if that is not known."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), "")
