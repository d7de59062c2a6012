"""Gemini models, against a small server that speaks their API."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from opening import QUICK, READ_FILE, ask, said

from unremember.errors import ContextTooLong, UnknownModel
from unremember.messages import Message, Text, Thinking, ToolResult
from unremember.models import Model, Request, close_model, open_model

BOTH = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
SIGNATURE = base64.b64encode(b"signed").decode()

COUNTS = {
    "promptTokenCount": 90,
    "cachedContentTokenCount": 40,
    "candidatesTokenCount": 8,
    "totalTokenCount": 98,
}


def answer(*parts: dict[str, Any]) -> dict[str, Any]:
    """An answer of the API."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": COUNTS, "modelVersion": "gemini-test"}


@dataclass
class Gemini:
    """Plays answers, or (status, error) pairs; keeps what was asked."""

    turns: list[dict[str, Any] | tuple[int, dict[str, Any]]]
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    url: str = ""

    def next(self, body: bytes, streamed: bool) -> tuple[int, bytes]:
        self.asked.append(json.loads(body))
        turn = self.turns.pop(0)
        if isinstance(turn, tuple):
            return turn[0], json.dumps({"error": turn[1]}).encode()
        text = json.dumps(turn)
        return 200, (f"data: {text}\n\n" if streamed else text).encode()


@contextmanager
def serving(gemini: Gemini) -> Generator[Gemini]:
    """The server, on the loopback interface."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            streamed = "streamGenerateContent" in self.path
            status, text = gemini.next(body, streamed)
            self.send_response(status)
            kind = "text/event-stream" if streamed and status == 200 else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    gemini.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield gemini
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@asynccontextmanager
async def opened(gemini: Gemini) -> AsyncGenerator[Model]:
    """A Gemini model at the server."""
    with serving(gemini):
        model = open_model("google:gemini-2.5-flash", base_url=gemini.url, key="key", retry=QUICK)
        try:
            yield model
        finally:
            await close_model(model)


@BOTH
async def test_thoughts_calls_and_results_go_round(streamed: bool):
    """A call goes back with the signature of its thought, and its result right behind it."""
    thought = {"text": "Hm.", "thought": True}
    call = {"functionCall": {"name": "read_file", "args": {"path": "a.py"}}}
    gemini = Gemini(
        [answer(thought, {**call, "thoughtSignature": SIGNATURE}), answer({"text": "Done."})]
    )
    async with opened(gemini) as model:
        history = said()
        reply, _ = await ask(model, Request(history, (READ_FILE,)), streamed=streamed)
        result = ToolResult(reply.message.calls[0].id, (Text("x = 1"),))
        history = history.add(reply.message, Message("tool", (result,)))
        last, _ = await ask(model, Request(history, (READ_FILE,)), streamed=streamed)
    assert reply.finish == "calls"
    assert reply.message.calls[0].parsed() == {"path": "a.py"}
    assert any(isinstance(part, Thinking) and part.text == "Hm." for part in reply.message.parts)
    assert (reply.usage.input_tokens, reply.usage.cached_tokens) == (90, 40)
    assert last.message.text == "Done."
    contents = gemini.asked[1]["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user"]
    assert "signed" in base64.b64decode(_signature(contents[1])).decode()
    assert contents[2]["parts"][0]["functionResponse"]["name"] == "read_file"
    assert gemini.asked[1]["systemInstruction"]["parts"][0]["text"] == "Be brief."


def _signature(content: dict[str, Any]) -> str:
    found = [part["thoughtSignature"] for part in content["parts"] if "thoughtSignature" in part]
    # The client writes it in the alphabet for URLs.
    return found[0].replace("-", "+").replace("_", "/")


@BOTH
async def test_refusals_are_understood(streamed: bool):
    """Too long a request, a wrong name, a failure that passes: the same errors as elsewhere."""
    long = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    gone = "models/gemini-2.5-flash is not found for API version v1beta"
    busy = (503, {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"})
    gemini = Gemini(
        [
            (400, {"code": 400, "message": long, "status": "INVALID_ARGUMENT"}),
            (404, {"code": 404, "message": gone, "status": "NOT_FOUND"}),
            busy,
            answer({"text": "Done."}),
        ]
    )
    async with opened(gemini) as model:
        with pytest.raises(ContextTooLong) as caught:
            await ask(model, Request(said()), streamed=streamed)
        assert caught.value.limit == 1_048_576
        with pytest.raises(UnknownModel, match=r"gemini-2\.5-flash"):
            await ask(model, Request(said()), streamed=streamed)
        reply, _ = await ask(model, Request(said()), streamed=streamed)
    assert reply.message.text == "Done."
    assert "overloaded" in reply.notes[0]
