"""`unremember compress`, as users run it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from talks import (
    EXAMPLE,
    Run,
    anthropic_request,
    one_line_of,
    openai_messages,
    responses_items,
)

from unremember import read
from unremember.testing import check_anthropic, check_openai, check_responses
from unremember.tokens import Weigher


def report(run: Run, *arguments: str | Path) -> dict[str, Any]:
    """The report as JSON."""
    done = run("compress", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_report_fits_80_columns(run: Run):
    """It shows both bars, every kind, the ledger, the counter, and how to get the result."""
    done = run("compress", EXAMPLE, "-b", "4k")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert done.stderr == b""
    for wanted in ("before  █", "after   █", "tool results", "rules of yours", "ledger", "o200k"):
        assert wanted in text
    assert "was not written: add -o FILE" in text
    # What is there to be copied is never cut; all else keeps to the width.
    lines = [line for line in text.splitlines() if "unremember recall" not in line]
    assert max(map(cell_len, lines)) <= 80


def test_nothing_is_written_unless_asked(run: Run, conversation: Path):
    """Without -o and --report there is no new file."""
    before = sorted(conversation.parent.iterdir())
    assert run("compress", conversation, "-b", "2k").returncode == 0
    assert sorted(conversation.parent.iterdir()) == before


def test_the_result_keeps_the_budget(run: Run, conversation: Path, tmp_path: Path):
    """The file is a valid request that weighs at most the budget, by a count of its own."""
    out = tmp_path / "out.json"
    done = run("compress", conversation, "--budget", "2000", "-o", out)
    assert done.returncode == 0
    assert "is in" in done.stdout.decode()
    assert check_openai(json.loads(out.read_text())) == []
    assert Weigher()(read(out)[0].history) <= 2000


def check_anthropic_request(value: dict[str, Any]) -> list[str]:
    """The faults in a whole request."""
    return check_anthropic(value["messages"])


@pytest.mark.parametrize(
    ("given", "check"),
    [
        (openai_messages(), check_openai),
        (anthropic_request(), check_anthropic_request),
        (responses_items(), check_responses),
    ],
    ids=["openai", "anthropic", "responses"],
)
def test_the_form_of_the_input_is_kept(run: Run, tmp_path: Path, given: Any, check: Any):
    """A provider's own form comes back in that form."""
    source, out = tmp_path / "in.json", tmp_path / "out.json"
    source.write_text(json.dumps(given))
    assert run("compress", source, "-b", "2k", "-o", out).returncode == 0
    value = json.loads(out.read_text())
    assert type(value) is type(given)
    assert check(value) == []
    assert read(out)[0].format == read(source)[0].format


def test_another_form_becomes_openai_chat(run: Run):
    """A form that cannot be written becomes OpenAI chat, unless --to says otherwise."""
    plain = run("compress", EXAMPLE, "-b", "4k", "-o", "-")
    assert check_openai(json.loads(plain.stdout)) == []
    other = run("compress", EXAMPLE, "-b", "4k", "--to", "anthropic", "-o", "-")
    assert check_anthropic(json.loads(other.stdout)["messages"]) == []
    text = run("compress", EXAMPLE, "-b", "4k", "--to", "text", "-o", "-")
    assert text.stdout.startswith("── m1 user\n".encode())


def test_result_to_stdout_report_to_stderr(run: Run, conversation: Path):
    """With `-o -` standard output is the result and nothing else; the report goes beside it."""
    done = run("compress", conversation, "-b", "2k", "-o", "-")
    assert isinstance(json.loads(done.stdout), list)
    assert "tool results" in done.stderr.decode()
    done = run("compress", conversation, "-b", "2k", "-o", "-", "--json")
    assert isinstance(json.loads(done.stdout), list)
    assert json.loads(done.stderr)["tokens_after"] <= 2000


def test_standard_input(run: Run, conversation: Path):
    """`-` reads a pipe."""
    done = run("compress", "-", "-b", "2k", given=conversation.read_bytes())
    assert done.returncode == 0
    assert "standard input · openai" in done.stdout.decode()


