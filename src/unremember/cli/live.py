"""What a run shows while it goes on: the answer as it is written, tools, diffs, a spinner.

The model's words go to standard output, everything about the run to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from threading import RLock
from typing import Any, cast

from unremember.cli.output import one_line, put
from unremember.cli.screen import cut, percent, width
from unremember.events import (
    CalledModel,
    Compressed,
    Counted,
    Event,
    InstructionsChanged,
    LimitLearned,
    PrefixBroken,
    RanTool,
    Recalled,
    Refused,
    Shortened,
    Unconfined,
)
from unremember.messages import handle
from unremember.models.base import Delta
from unremember.tools.output import plain_text

GREEN, RED, CYAN, DIM, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[36m", "\x1b[2m", "\x1b[0m"
FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Live:
    """The screen of a run. `counted` are the weights of all requests so far, in tokens."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._colours = self._terminal and not os.environ.get("NO_COLOR")
        self._lock = RLock()
        self._fresh = True
        self._spinning = False
        self._frame = 0
        self._status = ""
        self.counted: list[int] = []

    def show(self, item: Event | Delta) -> None:
        """Takes what happens in a run."""
        with self._lock:
            match item:
                case Delta(again=True):
                    self.line("[the connection broke; the answer begins anew]")
                case Delta(text=text):
                    self.words(text)
                case Counted(tokens, limit):
                    self.counted.append(tokens)
                    share = percent(tokens, limit)
                    self._status = f"context {tokens:,} of {limit:,} tokens, {share}"
                case _:
                    for text in told(item):
                        self.line(text)

    def words(self, text: str) -> None:
        """Words of the model, as they come."""
        if not text or self._quiet:
            return
        with self._lock:
            self._clear()
            put(plain_text(text.encode("utf-8", "replace")), sys.stdout)
            self._fresh = text.endswith("\n")

    def output(self, text: str) -> None:
        """What a command prints, while it runs."""
        if self._quiet or not self._terminal:
            return
        for row in plain_text(text.encode("utf-8", "replace")).splitlines():
            self.line(f"  {row}", DIM)

    def line(self, text: str, colour: str = "") -> None:
        """One line about the run."""
        if self._quiet:
            return
        with self._lock:
            self._clear()
            self.end_words()
            shown = cut(text.rstrip(), width()) if self._terminal else text
            put(self._in(colour, shown) + "\n", sys.stderr)

    def diff(self, diff: str) -> None:
        """A diff, in colour on a terminal."""
        for row in diff.splitlines():
            colour = {"+": GREEN, "-": RED, "@": CYAN}.get(row[:1], "")
            # Control characters in a file must not steer the terminal; its indentation stays.
            self.line(row[:1] + plain_text(row[1:].encode("utf-8", "replace")), colour)

    def end_words(self) -> None:
        """Begins a new line where the model's words ended within one."""
        with self._lock:
            if not self._fresh:
                put("\n", sys.stdout)
                self._fresh = True

    def turn(self) -> None:
        """Draws the spinner's next picture, on a terminal and where no words stand."""
        with self._lock:
            if self._quiet or not self._terminal or not self._fresh:
                return
            self._frame += 1
            text = cut(f"{FRAMES[self._frame % len(FRAMES)]} {self._status}", width() - 1)
            put(f"\r\x1b[K{self._in(DIM, text)}", sys.stderr)
            self._spinning = True

    def stop(self) -> None:
        """Ends the spinner and the model's line."""
        with self._lock:
            self._clear()
            self.end_words()

    def _clear(self) -> None:
        if self._spinning:
            put("\r\x1b[K", sys.stderr)
            self._spinning = False

    def _in(self, colour: str, text: str) -> str:
        return f"{colour}{text}{PLAIN}" if colour and self._colours else text


class JsonLines:
    """The same as lines of JSON on standard output: one event a line, the model's words whole."""

    def __init__(self) -> None:
        self._words: list[str] = []

    def show(self, item: Event | Delta) -> None:
        """Takes what happens in a run."""
        match item:
            case Delta(again=True):
                self._words.clear()
            case Delta(text=text):
                self._words.append(text)
            case CalledModel():
                self.write("said", {"text": "".join(self._words)})
                self._words.clear()
                self.write("CalledModel", _fields(item))
            case _:
                self.write(type(item).__name__, _fields(item))

    def write(self, event: str, fields: dict[str, Any]) -> None:
        """One line."""
        put(json.dumps({"event": event, **fields}, ensure_ascii=False) + "\n", sys.stdout)


def _fields(event: Event) -> dict[str, Any]:
    return {name: cast("object", getattr(event, name)) for name in event.__dataclass_fields__}


def told(event: Event) -> Iterator[str]:
    """What an event is in words; nothing for those that only machines need."""
    match event:
        case Compressed(before, after, _, reason):
            yield f"● compressed: {before:,} → {after:,} tokens ({reason})"
        case RanTool(ordinal, name, arguments, failed):
            mark = "✗" if failed else "✓"
            yield f"{mark} {handle(ordinal)} {one_line(name)} {one_line(arguments)}"
        case CalledModel(notes=notes):
            yield from (f"● {note}" for note in notes)
        case Refused(strategy, reason):
            yield f"● a compression by {strategy} was not taken: {reason}"
        case Shortened(ordinal, before, after):
            yield f"● your message {handle(ordinal)} was cut: {before:,} → {after:,} tokens"
        case Recalled(name, tokens):
            yield f"● recalled {name}: {tokens:,} tokens"
        case Unconfined(reason):
            yield f"● commands run with your rights and with network: {reason}"
        case PrefixBroken(reason):
            yield f"● the provider's cache begins anew: {reason}"
        case InstructionsChanged(path, change):
            yield f"● project instructions {change}: {path}"
        case LimitLearned(before, after, words):
            yield f"● the provider said it was too long; limit {before:,} → {after:,} ({words})"
        case _:
            pass
