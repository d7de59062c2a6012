"""Asks a server by plain HTTP, without any vendor's client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from unremember.testing import StrictServer

Object = dict[str, Any]

PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}

TEXT = "Hello."

# The smallest legal request of each form.
LEAST: dict[str, Object] = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": TEXT}]},
    "responses": {"model": "m", "input": [{"role": "user", "content": TEXT}]},
    "messages": {
        "model": "m", "max_tokens": 500, "messages": [{"role": "user", "content": TEXT}]
    },
}  # fmt: skip

HEADERS: dict[str, dict[str, str]] = {
    "chat": {"authorization": "Bearer k"},
    "responses": {"authorization": "Bearer k"},
    "messages": {"x-api-key": "k", "anthropic-version": "2023-06-01"},
}


@dataclass(frozen=True, slots=True)
class Got:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def message(self) -> str:
        """The words of an error, in any form."""
        return self.json["error"]["message"]

    @property
    def events(self) -> list[Any]:
        """The data of a stream's events; what is no JSON stays text."""
        return list(_events(self.raw.decode()))


def _events(stream: str) -> Iterator[Any]:
    for told in stream.split("\n\n"):
        data = told.partition("data: ")[2]
        if data:
            yield json.loads(data) if data.startswith("{") else data


def post(server: StrictServer, form: str, body: object = None, /, **more: object) -> Got:
    """Sends the smallest legal request, with the fields `more`, or the given `body`."""
    return post_with(HEADERS[form], server, form, body, **more)


def post_with(
    headers: Mapping[str, str],
    server: StrictServer,
    form: str,
    body: object = None,
    /,
    **more: object,
) -> Got:
    """The same with other headers."""
    sent = body if body is not None else LEAST[form] | more
    data = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    named = {"content-type": "application/json", **headers}
    return send(Request(server.url + PATHS[form], data, named, method="POST"))


def send(request: Request) -> Got:
    try:
        with urlopen(request, timeout=10) as answer:
            return Got(answer.status, dict(answer.headers), answer.read())
    except HTTPError as error:
        with error:
            return Got(error.code, {k.lower(): v for k, v in error.headers.items()}, error.read())
