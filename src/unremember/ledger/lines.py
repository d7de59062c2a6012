"""The ledger as lines of text for a model to read, and back again.

One record is one line, and each begins with a word that says what it is. What is not plain stands
in JSON quotes, so that `parse(lines(ledger)) == ledger` for every ledger.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import cast, get_args

from unremember.actions import Outcome, PlanItem, PlanState
from unremember.errors import InputError
from unremember.ledger.records import (
    Attempt,
    CommandRecord,
    EditMark,
    ErrorRecord,
    FileRecord,
    Ledger,
    Range,
    TestRecord,
)
from unremember.messages import handle

_ODD = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff"
"""Characters that end a line somewhere, cannot be encoded, or are taken off by a strip."""

_PLAIN_WORD = re.compile(rf"[^\s\"{_ODD}]+(?<!:)")
_PLAIN_REST = re.compile(rf"[^\"{_ODD}][^{_ODD}]*")
_UNSAFE = re.compile(rf"[{_ODD}]")
_QUOTED = re.compile(r'"(?:[^"\\]++|\\.)*+"')


def lines(ledger: Ledger) -> tuple[str, ...]:
    """One line for each record, grouped: files, commands, tests, attempts, errors, plan."""
    return tuple(_lines(ledger))


def _lines(ledger: Ledger) -> Iterator[str]:
    if ledger.root:
        yield f"root {_rest(ledger.root)}"
    yield from map(_file_line, ledger.files)
    yield from map(_command_line, ledger.commands)
    yield from map(_test_line, ledger.tests)
    yield from map(_attempt_line, ledger.attempts)
    for error in ledger.errors:
        yield f"error {handle(error.ordinal)}: {_rest(error.line)}"
    for item in ledger.plan:
        name = _word(item.id)
        name = "" if not item.id else f" #{name}" if name == item.id else f" # {name}"
        yield f"plan {handle(item.ordinal)} {item.state}{name}: {_rest(item.text)}"
    if ledger.recent:
        # Of no use to a reader; one line keeps them cheap.
        yield " ".join(
            ["marks", *(f"{handle(m.ordinal)} {_word(m.digest)}" for m in ledger.recent)]
        )


def _file_line(file: FileRecord) -> str:
    words = ["file", _word(file.path)]
    if file.read or file.ranges or file.reads:
        words += ["read", handle(file.read)]
        if file.ranges:
            words.append(",".join(f"{first}-{last or ''}" for first, last in file.ranges))
        words += _times(file.reads)
    if file.written:
        words += ["written", handle(file.written)]
    if file.edited or file.edits:
        words += ["edited", handle(file.edited), *_times(file.edits)]
    if file.changed:
        words += ["changed-outside", handle(file.changed)]
    if file.deleted:
        words += ["deleted", handle(file.deleted)]
    if file.moved or file.to:
        words += ["moved", handle(file.moved), _word(file.to)]
    return " ".join(words)


def _command_line(command: CommandRecord) -> str:
    words = ["ran", handle(command.ordinal)]
    if command.exit_status is not None:
        words.append(f"exit={command.exit_status}")
    # A status says it already, except where a pipe or a tool hides it.
    if command.failed != bool(command.exit_status):
        words.append("failed" if command.failed else "well")
    words += _times(command.times)
    if command.unknown:
        words.append("outcome-unknown")
    if command.side_effects:
        words.append("side-effects")
    return f"{' '.join(words)}: {_rest(command.command)}"


def _test_line(test: TestRecord) -> str:
    words = ["test", handle(test.ordinal), test.outcome]
    if test.before or test.before_ordinal:
        words.append(f"before={test.before or 'unknown'}@{handle(test.before_ordinal)}")
    words += _times(test.times)
    if test.written:
        words.append("own")
    if test.detail:
        words.append(_quote(test.detail))
    return f"{' '.join(words)}{' $' if test.is_command else ''}: {_rest(test.name)}"


def _attempt_line(attempt: Attempt) -> str:
    words = ["tried", handle(attempt.tried), _word(attempt.how), handle(attempt.ended)]
    return f"{' '.join([*words, *_times(attempt.times)])}: {_rest(attempt.what)}"


def _times(count: int) -> list[str]:
    return [] if count == 1 else [f"x{count}"]


def _word(text: str) -> str:
    """A text as one word: as it is where it is plain, else in JSON quotes."""
    return text if _PLAIN_WORD.fullmatch(text) else _quote(text)


def _rest(text: str) -> str:
    """A text at the end of a line: as it is where it is plain, else in JSON quotes."""
    return text if text == text.strip() and _PLAIN_REST.fullmatch(text) else _quote(text)


def _quote(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def parse(written: Iterable[str]) -> Ledger:
    """The ledger that `lines` wrote; raises `InputError` for a line that it did not write."""
    root = ""
    files: list[FileRecord] = []
    commands: list[CommandRecord] = []
    tests: list[TestRecord] = []
    attempts: list[Attempt] = []
    errors: list[ErrorRecord] = []
    plan: list[PlanItem] = []
    recent: list[EditMark] = []
    for line in written:
        reader = _Words(line)
        try:
            match reader.word():
                case "root":
                    root = reader.rest()
                case "file":
                    files.append(_read_file(reader))
                case "ran":
                    commands.append(_read_command(reader))
                case "test":
                    tests.append(_read_test(reader))
                case "tried":
                    attempts.append(_read_attempt(reader))
                case "error":
                    ordinal = reader.ordinal()
                    errors.append(ErrorRecord(reader.rest(), ordinal))
                case "plan":
                    plan.append(_read_plan_item(reader))
                case "marks":
                    while reader.more:
                        ordinal = reader.ordinal()
                        recent.append(EditMark(reader.word(), ordinal))
                case word:
                    raise ValueError(f"it begins with {word!r}")
        except ValueError as reason:
            raise InputError(
                f"not a line of a ledger: {line[:60]!r} ({reason}); "
                "give the lines as they were written"
            ) from None
    return Ledger(
        root,
        tuple(files),
        tuple(commands),
        tuple(tests),
        tuple(attempts),
        tuple(errors),
        tuple(plan),
        tuple(recent),
    )


class _Words:
    """Takes a line apart, word by word; a word may stand in JSON quotes."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self.quoted = False

    @property
    def more(self) -> bool:
        """Whether another word follows before the last field, which stands behind a colon."""
        return self._at < len(self._line) and not self._line.startswith(": ", self._at)

    def word(self) -> str:
        if self._line.startswith(" ", self._at):
            self._at += 1
        found = _QUOTED.match(self._line, self._at)
        self.quoted = found is not None
        if found:
            self._at = found.end()
            return cast("str", json.loads(found[0]))
        if self._line.startswith('"', self._at):
            raise ValueError("a quote is not closed")
        end = self._line.find(" ", self._at)
        end = len(self._line) if end < 0 else end
        word = self._line[self._at : end]
        if word.endswith(":") and end < len(self._line):
            word, end = word[:-1], end - 1
        if not word:
            raise ValueError("a word is missing")
        self._at = end
        return word

    def ordinal(self) -> int:
        return _ordinal(self.word())

    def rest(self) -> str:
        """The last field: everything behind the colon, or behind the kind word."""
        rest = self._line[self._at :]
        rest = rest[2:] if rest.startswith(": ") else rest[1:]
        return cast("str", json.loads(rest)) if rest.startswith('"') else rest


