"""Everything that Unremember raises on purpose, as one tree.

```
UnrememberError
├── InputError            a file, message list or setting that cannot be used
│   ├── UnknownFormat     no known form of conversation was recognised
│   └── InvalidHistory    messages that break the rules of a history (pairs, roles)
├── BudgetTooSmall        what cannot be forgotten is larger than the limit
├── CannotCompress        compressing again and again frees too little
├── OverLimit             compression is off, and the next request would be too large
├── NeedsAsync            a synchronous call would need a running event loop
├── UnknownHandle         a handle that names nothing in this conversation
├── ArchiveError          the archive cannot be read or written
│   └── ArchiveTooNew     written by a newer version; left untouched
├── ModelError            a model could not be asked, or did not answer
│   ├── MissingKey        no API key; names the environment variable
│   ├── UnknownModel      no such model, provider, file or package; names it
│   ├── Unreachable       the host does not answer; names it
│   ├── TimedOut          the deadline passed
│   └── ProviderRefused   the provider said no, in its own words
│       └── ContextTooLong the request is larger than the model's window
├── ToolError             a tool failed; becomes a failed result, never ends a run
└── GraphError            a strategy that cannot be built or cannot go on
```

Each message is one line that says what was wrong, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence


class UnrememberError(Exception):
    """Base of every error that this library raises on purpose."""


class InputError(UnrememberError):
    """A file, a message list or a setting that cannot be used as it is."""


class UnknownFormat(InputError):
    """No known form of a recorded conversation was recognised."""


class InvalidHistory(InputError):
    """Messages that break the rules of a history: a result without its call, a misplaced role."""


class BudgetTooSmall(UnrememberError):
    """What cannot be forgotten weighs more than the limit (rule R1).

    `parts` are the largest fixed parts with their weights in tokens, largest first;
    `limit` is in tokens.
    """

    def __init__(self, parts: Sequence[tuple[str, int]], limit: int) -> None:
        self.parts = tuple(sorted(parts, key=lambda part: -part[1]))
        self.limit = limit
        named = ", ".join(f"{name} {weight:,}" for name, weight in self.parts[:3])
        total = sum(weight for _, weight in self.parts)
        super().__init__(
            f"{total:,} tokens cannot be forgotten ({named}); the limit is {limit:,}. "
            f"Raise the limit or shorten the {self.parts[0][0] if self.parts else 'history'}."
        )


class CannotCompress(UnrememberError):
    """Two compressions in a row freed too little (rule R8); says what could not shrink."""


class OverLimit(UnrememberError):
    """Compression is switched off and the next request would not fit; nothing was sent.

    `tokens` and `limit` are in tokens; `choices` are what can be done, one line each.
    """

    choices = ("compress the history", "take a model with a larger window", "stop here")

    def __init__(self, tokens: int, limit: int) -> None:
        self.tokens = tokens
        self.limit = limit
        super().__init__(
            f"the next request would weigh {tokens:,} tokens; the limit is {limit:,} and "
            f"compression is switched off. Choose: {'; '.join(self.choices)}."
        )


class NeedsAsync(UnrememberError):
    """A synchronous call would have to wait for a model inside a running event loop."""


class UnknownHandle(UnrememberError):
    """A handle that names nothing in this conversation."""


class ArchiveError(UnrememberError):
    """The archive cannot be read or written."""


class ArchiveTooNew(ArchiveError):
    """The archive was written by a newer version of Unremember; it was not touched."""


class ModelError(UnrememberError):
    """A model could not be asked, or gave no usable answer."""


class MissingKey(ModelError):
    """No API key was found; the message names the environment variable to set."""


class UnknownModel(ModelError):
    """A provider, model, model file or the package behind it that does not exist here."""


class Unreachable(ModelError):
    """The host of a model does not answer, or cut the connection again and again."""


class TimedOut(ModelError):
    """No complete answer within the deadline, retries included."""


class ProviderRefused(ModelError):
    """The provider answered with an error; the message holds its own words.

    `status` is the HTTP status, 0 where there was none.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        self.status = status
        super().__init__(message)


class ContextTooLong(ProviderRefused):
    """The request is larger than the model's window; `limit` in tokens, if the provider said it."""

    def __init__(self, message: str, status: int = 0, limit: int | None = None) -> None:
        self.limit = limit
        super().__init__(message, status)


class ToolError(UnrememberError):
    """A tool failed: the text goes to the model as a failed result and never ends a run."""


class GraphError(UnrememberError):
    """A strategy that cannot be built as it stands, or cannot go on; the message names the node."""
