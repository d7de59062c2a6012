"""What the recorded agent needed after a cut, and what it had been told before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from unremember.evaluation.names import handholds, names, quotes, stands
from unremember.evaluation.prose import failures, found_phrases, obligations, telling_phrases
from unremember.evaluation.recordings import Cut
from unremember.evaluation.texts import argument_text, message_texts
from unremember.history import Step
from unremember.messages import Message

LAST_ERRORS = 5
"""How many of the newest distinct lines that report a failure should still be there."""

MOST_RULES = 200


@dataclass(frozen=True, slots=True)
class Needs:
    """What should still be there after a compression.

    `names`, `quotes` and `phrases` are what the agent used after the cut, had seen before it, and
    was not shown again in between. `rules`, `errors` and `users` are what was said before it.
    """

    names: frozenset[str]
    quotes: frozenset[str]
    phrases: frozenset[str]
    rules: tuple[str, ...]
    errors: tuple[str, ...]
    users: tuple[str, ...]


def needs_of(cut: Cut) -> Needs:
    """Everything that should be there after the part before the cut was compressed."""
    said = [*cut.before.system, *cut.before.messages]
    texts = [text for message in said for text in message_texts(message)]
    before = "\n".join(texts)
    known = handholds(before)
    users = tuple(filter(None, (m.text.strip() for m in said if _is_users(m))))
    rules = dict.fromkeys(rule for text in users for rule in obligations(text))
    return Needs(
        _used(cut.after, names, lambda name: name in known, _Handholds()),
        _used(cut.after, quotes, lambda quote: quote in before, _Texts()),
        _phrases(before, cut.after),
        tuple(islice(rules, MOST_RULES)),
        _last_errors(said),
        users,
    )


class _Handholds:
    """What was shown after the cut, as a set by which names are found."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def show(self, text: str) -> None:
        self._seen |= handholds(text)

    def holds(self, name: str) -> bool:
        return stands(name, self._seen)


class _Texts:
    """What was shown after the cut, as texts."""

    def __init__(self) -> None:
        self._seen: list[str] = []

    def show(self, text: str) -> None:
        self._seen.append(text)

    def holds(self, quote: str) -> bool:
        return any(quote in text for text in self._seen)


def _used(
    after: Sequence[Step],
    read: Callable[[str], set[str]],
    was_known: Callable[[str], bool],
    shown: _Handholds | _Texts,
) -> frozenset[str]:
    """What calls used after the cut that was known before it and not shown again until then.

    Only the first use counts: from then on the agent has it in front of it.
    """
    met: set[str] = set()
    needed: set[str] = set()
    for step in after:
        for call in step.calls:
            used = read(argument_text(call)) - met
            needed |= {one for one in used if was_known(one) and not shown.holds(one)}
            met |= used
        for text in _shown_in(step):
            shown.show(text)
    return frozenset(needed)


def _phrases(before: str, after: Sequence[Step]) -> frozenset[str]:
    prose = [telling_phrases(_words(step)) for step in after]
    known = found_phrases(frozenset[str]().union(*prose), before)
    met: set[str] = set()
    needed: set[str] = set()
    for step, spoken in zip(after, prose, strict=True):
        needed |= (spoken & known) - met
        met |= spoken
        for text in _shown_in(step):
            met |= found_phrases(known, text)
    return frozenset(needed)


def _words(step: Step) -> str:
    return "\n".join(message.text for message in step.messages if message.role == "assistant")


def _shown_in(step: Step) -> list[str]:
    """What tools and the user show the agent in a step."""
    texts = [result.text for result in step.results]
    return texts + [m.text for m in step.messages if m.role == "user" and m.text]


def _is_users(message: Message) -> bool:
    return message.role == "user" and message.kind == "said"


def _last_errors(said: Sequence[Message]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for message in reversed(said):
        for result in reversed(message.results):
            for line in reversed(list(failures(result.text))):
                found[line] = None
                if len(found) == LAST_ERRORS:
                    return tuple(found)
    return tuple(found)
