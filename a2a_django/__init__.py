"""a2a-django: a Django site that speaks the Agent2Agent protocol.

What an agent author needs is importable from here; see ``Agent``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from a2a_django.agents import (
        Agent,
        Extension,
        InvalidAgentResponse,
        Part,
        Provider,
        Skill,
        SyncTaskContext,
        TaskContext,
        TaskEnded,
        agent,
        register,
    )

__all__ = [
    "Agent",
    "Extension",
    "InvalidAgentResponse",
    "Part",
    "Provider",
    "Skill",
    "SyncTaskContext",
    "TaskContext",
    "TaskEnded",
    "agent",
    "register",
]


def __getattr__(name: str) -> Any:
    # Django imports this package to find its AppConfig, before models may be imported.
    if name in __all__:
        from a2a_django import agents

        return getattr(agents, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
