"""The words in which providers say that a request is too long."""

from __future__ import annotations

import pytest

from unremember.models.refusals import TooLong, recognise, words_of


@pytest.mark.parametrize(
    ("words", "limit"),
    [
        (
            (
                "This model's maximum context length is 8192 tokens. However, your messages "
                "resulted in 9001 tokens. Please reduce the length of the messages."
            ),
            8_192,
        ),
        ("Your input exceeds the context window of this model.", None),
        ("Input tokens exceed the configured limit of 272000 tokens.", 272_000),
        ("prompt is too long: 210345 tokens > 200000 maximum", 200_000),
        (
            (
                "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, "
                "decrease input length or `max_tokens` and try again"
            ),
            200_000,
        ),
        (
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed "
                "(1048576)."
            ),
            1_048_576,
        ),
        ("request (6031 tokens) exceeds the available context size (4096 tokens)", 4_096),
        ("the request exceeds the available context size. try increasing it", None),
        (
            (
                "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 "
                "maximum context length"
            ),
            32_768,
        ),
        ("This model's maximum prompt length is 131072 but the request contains 170000", 131_072),
        ("Your request exceeded model token limit: 131072", 131_072),
        ("prompt token count of 140000 exceeds the limit of 128000", 128_000),
        ("Input is too long for requested model.", None),
        ("Please reduce the length of the messages or completion.", None),
        ("The context is too long; the maximum is 2,048.", 2_048),
        ("The prompt has 3,000 tokens; the maximum is 2,048 tokens", 2_048),
        ("no words but a code [context_length_exceeded]", None),
        (
            "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.",
            30_000,
        ),
    ],
)
def test_too_long_is_recognised(words: str, limit: int | None):
    """Each vendor's way of saying it is known, and the limit is read where one is named."""
    assert recognise(words) == TooLong(limit)


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
        "max_tokens is too large: 32768. This model supports at most 16384 completion tokens",
        "Incorrect API key provided",
        "The model `gpt-9` does not exist",
        "Rate limit reached for requests per min. Limit: 3 / min.",
        "messages.3.content: text content blocks must be non-empty",
        "",
    ],
)
def test_other_refusals_are_others(words: str):
    """An output cap, a key, a rate limit, a malformed message are no matter of length."""
    assert recognise(words) is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "No.", "type": "bad", "code": "why"}}, "No. [why]"),
        ({"message": "No.\n  Really."}, "No. Really."),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}, None),
        ([{"error": {"message": "No."}}], "No."),
        ({"error": "No."}, "No."),
        ({"detail": "Not Found"}, "Not Found"),
        ("plain words", "plain words"),
        (None, "given"),
        ({}, "given"),
        ("x" * 900, "x" * 499 + "…"),
    ],
)
def test_the_providers_words(body: object, said: str | None):
    """The words are found in every vendor's kind of body, and put on one line."""
    assert words_of(body, "given") == (said or "Busy [overloaded_error]")
