"""Which commands run tests, change the world, rewrite files, or only look."""

from __future__ import annotations

import re
from itertools import pairwise

TESTERS = frozenset(
    "pytest py.test nosetests nose2 trial tox nox jest vitest mocha ava karma cypress rspec phpunit"
    " ctest gotestsum tap tape bats busted minitest nextest runtests.py runtests"
    " test_runner".split()
)
"""Programs that do nothing but run tests."""

RUNNERS = frozenset(
    "npm yarn pnpm bun make just task mise rake mix lerna nx turbo hatch pdm poe invoke inv"
    " composer gradle gradlew mvn mvnw sbt lein dotnet swift deno cargo go bazel buck scons meson"
    " ninja zig stack cabal dune flutter dart manage.py".split()
)
"""Programs whose arguments name a task."""

SUBCOMMAND_TEST = re.compile(
    r"(?:unit|integration|e2e|smoke|check)?[-_:.]?tests?(?:[-_:./].*)?|test[A-Z]\w*|verify|check"
    r"|nextest|spec"
    r"|[\w-]+[-_:]tests?|[\w:]+:test\w*"
)
"""A task that runs tests, such as `test`, `test:unit`, `integration-test`, `:app:test`."""

TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|spec)[-_.]?[^/]*\.\w+$|[-_.](?:tests?|spec)\.\w+$|(?:^|/)tests?$"
)
"""A file (or script) that holds tests, by its name."""

FORMATTERS: dict[str, tuple[str, ...]] = {
    # program: what must be among its words for it to write; nothing: it always does
    "black": (),
    "isort": (),
    "yapf": ("-i", "--in-place"),
    "autopep8": ("-i", "--in-place"),
    "autoflake": ("-i", "--in-place"),
    "pyupgrade": (),
    "ruff": ("format", "--fix"),
    "prettier": ("--write", "-w"),
    "eslint": ("--fix",),
    "stylelint": ("--fix",),
    "biome": ("--write", "--apply", "--fix"),
    "standard": ("--fix",),
    "gofmt": ("-w",),
    "gofumpt": ("-w",),
    "goimports": ("-w",),
    "rustfmt": (),
    "clang-format": ("-i",),
    "shfmt": ("-w",),
    "rubocop": ("-a", "-A", "--autocorrect", "--auto-correct"),
    "swiftformat": (),
    "ktlint": ("-F", "--format"),
    "google-java-format": ("-i", "--replace"),
    "dos2unix": (),
    "djlint": ("--reformat",),
}

_DRY = frozenset(
    ("--check", "--diff", "--dry-run", "-l", "--list-different", "--help", "--version")
)

_ALWAYS = frozenset(
    "rm rmdir unlink shred mv chmod chown chgrp ln kill pkill killall reboot shutdown systemctl"
    " service crontab useradd usermod userdel passwd mount umount mkfs dd scp sftp rsync"
    " ssh-copy-id"
    " twine mail sendmail wrangler vercel netlify flyctl fly heroku rclone ansible-playbook"
    " serverless"
    " eb cdk createdb dropdb pg_restore mysqldump redis-cli swapoff swapon iptables ufw".split()
)

_BY_SUBCOMMAND: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for names, words in {
        "git": "commit push merge rebase reset revert cherry-pick clean rm mv am init clone pull"
        " filter-branch filter-repo gc checkout switch restore stash apply",
        "jj": "commit new squash git rebase abandon describe",
        "hg": "commit push merge update",
        "svn": "commit update merge",
        "pip pip3": "install uninstall download",
        "conda mamba micromamba": "install create remove update",
        "uv": "add remove sync pip venv publish tool init",
        "poetry pdm pipenv": "add remove install update publish lock",
        "npm pnpm yarn bun": "install i ci add remove uninstall update upgrade publish link version"
        " dedupe init create",
        "cargo": "add remove install publish update init new yank",
        "go": "get install mod",
        "gem bundle": "install update push add",
        "composer": "install require update remove",
        "apt apt-get yum dnf apk pacman brew port snap zypper": "install remove purge update"
        " upgrade"
        " add del autoremove -S uninstall tap link",
        "docker podman": "run build push pull rm rmi stop start restart kill compose exec prune"
        " system volume network create tag login",
        "docker-compose": "up down build run restart stop rm",
        "kubectl oc": "apply create delete patch scale rollout edit set drain label annotate exec",
        "helm": "install upgrade uninstall rollback delete",
        "terraform tofu pulumi": "apply destroy import up init taint state",
        "aws gcloud az": "",
        "alembic": "upgrade downgrade stamp revision",
        "flyway liquibase dbmate goose migrate knex sequelize typeorm": "migrate up down update"
        " db:migrate migration:run clean repair rollback migrate:latest migrate:up",
        "prisma": "migrate db",
        "rails rake": "db:migrate db:create db:drop db:seed db:reset generate db:setup",
        "artisan": "migrate db:seed",
        "manage.py": "migrate makemigrations flush loaddata createsuperuser collectstatic",
    }.items()
    for name in names.split()
}

