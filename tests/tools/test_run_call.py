"""Whatever a call does, a result comes back that the model can act on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hands import Hands

from unremember.compression.clip import mark
from unremember.errors import ToolError
from unremember.messages import ToolCall
from unremember.tools import Context, Output, Ran, Tool, Workspace, run_call, tool


@tool(effect="reads")
def shout(text: str) -> str:
    """Says a text loudly."""
    return text.upper()


@tool(effect="reads")
def speak(kind: str) -> Output:
    """Fails in the way that is asked for."""
    match kind:
        case "tool":
            raise ToolError("the door is shut; open it first")
        case "fault":
            raise KeyError("nobody")
        case "log":
            rows = [f"compiling part {n} of many" for n in range(20_000)]
            rows[12_000] = "src/door.c:12: error: expected ';' before 'open'"
            return Output("\n".join(("Exit code: 2", "Wall time: 9 s", *rows)))
        case _:
            return Output("a" * 2_500_000 + "🙂" * 20 + "b" * 2_500_000)


async def run(context: Context, name: str, arguments: str, ordinal: int = 7) -> Ran:
    tools: dict[str, Tool] = {made.name: made for made in (shout, speak)}
    return await run_call(ToolCall("c1", name, arguments), tools, context, ordinal)


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(Workspace(tmp_path))


async def test_a_call_gives_its_result(context: Context):
    """The result answers the call; within the cap the whole result is the same."""
    ran = await run(context, "shout", '{"text": "yes"}')
    assert (ran.result.call_id, ran.result.text, ran.result.failed) == ("c1", "YES", False)
    assert ran.whole is ran.result


@pytest.mark.parametrize(
    ("name", "hint"),
    [("shuot", "did you mean shout?"), ("fly_to_moon", "Tools: shout, speak")],
)
async def test_an_unknown_tool_names_the_nearest(context: Context, name: str, hint: str):
    """A call of a tool that does not exist fails and says which there are."""
    result = (await run(context, name, "{}")).result
    assert result.failed
    assert hint in result.text


async def test_tools_of_other_programs_are_understood(hands: Hands):
    """A tool's name in another program leads to the tool that does the same here."""
    assert "did you mean run_command?" in await hands.fails("bash", command="ls")
    assert "did you mean edit_file?" in await hands.fails("str_replace", path="a")


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("{}", ["- text: is missing"]),
        ('{"txt": 1}', ["- text: is missing", "did you mean text?"]),
        ('{"text": [1]}', ["- text: input should be a valid string (got [1])"]),
        ('{"text": "cut o', ["no valid JSON", "one JSON object"]),
        ("[1]", ["must be one JSON object"]),
    ],
)
async def test_wrong_arguments_come_back_as_lines(
    context: Context, arguments: str, lines: list[str]
):
    """Each fault in the arguments is one readable line; nothing runs."""
    result = (await run(context, "shout", arguments)).result
    assert result.failed
    assert all(line in result.text for line in lines)
    assert "validation error" not in result.text


async def test_line_breaks_in_a_string_are_no_fault(context: Context):
    """Small models write raw line breaks into JSON strings; what they mean is clear."""
    assert (await run(context, "shout", '{"text": "a\nb"}')).result.text == "A\nB"


@pytest.mark.parametrize("escaped", [False, True])
async def test_a_clip_mark_is_refused(context: Context, escaped: bool):
    """Arguments with the mark of something left out are refused, naming what to recall."""
    arguments = json.dumps({"text": f"a {mark(120, 'lines', 41)} b"}, ensure_ascii=escaped)
    result = (await run(context, "shout", arguments)).result
    assert result.failed
    assert "recall with m41" in result.text


async def test_errors_of_tools_become_results(context: Context):
    """What a tool raises becomes a failed result: its own words, or the kind of fault."""
    assert (await run(context, "speak", '{"kind": "tool"}')).result.text == (
        "the door is shut; open it first"
    )
    result = (await run(context, "speak", '{"kind": "fault"}')).result
    assert result.failed
    assert result.text == "speak failed: KeyError: 'nobody'"


async def test_one_huge_line_is_capped(context: Context):
    """F10: of 5 MB in one line head and tail stay, the count is exact, the whole is kept."""
    context.cap = 300
    ran = await run(context, "speak", '{"kind": "huge"}', ordinal=12)
    text = ran.result.text
    assert context.count(text) <= 300
    assert text.startswith("aaa")
    assert text.endswith("bbb")
    kept = text.index("[…") + len(text) - text.index("…]") - len("…]")
    assert f"[… {5_000_020 - kept:,} characters left out · m12 …]" in text
    assert len(ran.whole.text) == 5_000_020
    text.encode("utf-8")


async def test_the_error_line_survives_the_cap(context: Context):
    """F11: the only error line of 20,000 stays with its neighbours; exit status comes first."""
    context.cap = 400
    text = (await run(context, "speak", '{"kind": "log"}')).result.text
    assert context.count(text) <= 400
    lines = text.split("\n")
    assert lines[0] == "Exit code: 2"
    at = next(n for n, line in enumerate(lines) if "error:" in line)
    assert [lines[at + n].split()[2] for n in (-2, -1, 1, 2)] == [
        "11998", "11999", "12001", "12002",
    ]  # fmt: skip


async def test_read_only_mode_refuses_all_but_reading(hands: Hands):
    """In read-only mode nothing is written or run, with that reason; reading goes on."""
    (hands.root / "a.txt").write_text("hello\n")
    hands.context.read_only = True
    for name, arguments in (
        ("write_file", {"path": "b.txt", "content": "x"}),
        ("edit_file", {"path": "a.txt", "old": "hello", "new": "bye"}),
        ("run_command", {"command": "touch c.txt"}),
    ):
        assert "read-only mode" in await hands.fails(name, **arguments)
    assert "hello" in await hands("read_file", path="a.txt")
    assert [path.name for path in hands.root.iterdir()] == ["a.txt"]


async def test_a_cancelled_turn_runs_nothing_more(context: Context):
    """Calls that come after the user stopped the turn are not run."""
    context.cancelled.set()
    result = (await run(context, "shout", '{"text": "a"}')).result
    assert result.failed
    assert "cancelled" in result.text


async def test_calls_at_once_do_not_mix_up_their_handles(context: Context):
    """Several calls run at the same time; each one's mark names its own result."""
    context.cap = 100
    ran = await asyncio.gather(
        *(run(context, "speak", '{"kind": "log"}', ordinal=n) for n in (3, 4, 5))
    )
    for ordinal, one in zip((3, 4, 5), ran, strict=True):
        assert f"m{ordinal} …]" in one.result.text
