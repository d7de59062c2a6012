"""Many recordings at once: what fails is listed, what was done is not done again."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded import KOREAN, save, talk

from unremember import InputError
from unremember.evaluation import ALL, CARRIES, Plan, Results, evaluate, rows_of

OWN = '''
import os, signal
from unremember import fit

def kills(history, job):
    """Dies on the recording that says so."""
    if any("die here" in message.text for message in history.messages):
        os.kill(os.getpid(), signal.SIGKILL)
    return fit(history, job)

def raises(history, job):
    raise LookupError("nothing to say")

async def waits(history, job):
    return fit(history, job)

nothing = 3
'''

PLAN = Plan(budgets=(0.2,), cuts=(0.6,))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two recordings, and a module with strategies in the current folder."""
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    save(recordings / "a.json", talk())
    save(recordings / "b.json", talk(KOREAN))
    (tmp_path / "own_strategies.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    return recordings


def reasons(results: Results) -> list[str]:
    return [f"{one.recording}: {one.reason}" for one in results.failed]


def test_strategies_stand_side_by_side(folder: Path):
    """Every strategy is measured on the same cuts, and the table has a row for each."""
    plan = Plan(("outline", "head-tail", "own_strategies:waits"), (0.1, 0.2), (0.6, 0.8))
    results = evaluate([folder], plan, jobs=2)
    assert not results.failed
    assert len(results.runs) == 2 * 2 * 2 * 3
    rows = {(row.way, row.budget): row for row in results.rows if row.format == ALL}
    assert set(rows) == {(way, share) for way in plan.strategies for share in plan.budgets}
    assert all(row.recordings == 2 and not row.over for row in rows.values())
    ours, simple = rows["outline", 0.1].columns, rows["head-tail", 0.1].columns
    assert ours["constraint"].value > simple["constraint"].value
    assert ours["constraint"].value == 1


def test_a_broken_file_is_listed(folder: Path):
    """A file that is no recording fails alone; the others are measured."""
    (folder / "c.json").write_text('{"messages": [')
    results = evaluate([folder], PLAN, jobs=2)
    assert len(results.runs) == 2
    assert [reason.split(":")[0] for reason in reasons(results)] == ["c.json"]


def test_a_killed_worker_is_listed(folder: Path):
    """The recording that kills its worker fails, and no other: not even those beside it."""
    messages = talk()
    messages[1]["content"] += "\nPlease die here."
    save(folder / "c.json", messages)
    save(folder / "d.json", talk())
    plan = Plan(("own_strategies:kills",), (0.2,), (0.6,))
    results = evaluate([folder], plan, jobs=2)
    assert [run.recording for run in results.runs] == ["a.json", "b.json", "d.json"]
    assert [one.recording for one in results.failed] == ["c.json"]
    assert "died" in results.failed[0].reason


def test_a_strategy_that_raises_is_listed(folder: Path):
    """What a strategy raises is told, and the other strategies are measured."""
    plan = Plan(("outline", "own_strategies:raises"), (0.2,), (0.6,))
    results = evaluate([folder], plan, jobs=1)
    assert {run.way for run in results.runs} == {"outline"}
    assert reasons(results) == [f"{name}.json: LookupError: nothing to say" for name in "ab"]


@pytest.mark.parametrize("name", ["best", "no_such_module:f", "own_strategies:nothing"])
def test_an_unknown_strategy_is_refused(folder: Path, name: str):
    """A strategy that does not exist is refused before anything is read."""
    with pytest.raises(InputError, match="strategy"):
        evaluate([folder], Plan((name,)))


def test_it_goes_on_where_it_stopped(folder: Path, tmp_path: Path):
    """With a folder for the results only what is new is measured, and the table is the same."""
    tasks: list[int] = []

    def told(done: int, of: int) -> None:
        if not done:
            tasks.append(of)

    kept = tmp_path / "kept"
    first = evaluate([folder], PLAN, jobs=2, folder=kept, progress=told)
    # A crash in the middle of a line costs that line and nothing else.
    with (kept / "runs.jsonl").open("a") as file:
        file.write('{"key": "broken')
    again = evaluate([folder], PLAN, jobs=2, folder=kept, progress=told)
    save(folder / "c.json", talk(turns=70))
    more = evaluate([folder], PLAN, jobs=2, folder=kept, progress=told)
    anew = evaluate([folder], PLAN, jobs=2, folder=kept, resume=False, progress=told)
    assert tasks == [2, 0, 1, 3]
    assert again.rows == first.rows
    assert len(more.runs) == len(anew.runs) == 3


def test_a_changed_recording_is_measured_again(folder: Path, tmp_path: Path):
    """What was kept counts for the content of a file, under any name, and not for its name."""
    kept = tmp_path / "kept"
    first = evaluate([folder], PLAN, jobs=2, folder=kept)
    save(folder / "a.json", talk(turns=75))
    again = evaluate([folder], PLAN, jobs=2, folder=kept)
    assert [run.tokens for run in first.runs] != [run.tokens for run in again.runs]


def test_rounds_are_compared_with_once(folder: Path):
    """With rounds each way of carrying a history on is measured beside compressing once.

    With everything that was said at hand, ten rounds end where one would.
    """
    plan = Plan(budgets=(0.2,), cuts=(0.8,), rounds=10)
    results = evaluate([folder], plan, jobs=2)
    assert not results.failed
    rows = {row.way: row for row in results.rows if row.format == ALL}
    assert set(rows) == {"outline", *(f"outline ×10 {carry}" for carry in CARRIES)}
    once = rows["outline"].columns
    assert rows["outline ×10 archive"].columns["recall"].value == once["recall"].value
    for carry in CARRIES:
        found = rows[f"outline ×10 {carry}"]
        assert found.over == 0
        assert found.columns["constraint"].value == 1
        assert found.columns["users"].value == 1


def test_a_path_that_is_not_there_is_refused(tmp_path: Path):
    """No such file, and a folder without recordings, are told before any work."""
    (tmp_path / "notes.md").write_text("none")
    for path in (tmp_path / "nowhere.json", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            evaluate([path])


def test_intervals_are_by_recording_and_the_same_each_time(folder: Path):
    """The interval holds the mean, the same for the same runs; one recording has none."""
    plan = Plan(("head-tail",), (0.2,), (0.6, 0.8))
    runs = evaluate([folder], plan, jobs=2).runs
    row, again = rows_of(runs)[-1], rows_of(runs)[-1]
    assert row == again
    for mean in row.columns.values():
        assert mean.low is not None
        assert mean.high is not None
        assert mean.low <= mean.value <= mean.high
    alone = rows_of(run for run in runs if run.recording == "a.json")[-1]
    assert all(mean.low is None for mean in alone.columns.values())
