"""The chat: `unremember` alone, and `unremember resume`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from unremember.archive import INTERRUPTED, NOT_RUN
from unremember.cli.agents import (
    Flags,
    Setup,
    set_up,
    settings_for,
    somebody_is_there,
    tell_assumptions,
    tokens_of,
)
from unremember.cli.confirm import asker
from unremember.cli.live import Live
from unremember.cli.meter import by_kind, heaviest, sparkline, used
from unremember.cli.output import say
from unremember.cli.run import announce, meter_of
from unremember.cli.screen import bar, percent
from unremember.cli.store import existing_archive, find
from unremember.cli.turns import run_interruptible, turn
from unremember.errors import InputError, OverLimit, UnrememberError
from unremember.events import ignore
from unremember.messages import handle
from unremember.models import open_model
from unremember.tokens import Weigher

HELP = """\
/compress [focus]  make the history smaller now; focus is what to remember above all
/context           what the context holds: by kind, over time, the heaviest item
/model NAME        go on with another model
/cost              tokens and cost of this conversation
/plan              read-only mode, on or off
/quit              end; the conversation is kept
/help              this list"""


@dataclass(slots=True)
class Chat:
    """A conversation at the terminal."""

    made: Setup
    live: Live
    # One loop for all turns: commands in the background belong to it.
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)
    diffs: list[str] = field(default_factory=list[str])

    @property
    def price_name(self) -> str:
        """The model's name, by which its price is set."""
        return self.made.agent.model.name


def run(flags: Flags) -> int:
    """The command without a name: a new conversation in this folder."""
    return _loop(_begin(flags))


def resume(id: str | None, flags: Flags, *, fork: bool) -> int:
    """Goes on with a conversation; with `fork` with a copy of it, and the old one stays.

    What was unfinished is said, and is not run again by itself.
    """
    settings_for(flags)
    with existing_archive() as archive:
        info = find(archive, id, Path.cwd())
        named = archive.fork(info.id, info.entries) if fork else info.id
    chat = _begin(replace(flags, no_archive=False))
    agent = chat.made.agent
    agent.resume(named)
    chat.live.line(f"● {named}: {info.title}")
    for told in _unfinished(chat):
        chat.live.line(told)
    chat.live.line(meter_of(chat.made))
    last = agent.history.messages[-1:]
    if last and last[0].role != "assistant":
        _answer(chat, None)
    return _loop(chat)


def _unfinished(chat: Chat) -> Iterator[str]:
    """The calls at the end that did not finish, one line each."""
    agent = chat.made.agent
    for message in reversed(agent.history.messages):
        if not message.results:
            return
        for ordinal, part in message.numbered_parts():
            text = getattr(part, "text", "")
            if INTERRUPTED in text or NOT_RUN in text:
                yield f"● unfinished when it stopped: {handle(ordinal)} {text}"


def _begin(flags: Flags) -> Chat:
    live = Live()
    ask = asker(live) if somebody_is_there() else None
    chat = Chat(set_up(flags, ask, live.output, ignore), live)
    announce(chat.made, live)
    return chat


def _loop(chat: Chat) -> int:
    read = _reader()
    try:
        while True:
            typed = read().strip()
            if typed == "/quit":
                return 0
            if typed:
                _answer(chat, typed)
    except EOFError:
        return 0
    finally:
        chat.runner.run(chat.made.agent.context.state.jobs.stop_all())
        chat.runner.close()
        chat.made.archive.close()


def _answer(chat: Chat, typed: str | None) -> None:
    """Does what was typed, be it a message or a command; None goes on with what is unfinished."""
    name, _, rest = (typed or "").partition(" ")
    try:
        if not name.startswith("/"):
            _turn(chat, typed)
        elif name in COMMANDS:
            COMMANDS[name](chat, rest.strip())
        else:
            say(f"there is no {name}; /help lists what there is")
    except OverLimit as error:
        say(f"{error} Here: /compress, /model NAME, or /quit.")
    except UnrememberError as error:
        say(str(error))


def _turn(chat: Chat, task: str | None) -> None:
    agent = chat.made.agent
    try:
        run_interruptible(chat.runner, turn(agent, task, chat.live, chat.live, chat.diffs))
    except KeyboardInterrupt:
        chat.live.line("● stopped; what was said and done is kept")
    chat.live.line(meter_of(chat.made))


def _compress(chat: Chat, focus: str) -> None:
    agent = chat.made.agent
    before = agent.weigh()
    run_interruptible(chat.runner, agent.compress(focus))
    after = agent.weigh()
    made = f"{before:,} → {after:,} tokens" if after < before else "nothing could be left out"
    chat.live.line(f"● {made}")
    chat.live.line(meter_of(chat.made))


def _context(chat: Chat, rest: str) -> None:
    agent, live = chat.made.agent, chat.live
    weigh = Weigher()
    limit = agent.budget.limit
    for name, tokens in by_kind(agent, weigh):
        live.line(f"{name:<6} {tokens:>9,}  {bar(tokens / limit, 30):<30} {percent(tokens, limit)}")
    if live.counted:
        live.line(f"over time {sparkline(live.counted, limit)}")
    if found := heaviest(agent, weigh):
        live.line(found)
    live.line(meter_of(chat.made))


def _model(chat: Chat, name: str) -> None:
    if not name:
        raise InputError(f"the model is {chat.price_name}; /model NAME takes another one")
    model = open_model(name, base_url=chat.made.base_url)
    budget = tokens_of(chat.made.settings, model)
    chat.made.agent.use(model, budget)
    tell_assumptions(model, budget)
    chat.live.line(meter_of(chat.made))


def _cost(chat: Chat, rest: str) -> None:
    prices = chat.made.settings.prices
    for line in used(chat.made.agent.usage, prices.get(chat.price_name)):
        chat.live.line(line)


def _plan(chat: Chat, rest: str) -> None:
    context = chat.made.agent.context
    context.read_only = not context.read_only
    state = "on: nothing is written or run" if context.read_only else "off"
    chat.live.line(f"● read-only mode is {state}")


def _help(chat: Chat, rest: str) -> None:
    for line in HELP.splitlines():
        chat.live.line(line)


COMMANDS: dict[str, Callable[[Chat, str], None]] = {
    "/compress": _compress,
    "/context": _context,
    "/model": _model,
    "/cost": _cost,
    "/plan": _plan,
    "/help": _help,
}


def _reader() -> Callable[[], str]:
    """Reads what is typed: with prompt_toolkit at a terminal that has it, else line by line."""
    if not somebody_is_there():
        return lambda: input()
    try:
        from prompt_toolkit import PromptSession
    except ImportError:
        return lambda: input("> ")
    session: PromptSession[str] = PromptSession("> ")
    return lambda: session.prompt()
