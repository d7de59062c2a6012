"""Tool calls of many agents are read as what they do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unremember.actions import Action, outcome, read_action, title
from unremember.messages import Text, ToolCall, ToolResult

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-x
+y
*** Add File: src/new.py
+z
*** Delete File: old.py
*** End Patch"""

DIFF = """--- a/src/a.py
+++ b/src/a.py
@@ -1 +1 @@
-x
+y
"""


def call(name: str, arguments: str | dict[str, Any]) -> ToolCall:
    return ToolCall("c", name, arguments if isinstance(arguments, str) else json.dumps(arguments))


def brief(action: Action) -> tuple[Any, ...]:
    return (action.kind, action.path, action.lines)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        # Claude Code
        ("Read", {"file_path": "/r/a.py"}, [("read", "/r/a.py", None)]),
        ("Read", {"file_path": "a.py", "offset": 5, "limit": 10}, [("read", "a.py", (5, 14))]),
        ("Read", {"file_path": "a.py", "offset": 5}, [("read", "a.py", (5, 0))]),
        ("Write", {"file_path": "./a.py", "content": "x"}, [("write", "a.py", None)]),
        ("Edit", {"file_path": "a.py", "old_string": "x"}, [("edit", "a.py", None)]),
        (
            "MultiEdit",
            {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": "y"}] * 2},
            [("edit", "a.py", None)] * 2,
        ),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}, [("edit", "n.ipynb", None)]),
        ("Grep", {"pattern": "x", "path": "src"}, [("search", "src", None)]),
        ("Glob", {"pattern": "**/*.py"}, [("list", "", None)]),
        ("LS", {"path": "/r/"}, [("list", "/r", None)]),
        ("Task", {"description": "look"}, [("delegate", "", None)]),
        ("TodoWrite", {"todos": []}, [("plan", "", None)]),
        ("WebFetch", {"url": "https://x"}, [("fetch", "", None)]),
        # Codex
        ("shell", {"command": ["bash", "-lc", "cat a.py"]}, [("read", "a.py", None)]),
        (
            "shell",
            {"command": ["apply_patch", PATCH]},
            [
                ("edit", "src/a.py", None),
                ("write", "src/new.py", None),
                ("write", "old.py", None),
            ],
        ),
        ("exec_command", {"cmd": "nl -ba a.py | sed -n '5,9p'"}, [("read", "a.py", (5, 9))]),
        (
            "apply_patch",
            {"input": PATCH},
            [
                ("edit", "src/a.py", None),
                ("write", "src/new.py", None),
                ("write", "old.py", None),
            ],
        ),
        (
            "apply_patch",
            PATCH,
            [
                ("edit", "src/a.py", None),
                ("write", "src/new.py", None),
                ("write", "old.py", None),
            ],
        ),
        ("update_plan", {"plan": [{"step": "a", "status": "pending"}]}, [("plan", "", None)]),
        # OpenHands
        ("execute_bash", {"command": "ls -la"}, [("list", "", None)]),
        (
            "str_replace_editor",
            {"command": "view", "path": "a.py", "view_range": [3, -1]},
            [("read", "a.py", (3, 0))],
        ),
        (
            "str_replace_based_edit_tool",
            {"command": "create", "path": "a.py", "file_text": "x"},
            [("write", "a.py", None)],
        ),
        (
            "str_replace_editor",
            {"command": "insert", "path": "a.py", "insert_line": 3},
            [("edit", "a.py", None)],
        ),
        ("run", {"command": "cat a.py"}, [("read", "a.py", None)]),
        ("edit", {"path": "a.py", "content": "x"}, [("edit", "a.py", None)]),
        # SWE-agent
        ("action", {"command": "open src/a.py 12\n"}, [("read", "src/a.py", None)]),
        ("action", {"command": "create a.py"}, [("write", "a.py", None)]),
        ("action", {"command": "edit 5:9\nx\nend_of_edit"}, [("edit", "", (5, 9))]),
        ("action", {"command": 'search_dir "x" src'}, [("search", "src", None)]),
        ("action", {"command": "find_file a.py src"}, [("list", "src", None)]),
        ("action", {"command": "sed -n 1,4p a.py"}, [("read", "a.py", (1, 4))]),
        # pi, Gemini CLI, our own
        ("read", {"path": "a.py", "offset": 2, "limit": 3}, [("read", "a.py", (2, 4))]),
        ("read_file", {"absolute_path": "/r/a.py"}, [("read", "/r/a.py", None)]),
        (
            "replace",
            {"file_path": "a.py", "old_string": "x", "new_string": "y"},
            [("edit", "a.py", None)],
        ),
        ("run_shell_command", {"command": "tail -n 5 a.log"}, [("read", "a.log", (-5, 0))]),
        ("search_file_content", {"pattern": "x"}, [("search", "", None)]),
        (
            "read_many_files",
            {"paths": ["a.py", "b.py"]},
            [("read", "a.py", None), ("read", "b.py", None)],
        ),
        ("list_directory", {"path": "src"}, [("list", "src", None)]),
        ("edit_file", {"path": "a.py", "old": "x", "new": "y"}, [("edit", "a.py", None)]),
        ("search_files", {"query": "x", "path": "src"}, [("search", "src", None)]),
        ("run_command", {"command": "head -20 a.py"}, [("read", "a.py", (1, 20))]),
        # unknown tools: what looks like a path or a command counts
        ("mcp__fs__read_text_file", {"path": "/r/a.py"}, [("read", "/r/a.py", None)]),
        ("fancy_view_source", {"path": "src/a.py"}, [("read", "src/a.py", None)]),
        ("remoteExec", {"command": "cat a.py"}, [("read", "a.py", None)]),
        ("save_report", {"path": "out/r.md"}, [("write", "out/r.md", None)]),
    ],
)
def test_tools(name: str, arguments: Any, expected: list[tuple[Any, ...]]):
    """Each tool's call gives kind, path and lines."""
    assert [brief(action) for action in read_action(call(name, arguments))] == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "cd pkg && sed -n 1,40p a.py && pytest -q",
            [("read", "pkg/a.py", (1, 40)), ("test", "", None)],
        ),
        ("cd /r && cat a.py b.py", [("read", "a.py", None), ("read", "b.py", None)]),
        ("cat > f.py <<'EOF'\nrm -rf /\nopen('x')\nEOF", [("write", "f.py", None)]),
        (
            "cat <<EOF > f.py\nx\nEOF\npython f.py",
            [("write", "f.py", None), ("run", "", None)],
        ),
        ("sed -i 's/a/b/' a.py b.py", [("edit", "a.py", None), ("edit", "b.py", None)]),
        ("sed -i '' 's/a b/c/g' a.py", [("edit", "a.py", None)]),
        ("echo x >> log.txt", [("edit", "log.txt", None)]),
        ("make 2>&1 | tee -a out.log", [("run", "", None), ("edit", "out.log", None)]),
        ("ls > /dev/null 2>&1", [("list", "", None)]),
        (
            "python - <<'EOF'\nfrom pathlib import Path\np = Path('a.py')\np.write_text('x')\nEOF",
            [("edit", "a.py", None), ("run", "", None)],
        ),
        (
            "python3 -c \"open('b.txt', 'w').write(1)\"",
            [("edit", "b.txt", None), ("run", "", None)],
        ),
        (f"git apply <<'EOF'\n{DIFF}EOF", [("edit", "src/a.py", None), ("run", "", None)]),
        (
            f"apply_patch <<'EOF'\n{PATCH}\nEOF",
            [
                ("edit", "src/a.py", None),
                ("write", "src/new.py", None),
                ("write", "old.py", None),
            ],
        ),
        ("cat a.py | head -30", [("read", "a.py", (1, 30))]),
        ("cat a.py | grep x", [("search", "a.py", None)]),
        ("grep -rn 'a b' src | head", [("search", "src", None)]),
        ("rg -n foo -g '*.py' src tests", [("search", "src", None), ("search", "tests", None)]),
        ("find . -name '*.py' | xargs grep x", [("list", ".", None)]),
        ("awk 'NR>=5 && NR<=9' a.py", [("read", "a.py", (5, 9))]),
        ("sed -n '3p;7,9p' a.py", [("read", "a.py", (3, 3)), ("read", "a.py", (7, 9))]),
        ("sed -n '/def/,/end/p' a.py", [("search", "a.py", None)]),
        ("sed -n '10,$p' a.py", [("read", "a.py", (10, 0))]),
        ("bash -lc 'cat a.py && go test ./...'", [("read", "a.py", None), ("test", "", None)]),
        ("for f in a b; do cat x.py; done", [("read", "x.py", None)]),
        ("black src/a.py", [("write", "src/a.py", None)]),
        ("cp a.py b.py", [("write", "b.py", None)]),
        ("mkdir -p a/b", [("other", "", None)]),
        ("cd src", [("other", "", None)]),
        ("", [("other", "", None)]),
    ],
)
def test_shell_commands(command: str, expected: list[tuple[Any, ...]]):
    """One shell command is read as all the things that it does."""
    assert [brief(a) for a in read_action(call("bash", {"command": command}))] == expected


