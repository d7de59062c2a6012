"""Opening a model by its name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from opening import said

from unremember.errors import InputError, UnknownModel
from unremember.models import Request, counter_of, open_model
from unremember.models.providers import endpoint

SOURCE = Path(__file__).parents[2] / "src"


@pytest.mark.parametrize("name", ["gpt-5", "openai:", "nobody:model", "", "gguf:", ":x"])
def test_a_name_that_is_none(name: str):
    """The line says how to write a name, and which providers there are."""
    with pytest.raises(UnknownModel, match=r"PROVIDER:MODEL.*openai.*ollama.*gguf"):
        open_model(name)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:8000", "http://127.0.0.1:8000/v1"),
        ("box", "http://box:11434/v1"),
        ("http://box:99/", "http://box:99/v1"),
        ("https://box/v1", "https://box:443/v1"),
        ("[::1]:5", "http://[::1]:5/v1"),
    ],
)
def test_ollamas_host(monkeypatch: pytest.MonkeyPatch, host: str, url: str):
    """OLLAMA_HOST is read as Ollama itself reads it."""
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert endpoint("ollama", "qwen3:8b").url == url


def test_ollamas_window_is_the_servers(monkeypatch: pytest.MonkeyPatch):
    """Ollama cuts off unsaid what exceeds its window, so its own setting counts."""
    monkeypatch.delenv("OLLAMA_CONTEXT_LENGTH", raising=False)
    facts = open_model("ollama:qwen3:8b").facts
    assert (facts.context_window, facts.known) == (4_096, False)
    monkeypatch.setenv("OLLAMA_CONTEXT_LENGTH", "32768")
    facts = open_model("ollama:qwen3:8b").facts
    assert (facts.context_window, facts.known) == (32_768, True)


def test_any_compatible_server(monkeypatch: pytest.MonkeyPatch):
    """A base URL needs no key, by argument or by the environment; the argument comes first."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    assert endpoint("openai", "m").url == "http://localhost:1/v1"
    assert endpoint("openai", "m", base_url="http://localhost:2/v1").url == "http://localhost:2/v1"
    assert not open_model("openai:m").facts.known


def test_overrides(monkeypatch: pytest.MonkeyPatch):
    """Facts that the user knows better replace ours; unknown ones are refused."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    model = open_model("anthropic:claude-sonnet-4-5", context_window=50_000)
    assert model.name == "anthropic:claude-sonnet-4-5"
    assert (model.facts.context_window, model.facts.max_output) == (50_000, 64_000)
    with pytest.raises(InputError, match="no fact 'windoww'"):
        open_model("anthropic:claude-sonnet-4-5", windoww=1)


def test_the_counter_of_a_model(monkeypatch: pytest.MonkeyPatch):
    """A model without a tokenizer at hand is counted with its family's factor, as an estimate."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    counter = counter_of(open_model("anthropic:claude-sonnet-4-5"))
    assert counter.factor == 1.3
    assert not counter.exact


def test_a_missing_file():
    """A GGUF file that is not there, or is none, is named."""
    with pytest.raises(UnknownModel, match=r"gguf:/nowhere/m\.gguf: the file cannot be read"):
        open_model("gguf:/nowhere/m.gguf")
    with pytest.raises(UnknownModel, match="no GGUF file"):
        open_model(f"gguf:{__file__}")


def test_a_missing_script():
    """A script that is not there is named."""
    with pytest.raises(InputError, match=r"scripted:/nowhere\.jsonl"):
        open_model("scripted:/nowhere.jsonl")


OPENING = """
import sys
from unremember.models import open_model
open_model("openai:gpt-5", key="key")
print(sorted({"pydantic_ai", "openai", "anthropic", "xllamacpp", "toktok"} & set(sys.modules)))
"""


def test_opening_loads_no_provider():
    """Opening a model imports nothing that is heavy; the first request does."""
    command = [sys.executable, "-c", OPENING]
    environment = {"PYTHONPATH": str(SOURCE), "PATH": ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_script_is_a_model_too(tmp_path: Path):
    """`scripted:FILE` plays a file of turns, with the facts that the user gives."""
    file = tmp_path / "turns.jsonl"
    file.write_text('{"text": "Done."}\n', "utf-8")
    model = open_model(f"scripted:{file}", context_window=4_000)
    reply = await model.request(Request(said()))
    assert reply.message.text == "Done."
    assert model.facts.context_window == 4_000
