"""How long `unremember --help` takes, as a ratio to `import typer`, within one run.

Both are measured in turns, so that a busy machine slows both alike. At most 1.5 is meant.

    python benchmarks/cli.py [ROUNDS]
"""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

HELP = (
    "-c",
    "import sys; sys.argv = ['unremember', '--help']; import unremember.cli as c; c.main()",
)
TYPER = ("-c", "import typer")


def seconds(command: tuple[str, ...]) -> float:
    """The wall time of a fresh interpreter."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def main(rounds: int = 15) -> None:
    """Prints the medians and their ratio."""
    for command in (HELP, TYPER):
        seconds(command)  # the first run writes the compiled files
    pairs = [(seconds(TYPER), seconds(HELP)) for _ in range(rounds)]
    typer, shown = median(a for a, _ in pairs), median(b for _, b in pairs)
    ratio = median(b / a for a, b in pairs)
    sys.stdout.write(
        f"import typer {typer * 1000:.0f} ms, unremember --help {shown * 1000:.0f} ms\n"
    )
    sys.stdout.write(f"ratio {ratio:.2f} (at most 1.5)\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