def _ordinal(word: str) -> int:
    if not re.fullmatch(r"m\d+", word):
        raise ValueError(f"{word!r} is no handle")
    return int(word[1:])


def _count(word: str) -> int | None:
    return int(word[1:]) if re.fullmatch(r"x\d+", word) else None


def _read_file(reader: _Words) -> FileRecord:
    path = reader.word()
    values: dict[str, int] = {}
    ranges: tuple[Range, ...] = ()
    to = ""
    while reader.more:
        word = reader.word()
        if (count := _count(word)) is not None:
            values["edits" if "edits" in values else "reads"] = count
        elif re.fullmatch(r"(?:-?\d+--?\d*,?)+", word):
            ranges = tuple(_read_range(piece) for piece in word.split(","))
        elif word in ("read", "written", "edited", "changed-outside", "deleted", "moved"):
            values[word.removesuffix("-outside")] = reader.ordinal()
            if word in ("read", "edited"):
                values["reads" if word == "read" else "edits"] = 1
            if word == "moved":
                to = reader.word()
        else:
            raise ValueError(f"{word!r} has no meaning in it")
    return FileRecord(path, ranges=ranges, to=to, **values)


def _read_range(text: str) -> Range:
    found = re.fullmatch(r"(-?\d+)-(-?\d*)", text)
    if not found:
        raise ValueError(f"{text!r} is no range of lines")
    return int(found[1]), int(found[2] or 0)


def _read_command(reader: _Words) -> CommandRecord:
    ordinal = reader.ordinal()
    status: int | None = None
    failed: bool | None = None
    times, effects, unknown = 1, False, False
    while reader.more:
        word = reader.word()
        if found := re.fullmatch(r"exit=(-?\d+)", word):
            status = int(found[1])
        elif (count := _count(word)) is not None:
            times = count
        elif word in ("failed", "well"):
            failed = word == "failed"
        elif word == "side-effects":
            effects = True
        elif word == "outcome-unknown":
            unknown = True
        else:
            raise ValueError(f"{word!r} has no meaning in it")
    failed = bool(status) if failed is None else failed
    return CommandRecord(reader.rest(), ordinal, status, failed, times, effects, unknown)


def _outcome(word: str) -> Outcome:
    if word not in get_args(Outcome):
        raise ValueError(f"{word!r} is no outcome")
    return cast("Outcome", word)


def _read_test(reader: _Words) -> TestRecord:
    ordinal, outcome = reader.ordinal(), _outcome(reader.word())
    before: Outcome | None = None
    before_ordinal, times = 0, 1
    detail, is_command, own = "", False, False
    while reader.more:
        word = reader.word()
        if reader.quoted:
            detail = word
        elif found := re.fullmatch(r"before=(\w+)@(m\d+)", word):
            before = None if found[1] == "unknown" else _outcome(found[1])
            before_ordinal = _ordinal(found[2])
        elif (count := _count(word)) is not None:
            times = count
        elif word == "own":
            own = True
        elif word == "$":
            is_command = True
        else:
            raise ValueError(f"{word!r} has no meaning in it")
    name = reader.rest()
    return TestRecord(
        name, outcome, ordinal, before, before_ordinal, detail, times, is_command, own
    )


def _read_attempt(reader: _Words) -> Attempt:
    tried, how, ended = reader.ordinal(), reader.word(), reader.ordinal()
    times = 1
    while reader.more:
        word = reader.word()
        if (count := _count(word)) is None:
            raise ValueError(f"{word!r} has no meaning in it")
        times = count
    return Attempt(reader.rest(), how, tried, ended, times)


def _read_plan_item(reader: _Words) -> PlanItem:
    ordinal, state, name = reader.ordinal(), reader.word(), ""
    if state not in get_args(PlanState):
        raise ValueError(f"{state!r} is no state of a plan item")
    if reader.more:
        word = reader.word()
        name = reader.word() if word == "#" else word.removeprefix("#")
    return PlanItem(reader.rest(), cast("PlanState", state), name, ordinal)