def test_the_report_as_json(run: Run, conversation: Path):
    """--json gives sizes, kinds, levels, repairs and handles."""
    found = report(run, conversation, "-b", "2k")
    assert found["tokens_after"] <= found["budget"] == 2000 < found["tokens_before"]
    assert found["messages_after"] < found["messages_before"] == 63
    assert set(found["levels"]) == {"whole", "clipped", "line", "gone"}
    assert sum(row["before"] for row in found["kinds"].values()) == found["tokens_before"]
    assert sum(row["after"] for row in found["kinds"].values()) == found["tokens_after"]
    assert found["rules"] == found["rules_kept"] == 1
    assert (found["format"], found["counter"], found["exact"]) == ("openai", "o200k", True)
    assert found["seconds"] > 0
    assert found["repairs"] == []
    assert all(re.fullmatch(r"m\d+", handle) for handle in found["forgotten"])


def test_a_budget_in_percent(run: Run, conversation: Path):
    """It is of the tokens before."""
    found = report(run, conversation, "-b", "25%")
    assert found["budget"] == found["tokens_before"] // 4
    assert found["tokens_after"] <= found["budget"]


def test_what_fits_already(run: Run, conversation: Path, tmp_path: Path):
    """It stays as it is, is written all the same, and the report says so."""
    out = tmp_path / "out.json"
    done = run("compress", conversation, "-b", "1M", "-o", out)
    assert "nothing was forgotten" in done.stdout.decode()
    assert json.loads(out.read_text()) == openai_messages()


def test_what_went_can_be_brought_back(run: Run, conversation: Path):
    """--lost names each lost piece in one line, by a handle that `recall` resolves."""
    done = run("compress", conversation, "-b", "2k", "--lost")
    block = done.stdout.decode().partition("what went")[2]
    lines = re.findall(r"^(m\d+) +(clipped|a line|gone) +(.+)$", block, re.MULTILINE)
    assert len(lines) > 20
    originals = conversation.read_text()
    for handle, _, _ in lines[:: len(lines) // 4]:
        recalled = run("recall", handle, conversation).stdout.decode()
        assert json.dumps(recalled.splitlines()[-1])[1:-1] in originals


def test_all_is_the_whole_log(run: Run, tmp_path: Path):
    """--all counts what an earlier compaction of another program had dropped."""
    lines = [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "an old wish"}},
        {"type": "system", "subtype": "compact_boundary", "uuid": "2", "parentUuid": None},
        {"type": "user", "uuid": "3", "parentUuid": "2", "isCompactSummary": True,
         "message": {"role": "user", "content": "a summary"}},
    ]  # fmt: skip
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({**line, "sessionId": "s"}) + "\n" for line in lines))
    assert report(run, path, "-b", "1k")["messages_before"] == 1
    assert report(run, path, "-b", "1k", "--all")["messages_before"] == 2


def test_one_of_several_conversations(run: Run, tmp_path: Path):
    """The first is taken and a line says how many there are; FILE#2 takes the second."""
    path = tmp_path / "runs.json"
    talks = [[{"role": "user", "content": f"wish {n}"}] for n in (1, 2)]
    path.write_text(json.dumps([{"task_id": n, "traj": talk} for n, talk in enumerate(talks)]))
    first = run("compress", path, "-b", "1k", "-o", "-")
    assert json.loads(first.stdout)[0]["content"] == "wish 1"
    assert "holds 2 conversations" in first.stderr.decode()
    second = run("compress", f"{path}#2", "-b", "1k", "-o", "-")
    assert json.loads(second.stdout)[0]["content"] == "wish 2"
    assert "holds 2" not in second.stderr.decode()
    assert "#3" in one_line_of(run("compress", f"{path}#3", "-b", "1k"))


def test_a_file_whose_name_ends_like_a_number(run: Run, conversation: Path):
    """A file that is really called `talk.json#2` is that file."""
    odd = conversation.with_name("talk.json#2")
    conversation.rename(odd)
    assert run("compress", odd, "-b", "2k").returncode == 0


def test_again_and_again(run: Run, conversation: Path, tmp_path: Path):
    """A result that grew is compressed again: handles go on, and what went earlier is named."""
    first, grown, second = (tmp_path / name for name in ("1.json", "1b.json", "2.json"))
    assert run("compress", conversation, "-b", "2k", "-o", first).returncode == 0
    messages = json.loads(first.read_text())
    messages += [
        {"role": "user", "content": "And now the lexer."},
        {"role": "assistant", "content": "word " * 2000},
        {"role": "user", "content": "Go on."},
    ]
    grown.write_text(json.dumps(messages))
    assert report(run, grown, "-b", "2k", "-o", second)["tokens_after"] <= 2000
    # 94 messages, calls and results were said before.
    assert run("recall", "m94", second).stdout == b"And now the lexer."
    gone = run("recall", "m5", second)
    assert gone.returncode == 1
    assert "earlier compression" in one_line_of(gone)


