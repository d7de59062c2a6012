"""`write_file`: a new file, or a whole new content for one that was read."""

from __future__ import annotations

from unremember.errors import ToolError
from unremember.prompts import prompt
from unremember.tools.base import Context, Output
from unremember.tools.change import changed, diff_of, find_writable, put, refuse_stale
from unremember.tools.confirm import allow_blind_write
from unremember.tools.define import tool
from unremember.tools.text import FileText, decode, encode, splice


@tool(effect="writes", description=prompt("write_file"))
async def write_file(context: Context, path: str, content: str) -> Output:
    """Writes a whole file: a new one, or one that was read before."""
    real = find_writable(context, path)
    name = context.workspace.show(real)
    before = context.workspace.read(real) if context.workspace.exists(real) else None
    old = (decode(before.data) if before else None) or FileText("")
    data = _encoded(old, content)
    new = decode(data) or FileText(content)
    if before and before.data == data:
        raise ToolError(f"{name} already holds exactly this; nothing to change")
    diff = diff_of(name, old.lines, new.lines)
    if before:
        refuse_stale(context, real, before)
        if real not in context.state.seen.files:
            await allow_blind_write(context, "write_file", name, diff)
    content_now = await put(context, "write_file", real, before, data, diff)
    size = f"{len(new.lines):,} lines, {len(data):,} bytes"
    if before is None:
        # The model has just written these lines; only the user needs to see them.
        return Output(f"wrote {name}@{content_now}, new, {size}", diff=diff)
    return changed(f"wrote {name}@{content_now}, {size}", diff)


def _encoded(old: FileText, content: str) -> bytes:
    """The content as bytes: with the encoding, mark and line ends of the file that it replaces."""
    if "\r\n" in content:
        old = FileText(old.text, old.encoding, old.mark)
    try:
        return encode(splice(old, 0, len(old.text), content))
    except UnicodeEncodeError:
        return content.encode("utf-8", "surrogatepass")
