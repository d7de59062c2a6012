"""What is known of models by their names."""

from __future__ import annotations

import pytest

from unremember.errors import InputError
from unremember.history import History
from unremember.models import ModelFacts, Request, output_tokens
from unremember.models.facts import facts_of, is_local, overridden


@pytest.mark.parametrize(
    ("name", "window", "output"),
    [
        ("claude-sonnet-4-5", 200_000, 64_000),
        ("claude-sonnet-4-5-20250929", 200_000, 64_000),
        ("claude-opus-4-1-20250805", 200_000, 32_000),
        ("claude-opus-4-8", 1_000_000, 128_000),
        ("anthropic/claude-3-5-haiku-latest", 200_000, 8_192),
        ("us.anthropic.claude-sonnet-4-5", 200_000, 64_000),
        ("gpt-4o-mini", 128_000, 16_384),
        ("gpt-4", 8_192, 4_096),
        ("gpt-4.1-nano", 1_000_000, 32_768),
        ("gpt-5-mini", 400_000, 128_000),
        ("openai/gpt-5.4-mini", 400_000, 128_000),
        ("o3", 200_000, 100_000),
        ("gemini-2.5-pro", 1_000_000, 65_536),
    ],
)
def test_families_are_known(name: str, window: int, output: int):
    """A model of a well-known family has its family's window and output cap."""
    facts = facts_of(name)
    assert (facts.context_window, facts.max_output, facts.known) == (window, output, True)


@pytest.mark.parametrize("name", ["my-model", "gpt", "notclaude-3-5", "o33", ""])
def test_others_are_not(name: str):
    """An unknown model has cautious defaults, and says that they are assumptions."""
    facts = facts_of(name)
    assert not facts.known
    assert facts.context_window == ModelFacts().context_window
    assert not facts.shares_cache


def test_a_local_server_shares_no_cache():
    """A known model on one's own machine may run with less than it can."""
    facts = facts_of("gpt-oss-20b", local=True)
    assert facts.context_window == 131_072
    assert not facts.known
    assert not facts.shares_cache


def test_claude_needs_more_tokens_for_the_same_text():
    """The counting factor is the family's."""
    assert facts_of("claude-sonnet-4-5").counting_factor > facts_of("gpt-5").counting_factor


def test_the_users_word_counts():
    """What the user says replaces the table; a window makes the facts known."""
    facts = overridden(facts_of("my-model"), {"context_window": 32_000, "thinks": True})
    assert (facts.context_window, facts.thinks, facts.known) == (32_000, True, True)
    assert not overridden(facts_of("my-model"), {"thinks": True}).known
    with pytest.raises(InputError, match="no fact 'window'; there are context_window"):
        overridden(facts, {"window": 1})


@pytest.mark.parametrize(
    ("asked", "window", "cap", "given"),
    [
        (None, 100_000, 64_000, 16_000),
        (None, 8_000, 4_000, 1_600),
        (500, 8_000, 4_000, 500),
        (9_000, 8_000, 4_000, 4_000),
        (None, 100_000, 2_000, 2_000),
    ],
)
def test_output_cap(asked: int | None, window: int, cap: int, given: int):
    """Without a wish the answer may have what budgets reserve, never more than the model can."""
    facts = ModelFacts(context_window=window, max_output=cap)
    assert output_tokens(Request(History(), max_output=asked), facts) == given


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:8080/v1", True),
        ("http://127.0.0.1", True),
        ("http://192.168.1.4:1234", True),
        ("http://[::1]:80", True),
        ("http://box.local:80", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8", False),
    ],
)
def test_local_addresses(url: str, local: bool):
    """This machine and private networks are local."""
    assert is_local(url) is local
