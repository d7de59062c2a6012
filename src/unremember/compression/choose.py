"""Choosing lines by their worth per token, over all old steps at once.

The worth of a line is the sum of the chances of its terms that nothing kept holds yet, so that
each term is paid for once. Lines are taken greedily; the choice can be continued with a larger
allowance and taken back act by act, which is how `fit` meets a budget to the token. A name can
also be taken by itself, into the index: far cheaper than a line, and worth a part of it, since it
only tells that there is something to recall.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from unremember.compression.material import Material, Origin, split_lines, terms_of
from unremember.compression.worth import is_name

GAP = 2
"""Tokens of the mark for missing lines."""

OPEN = 6
"""Tokens of the line that opens an entry: its handle, what came of it, how much is missing."""

MAIN = 60
"""Tokens up to which the line that says what was done is opened with its entry."""

BONUS = {
    Origin.AGENT: 0.004,
    Origin.CALL: 0.0015,
    Origin.USER: 0.003,
    Origin.RESULT: 0.0,
    Origin.OTHER: 0.0005,
}
"""Worth per token of a line for who wrote it: decisions and rules above output."""

FADE = 0.02
"""How fast the bonus fades with each step of age."""

BESIDE = 1.7
"""How much more a line is worth beside a kept one: a passage reads better than single lines."""

BESIDE_TOKEN = 0.0005
"""What a line beside a kept one is worth per token whatever it says."""

NAMED = 0.4
"""Share of a name's worth that it has in the index, outside of any line."""

INDEX = 400
"""How many names are considered for the index: those with the best chances."""

SHORTEST_NAME = 4
"""Characters of the shortest name in the index."""

NEARLY_FULL = 100
"""Lines that did not fit any more after which filling stops."""

CountTexts = Callable[[Sequence[str]], list[int]]


@dataclass(slots=True)
class Taken:
    """One act of choosing: the lines or the name it added, and their cost in tokens.

    `opened` holds what the terms were worth before, so that the act can be taken back.
    """

    cost: int
    reason: str
    lines: list[int] = field(default_factory=list[int])
    name: int = -1
    opened: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])


