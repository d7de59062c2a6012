"""Which programs a command line really starts: advice for whoever is asked, not a boundary.

The line is parsed by tree-sitter (extra `agent`). Substitutions, pipes, `xargs`, `sh -c`, `env`,
`sudo`, `find -exec` and the like are looked into. What cannot be known before it runs, such as a
program named by a variable, makes the reading incomplete; then a yes covers that one line only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

DEEPEST = 6
"""Texts within texts (`sh -c "sh -c …"`) that are looked into."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a command line starts. `programs` are in order, once each, as `git push` or `pytest`.

    `keys` name what a yes for always would allow: program and subcommand, with what runs it
    (`sudo`, `xargs`). There are none unless everything is known: all programs, no assignment that
    changes how they run, no file written by a redirection.
    """

    programs: tuple[str, ...] = ()
    keys: frozenset[str] = frozenset()
    complete: bool = True


def read_programs(command: str) -> Reading:
    """Reads a command line. Never raises; without the parser nothing is known of it."""
    found = _Found()
    found.read(command, 0)
    programs = tuple(dict.fromkeys(found.programs))
    known = found.complete and found.harmless
    return Reading(programs, frozenset(found.keys) if known else frozenset(), found.complete)


# Programs with a subcommand, and how many words name what they do.
_SUBCOMMANDS: dict[str, int] = {
    **dict.fromkeys(
        "git docker podman kubectl helm cargo go npm pnpm yarn bun pip pip3 uv poetry hatch pdm"
        " conda brew apt apt-get dnf yum systemctl gh glab aws gcloud az terraform make just rake"
        " bundle gem rustup dotnet mvn gradle ./gradlew composer npx bunx uvx".split(),
        2,
    ),
    "docker compose": 3,
    "npm run": 3,
    "pnpm run": 3,
    "yarn run": 3,
    "bun run": 3,
    "uv pip": 3,
    "aws s3": 3,
}

# Programs that run what they are given: a yes covers the very script or module, nothing else.
_INTERPRETERS = re.compile(r"(?:python|pypy|ruby|node|deno|perl|php|lua|Rscript|java)[\d.]*")

_SHELLS = frozenset("sh bash zsh dash ksh fish ash".split())

# Programs that start another one, with the options that take a value and how many words come first.
_RUNNERS: dict[str, tuple[frozenset[str], int]] = {
    name: (frozenset(options.split()), words)
    for name, options, words in (
        ("sudo", "-u -g -h -p -C -r -t -T -U -D -R --user --group --chdir", 0),
        ("doas", "-u -C", 0),
        ("env", "-u -C -S --unset --chdir", 0),
        ("nohup", "", 0),
        ("nice", "-n --adjustment", 0),
        ("ionice", "-c -n -p", 0),
        ("time", "-f -o", 0),
        ("timeout", "-k -s --kill-after --signal", 1),
        ("gtimeout", "-k -s", 1),
        ("stdbuf", "-i -o -e", 0),
        ("setsid", "", 0),
        ("xargs", "-I -n -P -L -s -d -E -a --max-args --max-procs --delimiter --arg-file", 0),
        ("parallel", "-j --jobs", 0),
        ("watch", "-n --interval", 0),
        ("exec", "-a", 0),
        ("command", "", 0),
        ("builtin", "", 0),
        ("strace", "-e -o -p", 0),
        ("chroot", "", 1),
        ("flock", "-w -E", 1),
        ("unshare", "", 0),
        ("caffeinate", "-t -w", 0),
        ("busybox", "", 0),
        ("chronic", "", 0),
        ("unbuffer", "", 0),
        ("xvfb-run", "-n -s", 0),
    )
}

# These add nothing to what they run: no other rights, arguments or environment.
_PLAIN_RUNNERS = frozenset("nohup nice ionice time timeout gtimeout stdbuf command chronic".split())

_RUN_PREFIXES = frozenset(
    ("uv run", "poetry run", "pipenv run", "hatch run", "pdm run", "bundle exec", "pnpm exec",
     "npm exec", "mise exec", "conda run")
)  # fmt: skip

_PREFIX_VALUES = frozenset(("--with", "--extra", "--directory", "-p", "--package", "--group", "-n"))
_SUBCOMMAND_VALUES = frozenset(
    "-C -c --git-dir --work-tree --namespace --exec-path -H --host --context -n --prefix -f".split()
)

# What the shell does by itself and that starts nothing.
_BUILTINS = frozenset(
    "cd pushd popd echo printf test [ true false : pwd read local return exit break continue shift"
    " wait jobs umask ulimit type hash history getopts let set shopt".split()
)
# Builtins that change how what follows runs.
_CHANGING = frozenset("export declare typeset readonly alias unset unalias enable bind".split())

_ASSIGNMENT = re.compile(r"\w+\+?=")
_NO_FILES = re.compile(r"/dev/(?:null|stdout|stderr|tty|fd/\d+)|&?\d+|-")

Word = tuple[str, bool]
"""The text of a word, and whether that is all that is in it (no variable, no substitution)."""


@dataclass(slots=True)
class _Found:
    programs: list[str] = field(default_factory=list[str])
    keys: set[str] = field(default_factory=set[str])
    complete: bool = True
    harmless: bool = True

    def read(self, text: str, depth: int) -> None:
        """Takes in everything that shell text starts."""
        parser = _parser()
        if parser is None or depth > DEEPEST:
            self.complete = False
            return
        root = parser.parse(text.encode("utf-8", "replace")).root_node
        self.complete = self.complete and not root.has_error
        for node in _nodes(root):
            match node.type:
                case "command":
                    self.command(node, depth)
                case "variable_assignment" | "function_definition":
                    self.harmless = False
                case "declaration_command" | "unset_command":
                    self.harmless = False
                case "file_redirect":
                    self.redirect(node)
                case _:
                    pass

    def redirect(self, node: Node) -> None:
        sign = next((_text(child) for child in node.children if ">" in _text(child)), "")
        target = node.child_by_field_name("destination")
        if sign and not (target and _NO_FILES.fullmatch(_text(target))):
            self.harmless = False

    def command(self, node: Node, depth: int) -> None:
        words = [
            _word(child)
            for child in node.children
            if child.type not in ("variable_assignment", "file_redirect", "herestring_redirect")
        ]
        self.start(words, (), node, depth)

    def start(self, words: list[Word], by: tuple[str, ...], node: Node, depth: int) -> None:
        """Takes in one program with its arguments, started by the programs `by`."""
        while words and by and _ASSIGNMENT.match(words[0][0]):
            self.harmless = False
            words = words[1:]
        if not words:
            return
        name, known = words[0]
        if not known:
            self.unknown(name)
            return
        program = name.rpartition("/")[2] if name.startswith("/") else name
        rest = words[1:]
        if program in _BUILTINS and not by:
            return
        if program in _CHANGING:
            self.harmless = False
        elif program in ("eval", "trap") or program in _SHELLS:
            self.shell(program, rest, by, node, depth)
        elif program in ("source", "."):
            self.unknown(f"{program} {rest[0][0] if rest else ''}".strip())
        elif program in _RUNNERS:
            self.runner(program, rest, by, node, depth)
        elif (prefix := " ".join((program, rest[0][0] if rest else ""))) in _RUN_PREFIXES:
            self.programs.append(prefix)
            self.start(_behind_options(rest[1:], _PREFIX_VALUES, 0), (*by, prefix), node, depth)
        else:
            self.program(program, words, by)
            if program == "find":
                self.find_exec(rest, node, depth)

    def unknown(self, shown: str) -> None:
        self.programs.append(shown)
        self.complete = False

    def program(self, program: str, words: list[Word], by: tuple[str, ...]) -> None:
        shown = _named(program, words)
        self.programs.append(shown)
        # Code on the command line or from standard input: a yes cannot cover the next one.
        option = words[1][0] if len(words) > 1 else "-"
        if _INTERPRETERS.fullmatch(program) and option.startswith("-") and option != "-m":
            self.harmless = False
        prefix = tuple(runner for runner in by if runner not in _PLAIN_RUNNERS)
        self.keys.add(" ".join((*prefix, _key(program, shown, words))))

    def runner(
        self, program: str, rest: list[Word], by: tuple[str, ...], node: Node, depth: int
    ) -> None:
        options, first = _RUNNERS[program]
        inner = _behind_options(rest, options, first)
        self.programs.append(program)
        if inner:
            self.start(inner, (*by, program), node, depth)
        elif program != "exec":
            self.keys.add(" ".join((*by, program)))
        if program == "parallel" or (program == "env" and any(w.startswith("-S") for w, _ in rest)):
            self.complete = False

    def find_exec(self, rest: list[Word], node: Node, depth: int) -> None:
        for at, (word, _) in enumerate(rest):
            if word in ("-exec", "-execdir", "-ok", "-okdir"):
                inner = rest[at + 1 :]
                stop = next((n for n, (w, _) in enumerate(inner) if w in (";", "+")), len(inner))
                self.start(inner[:stop], ("find -exec",), node, depth)
            elif word in ("-delete", "-fprint", "-fprintf", "-fls"):
                self.harmless = False

    def shell(
        self, program: str, rest: list[Word], by: tuple[str, ...], node: Node, depth: int
    ) -> None:
        """A shell, or `eval` and `trap`, which run text."""
        if program not in _SHELLS:
            texts = rest[:1] if program == "trap" else rest
            if all(known for _, known in texts):
                self.read(" ".join(word for word, _ in texts), depth + 1)
            else:
                self.unknown(f"{program} {' '.join(word for word, _ in texts)}")
            return
        self.programs.append(program)
        self.harmless = self.harmless and not by
        at = next((n for n, (w, _) in enumerate(rest) if re.fullmatch(r"-\w*c", w)), -1)
        if 0 <= at < len(rest) - 1:
            text, known = rest[at + 1]
            if known:
                self.read(text, depth + 1)
            else:
                self.unknown(text)
        elif script := next((word for word, _ in rest if not word.startswith("-")), ""):
            self.unknown(script)
        elif (body := _here_document(node)) is not None:
            self.read(body, depth + 1)
        else:
            self.unknown(f"what {program} reads")


def _key(program: str, shown: str, words: list[Word]) -> str:
    """What a yes for always covers: an option before the subcommand makes it the whole line."""
    exact = " ".join(word for word, _ in words)
    if program == "find" or not all(known for _, known in words[: shown.count(" ") + 1]):
        return exact
    if program in _SUBCOMMANDS:
        return shown if exact.startswith(shown) and " " in shown else exact
    if _INTERPRETERS.fullmatch(program):
        return shown if exact.startswith(shown) and " " in shown else exact
    return shown


def _named(program: str, words: list[Word]) -> str:
    """A program with its subcommand, module or script, as far as these are known."""
    plain = [word for word, _ in words[1:]]
    if _INTERPRETERS.fullmatch(program):
        if plain[:1] == ["-m"]:
            return " ".join((program, *plain[:2]))
        return " ".join((program, *plain[:1]))
    if program not in _SUBCOMMANDS:
        return program
    names = [word for word, _ in _behind_options(words[1:], _SUBCOMMAND_VALUES, 0)]
    names = [name for name in names if not name.startswith("-")]
    if not names:
        return program
    two = f"{program} {names[0]}"
    return " ".join((program, *names[: _SUBCOMMANDS.get(two, 2) - 1]))


def _behind_options(words: list[Word], with_value: frozenset[str], first: int) -> list[Word]:
    """The words behind a runner's options, assignments of `env` included, and `first` own words."""
    at = 0
    while at < len(words):
        word = words[at][0]
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in with_value else 1
        else:
            break
    return words[at + first :]


