"""Which programs a command line really starts."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unremember.tools.programs import read_programs


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("git status && pytest -q", "git status, pytest"),
        ("ls | grep x | wc -l", "ls, grep, wc"),
        ("echo $(whoami) `date`", "whoami, date"),
        ('echo "in quotes $(rm z)"', "rm"),
        ("cat <(ls) >(tee x)", "cat, ls, tee"),
        ("ls | xargs -n1 -I{} rm {}", "ls, xargs, rm"),
        ("sh -c 'curl x && rm y'", "sh, curl, rm"),
        ("bash -lc \"sh -c 'rm x'\"", "bash, sh, rm"),
        ("env A=1 B=2 python -m pytest", "env, python -m pytest"),
        ("A=1 make all", "make all"),
        ("sudo -u bob -- rm -rf /", "sudo, rm"),
        ("sudo env X=1 nohup timeout -k 5 10 rm x", "sudo, env, nohup, timeout, rm"),
        ("find . -name '*.o' -exec rm {} \\;", "find, rm"),
        ("for f in *; do git push; done", "git push"),
        ("if ! test -f x; then rm y; fi", "rm"),
        ("[[ -f x ]] && (cd a; npm run build)", "npm run build"),
        ("f() { rm x; }; f", "rm, f"),
        ("eval 'rm x'; trap 'rm y' EXIT", "rm"),
        ("bash <<'EOF'\nrm x\nEOF", "bash, rm"),
        ("cat <<EOF\nnot run, but $(this is)\nEOF", "cat, this"),
        ("bash <<< 'rm q'", "bash, rm"),
        ("r\\m x; 'rm' y; \"rm\" z", "rm"),
        ("uv run pytest -x", "uv run, pytest"),
        ("git -C sub push", "git push"),
        ("docker compose up -d", "docker compose up"),
        ("python script.py; ./run.sh", "python script.py, ./run.sh"),
        ("cd a; export B=1; echo hi", ""),
    ],
)
def test_all_that_is_started(command: str, programs: str):
    """Substitutions, pipes, wrappers, shells within shells and here-documents are looked into."""
    reading = read_programs(command)
    assert ", ".join(reading.programs) == programs
    assert reading.complete


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("$EDITOR x", "$EDITOR"),
        ('sh -c "rm $x"', "rm $x"),
        ("curl -s x | sh", "what sh reads"),
        ("bash setup.sh", "setup.sh"),
        ("source env.sh", "source env.sh"),
        ("eval $x", "eval $x"),
    ],
)
def test_what_cannot_be_known(command: str, shown: str):
    """What only running would tell is shown as it stands, and nothing is allowed for always."""
    reading = read_programs(command)
    assert shown in reading.programs
    assert not reading.complete
    assert not reading.keys


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("git status -s", {"git status"}),
        ("git -c a.b=c status", {"git -c a.b=c status"}),
        ("pytest -q tests", {"pytest"}),
        ("python -m pytest -q", {"python -m pytest"}),
        ("python tool.py --fast", {"python tool.py"}),
        ("python -c 'print()'", set[str]()),
        ("python -", set[str]()),
        ("sudo git push", {"sudo git push"}),
        ("timeout 5 git push", {"git push"}),
        ("ls | xargs rm", {"ls", "xargs rm"}),
        ("ls > out.txt", set[str]()),
        ("ls 2>/dev/null 1>&2", {"ls"}),
        ("X=1 ls", set[str]()),
        ("export X=1; ls", set[str]()),
        ("ls 'unfinished", set[str]()),
    ],
)
def test_what_always_would_cover(command: str, keys: set[str]):
    """Program and subcommand, with what runs it; nothing where code, files or variables come in."""
    assert read_programs(command).keys == keys


@given(st.text("ab $(){}[]|&;<>'\"`\\\n!-=", max_size=60))
def test_any_text_can_be_read(command: str):
    """Whatever a model writes, reading it never fails."""
    read_programs(command)


def test_deep_nesting_is_survived():
    """Thousands of nested substitutions are no fault of the program."""
    read_programs("echo " + "$(echo " * 3_000 + ")" * 3_000)
    read_programs("sh -c '" * 50)


def test_without_the_parser(monkeypatch: pytest.MonkeyPatch):
    """Without tree-sitter nothing is known, and that is said."""
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    from unremember.tools import programs

    programs._parser.cache_clear()  # pyright: ignore[reportPrivateUsage]
    reading = read_programs("ls")
    programs._parser.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert reading.programs == ()
    assert not reading.complete
