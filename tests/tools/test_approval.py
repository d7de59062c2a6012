"""Commands are asked for: yes, always, no, and no with a reason that the model is told."""

from __future__ import annotations

import pytest
from hands import Hands

from unremember.tools import Answer, Question, choose_approval, refuse_all


class User:
    """Somebody who gives prepared answers and remembers the questions."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answers.pop(0)


async def test_yes_runs_it_once(hands: Hands):
    """The user sees the whole line and what it starts; a yes is for this time."""
    user = hands.context.approve = User(Answer("yes"), Answer("no"))
    command = "echo $(whoami) | xargs -n1 touch"
    await hands("run_command", command=command)
    assert user.asked[0].what == command
    assert user.asked[0].programs == ("whoami", "xargs", "touch")
    assert "the user said no" in await hands.fails("run_command", command=command)


async def test_a_reason_reaches_the_model(hands: Hands):
    """A no with a reason is a failed result with that reason; nothing runs."""
    hands.context.approve = User(Answer("no", "use the Makefile instead"))
    text = await hands.fails("run_command", command="touch made")
    assert text.startswith("command not allowed: use the Makefile instead")
    assert not (hands.root / "made").exists()


async def test_always_is_for_this_command(hands: Hands):
    """Always covers program and subcommand, with other arguments and beside others that are."""
    user = hands.context.approve = User(*[Answer("always")] * 2, *[Answer("no")] * 9)
    await hands("run_command", command="git --version; git status || true")
    assert user.asked[0].always == "git --version, git status"
    await hands("run_command", command="printf x | sort")
    assert user.asked[1].always == "sort"
    await hands("run_command", command="git status --short | sort -r || true")
    await hands("run_command", command="echo free && git status 2>/dev/null || true")
    assert len(user.asked) == 2
    for command in (
        "git log",
        "git -c core.pager=x status",
        "sudo git status",
        "git status; rm x",
        "git status $(rm x)",
        "git status > file",
        "PATH=. git status",
        "git status 'unfinished",
        "$GIT status",
    ):
        await hands.fails("run_command", command=command)
    assert len(user.asked) == 11


async def test_always_where_not_all_is_known(hands: Hands):
    """For a line that cannot be known, always covers that very line and no other."""
    user = hands.context.approve = User(Answer("always"), Answer("no"))
    await hands("run_command", command="python3 -c 'print(1)' | sh -c 'cat'")
    assert user.asked[0].always == "python3 -c 'print(1)' | sh -c 'cat'"
    await hands("run_command", command="python3 -c 'print(1)' | sh -c 'cat'")
    await hands.fails("run_command", command="python3 -c 'print(2)' | sh -c 'cat'")


async def test_without_a_terminal(hands: Hands):
    """Where nobody can be asked commands are refused with that reason; edits go on."""
    hands.context.approve = refuse_all
    text = await hands.fails("run_command", command="touch made")
    assert "no terminal" in text
    assert "--yes" in text
    assert not (hands.root / "made").exists()
    await hands("write_file", path="a.txt", content="x\n")


async def test_who_answers(monkeypatch: pytest.MonkeyPatch):
    """--yes and UNREMEMBER_BRAVE_MODE=true approve all; else the user is asked; else it is no."""
    user = User(Answer("no"))
    question = Question("run_command", "ls")
    monkeypatch.delenv("UNREMEMBER_BRAVE_MODE", raising=False)
    assert (await choose_approval(user, yes=True)(question)).verdict == "yes"
    assert (await choose_approval(None)(question)).verdict == "no"
    monkeypatch.setenv("UNREMEMBER_BRAVE_MODE", "false")
    assert choose_approval(user) is user
    monkeypatch.setenv("UNREMEMBER_BRAVE_MODE", "true")
    assert (await choose_approval(user)(question)).verdict == "yes"
    assert not user.asked
