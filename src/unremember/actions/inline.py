"""The files that a piece of Python or JavaScript, given to an interpreter, writes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unremember.actions.action import Action, clean_path

_CODE_WRITES = re.compile(
    r"""open\(\s*[rbf]?['"]([^'"\n]{1,300})['"]\s*,\s*(?:mode\s*=\s*)?['"]([wax]|r\+)"""
    r"""|Path\(\s*[rbf]?['"]([^'"\n]{1,300})['"]\s*\)\s*\.write_(?:text|bytes)"""
    r"""|(?:writeFileSync|writeFile|appendFileSync)\(\s*['"`]([^'"`\n]{1,300})['"`]"""
)
_CODE_VARIABLE = re.compile(
    r"""^[ \t]*(\w{1,60})\s*=\s*(?:Path\(\s*)?[rbf]?['"]([^'"\n]{1,300}\.\w{1,8})['"]""",
    re.MULTILINE,
)
_CODE_WRITES_VARIABLE = re.compile(
    r"""open\(\s*(\w{1,60})\s*,\s*(?:mode\s*=\s*)?['"](?:[wax]|r\+)"""
    r"""|(\w{1,60})\.write_(?:text|bytes)\("""
)
LONGEST_CODE = 200_000
"""Inline programs are searched for the files they write up to this length, in characters."""


def code_writes(code: str) -> Iterator[Action]:
    """The files that a piece of Python or JavaScript writes, as far as they are named in it."""
    code = code[:LONGEST_CODE]
    if "write" not in code and "open(" not in code:
        return
    paths: dict[str, None] = {}
    for found in _CODE_WRITES.finditer(code):
        paths[clean_path(found[1] or found[3] or found[4])] = None
    variables = {found[1]: found[2] for found in _CODE_VARIABLE.finditer(code)}
    for found in _CODE_WRITES_VARIABLE.finditer(code):
        if path := variables.get(found[1] or found[2]):
            paths[clean_path(path)] = None
    for path in paths:
        yield Action("edit", path)
