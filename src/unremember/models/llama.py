"""llama.cpp inside this process, by the package xllamacpp: one model file, one thread.

llama.cpp works on one request at a time here; others wait. It opens a port on the loopback
interface for its tokenizer; it answers there only to a key that is made up for each start.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from urllib.request import ProxyHandler, Request, build_opener
from weakref import WeakValueDictionary

from unremember.errors import UnknownModel

Chunk = dict[str, Any]


class Engine:
    """A loaded GGUF file. Loading happens on the first use, in the engine's own thread."""

    def __init__(self, path: Path, window: int) -> None:
        self.path = path
        self.window = window
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="llama")
        self._key = secrets.token_urlsafe(24)
        self._server: Any = None
        self._loading = threading.Lock()
        # Never by a proxy: the address is our own.
        self._open = build_opener(ProxyHandler({})).open

    async def chat(self, body: dict[str, Any]) -> AsyncGenerator[Chunk]:
        """The chunks of a streamed chat completion. Closing the generator stops the model.

        An error comes as a chunk with the key `error`, as the server's API has it.
        """
        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[Chunk | None] = asyncio.Queue()
        stopped = threading.Event()

        def take(chunk: Any) -> bool:
            # From the engine's thread. True ends the generation.
            if not stopped.is_set():
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            return stopped.is_set()

        def work() -> None:
            try:
                if not stopped.is_set():
                    self._chat(body, take)
            finally:
                if not loop.is_closed():
                    loop.call_soon_threadsafe(chunks.put_nowait, None)

        done = loop.run_in_executor(self._thread, work)
        try:
            while (chunk := await chunks.get()) is not None:
                yield chunk
            await done
        finally:
            stopped.set()

    def count(self, texts: list[str]) -> list[int]:
        """The tokens of each text by the model's own tokenizer, without marks of a beginning."""
        return [
            len(self._post("/tokenize", {"content": text, "add_special": False})["tokens"])
            for text in texts
        ]

    def count_request(self, body: dict[str, Any]) -> int:
        """The tokens of a whole request, as the model's chat template writes it."""
        prompt = self._post("/apply-template", body)["prompt"]
        found = self._post("/tokenize", {"content": prompt, "add_special": True})
        return len(found["tokens"])

    def knows_tools(self) -> bool:
        """Whether the model's chat template has a place for tools."""
        properties = self._ask(Request(f"{self._loaded().listening_address}/props"))
        capabilities = cast("dict[str, Any]", properties.get("chat_template_caps") or {})
        if "supports_tools" in capabilities:
            return bool(capabilities["supports_tools"])
        return "tools" in str(properties.get("chat_template", ""))

    def _chat(self, body: dict[str, Any], take: Callable[[Any], bool]) -> None:
        try:
            self._loaded().handle_chat_completions(body, take)
        except ValueError as error:
            take({"error": {"code": 400, "message": str(error)}})

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        url = f"{self._loaded().listening_address}{path}"
        # A lone surrogate is no UTF-8; it counts like the mark that stands for it.
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        return self._ask(Request(url, data, {"Content-Type": "application/json"}))

    def _ask(self, request: Request) -> dict[str, Any]:
        request.add_header("Authorization", f"Bearer {self._key}")
        with self._open(request, timeout=60) as answer:
            return json.load(answer)

    def _loaded(self) -> Any:
        with self._loading:
            if self._server is None:
                self._server = self._load()
            return self._server

    def _load(self) -> Any:
        try:
            library: Any = import_module("xllamacpp")
        except ImportError:
            raise UnknownModel(
                f"gguf:{self.path}: the package xllamacpp is not installed: "
                "pip install 'unremember[local]'"
            ) from None
        parameters = library.CommonParams()
        parameters.model.path = str(self.path)
        parameters.n_ctx = self.window
        parameters.n_parallel = 1
        # Half of the logical cores are about the real ones. Its threads wait for one another
        # in a loop: more of them than free cores are many times slower.
        parameters.cpuparams.n_threads = max(1, (os.cpu_count() or 1) // 2)
        parameters.api_keys = [self._key]
        parameters.endpoint_props = True
        parameters.warmup = False
        parameters.verbosity = -1  # It would write its log to the user's terminal.
        try:
            return library.Server(parameters)
        except (RuntimeError, ValueError) as error:
            raise UnknownModel(
                f"gguf:{self.path}: llama.cpp cannot load the file ({error})"
            ) from error


_engines: WeakValueDictionary[tuple[Path, int], Engine] = WeakValueDictionary()


def engine(path: Path, window: int) -> Engine:
    """The engine of a file, the same for all who ask for the same window: it is large."""
    key = (path.resolve(), window)
    found = _engines.get(key)
    if found is None:
        found = _engines[key] = Engine(path, window)
    return found
