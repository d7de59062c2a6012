"""The ledger of recorded conversations holds what a reader of them wrote down, and nothing else.

The lists below were made by reading the recordings, not by running the code. A path is given by
its end, a command by its beginning, as far as that tells it from the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from unremember.formats import read
from unremember.history import split_steps
from unremember.ledger import Ledger, extend, lines, parse

DATA = Path(__file__).parents[2] / "../shared/data"

pytestmark = pytest.mark.skipif(not DATA.exists(), reason="the recorded conversations are not here")

ENOUGH = 0.95
"""The least precision and recall."""

Fact = tuple[str, str, str]
"""A group, the end of a path or the beginning of a command, and a status or an outcome."""


@dataclass(frozen=True)
class Truth:
    """What happened in the first conversation of a recording."""

    file: str
    read: str = ""
    written: str = ""
    edited: str = ""
    deleted: str = ""
    effects: tuple[tuple[str, str], ...] = ()
    tests: tuple[tuple[str, str], ...] = ()
    plan: str = ""

    def facts(self) -> set[Fact]:
        """All of it as facts."""
        found = {
            (group, path, "")
            for group in ("read", "written", "edited", "deleted")
            for path in getattr(self, group).split()
        }
        found |= {("effect", command, status) for command, status in self.effects}
        found |= {("test", command, result) for command, result in self.tests}
        return found | {("plan", state, "") for state in self.plan.split()}


GEMINI_TESTS = "go test ./cmd/entire/cli/agent/geminicli/... "
STRATEGY_TESTS = "go test ./cmd/entire/cli/strategy/... "

TRUTHS = (
    Truth(
        "claude-code/c010174c-a7cd-4bcc-b7d4-61258d6c463f.jsonl",
        read="geminicli/transcript.go geminicli/transcript_test.go geminicli/gemini_test.go"
        " geminicli/gemini.go geminicli/types.go strategy/manual_commit_condensation.go"
        " strategy/manual_commit_hooks.go strategy/manual_commit_test.go"
        " session-2026-02-15T09-46-797fa8b6.json strategy/phase_postcommit_test.go",
        edited="geminicli/transcript_test.go geminicli/transcript.go"
        " strategy/manual_commit_test.go strategy/manual_commit_hooks.go"
        " strategy/phase_postcommit_test.go",
        effects=(
            ('git commit -m "fix: handle array', "done"),
            ('git commit -m "fix: trailer', "done"),
            ('git commit -m "fix: restore', "unknown"),
            ("git push -u origin alex/fix-gemini-checkpointing", "done"),
            ("gh pr create --draft", "done"),
        ),
        tests=(
            # The first of two long runs that differ late: it names one case of a test.
            (
                GEMINI_TESTS
                + '-run "TestParseTranscript_ArrayContent|TestParseTranscript_NullContent'
                "|TestExtractLastUserPrompt/",
                "failed",
            ),
            (
                GEMINI_TESTS
                + '-run "TestParseTranscript_ArrayContent|TestParseTranscript_NullContent'
                "|TestExtractLastUserPrompt|",
                "passed",
            ),
            (GEMINI_TESTS + "-count=1", "passed"),
            (STRATEGY_TESTS + '-run "TestCountTranscriptItems', "passed"),
            (STRATEGY_TESTS + '-run "TestAddCheckpointTrailer_Conventional', "failed"),
            (STRATEGY_TESTS + '-run "TestAddCheckpointTrailer_Existing', "failed"),
            (STRATEGY_TESTS + '-run "TestAddCheckpointTrailer"', "passed"),
            (STRATEGY_TESTS + "-v | grep", "failed"),
            (STRATEGY_TESTS + "-v -run TestPostCommit", "failed"),
            ("mise run test:ci", "passed"),
            ("mise run fmt && mise run lint && mise run test:ci", "passed"),
        ),
        plan="done done done done",
    ),
    Truth(
        "claude-code-korean/5f4c5a52-28ad-4269-b214-7cce051de917.jsonl",
        read="dotrc/claude/guides/conflict-resolution.md spec-design/common-template.md"
        " spec-design/writing-guide.md docs/guides/conflict-resolution.md"
        " plans/noble-greeting-cerf.md",
        written="docs/guides/conflict-resolution.md plans/noble-greeting-cerf.md",
    ),
    Truth(
        "mini-swe-agent/django-12589.traj.json",
        read="db/models/query.py sql/query.py db/models/expressions.py sql/compiler.py patch.txt",
        written="reproduce_issue.py reproduce_issue_simple.py test_group_by.py"
        " test_subquery_groupby.py reproduce_actual.py analyze_fix.py test_fix.py"
        " expressions.py.backup patch_subquery.py test_pr_issue.py test_sql_generation.py"
        " debug_flow.py test_proper_fix.py trace_code.py apply_fix.py fix_subquery.py"
        " edit_expressions.py expressions.py.bak test_actual_fix.py patch.txt",
        edited="db/models/expressions.py",
        effects=(
            ("pip install asgiref", "done"),
            ("pip install pytz", "done"),
            ("pip install sqlparse", "done"),
        ),
        tests=(
            ("python test_group_by.py", "passed"),
            ("python test_subquery_groupby.py", "passed"),
            ('python -m pytest tests/expressions/tests.py -xvs -k "subquery', "failed"),
            ("python -m django test expressions.tests --testrunner", "failed"),
            ("python test_fix.py", "passed"),
            ("python test_pr_issue.py", "failed"),
            ("python test_sql_generation.py", "failed"),
            ("python test_proper_fix.py", "passed"),
            ("python test_actual_fix.py", "passed"),
            ('python -m pytest tests/expressions/tests.py -xvs -k "test_"', "failed"),
            ("python -m django test expressions.tests.SubqueryTests", "failed"),
        ),
    ),
    Truth(
        "swe-agent/pydicom-1458.traj",
        read="pixel_data_handlers/numpy_handler.py",
        written="reproduce_bug.py",
        edited="reproduce_bug.py pixel_data_handlers/numpy_handler.py",
        deleted="reproduce_bug.py",
        effects=(("rm reproduce_bug.py", "done"),),
    ),
    Truth(
        "openai-messages/astropy__astropy-14598.json",
        read="io/fits/card.py",
        written="/workspace/reproduce_error.py /workspace/test_edge_cases.py",
        edited="io/fits/card.py",
        tests=(("python /workspace/test_edge_cases.py", "passed"),),
    ),
    Truth(
        "openhands-events/resolver_mock_output.jsonl",
        read="LICENSE",
        written="LICENSE",
        edited="LICENSE",
    ),
    Truth(
        "pi/large-session.jsonl",
        read="AGENTS.md README.md coding-agent/README.md docs/theme.md theme/dark.json"
        " theme/light.json theme/theme.ts tui/custom-editor.ts tui/footer.ts tui/model-selector.ts"
        " tui/oauth-selector.ts tui/theme-selector.ts tui/tool-execution.ts tui/tui-renderer.ts"
        " tui/user-message-selector.ts tui/user-message.ts test/test-theme-colors.ts"
        " components/truncated-text.ts test/chat-simple.ts test/editor.test.ts"
        " test/markdown.test.ts test/wrap-ansi.test.ts themes/nord.json coding-agent/CHANGELOG.md",
        written="test/test-theme-colors.ts test/test-themes.ts test/truncated-text.test.ts"
        " /tmp/fix-markdown.sed /tmp/fix_markdown.py /tmp/fix_markdown2.py /tmp/fix_markdown3.py"
        " themes/test.json themes/custom.json themes/nord.json themes/custom-light.json"
        " themes/custom-dark.json",
        edited="coding-agent/CHANGELOG.md coding-agent/README.md docs/theme.md src/main.ts"
        " theme/dark.json theme/light.json theme/theme.ts tui/footer.ts tui/tool-execution.ts"
        " tui/tui-renderer.ts tui/user-message-selector.ts tui/user-message.ts"
        " test/test-theme-colors.ts components/markdown.ts components/text.ts"
        " components/truncated-text.ts test/chat-simple.ts test/editor.test.ts"
        " test/markdown.test.ts test/test-themes.ts test/truncated-text.test.ts"
        " test/wrap-ansi.test.ts themes/nord.json",
        deleted="themes/test.json themes/nord.json themes/custom.json",
        effects=(
            ("rm ~/.pi/agent/themes/test.json", "done"),
            ("rm ~/.pi/agent/themes/nord.json", "done"),
            ("rm ~/.pi/agent/themes/custom.json", "done"),
            ("npm run version:minor", "done"),
            ("git commit -m", "failed"),
            ("git add . && git commit -m", "done"),
            ("git tag v0.8.0", "done"),
            ("git push origin main", "done"),
            ("git push origin v0.8.0", "done"),
            ("npm run publish", "failed"),
            ("cd packages/coding-agent && npm install", "done"),
        ),
        tests=(("cd packages/tui && npm test -- truncated-text.test.ts", "failed"),),
    ),
    Truth(
        "gemini-cli/full.json",
        read="strategy/manual_commit_session.go session/state.go strategy/manual_commit_types.go",
        written="test-gemini.txt",
        plan="done done open open open open open open",
    ),
    Truth(
        "tau-bench/airline-5.json",
        effects=(("book_reservation(", "failed"), ("book_reservation(", "done")),
    ),
)


def ledger_of(name: str) -> Ledger:
    """The ledger of the whole first conversation of a recording."""
    return extend(Ledger(), split_steps(read(DATA / name, whole=True)[0].originals))


def facts_of(ledger: Ledger) -> list[Fact]:
    """The ledger's records as facts."""
    found = [
        (group, file.path, "")
        for file in ledger.files
        for group in ("read", "written", "edited", "deleted")
        if getattr(file, group)
    ]
    for command in ledger.commands:
        if command.side_effects:
            status = "unknown" if command.unknown else "failed" if command.failed else "done"
            found.append(("effect", command.command, status))
    found += [("test", test.name, test.outcome) for test in ledger.tests if test.is_command]
    return found + [("plan", item.state, "") for item in ledger.plan]