_GIT_TURNS = {
    "tag": re.compile(r"^-[adfs]|^[^-]"),
    "branch": re.compile(r"^-(?:[dDmMcC]|-delete|-move)|^[^-]"),
    "remote": re.compile(r"^(?:add|remove|rm|set-url|rename)$"),
    "worktree": re.compile(r"^(?:add|remove|move|prune)$"),
    "submodule": re.compile(r"^(?:add|update|init|deinit|sync)$"),
    "notes": re.compile(r"^(?:add|append|remove|edit)$"),
}

_TASK = re.compile(
    r"(?:^|[-_:./])(?:deploy|release|publish|migrate|migrations?|provision|seed|rollback|version"
    r"|bump|install|upload)"
    r"(?:$|[-_:.])",
    re.IGNORECASE,
)
"""A script or task that, by its name, changes something outside."""

_GH_WRITES = re.compile(
    r"^(?:create|merge|close|reopen|edit|comment|review|delete|ready|lock|fork|rerun|run|cancel"
    r"|sync"
    r"|upload|set|enable|disable|rename|archive|transfer|clone|develop)$"
)

_SQL = re.compile(
    r"\b(?:insert\s+into|update\s+\S+\s+set|delete\s+from|drop\s+\w|alter\s+\w|create\s+\w"
    r"|truncate\b|grant\s)",
    re.IGNORECASE,
)
_SQL_CLIENTS = frozenset(
    "psql mysql mariadb sqlite3 sqlcmd mongo mongosh clickhouse-client".split()
)

LOOKERS = frozenset(
    "ls tree pwd which whereis type command whoami id hostname uname date env printenv df du wc"
    " stat"
    " file md5sum sha1sum sha256sum cksum realpath readlink basename dirname diff cmp comm ps top"
    " lsof pgrep md5"
    " free uptime history jobs locate exa eza lsd nproc arch tty ss netstat".split()
)
"""Programs that only look, not at the content of one file."""

GIT_LOOKS = frozenset(
    "status log diff show branch remote blame shortlog describe rev-parse rev-list ls-files ls-tree"
    " ls-remote cat-file config reflog tag show-ref for-each-ref merge-base name-rev whatchanged"
    " check-ignore var version help fetch add worktree fsck count-objects diff-index diff-tree"
    " verify-pack".split()
)

SILENT = frozenset(
    "cd pushd popd echo printf export set unset source . true false : test [ [[ exit return shift"
    " sleep wait read local declare alias trap ulimit umask eval".split()
)
"""Shell words that are no act of their own."""


def runs_tests(program: str, words: tuple[str, ...]) -> bool:
    """Whether a command runs tests; `words` begin with the program, `program` is its bare name."""
    if program in TESTERS:
        return "--version" not in words and "--collect-only" not in words
    arguments = words[1:]
    if program.startswith(("python", "pypy")) and "-m" in arguments:
        at = arguments.index("-m")
        module, following = (*arguments[at + 1 : at + 3], "", "")[:2]
        return module in (
            "pytest",
            "unittest",
            "nose",
            "tox",
            "nox",
            "doctest",
            "trial",
            "py.test",
        ) or (module == "django" and following == "test")
    if program in RUNNERS:
        tasks = [w for w in arguments if not w.startswith("-") and "=" not in w][:2]
        if tasks[:1] in (["run"], ["run-script"]):
            del tasks[0]
        if program in ("mvn", "mvnw", "gradle", "gradlew", "mise", "make", "bazel", "sbt"):
            tasks = [w for w in arguments if not w.startswith("-")]
        else:
            del tasks[1:]
        # `npm run check` and `cargo check` check types; `make check` and `gradle check` run tests.
        plain = program not in ("make", "gradle", "gradlew", "ninja", "meson")
        return any(SUBCOMMAND_TEST.fullmatch(t) and not (plain and t == "check") for t in tasks)
    if program in (
        "node",
        "deno",
        "ruby",
        "perl",
        "php",
        "bash",
        "sh",
        "zsh",
        "tsx",
        "ts-node",
        "bun",
    ) or (program.startswith(("python", "pypy"))):
        if program == "node" and "--test" in arguments:
            return True
        script = next((w for w in arguments if not w.startswith("-")), "")
        if script.endswith("manage.py") or program == "deno":
            return "test" in arguments
        return bool(TEST_FILE.search(script)) or script.endswith("runtests.py")
    return bool("/" in words[0] and TEST_FILE.search(words[0]))


