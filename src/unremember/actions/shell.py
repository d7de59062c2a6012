"""Splits shell text into simple commands: quotes, here-documents, redirections, pipes.

It reads what agents write, not every script: substitutions are skipped over as part of a word, and
text that does not end properly is read to its end. Each character is looked at a fixed number of
times, however long the text is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

DEEPEST = 12
"""Nested substitutions are followed this deep; deeper ones are taken as plain characters."""

_BLANK = re.compile(r"(?:[ \t\r]++|\\\r?\n)++")
# Most words need no reading piece by piece.
_WHOLE = re.compile(
    r"[ \t\r]*+(?:([^\s'\"\\$`|&;<>()#\d][^\s'\"\\$`|&;<>()]*+)|'([^']*+)'"
    r"|\"([^\"\\$`]*+)\")(?=[\s|&;()]|\Z)"
)
_PLAIN = re.compile(r"[^\s'\"\\$`|&;<>()#]++")
_SINGLE = re.compile(r"'[^']*+'?")
_IN_DOUBLE = re.compile(r"[^\"\\$`]++")
_IN_SUBSTITUTION = re.compile(r"[^'\"\\$`()<\n]++")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;|[;|&\n()]")
_REDIRECT = re.compile(r"&>>?|\d*(?:<<<|<<-?|<>|>>|>\||>&|<&|<|>)")
_COMMENT = re.compile(r"[^\n]*+")
_BLANK_END = re.compile(r"[ \t\r]*+(?:\n|\Z)")
_HERE = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([\w.+-]+))")
_KEYWORDS = frozenset(("if", "then", "else", "elif", "do", "while", "until", "{", "!", "time"))
_CLOSERS = frozenset(("fi", "done", "esac", "}"))


@dataclass(frozen=True, slots=True)
class Simple:
    """One simple command. `outputs` are redirections (`>` or `>>`, target); `body` is its
    here-document; `piped` says that it reads what the one before it writes."""

    words: tuple[str, ...]
    outputs: tuple[tuple[str, str], ...] = ()
    inputs: tuple[str, ...] = ()
    body: str = ""
    piped: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """Shell text as simple commands, and `shown`: the text with here-documents left out."""

    commands: tuple[Simple, ...]
    shown: str


def split_shell(text: str) -> Script:
    """Reads shell text. Never raises; what cannot be understood becomes plain words."""
    reader = _Reader(text)
    reader.run()
    return Script(tuple(reader.commands), reader.shown())


@dataclass(slots=True)
class _Reader:
    text: str
    pos: int = 0
    commands: list[Simple] = field(default_factory=list[Simple])
    cuts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    breaks: list[int] = field(default_factory=list[int])
    words: list[str] = field(default_factory=list[str])
    outputs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    inputs: list[str] = field(default_factory=list[str])
    waiting: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    # Commands whose here-document has not been read yet are finished at the line's end.
    started: int = -1
    bodies: list[str] = field(default_factory=list[str])
    piped: bool = False

    def run(self) -> None:
        text, end = self.text, len(self.text)
        while self.pos < end:
            if found := _WHOLE.match(text, self.pos):
                self.words.append(found[found.lastindex or 1])
                self.pos = found.end()
            elif found := _BLANK.match(text, self.pos):
                self.pos = found.end()
            elif text[self.pos] == "#":
                self.pos = _end(_COMMENT, text, self.pos)
            elif found := _REDIRECT.match(text, self.pos):
                self.redirect(found[0], found.end())
            elif found := _OPERATOR.match(text, self.pos):
                self.pos = found.end()
                self.finish(pipe=found[0] in ("|", "|&"))
                if found[0] == "\n":
                    self.breaks.append(self.pos - 1)
                    self.read_bodies()
            else:
                self.words.append(self.word())
        self.finish(pipe=False)

    def word(self) -> str:
        """Reads one word, quotes removed."""
        text, pieces = self.text, list[str]()
        while self.pos < len(text):
            char = text[self.pos]
            if found := _PLAIN.match(text, self.pos):
                pieces.append(found[0])
                self.pos = found.end()
            elif char == "'":
                found = _SINGLE.match(text, self.pos)
                assert found is not None
                pieces.append(found[0].strip("'"))
                self.pos = found.end()
            elif char == '"':
                start = self.pos
                self.pos = end_of_double(text, start, 0)
                pieces.append(_unescape(text[start + 1 : self.pos].removesuffix('"')))
            elif char == "\\":
                pieces.append(text[self.pos + 1 : self.pos + 2])
                self.pos += 2
            elif char == "$" or char == "`":
                start = self.pos
                self.pos = end_of_dollar(text, start, 0)
                pieces.append(text[start : self.pos])
            elif char == "#" and pieces:
                pieces.append(char)
                self.pos += 1
            else:
                break
        return "".join(pieces)

    def redirect(self, sign: str, end: int) -> None:
        if (
            "<<" in sign
            and "<<<" not in sign
            and (here := _HERE.match(self.text, end - len(sign.lstrip("0123456789"))))
        ):
            self.waiting.append((here[2] or here[3] or here[4], bool(here[1])))
            self.pos = here.end()
            return
        # A file descriptor before the sign was read as a word of its own only if it stood apart.
        self.pos = _end(_BLANK, self.text, end)
        if self.text.startswith("(", self.pos):
            self.pos = end_of_substitution(self.text, self.pos + 1, 0)
            return
        target = self.word()
        if ">" in sign and sign[-1] != "&" and target:
            self.outputs.append((">>" if ">>" in sign else ">", target))
        elif sign.endswith("<") and sign != "<<<" and target:
            self.inputs.append(target)

    def finish(self, *, pipe: bool) -> None:
        words = self.words
        while words and words[0] in _KEYWORDS:
            del words[0]
        if (words and words[0] in _CLOSERS) or words[:1] in (["for"], ["case"], ["function"]):
            words = []
        if words or self.outputs:
            if self.waiting and self.started < 0:
                self.started = len(self.commands)
            self.commands.append(
                Simple(tuple(words), tuple(self.outputs), tuple(self.inputs), "", self.piped)
            )
        self.words, self.outputs, self.inputs, self.piped = [], [], [], pipe

    def read_bodies(self) -> None:
        """Reads the here-documents that were announced on the line that just ended."""
        if not self.waiting:
            return
        cut_from = self.pos - 1
        bodies = list[str]()
        for delimiter, tabs in self.waiting:
            start = self.pos
            stop, self.pos = find_body_end(self.text, start, delimiter, tabs=tabs)
            bodies.append(self.text[start:stop])
        self.cuts.append((cut_from, self.pos))
        if 0 <= self.started < len(self.commands):
            at = self.commands[self.started]
            self.commands[self.started] = Simple(
                at.words, at.outputs, at.inputs, "\n".join(bodies), at.piped
            )
        self.waiting, self.started = [], -1

    def shown(self) -> str:
        """One line for each line of commands: here-documents cut out, breaks in quotes blank."""
        starts = dict(self.cuts)
        rows, last = list[str](), 0
        for at in self.breaks:
            rows.append(self.text[last:at].replace("\n", " "))
            last = starts.get(at, at + 1)
        rows.append(self.text[last:].replace("\n", " "))
        return "\n".join(rows)


def find_body_end(text: str, start: int, delimiter: str, *, tabs: bool) -> tuple[int, int]:
    """Where a here-document ends, and where the text after its delimiter goes on."""
    at = start - 1
    while (at := text.find(delimiter, at + 1)) >= 0:
        # Only a delimiter at the beginning of its line counts; jump over the rest of the line.
        line = at
        while tabs and line > start and text[line - 1] == "\t":
            line -= 1
        end = at + len(delimiter)
        if line == start or text[line - 1] == "\n":
            rest = _BLANK_END.match(text, end)
            if rest:
                return line, rest.end()
            if text.startswith(")", end):
                return line, end
    return len(text), len(text)


def end_of_double(text: str, start: int, depth: int) -> int:
    """The place after a double-quoted piece that begins at `start`."""
    pos = start + 1
    while pos < len(text):
        char = text[pos]
        if char == '"':
            return pos + 1
        if char == "\\":
            pos += 2
        elif char in "$`":
            pos = end_of_dollar(text, pos, depth)
        else:
            pos = _end(_IN_DOUBLE, text, pos)
    return len(text)


def end_of_dollar(text: str, start: int, depth: int) -> int:
    """The place after `$(…)`, `${…}`, `$` or a piece in backticks."""
    if text[start] == "`":
        stop = text.find("`", start + 1)
        return stop + 1 if stop >= 0 else len(text)
    if text.startswith("$(", start) and depth < DEEPEST:
        return end_of_substitution(text, start + 2, depth + 1)
    if text.startswith("${", start):
        stop = text.find("}", start)
        return stop + 1 if stop >= 0 else len(text)
    return start + 1


def end_of_substitution(text: str, start: int, depth: int) -> int:
    """The place after the parenthesis that closes a substitution whose inside begins at `start`."""
    pos, opened = start, 1
    here: tuple[str, bool] | None = None
    while pos < len(text):
        char = text[pos]
        if char == "(":
            opened += 1
        elif char == ")":
            opened -= 1
            if not opened:
                return pos + 1
        if char == "'":
            pos = _end(_SINGLE, text, pos)
        elif char == '"':
            pos = end_of_double(text, pos, depth) if depth < DEEPEST else pos + 1
        elif char == "\\":
            pos += 2
        elif char in "$`":
            pos = end_of_dollar(text, pos, depth)
        elif char == "<" and (found := _HERE.match(text, pos)):
            here = (found[2] or found[3] or found[4], bool(found[1]))
            pos = found.end()
        elif char == "\n" and here:
            _, pos = find_body_end(text, pos + 1, here[0], tabs=here[1])
            here = None
        elif char in "()<\n":
            pos += 1
        else:
            pos = _end(_IN_SUBSTITUTION, text, pos)
    return len(text)


def _end(pattern: re.Pattern[str], text: str, pos: int) -> int:
    found = pattern.match(text, pos)
    return found.end() if found else pos


def _unescape(text: str) -> str:
    return re.sub(r"\\([\"\\$`])", r"\1", text) if "\\" in text else text
