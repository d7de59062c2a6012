"""HTTP, as far as a provider needs it: requests in, whole or streamed answers out, and failures."""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import islice
from threading import Event

from unremember.formats.shape import Object, as_object
from unremember.testing.desk import Desk, Taken
from unremember.testing.turns import Cut, EmptyBody, Fail, Say, Slow, TooLong
from unremember.testing.wire.anthropic import MESSAGES
from unremember.testing.wire.base import Refused, Wire, as_bytes, tear
from unremember.testing.wire.chat import CHAT
from unremember.testing.wire.responses import RESPONSES

_WIRES = {
    "/v1/chat/completions": CHAT,
    "/v1/responses": RESPONSES,
    "/v1/messages": MESSAGES,
    "/v1/messages/count_tokens": MESSAGES,
}

_EARLY = 3
"""Events of a stream that come before an error in its middle."""

_ANY_NAME = "test-model"


@dataclass(slots=True)
class Line:
    """The open connections of a server, and whether it is closing."""

    closing: Event = field(default_factory=Event)
    connections: set[socket.socket] = field(default_factory=set[socket.socket])

    def hang_up(self) -> None:
        """Ends every connection, also in the middle of an answer."""
        self.closing.set()
        for connection in list(self.connections):
            hang_up(connection)


def hang_up(connection: socket.socket) -> None:
    """Ends a connection in both directions."""
    with suppress(OSError):  # the other side may be faster
        connection.shutdown(socket.SHUT_RDWR)


class _BrokenOff(Exception):
    """The connection is to end here."""


def make_handler(desk: Desk, line: Line) -> type[BaseHTTPRequestHandler]:
    """The handler class for `http.server`, bound to a desk."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            line.connections.add(self.connection)
            # It may have come just before the end, and would then wait for a request forever.
            if line.closing.is_set():
                hang_up(self.connection)

        def finish(self) -> None:
            line.connections.discard(self.connection)
            super().finish()

        def handle(self) -> None:
            try:
                super().handle()
            except (ConnectionError, _BrokenOff):
                hang_up(self.connection)

        def do_POST(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            raw = self.rfile.read(size)
            headers = {name.lower(): value for name, value in self.headers.items()}
            _Exchange(self, desk, line).post(self.path, headers, raw)

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            _Exchange(self, desk, line).get(self.path, headers)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing: a test prints what it wants to."""

    return Handler


