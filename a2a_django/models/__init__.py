"""The rows of a2a_django."""

from __future__ import annotations

from a2a_django.models.agents import AgentSetting
from a2a_django.models.api_keys import APIKey
from a2a_django.models.files import StoredFile
from a2a_django.models.push import PushConfig, PushCursor, PushDelivery
from a2a_django.models.receipts import MessageReceipt
from a2a_django.models.tasks import (
    Artifact,
    EventKind,
    Message,
    Task,
    TaskEvent,
    TaskQuerySet,
    TaskState,
    TaskTally,
    WaitingTask,
)

__all__ = [
    "APIKey",
    "AgentSetting",
    "Artifact",
    "EventKind",
    "Message",
    "MessageReceipt",
    "PushConfig",
    "PushCursor",
    "PushDelivery",
    "StoredFile",
    "Task",
    "TaskEvent",
    "TaskQuerySet",
    "TaskState",
    "TaskTally",
    "WaitingTask",
]
