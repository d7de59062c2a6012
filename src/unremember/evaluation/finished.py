"""What was measured already: one file of JSON lines, so that a run that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from unremember.errors import InputError
from unremember.evaluation.runs import Missing, Outcome, Run, Way
from unremember.evaluation.strategies import fingerprint

FILE = "runs.jsonl"


def key_of(content: bytes, cut: float, way: Way, budget: float) -> str:
    """Names one piece of work: it changes with the recording, the settings, and the code."""
    settings = [fingerprint(way.strategy), way.rounds, way.carry, budget, cut, _code()]
    return sha256(sha256(content).digest() + json.dumps(settings).encode()).hexdigest()


@lru_cache(maxsize=1)
def _code() -> str:
    """Stands for this version of the whole package, changes of a developer included."""
    package = Path(__file__).parents[1]
    sources = sorted(package.rglob("*.py"))
    return sha256(b"\0".join(path.read_bytes() for path in sources)).hexdigest()


class Finished:
    """The outcomes in a folder, by key. Each new one is appended at once; none is ever changed.

    A line that is broken, as after a crash, counts for nothing. Raises `InputError` where the
    folder cannot be made or written to.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._outcomes: dict[str, list[Outcome]] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            text = self._path.read_text("utf-8") if self._path.exists() else ""
            # A line that a crash cut short must not swallow the next one.
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n" if text and not text.endswith("\n") else "")
        except OSError as error:
            raise InputError(
                f"{folder}: results cannot be kept there ({error.strerror}); choose another folder"
            ) from None
        for line in text.splitlines():
            try:
                entry: Any = json.loads(line)
                self._outcomes[entry["key"]] = list(map(_outcome, entry["outcomes"]))
            except (ValueError, TypeError, KeyError):
                continue

    def get(self, key: str) -> list[Outcome] | None:
        """The outcomes of a piece of work that was finished; None for one that was not."""
        return self._outcomes.get(key)

    def add(self, key: str, outcomes: Iterable[Outcome]) -> None:
        """Appends what was finished. What failed is not kept: it is tried again next time."""
        found = list(outcomes)
        if any(isinstance(one, Missing) and one.failed for one in found):
            return
        entry = {"key": key, "outcomes": [asdict(one) for one in found]}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=True) + "\n")


def _outcome(value: Any) -> Outcome:
    if "columns" not in value:
        return Missing(**value)
    run = Run(**value)
    return replace(run, refused=tuple(run.refused))
