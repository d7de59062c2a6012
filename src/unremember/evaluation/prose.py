"""Sentences that oblige, lines that report a failure, and short phrases: each in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts in which words are written without spaces: Han, Hiragana, Katakana."""

_DENSE = re.compile(rf"[{SPACELESS}\uac00-\ud7af]")

_OBLIGES = re.compile(
    # English; the other languages without word ends, which they join to the word.
    r"\b(?:must|have to|has to|never|always|only|do not|don['’]t|should|shall|can ?not|can['’]t"
    r"|make sure|ensure|important|require[ds]?|avoid|without|instead|no need|keep|please|prefer)\b"
    r"|不要|不能|不得|不可|必须|必須|务必|務必|禁止|应该|應該|请|請|只能|只要|只|避免|一律"
    r"|ないで|ください|下さい|必ず|のみ|だけ|べき|いけません|なりません|してはいけ|確保"
    r"|하지 ?마|지 ?마세요|해야|반드시|금지|말고|주세요|해 ?줘|만 |절대|항상|않도록",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
_SHORTEST, _SHORTEST_DENSE, _LONGEST = 15, 7, 300
"""Characters of a sentence; Chinese, Japanese and Korean say the same in half as many."""


def obligations(text: str) -> Iterator[str]:
    """The sentences of a text in which somebody is obliged to something, word for word."""
    for line in text.splitlines():
        for raw in _SENTENCE_END.split(line.strip(" \t-*#>•")):
            sentence = raw.strip()
            least = _SHORTEST_DENSE if _DENSE.search(sentence) else _SHORTEST
            if least <= len(sentence) <= _LONGEST and _OBLIGES.search(sentence):
                yield sentence


_FAILS = re.compile(
    r"\b\w*(?:Error|Exception|Failure|Panic)\b\s?[:(]|\b[eE]rror(?:\[\w+\])?:"
    r"|\bE(?:RROR|RR!)\s?[:\]]|(?:^|\s)E(?:RROR|RR!) |\bFAIL(?:ED|URE)?\b|\bfatal:"
    r"|\bpanic(?:ked\b|:)|\bTraceback \(|\b[Ss]egmentation fault|command not found"
    r"|No such file or directory|[Pp]ermission denied|\bundefined(?::| reference)"
    r"|: (?:cannot|can't|could not) \w+"
)
_LISTED = re.compile(r"\s*\d+\s?[\t→|│]")
"""A line of a file that was read, with its number: it tells what is written there."""

_CODE = re.compile(
    r"(?:[+-]\s*|[\w./-]+:\d+[:-]\s*)?"
    r"(?:raise|throw|except|catch|class|import|from|return|if|elif|assert|with|def|#|//|\|)(?!\w)"
)


def failures(text: str) -> Iterator[str]:
    """The lines of a tool's result that report a failure, in order.

    A line of source code that only raises or catches one reports nothing.
    """
    for raw in text.splitlines():
        line = raw.strip()
        reports = 10 <= len(line) <= _LONGEST and _FAILS.search(line)
        if reports and not _LISTED.match(line) and not _CODE.match(line):
            yield line


_UNIT = re.compile(rf"[{SPACELESS}]|(?:(?![{SPACELESS}])\w)+")
_WORD, _SIGN, _FULL = 2, 1, 6
"""Three words make a phrase, and so do six signs of a script without spaces."""


def phrases(text: str) -> Iterator[str]:
    """Every run of three words (six signs where there are no spaces), in small letters."""
    units = _UNIT.findall(text.lower())
    for start in range(len(units)):
        size, end = 0, start
        while size < _FULL and end < len(units):
            size += _SIGN if _is_sign(units[end]) else _WORD
            end += 1
        if size >= _FULL:
            yield " ".join(units[start:end])


def telling_phrases(text: str) -> set[str]:
    """The phrases that say something: at least two longer words, or signs."""
    return {phrase for phrase in phrases(text) if _tells(phrase)}


def _tells(phrase: str) -> bool:
    units = phrase.split(" ")
    if any(map(_is_sign, units)):
        return True
    # A Korean syllable is a block of two or three letters.
    return sum(len(unit) >= (3 if _DENSE.search(unit) else 5) for unit in units) >= 2


def found_phrases(wanted: AbstractSet[str], text: str) -> set[str]:
    """Which of the wanted phrases stand in a text."""
    return {phrase for phrase in phrases(text) if phrase in wanted} if wanted else set()


def _is_sign(unit: str) -> bool:
    return len(unit) == 1 and _DENSE.match(unit) is not None and not "\uac00" <= unit <= "\ud7af"
