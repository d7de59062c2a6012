"""The engine as one call on a list of messages: the same form comes back, with a report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

from unremember.compression import Job, fit
from unremember.compression.report import Report, report_on
from unremember.errors import InputError
from unremember.events import Emit, ignore
from unremember.formats import anthropic, openai_chat, openai_responses
from unremember.formats.base import conversation
from unremember.tokens import Budget, Counter, Weigher, default_counter

Form = Literal["openai", "anthropic", "responses"]

_FORMS: dict[Form, Any] = {
    "openai": openai_chat,
    "anthropic": anthropic,
    "responses": openai_responses,
}


class Compression(NamedTuple):
    """What `compress` gives back: messages in the form they came in, and the report."""

    messages: list[dict[str, Any]]
    report: Report


def compress(
    messages: Sequence[Mapping[str, Any]],
    budget: int | Budget,
    *,
    form: Form | None = None,
    counter: Counter | None = None,
    fixed: int = 0,
    emit: Emit = ignore,
) -> Compression:
    """Compresses a list of OpenAI chat, OpenAI Responses or Anthropic messages to `budget` tokens.

    Messages that stay are the very same objects; what was forgotten is in `report.forgotten`, by
    handle. A list that fits already comes back as it is. Calls at the end that wait for their
    results stay open. `form` is recognised when it is left out. `fixed` are tokens that travel
    beside the messages (tool schemas, a system prompt that is not among them).

    Raises `InputError` for a list in no known form and `BudgetTooSmall` if what cannot be
    forgotten outweighs the limit. The list given is never changed.
    """
    begun = time.perf_counter()
    given = list(map(_as_dict, messages))
    module = _FORMS[form or recognise(given)]
    found = conversation(module.to_messages(given), form=module.NAME, close=False)
    job = Job(
        budget if isinstance(budget, Budget) else Budget.exactly(budget),
        Weigher(counter or default_counter(), fixed=fixed),
        emit=emit,
    )
    after = fit(found.history, job)
    report = report_on(
        found.history, after, job, seconds=time.perf_counter() - begun, repairs=found.repairs
    )
    if after is found.history and not found.repairs:
        return Compression(list(given), report)
    return Compression(module.write(after), report)


async def acompress(
    messages: Sequence[Mapping[str, Any]],
    budget: int | Budget,
    *,
    form: Form | None = None,
    counter: Counter | None = None,
    fixed: int = 0,
    emit: Emit = ignore,
) -> Compression:
    """The async form of `compress`; the work without a model runs in a thread of its own."""
    import asyncio

    return await asyncio.to_thread(
        compress, messages, budget, form=form, counter=counter, fixed=fixed, emit=emit
    )


def _as_dict(message: object) -> dict[str, Any]:
    if isinstance(message, dict):
        return cast("dict[str, Any]", message)
    if isinstance(message, Mapping):
        return dict(cast("Mapping[str, Any]", message))
    raise InputError(f"a message must be a dict, not a {type(message).__name__}")


def recognise(messages: Sequence[Mapping[str, Any]]) -> Form:
    """The form of a list of messages. Raises `InputError` where it is none of the three."""
    for form, module in (
        ("responses", openai_responses),
        ("anthropic", anthropic),
        ("openai", openai_chat),
    ):
        if module.matches(list(messages)):
            return form  # pyright: ignore[reportReturnType]
    raise InputError(
        "these are no messages of OpenAI chat, OpenAI Responses or Anthropic: each needs a role "
        "and content, or a type; name the form if the list is empty or unusual"
    )
