# The part of toktok-rs that is used here; the package itself is not marked as typed.
from collections.abc import Iterable

def batch_count(
    texts: Iterable[str],
    encoding: str = "cl100k_base",
    threads: int = 0,
    with_special: bool = False,
) -> list[int]: ...
