"""What can happen to a task through its agent: a status, or a piece of an artifact.

These are made where an agent publishes something, checked there, and applied by the journal.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a2a_django.protocol import wire
from a2a_django.protocol.wire import Wire


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A new status; ``message`` and ``metadata`` are texts, ``message_id`` is set when the agent chose it, ``files``
    are those of the message's stored parts."""

    state: str
    moment: dt.datetime
    message: str | None = None
    metadata: str | None = None
    message_id: str | None = None
    files: tuple[uuid.UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class ArtifactChunk:
    """A piece of an artifact; ``head`` is the artifact without parts, ``text`` the whole event, ``files`` are those of
    its stored parts."""

    artifact_id: str
    head: Wire
    text: str
    append: bool
    last_chunk: bool
    files: tuple[uuid.UUID, ...] = ()

    @classmethod
    def of(
        cls,
        task_id: str,
        context_id: str,
        artifact: Wire,
        *,
        append: bool,
        last_chunk: bool,
        metadata: Mapping[str, Any] | None = None,
    ) -> ArtifactChunk:
        """Return the chunk that adds ``artifact`` (with at least one part) to a task."""
        text = wire.artifact_update(
            task_id, context_id, artifact, append=append, last_chunk=last_chunk, metadata=metadata
        )
        head = {name: value for name, value in artifact.items() if name != "parts"}
        return cls(artifact["artifactId"], head, text, append, last_chunk)


Change = StatusChange | ArtifactChunk
