"""Fits the weights of `compression.worth` on recorded conversations: `scripts/fit-worth PATH…`.

A recording is cut at several places between steps. For each name that was said before a cut, the
features of `worth.features` are taken, and whether the agent used the name in a call after the
cut before a tool or the user had shown it again. Logistic regression with a small ridge, by
Newton's method; and for honesty the same with each recording left out in turn, to say how well
the weights foretell a recording they have not seen.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from unremember.compression.material import Material, call_text, gather, split_lines, terms_of
from unremember.compression.worth import FEATURES, WEIGHTS, features, is_name
from unremember.errors import InputError
from unremember.formats import read
from unremember.history import Step
from unremember.notes import Notes

CUTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Shares of a recording's steps after which it is cut."""

RIDGE = 5.0
"""Strength of the ridge: how many uncertain examples speak for a weight of zero."""

FEWEST_CALLS = 8
"""Calls that must follow a cut, so that there is something to foretell."""


@dataclass(frozen=True, slots=True)
class Example:
    """What was known at one cut of one recording: a row per name, and whether it was needed."""

    recording: str
    rows: Any
    needed: Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Reads recordings, prints weights and how well they foretell; gives 2 for bad input."""
    parser = argparse.ArgumentParser(prog="fit-worth", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, help="recordings, or folders of them")
    chosen = parser.parse_args(arguments)
    try:
        np: Any = import_module("numpy")
    except ImportError:
        return _refuse("needs numpy: pip install numpy")
    examples = [example for path in _files(chosen.paths) for example in examples_of(path, np)]
    if not examples:
        return _refuse("no recording is long enough to be cut; give longer ones")
    weights = fit(examples, np)
    recordings = len({example.recording for example in examples})
    lines = [f"{len(examples)} cuts of {recordings} recordings"]
    for name, new, old in zip(FEATURES, weights, WEIGHTS, strict=True):
        lines.append(f"{name:15} {new:6.2f}   (in use: {old:6.2f})")
    surprise = held_out(examples, np)
    lines.append(f"surprise per needed name, in nats, on recordings left out: {surprise:.3f}")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def examples_of(path: Path, np: Any) -> Iterator[Example]:
    """The examples of one file; a file that cannot be read gives none and is named."""
    try:
        conversations = read(path)
    except InputError as error:
        _refuse(f"left out: {error}")
        return
    for conversation in conversations:
        steps = conversation.history.steps
        for place in dict.fromkeys(int(len(steps) * share) for share in CUTS):
            after = steps[place:]
            if place and sum(len(step.calls) for step in after) >= FEWEST_CALLS:
                material = gather(steps[:place], Notes(), set())
                needed = needed_terms(material, after)
                names = [n for n, term in enumerate(material.known) if is_name(term.text)]
                rows = [features(material.known[n], material.steps - 1) for n in names]
                if rows:
                    hits = [float(n in needed) for n in names]
                    yield Example(str(path), np.array(rows), np.array(hits))


def needed_terms(material: Material, after: Sequence[Step]) -> set[int]:
    """The terms that calls in `after` used before anything else showed them again."""
    needed: set[int] = set()
    shown: set[int] = set()
    for step in after:
        for call in step.calls:
            needed |= _known(material, call_text(call)) - shown
        for message in step.messages:
            texts = [result.text for result in message.results]
            if message.role == "user":
                texts.append(message.text)
            for text in texts:
                shown |= _known(material, text)
    return needed


def _known(material: Material, text: str) -> set[int]:
    ids = material.ids
    return {ids[t] for line in split_lines(text) for t in terms_of(line) if t in ids}


def fit(examples: Sequence[Example], np: Any, rounds: int = 12) -> list[float]:
    """The weights that make what was needed least surprising, with a small ridge."""
    rows = np.concatenate([example.rows for example in examples])
    needed = np.concatenate([example.needed for example in examples])
    weights = np.zeros(rows.shape[1])
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (needed - chance) - RIDGE * weights
        bend = (rows * (chance * (1 - chance))[:, None]).T @ rows + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(bend, slope)
    return [float(weight) for weight in weights]


def held_out(examples: Sequence[Example], np: Any) -> float:
    """Mean surprise per needed name, each recording foretold by the others; nan for one alone."""
    surprise, hits = 0.0, 0.0
    for recording in dict.fromkeys(example.recording for example in examples):
        others = [example for example in examples if example.recording != recording]
        if not others:
            return float("nan")
        weights = np.array(fit(others, np))
        for example in (example for example in examples if example.recording == recording):
            chance = 1 / (1 + np.exp(-np.clip(example.rows @ weights, -30, 30)))
            right = np.where(example.needed > 0, chance, 1 - chance)
            surprise -= float(np.log(right + 1e-12).sum())
            hits += float(example.needed.sum())
    return surprise / max(1.0, hits)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.is_file() and p.suffix != ".md")
        else:
            yield path


def _refuse(reason: str) -> int:
    sys.stderr.write(f"fit-worth: {reason}\n")
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
