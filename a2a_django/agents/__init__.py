"""What an agent author touches: the Agent class, the run's context, and the site's registry of agents."""

from __future__ import annotations

from a2a_django.agents.base import Agent, agent
from a2a_django.agents.context import InvalidAgentResponse, SyncTaskContext, TaskContext
from a2a_django.agents.registry import register
from a2a_django.agents.types import Extension, Part, Provider, Skill, TaskEnded

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
