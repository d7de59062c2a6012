"""Globs as in ignore files: a pattern without a slash matches a name at any depth."""

from __future__ import annotations

import re
from collections.abc import Callable

from unremember.errors import ToolError

_PIECE = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|\{[^{}]*\}|[^*?\[{]+|.", re.DOTALL)


def compile_glob(glob: str) -> Callable[[str], bool]:
    """Tells whether a relative path matches. `**`, `{a,b}` and `[a-z]` are understood."""
    pattern = glob.removeprefix("./")
    anchored = "/" in pattern.rstrip("/")
    body = "".join(map(_translate, _PIECE.findall(pattern.strip("/"))))
    try:
        expression = re.compile(body if anchored else f"(?:.*/)?{body}", re.DOTALL)
    except re.error as error:
        raise ToolError(f"{glob!r} is no glob ({error}); use one such as **/*.py") from None
    return lambda path: expression.fullmatch(path) is not None


def _translate(piece: str) -> str:
    match piece[0], piece:
        case _, "**/":
            return "(?:.*/)?"
        case _, "**":
            return ".*"
        case _, "*":
            return "[^/]*"
        case _, "?":
            return "[^/]"
        case "[", _ if len(piece) > 1:
            inner = piece[1:-1].replace("\\", "\\\\")
            return f"[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
        case "{", _ if len(piece) > 1:
            return f"(?:{'|'.join(_whole(part) for part in piece[1:-1].split(','))})"
        case _:
            return re.escape(piece)


def _whole(glob: str) -> str:
    return "".join(map(_translate, _PIECE.findall(glob)))
