"""When something was said, in the spellings that logs use."""

from __future__ import annotations

from datetime import UTC, datetime

# Seconds since 1970 stay below this until the year 5138; milliseconds have passed it in 1973.
_MILLISECONDS = 1e11


def moment(value: object) -> datetime | None:
    """An aware time from ISO 8601, or from seconds or milliseconds since 1970; naive means UTC."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            return read if read.tzinfo else read.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
