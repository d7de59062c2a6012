"""The terminal: `unremember compress`, `unremember inspect`, `unremember recall`.

Each command is one function that gives back data (`compress`, `inspect`, `recall`) and one that
draws it (`report`, `overview`, `page`). The engine, and rich, are imported when a command runs.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line on the arguments of the process, and ends the process."""
    try:
        import typer  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        sys.stderr.write(
            "unremember: the command line needs typer and rich: pip install 'unremember[cli]'\n"
        )
        sys.exit(2)
    from unremember.cli.app import run

    sys.exit(run(sys.argv[1:]))