@pytest.mark.parametrize(
    "command",
    [
        "git push origin main",
        'git commit -m "$(cat <<\'EOF\'\nsay "hi" && ls it\'s\nEOF\n)"',
        "git -C x reset --hard",
        "git tag v1",
        "git branch -D x",
        "git checkout -- a.py",
        "git stash",
        "rm -rf build",
        "mv a b",
        "find . -name x -delete",
        "kill 12",
        "sudo systemctl restart x",
        "pip install -e .",
        "python -m pip install x",
        "uv pip install x",
        "npm ci",
        "npm install -D x",
        "apt-get install -y x",
        "cargo publish",
        "go get x",
        "curl -X POST http://x",
        "curl -d a=1 http://x",
        "curl -sSd @f http://x",
        "curl --data-binary @f http://x",
        "wget --post-data=x http://x",
        "python manage.py migrate",
        "alembic upgrade head",
        "npx prisma migrate deploy",
        "rails db:migrate",
        "psql -c 'DROP TABLE x'",
        "./deploy.sh prod",
        "make deploy",
        "npm run release",
        "kubectl apply -f x",
        "terraform apply",
        "docker push x",
        "gh pr create --fill",
        "gh api -X POST repos/x",
        "twine upload dist/x",
        "aws s3 cp a s3://b",
        "helm upgrade x y",
        "FOO=1 timeout 60 uv run alembic upgrade head",
        "cd a && (cd b; git push)",
        "true && if [ -f x ]; then rm x; fi",
    ],
)
def test_side_effects_are_marked(command: str):
    """Commands that must not be run again without thought say so."""
    assert any(action.side_effects for action in read_action(call("bash", {"command": command})))


