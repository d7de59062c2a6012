"""What single programs do, by their names and words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unremember.actions.action import Action, Effect, clean_path
from unremember.actions.effects import (
    GIT_LOOKS,
    LOOKERS,
    SILENT,
    formats_files,
    git_words,
    has_side_effects,
    runs_tests,
)
from unremember.actions.inline import code_writes
from unremember.actions.patches import patched_files
from unremember.actions.shell import Simple

READERS = frozenset(
    "cat bat batcat less more nl head tail tac xxd od hexdump strings zcat jq yq rev".split()
)
SEARCHERS = frozenset("grep egrep fgrep zgrep rg ag ack ripgrep pcregrep".split())
_SED_RANGE = re.compile(r"(\d+)(?:,\s*(?:(\d+)|\+(\d+)|(\$)))?\s*\{?p\}?")
_AWK_RANGE = re.compile(
    r"NR\s*>=?\s*(\d+)\s*&&\s*NR\s*<=?\s*(\d+)|NR\s*==\s*(\d+)\s*,\s*NR\s*==\s*(\d+)"
)


def read_program(program: str, words: tuple[str, ...], simple: Simple) -> Iterator[Action]:
    """What one command does; `program` is the bare name of the first of `words`."""
    effects = has_side_effects(program, words)
    command = " ".join(words)
    match program:
        case _ if (program in SILENT and "/" not in words[0]) or program == "mkdir":
            if program == "mkdir":
                yield Action("other", command=command)
        case _ if runs_tests(program, words):
            yield Action("test", command=command, side_effects=effects)
        case _ if formats_files(program, words):
            yield from _format(words, command)
        case "git":
            yield from _git(git_words(words[1:]), command, simple, effects=effects)
        case "gh" if not effects and words[1:2] != ("api",):
            yield Action("list", command=command)
        case "gh" if not effects:
            yield Action("fetch", command=command, query=next(iter(words[2:]), ""))
        case "applypatch" | "apply_patch":
            patch = simple.body or " ".join(words[1:])
            yield from patched_files(patch)
        case "patch":
            yield from patched_files(simple.body)
            if not simple.body:
                yield Action("run", command=command)
        case "sed" | "gsed":
            yield from _sed(words)
        case "awk" | "gawk" | "mawk":
            yield from _awk(words)
        case "perl" | "ruby" if any(re.match(r"-\w*i", w) for w in words[1:3]):
            for path in operands(words, values=("-e",))[-1:]:
                yield Action("edit", path, command=command)
        case _ if program in READERS and not simple.piped:
            yield from _reads(program, words)
        case _ if program in SEARCHERS:
            yield from _search(words)
        case "find" | "fd" | "fdfind":
            yield from _find(words, command)
        case "tee":
            kind = "edit" if "-a" in words or "--append" in words else "write"
            for path in operands(words):
                if not path.startswith("/dev/"):
                    yield Action(kind, path, command=command)
        case "touch" | "truncate":
            for path in operands(words, values=("-s", "-t", "-d", "-r")):
                yield Action("write", path, command=command)
        case "rm" | "unlink" | "rmdir" | "shred":
            yield from _each(operands(words), "delete", command)
        case "mv" | "cp" | "install" | "ln":
            yield from _move(program, words, command, effects=effects)
        case _ if program in LOOKERS:
            target = (
                (operands(words) or [""])[0] if program not in ("which", "type", "command") else ""
            )
            yield Action("list", target, command=command)
        case "curl" | "wget":
            yield from _download(program, words, command, effects=effects)
        case _:
            yield from _code(program, words, simple)
            yield Action("run", command=command, side_effects=effects)


def operands(words: tuple[str, ...], values: tuple[str, ...] = ()) -> list[str]:
    """The words that are no options and no values of options."""
    found: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            found += rest
        elif word in values:
            next(rest, None)
        elif not word.startswith("-"):
            found.append(word)
    return [clean_path(word) for word in found if word]


def _each(paths: list[str], effect: Effect, command: str) -> Iterator[Action]:
    for path in paths:
        yield Action("write", path, command=command, side_effects=effect == "delete", effect=effect)
    if not paths:
        yield Action("run", command=command, side_effects=True)


def _format(words: tuple[str, ...], command: str) -> Iterator[Action]:
    paths = [
        p for p in operands(words) if "." in p.rpartition("/")[2] and p not in (".", "..", "./...")
    ]
    for path in paths:
        yield Action("write", path, command=command, effect="format")
    if not paths:
        yield Action("run", command=command, effect="format")


def _git(
    words: tuple[str, ...], command: str, simple: Simple, *, effects: bool
) -> Iterator[Action]:
    name, rest = (words[0], words[1:]) if words else ("", ())
    named = [clean_path(w) for w in rest if not w.startswith("-")]
    effect: Effect = ""
    paths: list[str] = []
    match name:
        case "grep":
            yield from _search(words)
            return
        case "apply" | "am":
            yield from patched_files(simple.body)
        case "checkout" if "--" in rest:
            effect, paths = "restore", [clean_path(w) for w in rest[rest.index("--") + 1 :]]
        case "checkout" if named and "-b" not in rest and all(_is_pathlike(p) for p in named[-1:]):
            effect, paths = "restore", [p for p in named if _is_pathlike(p)]
        case "restore" if "--staged" not in rest and "-S" not in rest:
            effect, paths = "restore", named
        case "reset" if "--hard" in rest:
            effect, paths = "restore", ["."]
        case "stash" if not named or named[0] in ("push", "save"):
            effect, paths = "stash", named[1:] if "--" in rest else ["."]
        case "stash" if named[0] in ("pop", "apply"):
            effect, paths = "unstash", ["."]
        case "clean":
            pass
        case "rm":
            effect, paths = "delete", named
        case "mv" if len(named) == 2:
            yield Action(
                "write", named[0], command=command, side_effects=True, effect="move", to=named[1]
            )
            return
        case _:
            pass
    for path in paths:
        yield Action("write", path, command=command, side_effects=True, effect=effect)
    if not paths:
        looks = name in GIT_LOOKS and not effects
        yield Action("list" if looks else "run", command=command, side_effects=effects)


def _is_pathlike(word: str) -> bool:
    """Whether a word of `git checkout` is a file rather than a branch."""
    return word == "." or bool(re.search(r"\.\w{1,8}$", word))


def _reads(program: str, words: tuple[str, ...]) -> Iterator[Action]:
    values = ("-n", "-c", "--lines", "--bytes", "-b", "-r", "--line-range", "--arg", "-l")
    if program in ("cat", "nl", "less", "more", "tac"):
        values = ()
    paths = operands(words, values)
    if program == "nl":
        paths = [p for p in paths if p not in ("a", "t")]
    if program in ("jq", "yq"):
        paths = paths[1:]
    lines = head_or_tail(program, words)
    for path in paths:
        yield Action("read", path, lines)


def head_or_tail(program: str, words: tuple[str, ...]) -> tuple[int, int] | None:
    """The lines that `head` or `tail` shows; None for another program."""
    if program not in ("head", "tail"):
        return None
    text = " ".join(words[1:])
    if re.search(r"(?:^| )-c", text):
        return (1, 1) if program == "head" else (-1, 0)
    found = re.search(r"(?:^| )-(?:n *|-lines[= ])?([+-]?)(\d{1,9})\b", text)
    count = int(found[2]) if found else 10
    if program == "head":
        return (1, max(count, 1))
    return (max(count, 1), 0) if found and found[1] == "+" else (-max(count, 1), 0)


def _sed(words: tuple[str, ...]) -> Iterator[Action]:
    paths = operands(words, ("-e", "-f", "--expression"))
    if any(re.match(r"-[nrEsz]*i|--in-place", w) for w in words[1:]):
        if "-e" not in words and "--expression" not in words:
            # The script itself comes first; on macOS an empty suffix stands before it.
            paths = paths[1:]
        for path in paths:
            yield Action("edit", path, command=" ".join(words))
        return
    script = next(
        (words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-e", "--expression")), ""
    )
    if not script and paths:
        script, paths = next((w for w in words[1:] if not w.startswith("-")), ""), paths[1:]
    for path in paths:
        ranges = sed_ranges(script) if any(re.match(r"-\w*n|--quiet", w) for w in words[1:]) else ()
        for lines in ranges:
            yield Action("read", path, lines)
        if not ranges:
            yield Action("search", path, query=script)


def sed_ranges(script: str) -> tuple[tuple[int, int], ...]:
    """The lines that a script of `sed -n` prints; none if it does more than that."""
    ranges: list[tuple[int, int]] = []
    for piece in re.split(r"[;\n]", script[:2000]):
        if not piece.strip() or re.fullmatch(r"\s*\d+q\s*", piece):
            continue
        found = _SED_RANGE.fullmatch(piece.strip())
        if not found:
            return ()
        first = int(found[1][:9])
        last = (
            first + int(found[3][:9])
            if found[3]
            else 0
            if found[4]
            else int((found[2] or found[1])[:9])
        )
        ranges.append((first, last))
    return tuple(ranges)


def _awk(words: tuple[str, ...]) -> Iterator[Action]:
    script, *paths = [*operands(words, ("-F", "-v", "-f")), ""]
    for path in filter(None, paths):
        found = _AWK_RANGE.search(script)
        if found:
            yield Action(
                "read", path, (int((found[1] or found[3])[:9]), int((found[2] or found[4])[:9]))
            )
        else:
            yield Action("search", path, query=script)


def _search(words: tuple[str, ...]) -> Iterator[Action]:
    values = (
        "-A",
        "-B",
        "-C",
        "-m",
        "-g",
        "--glob",
        "-t",
        "--type",
        "--include",
        "--exclude",
        "-T",
        "-r",
    )
    found = operands(words, values if words[0] in ("rg", "ag", "ack") else values[:5])
    pattern = next(
        (words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-e", "--regexp")), None
    )
    if pattern is None:
        raw = [w for w in words[1:] if not w.startswith("-")]
        pattern = raw[0] if raw else ""
        found = found[1:]
    else:
        found = [o for o in found if o != clean_path(pattern)]
    for path in found or [""]:
        yield Action("search", path, query=pattern)


def _find(words: tuple[str, ...], command: str) -> Iterator[Action]:
    if "-delete" in words or ("-exec" in words and any(w in ("rm", "mv", "sed") for w in words)):
        yield Action("run", command=command, side_effects=True)
        return
    name = next(
        (words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-name", "-path", "-iname")), ""
    )
    start = words[1] if len(words) > 1 and not words[1].startswith("-") else ""
    yield Action("list", clean_path(start), query=name)


_SAVED = re.compile(r"\.(?:bak|backup|orig|original|old|save|saved)$|~$")


def _move(program: str, words: tuple[str, ...], command: str, *, effects: bool) -> Iterator[Action]:
    paths = operands(words, ("-t", "-m", "-o", "-g"))
    if len(paths) < 2 or program in ("install", "ln"):
        yield Action("run", command=command, side_effects=effects)
        return
    *sources, target = paths
    for source in sources:
        into = words[-1].endswith("/") or len(sources) > 1 or target in (".", "..")
        to = clean_path(f"{target}/{source.rpartition('/')[2]}") if into else target
        if _SAVED.sub("", source) == to and source != to:
            yield Action("write", to, command=command, side_effects=effects, effect="restore")
        elif program == "mv":
            yield Action("write", source, command=command, side_effects=True, effect="move", to=to)
        else:
            yield Action("write", to, command=command)


def _download(
    program: str, words: tuple[str, ...], command: str, *, effects: bool
) -> Iterator[Action]:
    url = next(
        (w for w in words[1:] if "://" in w or re.match(r"(?:localhost|[\w-]+\.[\w.-]+)[:/]", w)),
        "",
    )
    yield Action("run" if effects else "fetch", command=command, side_effects=effects, query=url)
    sign = ("-o", "--output") if program == "curl" else ("-O", "--output-document")
    for at, word in enumerate(words[:-1]):
        if word in sign and not words[at + 1].startswith(("/dev/", "-")):
            yield Action("write", clean_path(words[at + 1]), command=command)


def _code(program: str, words: tuple[str, ...], simple: Simple) -> Iterator[Action]:
    """Files that an inline program writes: `python - <<EOF`, `python -c`, `node -e`."""
    if not program.startswith(("python", "pypy", "node", "deno", "bun")):
        return
    inline = next(
        (words[i + 1] for i, w in enumerate(words[:-1]) if w in ("-c", "-e", "--eval")), ""
    )
    yield from code_writes(inline or simple.body)
