"""Sentences that state a rule: what must, must not, should always or never be done.

A rule is recognised by the words with which people oblige one another, in the languages of our
users; the list is of whole words (stems in languages without spaces).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORDS = (
    # English
    r"\b(?:must(?:n't)?|shall|should(?:n't)?|never|always|only|don'?t|do not|can ?not|can't)\b"
    r"|\b(?:may not|won't|make sure|ensure|important|require[sd]?|need(?:s|ed)? to|no need|avoid)\b"
    r"|\b(?:without|instead|rather than|prefer|keep|remember|forbidden|mandatory|please|except)\b"
    r"|\b(?:at (?:least|most)|unless|not allowed)\b"
    # German, French, Spanish, Portuguese, Italian
    r"|\b(?:muss|müssen|nicht|niemals|nie|immer|nur|bitte|darf|dürfen|soll(?:te)?|ohne|statt)\b"
    r"|\b(?:keine?[nr]?|doit|doivent|jamais|toujours|seulement|pas|sans|éviter|veuillez|il faut)\b"
    r"|\b(?:debe[ns]?|nunca|siempre|s[oó]lo|por favor|evit[ae]r?|sin|hay que)\b"
    r"|\bno (?:uses?|toques?|cambies?)\b"
    r"|\b(?:deve|devem|sempre|apenas|sem|mai|solo|senza|evitare)\b"
    # Russian
    r"|(?:долж|нельзя|никогда|всегда|только|обязательно|не надо|без |пожалуйста)"
    # Chinese
    r"|不要|必须|必須|不能|不得|不可|禁止|只|务必|務必|请|請|确保|確保|应该|應該|別|别|勿"
    r"|避免|保持|总是|永远|一定"
    # Japanese
    r"|ないで|ください|下さい|必ず|のみ|だけ|べき|いけない|ならない|しない|常に|決して|できるだけ"
    # Korean
    r"|하지 ?마|지 ?마|해야|반드시|만 |금지|말고|말 것|해줘|해 줘|주세요|항상|절대|않도록"
    r"|하지 않|유지"
)
_RULE = re.compile(_WORDS, re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_LOOKED_AT = 2_000
"""Characters of a sentence that are looked at; longer ones are data, not rules."""


def is_rule(sentence: str) -> bool:
    """Whether a sentence obliges somebody to something."""
    return len(sentence) <= _LOOKED_AT and bool(_RULE.search(sentence))


def sentences(line: str) -> Iterator[str]:
    """The sentences of a line, word for word, in order."""
    start = 0
    for end in _END.finditer(line):
        if end.start() > start:
            yield line[start : end.start()]
        start = end.end()
    if start < len(line):
        yield line[start:]
