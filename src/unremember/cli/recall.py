"""`unremember recall`: exact originals, by handle or by a text in them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unremember.cli.fates import describe, speaker
from unremember.cli.output import one_line, put, put_exactly, say
from unremember.cli.sources import Loaded, find_source, load
from unremember.compression import CLIP_MARK
from unremember.compression.material import leaves
from unremember.errors import UnknownHandle
from unremember.formats import Conversation, media
from unremember.messages import (
    Media,
    Message,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    find,
    handle,
    parse_handle,
)

NOTHING_FOUND = 1

AROUND = 24
"""Characters of a snippet before and after what was found."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One text of an original, exactly as it was; `label` says what it is."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a query was found: the handle, what that is, a snippet, and how often it is in it."""

    handle: str
    who: str
    snippet: str
    times: int


def run(wanted: str, file: str | None) -> int:
    """The command: prints originals, or where a query was found."""
    loaded = load(find_source(file))
    if (ordinal := parse_handle(wanted)) is None:
        return _print_hits(search(loaded.conversation.originals, wanted), wanted, loaded)
    try:
        pieces = original(loaded, ordinal, wanted)
    except UnknownHandle as error:
        say(str(error))
        return NOTHING_FOUND
    _warn_of_clips(pieces, loaded)
    _print_pieces(pieces)
    return 0


def original(loaded: Loaded, ordinal: int, wanted: str = "") -> tuple[Piece, ...]:
    """What the handle of `ordinal` names: the whole step of an assistant message, a call and its
    result, or a result.

    Raises `UnknownHandle`, which says where the original may be.
    """
    wanted = wanted or handle(ordinal)
    conversation = loaded.conversation
    if "." in wanted:
        raise UnknownHandle(
            f"{wanted} is a handle of a sub-agent; name its own file: recall {handle(ordinal)} FILE"
        )
    match find(conversation.originals, ordinal):
        case Message() as message:
            return tuple(_of_message(message, conversation.originals))
        case ToolCall() as call:
            return tuple(_of_call(ordinal, call, conversation.originals))
        case ToolResult() as result:
            return tuple(_of_result(ordinal, result, _caller(ordinal, result, conversation)))
        case None:
            raise UnknownHandle(_where_it_may_be(wanted, ordinal, loaded))


def _where_it_may_be(wanted: str, ordinal: int, loaded: Loaded) -> str:
    name, conversation = loaded.source.name, loaded.conversation
    if ordinal < conversation.history.notes.next:
        return (
            f"{wanted} was forgotten in an earlier compression, its original is not in {name}; "
            "look in the file that was compressed into it, or in the archive"
        )
    last = conversation.history.next_ordinal - 1
    return f"{name} has no {wanted}: its handles are m1 to {handle(last)}"


def _of_message(message: Message, originals: Sequence[Message]) -> Iterator[Piece]:
    words = tuple(part for part in message.parts if not isinstance(part, ToolCall | ToolResult))
    yield from _pieces(f"{handle(message.ordinal)} {speaker(message)}", words)
    for ordinal, part in message.numbered_parts():
        match part:
            case ToolCall():
                yield from _of_call(ordinal, part, originals)
            case ToolResult():
                yield from _of_result(ordinal, part, None)


def _of_call(ordinal: int, call: ToolCall, originals: Sequence[Message]) -> Iterator[Piece]:
    yield Piece(f"{handle(ordinal)} call of {call.name}", call.arguments)
    if answer := _answer(ordinal, call, originals):
        yield from _of_result(*answer, call)


def _answer(
    ordinal: int, call: ToolCall, originals: Sequence[Message]
) -> tuple[int, ToolResult] | None:
    """The result of a call: the first with its id that comes after it."""
    for message in originals:
        for place, part in message.numbered_parts() if message.ordinal > ordinal else ():
            if isinstance(part, ToolResult) and part.call_id == call.id:
                return place, part
    return None


def _caller(ordinal: int, result: ToolResult, conversation: Conversation) -> ToolCall | None:
    """The call that a result answers: the last with its id that comes before it."""
    before = (message for message in conversation.originals if message.ordinal < ordinal)
    calls = (call for message in before for call in message.calls if call.id == result.call_id)
    return next(reversed(list(calls)), None)


def _of_result(ordinal: int, result: ToolResult, call: ToolCall | None) -> Iterator[Piece]:
    name = f"result of {call.name}" if call else "result"
    label = f"{handle(ordinal)} {name}{', failed' if result.failed else ''}"
    yield from _pieces(label, result.content) if result.content else (Piece(label, ""),)


def _pieces(label: str, parts: Sequence[Part]) -> Iterator[Piece]:
    for part in parts:
        match part:
            case Text(text):
                yield Piece(label, text)
            case Thinking(text) if text:
                yield Piece(f"{label} (thinking)", text)
            case Media(data=data):
                yield Piece(f"{label} {media.placeholder(part)}", data)
            case _:
                pass


def _warn_of_clips(pieces: Sequence[Piece], loaded: Loaded) -> None:
    """In a file that was compressed, a message may stand in a shortened form."""
    if loaded.conversation.history.notes and any(CLIP_MARK.search(p.text) for p in pieces):
        say(
            f"in {loaded.source.name} this stands shortened by an earlier compression; "
            "the original is in the file that was compressed into it, or in the archive"
        )


def _print_pieces(pieces: Sequence[Piece]) -> None:
    """Each text exactly as it was on standard output, what it is on standard error."""
    for index, piece in enumerate(pieces):
        last = index == len(pieces) - 1
        sys.stdout.flush()
        sys.stderr.write(f"── {one_line(piece.label)}\n")
        put_exactly(piece.text.encode("utf-8", "replace"))
        # Between two texts a line break; after the last one nothing that was not there.
        if not piece.text.endswith("\n") and not last:
            put_exactly(b"\n")
        elif not piece.text.endswith("\n") and sys.stdout.isatty():
            sys.stderr.write("\n")


def search(originals: Sequence[Message], query: str) -> Iterator[Hit]:
    """Where `query` stands, letter for letter but for upper and lower case; oldest first."""
    wanted = re.compile(re.escape(query), re.IGNORECASE)
    names = {call.id: call for message in originals for call in message.calls}
    for message in originals:
        words = (part for part in message.parts if isinstance(part, Text | Thinking))
        texts = [part.text for part in words]
        if hit := _hit(message.ordinal, speaker(message), texts, wanted):
            yield hit
        for ordinal, part in message.numbered_parts():
            who, _ = describe(
                part, names.get(part.call_id) if isinstance(part, ToolResult) else None
            )
            hit = _hit(ordinal, who, _texts(part), wanted)
            if not hit and isinstance(part, ToolCall):  # perhaps as it was written, key and all
                hit = _hit(ordinal, who, [part.arguments], wanted)
            if hit:
                yield hit


def _texts(part: ToolCall | ToolResult) -> list[str]:
    """The texts of a result, or of a call: its name and what its arguments say."""
    match part:
        case ToolResult(content=content):
            return [inner.text for inner in content if isinstance(inner, Text)]
        case ToolCall(name=name):
            return [name, *leaves(part)]


def _hit(ordinal: int, who: str, texts: Sequence[str], wanted: re.Pattern[str]) -> Hit | None:
    found = [(text, match) for text in texts for match in wanted.finditer(text)]
    if not found:
        return None
    text, match = found[0]
    return Hit(handle(ordinal), who, snippet(text, *match.span()), len(found))


def snippet(text: str, start: int, end: int) -> str:
    """What stands around a place in a text, on one line."""
    before = text[max(0, start - AROUND) : start]
    after = text[end : end + AROUND]
    cut_before, cut_after = start > AROUND, end + AROUND < len(text)
    inner = " ".join(one_line(before + text[start:end] + after).split())
    return f"{'…' * cut_before}{inner}{'…' * cut_after}"


def _print_hits(hits: Iterator[Hit], query: str, loaded: Loaded) -> int:
    found = list(hits)
    if not found:
        say(f"nothing in {loaded.source.name} holds {query!r}")
        return NOTHING_FOUND
    wide = max(len(hit.handle) for hit in found)
    lines = (
        f"{hit.handle:<{wide}} {one_line(hit.who)}: {hit.snippet}"
        + (f" ({hit.times:,} times)" if hit.times > 1 else "")
        for hit in found
    )
    put("".join(line + "\n" for line in lines), sys.stdout)
    return 0
