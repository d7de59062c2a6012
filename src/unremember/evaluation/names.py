"""Names that somebody coined: paths, identifiers, tests, hashes; and what else a call may quote.

These definitions serve to measure, and to nothing else. What compresses must not know them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_CHUNK = re.compile(r"[\w.@~/-]+")
_ESCAPED = re.compile(r"""\\[nrt"'\\]""")
"""Line breaks and quotes inside of JSON that stands in a text would stick to the next word."""

_EAST_ASIAN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_OTHERS = re.compile(rf"[^{_EAST_ASIAN}]+")
_GLUED = re.compile(rf"[{_EAST_ASIAN}]")
_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_HASH = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}")
_HUMP = re.compile(r"[^\W\d_A-Z][A-Z]")

_ENDINGS = frozenset(
    "py pyi ipynb js jsx mjs cjs ts tsx vue svelte go rs c h cc cpp hpp cs java kt scala swift rb"
    " php pl lua dart sh bash zsh ps1 sql md mdx rst txt json jsonl yaml yml toml ini cfg conf env"
    " xml html css scss csv tsv log lock proto nix patch diff service gradle tf mod sum".split()
)
"""What a file's name ends in. A dotted name with another ending is taken for an identifier."""

_EVERYDAY = frozenset(
    "os.path.join os.path.exists sys.stdout.write __init__ __main__ __name__ __file__ __future__"
    " node_modules site_packages dist_packages console.log JavaScript TypeScript GitHub".split()
)
"""Names of a language or its tools, which nobody needs a memory for."""

SHORTEST = 6
"""Characters of an identifier or file name below which it may be an everyday word."""


def names(text: str) -> set[str]:
    """The names in a text, without marks around them; a path without its first `/`."""
    return {name for chunk in _chunks(text) for name in _names_in(chunk)} - _EVERYDAY


def handholds(text: str) -> set[str]:
    """Everything in a text by which a name could be found there: words, parts and ends of paths."""
    found: set[str] = set()
    for chunk in _chunks(text):
        found.update(_suffixes(chunk))
        for segment in chunk.split("/"):
            found.add(segment)
            for word in _IDENTIFIER.findall(segment):
                found.add(word)
                found.update(word.split("."))
    return found


def stands(name: str, there: Collection[str]) -> bool:
    """Whether `there` (handholds of a text) holds a name, or what it can be told by.

    A path by its last two segments or the name of its file, a dotted name by its last part.
    """
    return any(way in there for way in _ways(name))


def _chunks(text: str) -> set[str]:
    found = set(_CHUNK.findall(_ESCAPED.sub(" ", text)))
    # Particles stick to names in Korean, and Chinese and Japanese have no spaces around them.
    mixed = [chunk for chunk in found if _GLUED.search(chunk)]
    found.update(run for chunk in mixed for run in _OTHERS.findall(chunk))
    return {bare for chunk in found if (bare := chunk.strip(".-@~/"))}


def _names_in(chunk: str) -> Iterator[str]:
    last = chunk.rpartition("/")[2]
    if _GLUED.search(last) and not _has_ending(last):
        return  # a name and what is glued to it; the name alone is a chunk too
    if "/" in chunk:
        if len(chunk) >= SHORTEST - 1 and re.search(r"[^\W\d_]{2}", chunk):
            yield chunk
        return
    if _is_file(chunk):
        yield chunk
        return
    for word in chunk.split("-"):
        if _HASH.fullmatch(word):
            yield word
        elif _IDENTIFIER.fullmatch(word) and (bare := _without_self(word)) and _is_coined(bare):
            yield bare


def _is_file(chunk: str) -> bool:
    return len(chunk) >= SHORTEST and _has_ending(chunk)


def _has_ending(chunk: str) -> bool:
    stem, dot, ending = chunk.rpartition(".")
    return bool(dot and stem) and ending in _ENDINGS


def _without_self(word: str) -> str:
    first, dot, rest = word.partition(".")
    return rest if dot and first in ("self", "cls", "this") else word


def _is_coined(word: str) -> bool:
    """Whether it looks made up: joined by underscores or humps, or dotted with such a part."""
    if len(word) < SHORTEST:
        return False
    parts = word.split(".")
    if len(parts) > 1:
        return len(parts) > 2 or any(map(_is_coined, parts))
    return "_" in word.strip("_") or bool(_HUMP.search(word))


def _suffixes(path: str) -> set[str]:
    segments = path.split("/")
    return {path, "/".join(segments[-2:])}


def _ways(name: str) -> Iterator[str]:
    yield name
    if "/" in name:
        yield "/".join(name.split("/")[-2:])
        last = name.rpartition("/")[2]
        if "." in last and len(last) >= SHORTEST:
            yield last
    elif not _is_file(name):
        last = name.rpartition(".")[2]
        if len(last) >= SHORTEST - 1:
            yield last


_QUOTED = re.compile(r"\"([^\"\n]{6,80})\"|'([^'\n]{6,80})'|`([^`\n]{6,80})`")
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]{3,}")
_WORDLIKE = re.compile(r"[^\W\d_]{3}")


def quotes(text: str) -> set[str]:
    """Strings between quotes that are no names and hold none, and long flags of commands."""
    found = set(_FLAG.findall(text))
    for groups in _QUOTED.findall(text):
        quoted = "".join(groups).strip()
        if _WORDLIKE.search(quoted) and not names(quoted):
            found.add(quoted)
    return found