@pytest.mark.parametrize(
    "command",
    [
        "git status && git log --oneline -3",
        "git diff HEAD~1 -- a.py",
        "git config --list",
        "git config user.name",
        "git branch -a",
        "git stash list",
        "pip list",
        "npm test",
        "npm run build",
        "curl -s https://x/y",
        "curl -X GET https://x",
        "docker ps",
        "kubectl get pods",
        "gh pr view 3",
        "gh api repos/x/y",
        "psql -c 'select 1'",
        "terraform plan",
        "grep -rn 'rm -rf' src",
        "echo 'git push'",
        "cat > x.sh <<'EOF'\nrm -rf /\ngit push\nEOF",
        "python -c \"print('pip install x')\"",
        "git push --dry-run",
        "# rm -rf /\nls",
    ],
)
def test_harmless_commands_are_not_marked(command: str):
    """Looking, building and testing are no side effects, nor are words in quotes and documents."""
    assert not any(a.side_effects for a in read_action(call("bash", {"command": command})))


@pytest.mark.parametrize(
    ("name", "arguments", "marked"),
    [
        ("book_reservation", {"user_id": "u"}, True),
        ("mcp__linear__create_issue", {"title": "x"}, True),
        ("sendEmail", {"to": "x"}, True),
        ("get_user_details", {"user_id": "u"}, False),
        ("search_direct_flight", {"origin": "A"}, False),
        ("think", {"thought": "book it"}, False),
    ],
)
def test_unknown_tools_with_side_effects(name: str, arguments: dict[str, Any], marked: bool):
    """A tool that, by its verb, changes something outside is marked; one that looks is not."""
    assert any(a.side_effects for a in read_action(call(name, arguments))) is marked


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q tests/test_a.py",
        "python -m pytest -x",
        "uv run pytest",
        "python -m unittest discover",
        "tox -e py311",
        "go test ./...",
        "cargo test -p x",
        "cargo nextest run",
        "npm test",
        "npm run test:unit -- --watch=false",
        "yarn test",
        "pnpm run test",
        "npx vitest run",
        "npx jest a.test.ts",
        "node --test",
        "bundle exec rspec",
        "mvn -q test",
        "./gradlew :app:testDebug",
        "make check",
        "mise run test:ci",
        "./runtests.py a",
        "python tests/runtests.py queries",
        "python manage.py test app",
        "python test_fix.py",
        "dotnet test",
        "ctest --output-on-failure",
        "deno test",
        "scripts/test",
    ],
)
def test_test_runs_are_known(command: str):
    """The usual ways to run tests are told from other commands."""
    assert [a.kind for a in read_action(call("bash", {"command": command}))] == ["test"]


