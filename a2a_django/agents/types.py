"""The small things an agent author writes: skills, extensions, providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from a2a_django.protocol.v1.a2a_pb2 import Part

__all__ = ["Extension", "Part", "Provider", "Skill", "TaskEnded"]


@dataclass(frozen=True, slots=True)
class Skill:
    """Something the agent can do (Spec 4.4.5). ``id`` is stable; name, description and tags are for finding it."""

    id: str
    name: str
    description: str
    tags: Sequence[str] = ()
    examples: Sequence[str] = ()
    input_modes: Sequence[str] = ()
    output_modes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Extension:
    """A protocol extension the agent offers or demands (Spec 4.6, R-223)."""

    uri: str
    description: str = ""
    required: bool = False
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Provider:
    """Who runs the agent (Spec 4.4.2)."""

    organization: str
    url: str


class TaskEnded(Exception):
    """The task has ended, was cancelled, or is run by somebody else by now: there is nothing left to say."""
