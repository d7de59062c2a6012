"""Keeps everything that is said in an archive; a compression is one more entry of it.

    python examples/keep_a_log.py [file of the archive]

Without a file the archive lives in memory, and nothing is written to disk.
"""

from __future__ import annotations

import sys
from pathlib import Path

from unremember import Budget, Job, fit, read
from unremember.archive import (
    Archive,
    MemoryArchive,
    Opened,
    Said,
    SqliteArchive,
    compressed,
    new_id,
    said,
    view,
)

RECORDED = Path(__file__).with_name("conversation.jsonl")


def compress(archive: Archive, conversation: str, job: Job) -> None:
    """Makes what the model sees next fit the budget; the entries before stay as they are."""
    before = view(archive.entries(conversation))
    after = fit(before, job)
    if after is before:
        return
    entry = compressed(
        after,
        said(archive.entries(conversation)),
        strategy="fit",
        before=job.weigh(before),
        after=job.weigh(after),
    )
    archive.append(conversation, entry)


def main(archive: Archive) -> None:
    """Says a whole conversation message by message, and compresses it whenever it is due."""
    job = Job(Budget(limit=10_000, trigger=8_000, target=4_000))
    conversation = new_id()
    archive.append(conversation, Opened(title="tallybook"))

    history = view(archive.entries(conversation))
    compressions = 0
    for message in read(RECORDED)[0].originals:
        archive.append(conversation, Said(message))
        history = history.add(message)
        # Between steps only: a call has its result before anything is forgotten.
        if not history.open_calls and job.weigh(history) > job.budget.trigger:
            compress(archive, conversation, job)
            history = view(archive.entries(conversation))
            compressions += 1

    print(f"{compressions} compressions; the model now sees {job.weigh(history):,} tokens")
    for found in archive.search("narrow no-break space", conversation, limit=3):
        print(f"{found.handle}: {found.snippet[:70]}")
    original = archive.recall(conversation, "m9")
    print(f"m9 is still here: {type(original).__name__}")


if __name__ == "__main__":
    with SqliteArchive(sys.argv[1]) if len(sys.argv) > 1 else MemoryArchive() as opened:
        main(opened)
