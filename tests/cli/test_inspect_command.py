"""`unremember inspect`, as users run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from talks import EXAMPLE, Run, openai_messages


def inspected(run: Run, *arguments: str | Path) -> dict[str, Any]:
    """The inspection as JSON."""
    done = run("inspect", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_drawing_fits_80_columns(run: Run):
    """Kinds, tools, heaviest messages, what was superseded, and the context over time."""
    done = run("inspect", EXAMPLE)
    text = done.stdout.decode()
    assert done.returncode == 0
    for wanted in ("by kind", "by tool", "heaviest", "superseded", "context over time", "m237"):
        assert wanted in text
    assert max(map(cell_len, text.splitlines())) <= 80


def test_the_sizes_add_up(run: Run):
    """Kinds make the whole; tools make its calls and results but for what a message costs."""
    found = inspected(run, EXAMPLE)
    assert sum(kind["tokens"] for kind in found["kinds"]) == found["tokens"]
    kinds = {kind["kind"]: kind for kind in found["kinds"]}
    assert sum(tool["calls"] for tool in found["tools"]) == kinds["call arguments"]["pieces"]
    assert sum(tool["results"] for tool in found["tools"]) == found["tool_tokens"]
    assert len(found["heaviest"]) == 10
    weights = [heavy["tokens"] for heavy in found["heaviest"]]
    assert weights == sorted(weights, reverse=True)
    assert found["timeline"][-1]["tokens"] == found["tokens"]


def talk(tmp_path: Path, *commands: tuple[str, dict[str, str], str]) -> Path:
    """A conversation in which these tools ran with these results."""
    messages = openai_messages()[:2]
    for place, (name, arguments, output) in enumerate(commands):
        call: dict[str, Any] = {"id": f"c{place}", "type": "function"}
        call["function"] = {"name": name, "arguments": json.dumps(arguments)}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{place}", "content": output},
        ]
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(messages))
    return path


def test_superseded_reads(run: Run, tmp_path: Path):
    """A read counts when its lines were read again or written later, not when others were."""
    whole = {"file_path": "/p/a.py"}
    part = {"file_path": "/p/b.py", "offset": "1", "limit": "10"}
    other = {"file_path": "/p/b.py", "offset": "50", "limit": "10"}
    edit = {"file_path": "/p/a.py", "old_string": "x", "new_string": "y"}
    reads = [("Read", whole, "first look"), ("Read", part, "lines"), ("Read", other, "others")]
    found = inspected(run, talk(tmp_path, *reads))
    assert found["superseded_reads"] == 0
    found = inspected(run, talk(tmp_path, *reads, ("Edit", edit, "done")))
    assert found["superseded_reads"] == 1
    assert 0 < found["superseded"] < found["tool_tokens"]


def test_lines_seen_before(run: Run, tmp_path: Path):
    """A line that stood in an earlier result counts again each time."""
    outputs = ["one two three\nfour five six", "one two three\nseven"]
    found = inspected(run, talk(tmp_path, *(("bash", {"command": "ls"}, o) for o in outputs)))
    assert found["repeated"] == 4


def test_recorded_compactions_are_marked(run: Run, tmp_path: Path):
    """Where an earlier compaction stands, the context falls and the drawing has a mark."""
    lines = [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "wish " * 500}},
        {"type": "system", "subtype": "compact_boundary", "uuid": "2", "parentUuid": None},
        {"type": "user", "uuid": "3", "parentUuid": "2", "isCompactSummary": True,
         "message": {"role": "user", "content": "a summary"}},
    ]  # fmt: skip
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps({**line, "sessionId": "s"}) + "\n" for line in lines))
    found = inspected(run, path)
    assert [point["compacted"] for point in found["timeline"]] == [False, True]
    assert found["timeline"][1]["tokens"] < found["timeline"][0]["tokens"]
    assert (found["messages"], found["logged"]) == (1, 2)
    assert "1 compaction: m2" in run("inspect", path).stdout.decode()
    assert inspected(run, path, "--all")["messages"] == 2


def test_repairs_are_named(run: Run, tmp_path: Path):
    """A call without a result is mended and said."""
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(openai_messages()[:3]))
    assert len(inspected(run, path)["repairs"]) == 1
    assert "1 fault repaired" in run("inspect", path).stdout.decode()


def test_why_says_what_became_of_something(run: Run):
    """A pinned rule, an old read of which lines stay, with terms and chances, in 80 columns."""
    pinned = run("inspect", EXAMPLE, "--why", "m1", "-b", "4k")
    assert "the user's word" in pinned.stdout.decode()
    read = run("inspect", EXAMPLE, "--why", "m8", "-b", "4k").stdout.decode()
    assert "its step is old" in read
    assert "kept" in read
    assert "used in" in read
    assert max(map(cell_len, read.splitlines())) <= 80


def test_why_agrees_with_compress(run: Run):
    """A line told to be kept stands in what compress writes, one told to be gone does not."""
    found = json.loads(run("inspect", EXAMPLE, "--why", "m8", "-b", "4k", "--json").stdout)
    written = run("compress", EXAMPLE, "-b", "4k", "--to", "text", "-o", "-").stdout.decode()
    kept = [line["text"] for line in found["lines"] if line["kept"]]
    gone = [line["text"] for line in found["lines"] if not line["kept"] and line["tokens"] > 12]
    assert kept
    assert all(line in written for line in kept)
    assert not any(line in written for line in gone)


def test_why_needs_a_handle_that_is_there(run: Run):
    """One line and status 2."""
    for wanted in ("m9999", "nonsense"):
        done = run("inspect", EXAMPLE, "--why", wanted)
        assert done.returncode == 2
        assert len(done.stderr.decode().strip().splitlines()) == 1
