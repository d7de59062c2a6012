"""Strategies: graphs that run an agent's loop, the engine for them, and the ready ones."""

from unremember.strategies.answers import ask_for
from unremember.strategies.asking import as_said, ask
from unremember.strategies.calls import run_calls
from unremember.strategies.checkpoint import checkpoint, make_fit
from unremember.strategies.config import CODE_AGENT_HISTORY_TOO_BIG, HistoryCompressionConfig
from unremember.strategies.graph import END, Edge, Graph, Limits, Node, ResumePoint
from unremember.strategies.instructions import Instructions
from unremember.strategies.loading import load
from unremember.strategies.record import Record
from unremember.strategies.room import Room
from unremember.strategies.session import Session, program_message, user_message
from unremember.strategies.single_run import (
    call_model,
    checkpoint_with,
    execute_tools,
    hand_over,
    single_run_strategy,
    single_run_strategy_with_history_compression,
)

__all__ = [
    "CODE_AGENT_HISTORY_TOO_BIG",
    "END",
    "Edge",
    "Graph",
    "HistoryCompressionConfig",
    "Instructions",
    "Limits",
    "Node",
    "Record",
    "ResumePoint",
    "Room",
    "Session",
    "as_said",
    "ask",
    "ask_for",
    "call_model",
    "checkpoint",
    "checkpoint_with",
    "execute_tools",
    "hand_over",
    "load",
    "make_fit",
    "program_message",
    "run_calls",
    "single_run_strategy",
    "single_run_strategy_with_history_compression",
    "user_message",
]