def has_side_effects(program: str, words: tuple[str, ...]) -> bool:
    """Whether running the command again could do harm: it changes more than the files it names."""
    arguments = words[1:]
    if "--help" in arguments or "--version" in arguments or "--dry-run" in arguments:
        return False
    if program in _ALWAYS:
        return True
    subcommand = next((w for w in arguments if not w.startswith("-")), "")
    if program == "git":
        return _git_changes(arguments)
    if program == "gh":
        return _github_changes(arguments)
    if program in ("curl", "wget", "http", "https", "xh"):
        return _sends(program, arguments)
    if program in ("aws", "gcloud", "az"):
        return any(
            re.match(
                r"(?:create|delete|put|update|deploy|run|start|stop|terminate|cp|mv|rm|sync|set"
                r"|apply)",
                w,
            )
            for w in arguments
        )
    if program in _SQL_CLIENTS:
        return bool(_SQL.search(" ".join(arguments)[:4000])) or any(
            w.endswith(".sql") for w in arguments
        )
    if program.startswith(("python", "pypy")) and arguments[:1] == ("-m",):
        return has_side_effects(arguments[1], arguments[1:]) if len(arguments) > 1 else False
    if program.startswith(("python", "php")) and subcommand.endswith(("manage.py", "artisan")):
        at = arguments.index(subcommand)
        return has_side_effects(subcommand.rpartition("/")[2], arguments[at:])
    if program == "pacman" or (
        program == "dotnet" and subcommand in ("add", "publish", "nuget", "new")
    ):
        return True
    if subcommand in _BY_SUBCOMMAND.get(program, frozenset()):
        return not (program == "docker" and arguments[:2] in (("system", "df"), ("volume", "ls")))
    if program in RUNNERS:
        return any(_TASK.search(w) for w in arguments if not w.startswith("-"))
    if program == "setup.py" or (program.startswith("python") and subcommand.endswith("setup.py")):
        return any(w in ("install", "develop", "upload") for w in arguments)
    script = words[0] if "/" in words[0] or program.endswith(".sh") else ""
    if program in ("bash", "sh", "zsh", "node", "ruby") or program.startswith("python"):
        script = subcommand
    return bool(script and _TASK.search(script.rpartition("/")[2]))


def _git_changes(arguments: tuple[str, ...]) -> bool:
    words = git_words(arguments)
    if not words:
        return False
    name, rest = words[0], words[1:]
    if name == "stash":
        return rest[:1] not in (("list",), ("show",))
    if name == "config":
        reads = any(w in ("-l", "--list", "list", "get") or w.startswith("--get") for w in rest)
        plain = [w for w in rest if not w.startswith("-")]
        return not reads and (len(plain) > 1 or "--unset" in rest)
    if name in _GIT_TURNS:
        return any(_GIT_TURNS[name].match(w) for w in rest) and not (
            name in ("branch", "tag")
            and any(w in ("--list", "-l", "-a", "-r", "-v", "-vv", "--contains") for w in rest)
        )
    if name == "apply":
        return "--check" not in rest and "--stat" not in rest
    return name in _BY_SUBCOMMAND["git"]


def git_words(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a git command from its subcommand on."""
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return arguments[at:]


def _github_changes(arguments: tuple[str, ...]) -> bool:
    if arguments[:1] == ("api",):
        method = next(
            (b for a, b in pairwise(arguments) if a in ("-X", "--method")),
            "",
        )
        if method:
            return method.upper() != "GET"
        sends = any(w in ("-f", "-F", "--field", "--raw-field", "--input") for w in arguments)
        return sends and not ("graphql" in arguments and "mutation" not in " ".join(arguments))
    return any(_GH_WRITES.match(w) for w in arguments[1:2])


_METHOD = re.compile(r"(?:-X|--request=?|--method=?)(.*)", re.DOTALL)
_SENDING = re.compile(
    r"-(?:[sSkLivfg]*)(?:d|F|T)(?:$|[^a-z])|--(?:data\S*|form\S*|json|upload-file|post-\S+"
    r"|body-\S+)"
)


def _sends(program: str, arguments: tuple[str, ...]) -> bool:
    if program in ("http", "https", "xh"):
        return bool(arguments) and arguments[0].upper() in ("POST", "PUT", "PATCH", "DELETE")
    for at, word in enumerate(arguments):
        if found := _METHOD.match(word):
            method = found[1] or (arguments[at + 1] if at + 1 < len(arguments) else "")
            return method.upper() not in ("GET", "HEAD", "OPTIONS", "")
    return (
        "-G" not in arguments and "--get" not in arguments and any(map(_SENDING.match, arguments))
    )


def formats_files(program: str, words: tuple[str, ...]) -> bool:
    """Whether the command rewrites the files it names."""
    if program in FORMATTERS:
        needed = FORMATTERS[program]
        if needed and not any(w in words for w in needed):
            return False
        return not _DRY.intersection(words[1:]) or (
            program in ("gofmt", "goimports") and "-w" in words
        )
    if program in RUNNERS and program != "cargo":
        return any(
            re.fullmatch(r"(?:fmt|format|fix)(?:[:_-].*)?|lint[:_-]fix", w) for w in words[1:3]
        )
    return words[1:2] == ("fmt",) and program in ("cargo", "terraform", "deno", "zig", "tofu")