def is_meant(said: Fact, found: Fact) -> bool:
    """Whether a fact of the ledger is the one that was written down."""
    if said[0] != found[0] or said[2] != found[2]:
        return False
    if said[0] in ("effect", "test"):
        return found[1].startswith(said[1])
    return found[1] == said[1] or found[1].endswith(f"/{said[1].lstrip('/')}")


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.file.partition("/")[0])
def test_ledger_is_exact(truth: Truth):
    """Precision and recall over files, side effects, tests with outcome, and the plan."""
    said, found = truth.facts(), facts_of(ledger_of(truth.file))
    missing = [fact for fact in said if not any(is_meant(fact, other) for other in found)]
    invented = [fact for fact in found if not any(is_meant(other, fact) for other in said)]
    assert len(missing) <= (1 - ENOUGH) * len(said), missing
    assert len(invented) <= (1 - ENOUGH) * len(found), invented


@pytest.mark.parametrize(
    "path", sorted(DATA.glob("*/*")), ids=lambda path: path.parent.name + "-" + path.name[:16]
)
def test_every_recording_has_a_ledger(path: Path):
    """Every recording folds in two parts as at once, and its lines come back."""
    for conversation in read(path, whole=True):
        steps = list(split_steps(conversation.originals))
        whole = extend(Ledger(), steps)
        half = len(steps) // 2
        assert extend(extend(Ledger(), steps[:half]), steps[half:]) == whole
        assert parse(lines(whole)) == whole


def test_kinds_that_matter_are_found():
    """A recording with hundreds of calls gives a ledger of some dozens of short lines."""
    written = lines(ledger_of("pi/large-session.jsonl"))
    assert 40 <= len(written) <= 120
    assert sum(map(len, written)) < 9_000
