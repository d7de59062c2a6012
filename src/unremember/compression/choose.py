"""Choosing lines by their worth per token, over all old steps at once.

The worth of a line is the sum of the chances of its terms that nothing kept holds yet, so that
each term is paid for once. Lines are taken greedily; the choice can be continued with a larger
allowance and taken back line by line, which is how `fit` meets a budget to the token.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from unremember.compression.material import Material, Origin, split_lines, terms_of

GAP = 2
"""Tokens of the mark for missing lines."""

OPEN = 8
"""Tokens of the line that opens an entry: its handle, the tool, the outcome."""

MAIN = 60
"""Tokens up to which the line that says what was done is opened with its entry."""

BONUS = {
    Origin.AGENT: 0.0015,
    Origin.CALL: 0.0015,
    Origin.USER: 0.003,
    Origin.RESULT: 0.0,
    Origin.OTHER: 0.0005,
}
"""Worth per token of a line for who wrote it, beside its terms: decisions and rules above output."""

NEARLY_FULL = 100
"""Lines that did not fit any more after which filling stops."""

FADE = 0.02
"""How fast the bonus fades with the age of the step."""


@dataclass(slots=True)
class Taken:
    """One act of choosing: the lines it added and what they cost, in tokens; taken back as one."""

    lines: list[int]
    cost: int
    terms: list[int]
    reason: str


@dataclass(slots=True)
class Chooser:
    """A choice under way over `material`; `weights` are the tokens of each line."""

    material: Material
    chances: Sequence[float]
    weights: Sequence[int]
    taken: list[Taken] = field(default_factory=list[Taken])
    spent: int = 0
    _covered: bytearray = field(default_factory=bytearray)
    _chosen: bytearray = field(default_factory=bytearray)
    _places: dict[int, set[int]] = field(default_factory=dict[int, set[int]])
    _at: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    _heap: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])

    def __post_init__(self) -> None:
        material = self.material
        self._covered = bytearray(len(material.known))
        for term in material.covered:
            self._covered[term] = 1
        self._chosen = bytearray(len(material.texts))
        self._at = {
            key: line for line, key in enumerate(zip(material.entry, material.place, strict=True))
        }
        self._heap = [
            (-worth / self.cost(line), line)
            for line in range(len(material.texts))
            if (worth := self.worth(line)) > 0
        ]
        heapq.heapify(self._heap)

    def cover(self, texts: Iterable[str]) -> None:
        """Counts the lines and terms of `texts` as kept already; to be called before the first choice."""
        ids = self.material.ids
        lines = {line.strip() for text in texts for line in split_lines(text)}
        for line in lines:
            for term in terms_of(line):
                if (known := ids.get(term)) is not None:
                    self._covered[known] = 1
        for number, text in enumerate(self.material.texts):
            if text.strip() in lines:
                self._chosen[number] = 1

    def worth(self, line: int) -> float:
        """What a line would add: the chances of its terms that are not covered, and its bonus."""
        covered, chances = self._covered, self.chances
        total = 0.0
        for term in self.material.terms[line]:
            if not covered[term]:
                total += chances[term]
        bonus = BONUS[self.material.origin[line]]
        if bonus:
            age = self.material.steps - self.material.entries[self.material.entry[line]].step
            total += bonus * self.weights[line] / (1 + FADE * age)
        return total

    def cost(self, line: int) -> int:
        """What a line would add in tokens: itself, a mark for the gap, and its entry if it is the first."""
        number = self.material.entry[line]
        places = self._places.get(number)
        if places is None:
            main = self.material.entries[number].main
            extra = (
                self.weights[main] if main not in (-1, line) and self.weights[main] <= MAIN else 0
            )
            gap = GAP if extra else 0
            return self.weights[line] + OPEN + extra + gap
        place = self.material.place[line]
        beside = (place - 1 in places) + (place + 1 in places)
        return max(1, self.weights[line] + GAP * (1 - beside))

    def take(self, line: int, reason: str) -> None:
        """Takes a line, with the main line of its entry if it is the entry's first."""
        material = self.material
        number = material.entry[line]
        act = Taken([], self.cost(line), [], reason)
        main = material.entries[number].main
        if number not in self._places:
            self._places[number] = set()
            if main not in (-1, line) and self.weights[main] <= MAIN:
                self._add(main, act)
        self._add(line, act)
        self.spent += act.cost
        self.taken.append(act)

    def _add(self, line: int, act: Taken) -> None:
        self._chosen[line] = 1
        self._places[self.material.entry[line]].add(self.material.place[line])
        act.lines.append(line)
        for term in self.material.terms[line]:
            if not self._covered[term]:
                self._covered[term] = 1
                act.terms.append(term)

    def is_taken(self, line: int) -> bool:
        """Whether a line is among the chosen."""
        return bool(self._chosen[line])

    def fill(self, allowance: int) -> None:
        """Takes lines by worth per token until `allowance` tokens are spent in all."""
        heap = self._heap
        skipped: list[tuple[float, int]] = []
        while heap and self.spent < allowance and len(skipped) < NEARLY_FULL:
            _, line = heapq.heappop(heap)
            if self._chosen[line]:
                continue
            worth, cost = self.worth(line), self.cost(line)
            if worth <= 0:
                continue
            ratio = -worth / cost
            if heap and ratio > heap[0][0]:
                heapq.heappush(heap, (ratio, line))
            elif self.spent + cost > allowance:
                skipped.append((ratio, line))
            else:
                self.take(line, "worth")
                self._renew_beside(line)
        for item in skipped:
            heapq.heappush(heap, item)

    def _renew_beside(self, line: int) -> None:
        """Neighbours of a taken line became cheaper: no gap to mark."""
        number, place = self.material.entry[line], self.material.place[line]
        for other in (self._at.get((number, place - 1)), self._at.get((number, place + 1))):
            if other is not None and not self._chosen[other] and (worth := self.worth(other)) > 0:
                heapq.heappush(self._heap, (-worth / self.cost(other), other))

    def take_back(self) -> None:
        """Undoes the last act."""
        act = self.taken.pop()
        self.spent -= act.cost
        for line in act.lines:
            self._chosen[line] = 0
            number = self.material.entry[line]
            self._places[number].discard(self.material.place[line])
            if not self._places[number]:
                del self._places[number]
        for term in act.terms:
            self._covered[term] = 0
        for line in act.lines:
            heapq.heappush(self._heap, (-self.worth(line) / self.cost(line), line))

    def chosen(self) -> Iterable[int]:
        """The lines chosen so far."""
        return (line for act in self.taken for line in act.lines)
