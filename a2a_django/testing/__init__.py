"""What a site's own tests need to call its agents: no server, no network, no thread beside the test's transaction.

``A2ATestCase`` (or ``A2ATestMixin`` beside any ``TestCase`` of Django's) has an ``a2a_client``; the pytest plugin,
which pytest finds by itself, has fixtures of the same names. See docs/testing.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from a2a_django.testing.calls import StillWorking
    from a2a_django.testing.cases import A2ATestCase, A2ATestMixin, A2ATransactionTestCase
    from a2a_django.testing.client import A2AClient, AsyncA2AClient
    from a2a_django.testing.exchanges import UnexpectedAnswer
    from a2a_django.testing.receiver import FakeReceiver, Push
    from a2a_django.testing.results import Artifact, Event, Message, Task
    from a2a_django.testing.stage import in_process
    from a2a_django.testing.streams import AsyncStream, Stream

__all__ = [
    "A2AClient",
    "A2ATestCase",
    "A2ATestMixin",
    "A2ATransactionTestCase",
    "Artifact",
    "AsyncA2AClient",
    "AsyncStream",
    "Event",
    "FakeReceiver",
    "Message",
    "Push",
    "StillWorking",
    "Stream",
    "Task",
    "UnexpectedAnswer",
    "in_process",
]

_PLACES = {
    "calls": ("StillWorking",),
    "cases": ("A2ATestCase", "A2ATestMixin", "A2ATransactionTestCase"),
    "client": ("A2AClient", "AsyncA2AClient"),
    "exchanges": ("UnexpectedAnswer",),
    "receiver": ("FakeReceiver", "Push"),
    "results": ("Artifact", "Event", "Message", "Task"),
    "stage": ("in_process",),
    "streams": ("AsyncStream", "Stream"),
}


def __getattr__(name: str) -> Any:
    # The pytest plugin is imported before there are settings.
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