class Chooser:
    """A choice under way over `material`.

    `chances` is the worth of each term, `count` weighs texts in tokens; `kept` are texts that stay
    anyway, so that their lines and terms need not be chosen.
    """

    def __init__(
        self,
        material: Material,
        chances: Sequence[float],
        count: CountTexts,
        kept: Iterable[str] = (),
    ) -> None:
        self.material = material
        self.taken: list[Taken] = []
        self.spent = 0
        # As they will stand in the outline: one blank before, a line break behind.
        self.weights = [n + 1 for n in count([f" {text}" for text in material.texts])]
        # What each term is still worth: nothing once a kept line holds it.
        self._open = list(chances)
        self._chosen = bytearray(len(material.texts))
        self._places: dict[int, set[int]] = {}
        self._at = {
            key: n for n, key in enumerate(zip(material.entry, material.place, strict=True))
        }
        for term in material.covered:
            self._open[term] = 0.0
        self._cover(kept)
        self._name_costs = self._index(count)
        self._heap = [(-self._worth(n) / self._cost(n), n) for n in range(len(material.texts))]
        self._heap += [
            (-NAMED * self._open[term] / cost, -1 - term) for term, cost in self._name_costs.items()
        ]
        self._heap = [item for item in self._heap if item[0] < 0]
        heapq.heapify(self._heap)

    def lines(self) -> list[int]:
        """The lines chosen so far."""
        return [line for act in self.taken for line in act.lines]

    def names(self) -> list[str]:
        """The names chosen for the index that no chosen line holds."""
        known = self.material.known
        return [
            known[act.name].text for act in self.taken if act.name >= 0 and self._open[act.name] > 0
        ]

    def reason(self, line: int) -> str:
        """Why a line was taken: "error", "user" or "worth"; "" if it was not."""
        return next((act.reason for act in self.taken if line in act.lines), "")

    def is_taken(self, line: int) -> bool:
        """Whether a line is chosen or stands in a kept text."""
        return bool(self._chosen[line])

    def cost(self, line: int) -> int:
        """What a line would add in tokens: itself, a gap mark, its entry if it is the first."""
        return self._cost(line)

    def take(self, line: int, reason: str) -> None:
        """Takes a line, with the main line of its entry if it is the first there."""
        number = self.material.entry[line]
        act = Taken(self._cost(line), reason)
        if number not in self._places:
            self._places[number] = set()
            if self._brings_main(number, line):
                self._add(self.material.entries[number].main, act)
        self._add(line, act)
        self._did(act)
        self._renew_beside(line)

    def fill(self, allowance: int) -> None:
        """Takes lines and names by worth per token until `allowance` tokens are spent in all."""
        heap = self._heap
        skipped: list[tuple[float, int]] = []
        while heap and self.spent < allowance and len(skipped) < NEARLY_FULL:
            _, item = heapq.heappop(heap)
            worth, cost = self._value(item)
            if worth <= 0:
                continue
            ratio = -worth / cost
            if heap and ratio > heap[0][0]:
                heapq.heappush(heap, (ratio, item))
            elif self.spent + cost > allowance:
                skipped.append((ratio, item))
            elif item < 0:
                self._take_name(-1 - item)
            else:
                self.take(item, "worth")
        for item in skipped:
            heapq.heappush(heap, item)

    def take_back(self) -> None:
        """Undoes the last act."""
        act = self.taken.pop()
        self.spent -= act.cost
        for term, worth in reversed(act.opened):
            self._open[term] = worth
        for line in act.lines:
            self._chosen[line] = 0
            number = self.material.entry[line]
            self._places[number].discard(self.material.place[line])
            if not self._places[number]:
                del self._places[number]
        for line in act.lines:
            heapq.heappush(self._heap, (-self._worth(line) / self._cost(line), line))

    def _cover(self, kept: Iterable[str]) -> None:
        ids = self.material.ids
        lines = {line.strip() for text in kept for line in split_lines(text)}
        for line in lines:
            for term in terms_of(line):
                if (known := ids.get(term)) is not None:
                    self._open[known] = 0.0
        if lines:
            for number, text in enumerate(self.material.texts):
                if text.strip() in lines:
                    self._chosen[number] = 1

    def _index(self, count: CountTexts) -> dict[int, int]:
        """The terms that may stand in the index, with what they cost there."""
        known, worth = self.material.known, self._open
        terms = [
            n
            for n, term in enumerate(known)
            if worth[n] > 0 and len(term.text) >= SHORTEST_NAME and is_name(term.text)
        ]
        best = heapq.nlargest(INDEX, terms, key=worth.__getitem__)
        return dict(zip(best, count([f" {known[term].text}" for term in best]), strict=True))

    def _value(self, item: int) -> tuple[float, int]:
        """Worth and cost of a line, or of a name given as -1 - term; no worth once it is taken."""
        if item >= 0:
            return (0.0, 1) if self._chosen[item] else (self._worth(item), self._cost(item))
        term = -1 - item
        return NAMED * self._open[term], self._name_costs[term]

    def _worth(self, line: int) -> float:
        still = self._open
        total = 0.0
        for term in self.material.terms[line]:
            total += still[term]
        if self._is_beside(line):
            total = total * BESIDE + BESIDE_TOKEN * self.weights[line]
        bonus = BONUS[self.material.origin[line]]
        if bonus:
            age = self.material.steps - self.material.entries[self.material.entry[line]].step
            total += bonus * self.weights[line] / (1 + FADE * age)
        return total

    def _cost(self, line: int) -> int:
        number = self.material.entry[line]
        places = self._places.get(number)
        if places is None:
            main = self.material.entries[number].main
            extra = self.weights[main] + GAP if self._brings_main(number, line) else 0
            return self.weights[line] + OPEN + extra
        place = self.material.place[line]
        beside = (place - 1 in places) + (place + 1 in places)
        return max(1, self.weights[line] + GAP * (1 - beside))

    def _is_beside(self, line: int) -> bool:
        places = self._places.get(self.material.entry[line])
        if not places:
            return False
        place = self.material.place[line]
        return place - 1 in places or place + 1 in places

    def _brings_main(self, number: int, line: int) -> bool:
        main = self.material.entries[number].main
        return main not in (-1, line) and self.weights[main] <= MAIN

    def _add(self, line: int, act: Taken) -> None:
        self._chosen[line] = 1
        self._places[self.material.entry[line]].add(self.material.place[line])
        act.lines.append(line)
        for term in self.material.terms[line]:
            self._close(term, 0.0, act)

    def _take_name(self, term: int) -> None:
        act = Taken(self._name_costs[term], "name", name=term)
        ids = self.material.ids
        for part in terms_of(self.material.known[term].text):
            if (own := ids.get(part)) is not None:
                self._close(own, self._open[own] * (1 - NAMED), act)
        self._did(act)

    def _close(self, term: int, worth: float, act: Taken) -> None:
        if self._open[term] > worth:
            act.opened.append((term, self._open[term]))
            self._open[term] = worth

    def _did(self, act: Taken) -> None:
        self.spent += act.cost
        self.taken.append(act)

    def _renew_beside(self, line: int) -> None:
        """Neighbours of a taken line became cheaper: no gap to mark."""
        number, place = self.material.entry[line], self.material.place[line]
        for other in (self._at.get((number, place - 1)), self._at.get((number, place + 1))):
            if other is not None and not self._chosen[other] and (worth := self._worth(other)) > 0:
                heapq.heappush(self._heap, (-worth / self._cost(other), other))