def _nodes(root: Node) -> Iterator[Node]:
    """All nodes in the order of the text; without recursion, since lines may nest deeply."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _text(node: Node) -> str:
    return node.text.decode("utf-8", "replace") if node.text else ""


def _word(node: Node) -> Word:
    """A word without its quotes, and whether it holds nothing that only the shell can tell."""
    if node.type == "command_name" and node.child_count == 1:
        return _word(node.children[0])
    match node.type:
        case "word" | "number":
            return re.sub(r"\\(.)", r"\1", _text(node), flags=re.DOTALL), True
        case "raw_string":
            return _text(node)[1:-1], True
        case "string":
            known = all(child.type in ('"', "string_content") for child in node.children)
            return re.sub(r"\\([\"\\$`])", r"\1", _text(node)[1:-1]), known
        case "concatenation":
            words = [_word(child) for child in node.children]
            return "".join(word for word, _ in words), all(known for _, known in words)
        case _:
            return _text(node), False


def _here_document(node: Node) -> str | None:
    """The text of the here-document or here-string that a command reads; None if there is none."""
    parent = node.parent
    around = [*node.children, *(parent.children if parent else ())]
    for child in around:
        if child.type == "heredoc_redirect":
            body = next((c for c in child.children if c.type == "heredoc_body"), None)
            return _text(body) if body else ""
        if child.type == "herestring_redirect":
            text, known = _word(child.children[-1])
            return text if known else None
    return None


@cache
def _parser() -> Parser | None:
    try:
        import tree_sitter_bash
        from tree_sitter import Language, Parser
    except ImportError:
        return None
    return Parser(Language(tree_sitter_bash.language()))
