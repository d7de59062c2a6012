"""Compresses a list of OpenAI chat messages to a token budget, and takes one original back.

    python examples/compress_messages.py [budget in tokens]

In a program of your own the list is the one that you are about to send.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from unremember import compress, read, write

RECORDED = Path(__file__).with_name("conversation.jsonl")


def main(budget: int = 4_000) -> None:
    """Prints what a compression to `budget` tokens did."""
    messages: list[dict[str, Any]] = write(read(RECORDED)[0].history, "openai")
    smaller, report = compress(messages, budget)

    print(f"{report.tokens_before:,} tokens in {len(messages)} messages")
    print(f"{report.tokens_after:,} tokens in {len(smaller)}, at most {report.budget:,}")
    print(f"your rules: {report.rules_kept} of {report.rules} word for word")

    # The same objects: identity holds for whatever was kept.
    kept = sum(any(message is own for own in messages) for message in smaller)
    print(f"{kept} messages are the very same objects")

    handle, original = next(iter(report.forgotten.items()))
    print(f"{len(report.forgotten)} originals by handle; {handle} is a {type(original).__name__}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
