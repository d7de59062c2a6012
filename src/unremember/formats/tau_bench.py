"""tau-bench results: a list of runs, each with a `traj` of OpenAI messages."""

from __future__ import annotations

from unremember.formats import openai_chat
from unremember.formats.base import Conversation, conversation
from unremember.formats.shape import as_objects

NAME = "tau-bench"


def matches(head: object) -> bool:
    """Whether a document is a list of runs."""
    runs = as_objects(head)
    return bool(runs) and all(isinstance(run.get("traj"), list) for run in runs)


def read(document: object, *, whole: bool = False) -> list[Conversation]:
    """One conversation for each run, named by task and trial (`"4.0"`)."""
    return [
        conversation(
            openai_chat.to_messages(as_objects(run["traj"])),
            form=NAME,
            id=f"{run.get('task_id', '')}.{run.get('trial', 0)}",
        )
        for run in as_objects(document)
    ]