def test_a_budget_that_cannot_be_met(run: Run, tmp_path: Path):
    """Exit status 3 and one line that names what is too large."""
    path = tmp_path / "talk.json"
    system = {"role": "system", "content": "rule " * 3000}
    path.write_text(json.dumps([system, *openai_messages()[1:]]))
    done = run("compress", path, "-b", "1k")
    assert done.returncode == 3
    assert "system prompt 3,0" in one_line_of(done)


class TestOutputFile:
    """A result is written whole or not at all, and never over what it was made from."""

    @pytest.mark.parametrize("way", ["same", "relative", "symlink", "hardlink"])
    @pytest.mark.parametrize("option", ["-o", "--report"])
    def test_never_over_the_input(self, run: Run, conversation: Path, way: str, option: str):
        """The input is refused as the target, whatever name it has."""
        target = conversation.with_name("other.json")
        match way:
            case "same":
                target = conversation
            case "relative":
                target = Path("../" + conversation.parent.name + "/./talk.json")
            case "symlink":
                target.symlink_to(conversation)
            case _:
                target.hardlink_to(conversation)
        before = conversation.read_bytes()
        done = run("compress", conversation, "-b", "2k", option, target)
        assert done.returncode == 2
        assert "this is the input" in one_line_of(done)
        assert conversation.read_bytes() == before

    def test_never_over_standard_input(self, run: Run, conversation: Path):
        """The same for a file that comes through a redirection."""
        with conversation.open("rb") as file:
            done = run("compress", "-", "-b", "2k", "-o", conversation, stdin=file)
        assert done.returncode == 2
        assert json.loads(conversation.read_text()) == openai_messages()

    def test_an_existing_file_is_replaced(self, run: Run, conversation: Path, tmp_path: Path):
        """Its mode stays, a link to it stays a link, and nothing is left beside it."""
        out, link = tmp_path / "out.json", tmp_path / "link.json"
        out.write_text("old and longer than nothing")
        out.chmod(0o600)
        link.symlink_to(out)
        assert run("compress", conversation, "-b", "2k", "-o", link).returncode == 0
        assert link.is_symlink()
        assert check_openai(json.loads(out.read_text())) == []
        assert out.stat().st_mode & 0o777 == 0o600
        assert {p.name for p in tmp_path.iterdir()} >= {"out.json", "link.json", "talk.json"}
        assert not [p for p in tmp_path.iterdir() if p.suffix == ".new"]

    def test_a_failure_leaves_the_old_file(self, run: Run, tmp_path: Path):
        """Where nothing can be written in its place, the old file stands."""
        out, bad = tmp_path / "out.json", tmp_path / "bad.json"
        out.write_text("old")
        bad.write_text("{")
        assert run("compress", bad, "-b", "2k", "-o", out).returncode == 2
        assert out.read_text() == "old"

    def test_targets_that_cannot_be(self, run: Run, conversation: Path, tmp_path: Path):
        """A directory, a missing directory, one file for two things: one line each, status 2."""
        for target, said in ((tmp_path, "a directory"), (tmp_path / "no" / "x", "no directory")):
            done = run("compress", conversation, "-b", "2k", "-o", target)
            assert done.returncode == 2
            assert said in one_line_of(done)
        both = tmp_path / "both"
        done = run("compress", conversation, "-b", "2k", "-o", both, "--report", both)
        assert "choose another" in one_line_of(done)
        assert not both.exists()

    def test_a_full_disk(self, run: Run, conversation: Path):
        """It is one line, on a file and on standard output."""
        if not Path("/dev/full").exists():
            pytest.skip("there is no device that is always full")
        done = run("compress", conversation, "-b", "2k", "-o", "/dev/full")
        assert done.returncode == 2
        assert "/dev/full" in one_line_of(done)

    def test_a_pipe_can_be_written_to(self, run: Run, conversation: Path, tmp_path: Path):
        """What is no file is written to and not replaced."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(reader, "rb") as file:
            assert run("compress", conversation, "-b", "1k", "-o", pipe).returncode == 0
            assert isinstance(json.loads(file.read()), list)
        assert pipe.is_fifo()
