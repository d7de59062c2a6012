"""Models behind one port; see `Model` in `base`."""

from __future__ import annotations

from unremember.models.base import (
    Delta,
    Finish,
    Model,
    ModelFacts,
    Reply,
    Request,
    ToolSpec,
    Usage,
)

__all__ = ["Delta", "Finish", "Model", "ModelFacts", "Reply", "Request", "ToolSpec", "Usage"]
