"""What providers say when a request is too long for a model, and the limit they name.

The words are data: one pattern for each way of saying it, collected from the providers' public
documentation and from reports of their users. A group `limit` is in tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

_N = r"(?P<limit>\d[\d,_. ]*\d|\d)"

# Who says it stands behind each; many servers repeat OpenAI's words.
_TOO_LONG = (
    rf"maximum context length (?:is|of)(?: only)? {_N}",  # OpenAI, vLLM, DeepSeek, OpenRouter
    rf"configured limit of {_N} tokens",  # OpenAI
    r"exceeds? the context window",  # OpenAI Responses
    rf"prompt is too long: [\d,]+ tokens > {_N}",  # Anthropic
    rf"exceed context limit: [\d,]+ \+ [\d,]+ > {_N}",  # Anthropic
    rf"exceeds the maximum number of tokens allowed \(?{_N}",  # Google
    rf"too large for model with {_N} maximum context length",  # Mistral
    rf"maximum prompt length is {_N}",  # xAI
    rf"model maximum context length: {_N}",  # Fireworks
    rf"exceeded model token limit: {_N}",  # Moonshot
    rf"token count of [\d,]+ exceeds the limit of {_N}",  # GitHub
    rf"current length is [\d,]+ while limit is {_N}",  # Cerebras
    rf"available context size \({_N} tokens",  # llama.cpp
    r"exceeds the available context size",  # llama.cpp
    rf"maximum model length of {_N}",  # vLLM
    rf"context length of only {_N} tokens",  # LM Studio
    rf"tokens in the prompt cannot exceed {_N}",  # Cohere
    rf"inputs` tokens \+ `max_new_tokens` must be <= {_N}",  # TGI, Together
    rf"input length [\d,]+ exceeds (?:the )?maximum (?:allowed )?length {_N}",  # SGLang, others
    rf"tokens per min \(TPM\): Limit {_N}, Requested",  # OpenAI: one request above the rate limit
    r"request_too_large|request exceeds the maximum (?:size|allowed number of bytes)",  # Anthropic
    r"input is too long for requested model",  # Bedrock
    r"reduce the length of the (?:messages|prompt)",  # Groq
    r"context[_ ]length[_ ]exceeded|exceed_context_size|model_context_window_exceeded",
    rf"(?:prompt|input|context|request)\b.{{0,80}}\bmaximum (?:is|of|allowed is) {_N}",
    rf"(?:prompt|input|context|request)\b.{{0,80}}\btoo long\b.{{0,60}}(?:max|limit)\D{{0,9}}{_N}",
    r"(?:prompt|input|context|request)\b.{0,80}\btoo long\b",
    r"prompt exceeds max length",  # Z.ai
)

# The output cap is another matter: a smaller history does not help.
_OUTPUT = re.compile(
    r"max(?:imum)?[_ ](?:completion[_ ]|output[_ ]|new[_ ])?tokens\b.{0,60}"
    r"(?:too large|> ?\d[\d,]*,? which is|at most [\d,]+ completion tokens"
    r"|must be less than or equal|maximum allowed number of output)",
    re.IGNORECASE,
)

_PATTERNS = tuple(re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in _TOO_LONG)


@dataclass(frozen=True, slots=True)
class TooLong:
    """A refusal because of the request's length; `limit` in tokens if it was named."""

    limit: int | None = None


def recognise(words: str) -> TooLong | None:
    """Whether a provider's words say that the request is too long; None if not."""
    if _OUTPUT.search(words):
        return None
    found = [match for pattern in _PATTERNS if (match := pattern.search(words))]
    if not found:
        return None
    limits = [limit for match in found if (limit := _limit(match))]
    return TooLong(limits[0] if limits else None)


def _limit(match: re.Match[str]) -> int | None:
    text = match.groupdict().get("limit")
    digits = re.sub(r"\D", "", text or "")
    return int(digits) if digits else None


def words_of(body: object, fallback: str = "") -> str:
    """What the provider said, from the body of its error, on one line of at most 500 characters."""
    said = _said(body) or fallback
    line = " ".join(said.split())
    return line if len(line) <= 500 else line[:499] + "…"


def _said(body: object) -> str:
    if isinstance(body, list):
        first: object = next(iter(cast("list[object]", body)), "")
        return _said(first)
    if not isinstance(body, dict):
        return body if isinstance(body, str) else ""
    fields = cast("dict[str, object]", body)
    if fields.get("error"):
        return _said(fields["error"])
    if fields.get("message"):
        return _with_code(_said(fields["message"]), fields)
    return _said(fields.get("detail"))


def _with_code(said: str, body: dict[str, object]) -> str:
    """The words with the error's code, which some providers make the only clear word."""
    code = body.get("code") or body.get("type")
    known = isinstance(code, str) and code.lower() not in said.lower()
    return f"{said} [{code}]" if known else said
