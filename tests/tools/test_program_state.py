"""F8 and F9: what the program knows does not hang on what the history still holds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from hands import Hands

from unremember.compression import Job, fit
from unremember.history import History
from unremember.ledger import FileRecord, Ledger, extend
from unremember.messages import Message, Text, ToolCall
from unremember.tokens import Budget
from unremember.tools import Answer, Question, run_call


@dataclass
class Talk:
    """A conversation in which every call and its result are messages, as an agent keeps them."""

    hands: Hands
    history: History = field(
        default_factory=lambda: History().add(Message("user", (Text("Mend a.py"),)))
    )

    async def __call__(self, name: str, **arguments: object) -> str:
        call = ToolCall(f"c{self.history.next_ordinal}", name, json.dumps(arguments))
        self.history = self.history.add(Message("assistant", (call,)))
        ran = await run_call(call, self.hands.tools, self.hands.context, self.history.next_ordinal)
        self.history = self.history.add(Message("tool", (ran.result,)))
        return ran.result.text

    def compress(self, tokens: int) -> None:
        self.history = fit(self.history, Job(Budget.exactly(tokens)))
        # Whole results only: what is clipped in the history is not what the model once saw.
        self.hands.context.visible = {
            message.ordinal for message in self.history.messages if "left out" not in message.text
        }

    @property
    def file(self) -> FileRecord:
        return extend(Ledger(), self.history.steps).files[0]


async def test_the_state_outlives_a_compression(hands: Hands):
    """F8: plan, folder, job, mode and permissions are the same after the history was cut down."""

    async def always(question: Question) -> Answer:
        return Answer("always")

    talk, context = Talk(hands), hands.context
    context.approve = always
    (hands.root / "src").mkdir()
    steps = [{"step": f"step {n}", "status": "done" if n < 3 else "open"} for n in range(1, 6)]
    await talk("update_plan", steps=steps)
    await talk("run_command", command="cd src")
    await talk("run_command", command="sleep 300; true", background=True)
    for _ in range(20):
        await talk("run_command", command="seq 1 400")
    context.read_only = True

    plan, folder, allowed = context.plan, context.state.folder, set(context.state.always)
    talk.compress(1_500)
    assert context.plan == plan
    assert [item.state for item in plan] == ["done", "done", "open", "open", "open"]
    assert (context.state.folder, context.state.always) == (folder, allowed) == ("src", allowed)
    assert "read-only mode" in await talk("write_file", path="a", content="x")
    context.read_only = False
    assert "/project/src" in await talk("run_command", command="sleep 0; pwd")
    assert (await talk("jobs", action="list")).startswith("j1 running")


async def test_a_file_on_its_way(hands: Hands):
    """F9: read, edited, changed by a formatter, compressed, read again, the same once more."""
    talk, path = Talk(hands), hands.root / "a.py"
    path.write_text("x=1\n" + "".join(f"line_{n} = {n}\n" for n in range(300)))
    read = talk.history.next_ordinal + 2
    assert "line_7 = 7" in await talk("read_file", path="a.py")
    edited = talk.history.next_ordinal + 1
    await talk("edit_file", path="a.py", old="x=1", new="x=2")
    assert (talk.file.read, talk.file.edited, talk.file.changed) == (read, edited, 0)

    path.write_text(path.read_text().replace("x=2", "x = 2"))
    refused = talk.history.next_ordinal + 2
    assert "changed outside" in await talk("edit_file", path="a.py", old="x=2", new="x=3")
    assert talk.file.changed == refused
    assert talk.file.is_stale

    talk.compress(1_200)
    assert "x = 2" in await talk("read_file", path="a.py")
    hands.context.visible = None
    assert "unchanged since" in await talk("read_file", path="a.py")
    await talk("edit_file", path="a.py", old="x = 2", new="x = 3")
    assert path.read_text().startswith("x = 3\n")


async def test_an_edit_after_a_compression_needs_no_new_read(hands: Hands):
    """What the agent knew of a file stays known: an edit still checks against that state."""
    talk, path = Talk(hands), hands.root / "a.py"
    path.write_text("x=1\n" + "".join(f"line_{n} = {n}\n" for n in range(300)))
    await talk("read_file", path="a.py")
    await talk("run_command", command="seq 1 900")
    talk.compress(800)
    assert (await talk("edit_file", path="a.py", old="x=1", new="x=2")).startswith("edited")
    path.write_text("other\n")
    assert "changed outside" in await talk("edit_file", path="a.py", old="x=2", new="x=3")