@dataclass(frozen=True, slots=True)
class _Exchange:
    """One request and what goes back for it."""

    http: BaseHTTPRequestHandler
    desk: Desk
    line: Line

    def get(self, path: str, headers: Mapping[str, str]) -> None:
        """Answers what the models are."""
        place, _, name = path.partition("?")[0].removeprefix("/v1/").partition("/")
        anthropic = "anthropic-version" in headers
        names = self.desk.terms.models or (name or _ANY_NAME,)
        if place != "models" or (name and name not in names):
            self._refuse(MESSAGES if anthropic else CHAT, Refused("There is nothing here.", 404))
            return
        describe = _describe_for_anthropic if anthropic else _describe_for_openai
        every = [describe(known) for known in names]
        listed: Object = {"object": "list", "data": every, "has_more": False}
        self._send_json(200, describe(name) if name else listed)

    def post(self, path: str, headers: dict[str, str], raw: bytes) -> None:
        """Answers a question to a model."""
        path = path.partition("?")[0]
        wire = _WIRES.get(path)
        if wire is None:
            self._refuse(CHAT, Refused(f"Invalid URL (POST {path})", 404))
            return
        try:
            body = _parse(headers, raw)
            if path.endswith("/count_tokens"):
                self._send_json(200, {"input_tokens": self.desk.count(headers, body)})
                return
        except Refused as refused:
            self._refuse(wire, refused)
            return
        self._play(self.desk.take(wire, path, headers, body))

    def _play(self, taken: Taken) -> None:
        wire, asked = taken.wire, taken.asked
        match taken.turn:
            case Say() as say:
                self._say(say, taken)
            case Slow(seconds, say):
                self._say(say, taken, lambda: self.line.closing.wait(seconds))
            case Cut(after, say):
                self._cut(say, taken, after)
            case EmptyBody():
                kind = "text/event-stream" if asked.streams else "application/json"
                self._send(200, kind, b"")
            case TooLong(limit):
                tokens = max(asked.input_tokens, limit + 1)
                self._refuse(wire, wire.too_long(tokens, 0, limit, self.desk.terms))
            case Fail() as fail if fail.midway and asked.streams:
                refused = wire.error_kind(fail.status)
                events = wire.stream(self.desk.answer(_LOST, taken))
                error = wire.error_event(refused, self.desk.terms)
                self._stream((*islice(events, _EARLY), error))
            case Fail() as fail:
                self._fail(wire, fail)
            case Refused() as refused:
                self._refuse(wire, refused)

    def _say(self, say: Say, taken: Taken, pause: Callable[[], object] = lambda: None) -> None:
        answer = self.desk.answer(say, taken)
        try:
            if taken.asked.streams:
                self._stream(taken.wire.stream(answer), pause)
                return
            pause()
            self._require_listener()
            self._send_json(200, taken.wire.whole(answer))
        except ConnectionError:
            self.desk.abandoned += 1
            raise

    def _require_listener(self) -> None:
        """Notices that the client hung up before a write would fail."""
        connection = self.http.connection
        readable = select.select([connection], [], [], 0)[0]
        if readable and not connection.recv(1, socket.MSG_PEEK):
            raise ConnectionAbortedError("the client hung up")

    def _cut(self, say: Say, taken: Taken, after: int) -> None:
        if after <= 0:
            raise _BrokenOff
        answer = self.desk.answer(say, taken)
        if taken.asked.streams:
            self._stream(_first_bytes(taken.wire.stream(answer), after), ends=False)
        else:
            data = as_bytes(taken.wire.whole(answer))
            self._head(200, "application/json", {"content-length": str(len(data))})
            self.http.wfile.write(data[:after])
        raise _BrokenOff

    def _fail(self, wire: Wire, fail: Fail) -> None:
        wait = {} if fail.retry_after is None else {"retry-after": f"{fail.retry_after:g}"}
        body = fail.body
        if isinstance(body, str):
            self._send(fail.status, "text/html; charset=utf-8", body.encode(), wait)
        elif body is None:
            self._refuse(wire, wire.error_kind(fail.status), wait)
        else:
            self._send_json(fail.status, body, wait)

    def _refuse(self, wire: Wire, refused: Refused, more: Mapping[str, str] | None = None) -> None:
        self._send_json(refused.status, wire.error(refused, self.desk.terms), more)

    def _send_json(self, status: int, body: Object, more: Mapping[str, str] | None = None) -> None:
        self._send(status, "application/json", as_bytes(body), more)

    def _send(
        self, status: int, kind: str, data: bytes, more: Mapping[str, str] | None = None
    ) -> None:
        self._head(status, kind, {"content-length": str(len(data)), **(more or {})})
        self.http.wfile.write(data)

    def _head(self, status: int, kind: str, more: Mapping[str, str]) -> None:
        self.http.send_response(status)
        number = f"req_{len(self.desk.requests)}"
        ids = {"x-request-id": number, "request-id": number}
        for name, value in {"content-type": kind, **ids, **more}.items():
            self.http.send_header(name, value)
        self.http.end_headers()

    def _stream(
        self,
        events: Iterable[bytes],
        pause: Callable[[], object] = lambda: None,
        *,
        ends: bool = True,
    ) -> None:
        more = {"transfer-encoding": "chunked", "cache-control": "no-cache"}
        self._head(200, "text/event-stream; charset=utf-8", more)
        for event in events:
            pause()
            if self.line.closing.is_set():
                raise _BrokenOff
            self._require_listener()
            for piece in tear(event):
                self.http.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        if ends:
            self.http.wfile.write(b"0\r\n\r\n")


_LOST = Say("These words are the beginning of an answer that does not come to its end.")


def _parse(headers: Mapping[str, str], raw: bytes) -> Object:
    if not headers.get("content-type", "").startswith("application/json"):
        raise Refused("The body must be sent with the content type application/json.")
    try:
        body: object = json.loads(raw)
        # Half of a surrogate pair can be written in JSON and is no character; vendors refuse it.
        if b"\\ud" in raw or b"\\uD" in raw:
            json.dumps(body, ensure_ascii=False).encode()
    except ValueError:
        raise Refused("The body of the request is not valid JSON.") from None
    if not as_object(body):
        raise Refused("The body of the request is no JSON object, or an empty one.")
    return as_object(body)


def _first_bytes(events: Iterable[bytes], most: int) -> Iterator[bytes]:
    for event in events:
        yield event[:most]
        most -= len(event)
        if most <= 0:
            return


def _describe_for_openai(name: str) -> Object:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "unremember"}


def _describe_for_anthropic(name: str) -> Object:
    created = "2025-01-01T00:00:00Z"
    return {"type": "model", "id": name, "display_name": name, "created_at": created}