@pytest.mark.parametrize(
    "command",
    ["npm run check", "cargo check", "python fix.py", "npx tsc --noEmit", "make", "ruff ."],
)
def test_other_runs_are_no_tests(command: str):
    """Checking types, building and running scripts are runs."""
    assert [a.kind for a in read_action(call("bash", {"command": command}))] == ["run"]


def test_versions_control_undoes():
    """Bringing back a file, putting changes aside and a saved copy are told by their effect."""

    def effects(command: str) -> list[tuple[str, str]]:
        return [(a.effect, a.path) for a in read_action(call("bash", {"command": command}))]

    assert effects("git checkout -- a.py b.py") == [("restore", "a.py"), ("restore", "b.py")]
    assert effects("git checkout HEAD~1 src/a.py") == [("restore", "src/a.py")]
    assert effects("git checkout main") == [("", "")]
    assert effects("git restore .") == [("restore", ".")]
    assert effects("git stash") == [("stash", ".")]
    assert effects("git stash pop") == [("unstash", ".")]
    assert effects("cp a.py.bak a.py") == [("restore", "a.py")]
    assert effects("git mv a.py b.py") == [("move", "a.py")]


def test_exact_edit_names_its_reverse():
    """The reverse of an exact edit has the digest that the edit calls its undoing."""
    there = read_action(call("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}))[0]
    back = read_action(call("Edit", {"file_path": "a", "old_string": "y", "new_string": "x"}))[0]
    assert there.digest == back.undo
    assert there.undo == back.digest
    assert there.digest != there.undo


PIECES = st.sampled_from(
    "cd x|cat a.py|"
    "sed -n 1,3p b|git push|rm y|'|\"|$(|)|`|<<E|\nE\n|&&|;| |\\|#|> f|2>&1|{|}|\n".split("|")
)


@given(st.lists(PIECES, max_size=30).map("".join), st.sampled_from(["bash", "action", "x_run"]))
def test_any_text_can_be_read(command: str, name: str):
    """No command, however broken, raises; titles and outcomes keep their length."""
    tool = call(name, {"command": command})
    assert read_action(tool)
    assert len(title(tool)) <= 100
    assert "\n" not in title(tool)
    assert len(outcome(tool, ToolResult("c", (Text(command),)))) <= 80


@given(st.text(max_size=40), st.text(max_size=200))
def test_any_call_can_be_read(name: str, arguments: str):
    """No name and no arguments raise, be they JSON or not."""
    tool = ToolCall("c", name, arguments)
    assert read_action(tool)
    assert len(title(tool)) <= 100
