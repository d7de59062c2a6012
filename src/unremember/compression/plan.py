"""What a compression is about to keep, as a value, and the history that it makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from unremember.compression.job import Job
from unremember.compression.material import call_text
from unremember.compression.pins import Pinned
from unremember.concepts import Fact
from unremember.events import Shortened
from unremember.history import History, Step, is_pin
from unremember.ledger import Ledger
from unremember.messages import Message, ToolResult
from unremember.notes import Notes, OutlineEntry, runs


@dataclass(frozen=True)
class Plan:
    """Pins, perhaps cut, the newest steps, perhaps clipped, and the old steps to choose lines from.

    `target` is in tokens. Without `notes_allowed` there is room for nothing else.
    """

    history: History
    target: int
    old: tuple[Step, ...]
    tail: tuple[Step, ...]
    pinned: Pinned
    ledger: Ledger
    facts: tuple[Fact, ...] = ()
    notes_allowed: bool = True

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Pins of the old steps in their order, then the newest steps."""
        pins = (self.pinned.stay[ordinal] for ordinal in sorted(self.pinned.stay))
        return (*pins, *(message for step in self.tail for message in step.messages))

    @cached_property
    def clipped(self) -> dict[int, Message]:
        """Originals of what does not stay whole of the newest steps, by ordinal."""
        said = {m.ordinal: m for step in self.originals for m in step.messages}
        now = (message for step in self.tail for message in step.messages)
        return {m.ordinal: said[m.ordinal] for m in now if m is not said[m.ordinal]}

    @property
    def originals(self) -> tuple[Step, ...]:
        """The newest steps as they were."""
        steps = self.history.steps
        return steps[len(steps) - len(self.tail) :]

    @property
    def whole(self) -> set[int]:
        """Ordinals of the messages that stay as they are."""
        stay = {message.ordinal for message in self.messages}
        return stay - self.clipped.keys() - self.pinned.cut.keys()

    @property
    def cut_texts(self) -> Iterator[str]:
        """What still stands of messages that were cut: it need not be kept again."""
        cut = self.clipped.keys() | self.pinned.cut.keys()
        for message in self.messages:
            if message.ordinal in cut:
                yield message.text
                yield from map(call_text, message.calls)
                yield from (result.text for result in message.results)


def assemble(
    plan: Plan, outline: tuple[OutlineEntry, ...] = (), names: tuple[str, ...] = ()
) -> History:
    """The history that a plan, an outline and an index of names make."""
    history = plan.history
    if not plan.notes_allowed:
        return History(history.system, plan.messages, Notes(next=history.next_ordinal))
    notes = Notes(
        outline=outline,
        names=names,
        ledger=plan.ledger,
        facts=plan.facts,
        before=plan.tail[0].ordinal if plan.tail else history.next_ordinal,
        kept=runs((*history.system, *plan.messages)),
        next=history.next_ordinal,
    )
    return History(history.system, plan.messages, notes)


def report_cuts(plan: Plan, job: Job) -> None:
    """Tells of every pin that did not stay whole (rule R3)."""
    now = {message.ordinal: message for message in plan.messages}
    cut = dict(plan.pinned.cut)
    for ordinal, message in plan.clipped.items():
        if is_pin(message) and _words(message) != _words(now[ordinal]):
            cut[ordinal] = job.weigh.message(message)
    for ordinal, before in sorted(cut.items()):
        job.emit(Shortened(ordinal, before, job.weigh.message(now[ordinal])))
    for pin in plan.pinned.dropped:
        job.emit(Shortened(pin.ordinal, job.weigh.message(pin), 0))


def _words(message: Message) -> list[object]:
    return [part for part in message.parts if not isinstance(part, ToolResult)]
