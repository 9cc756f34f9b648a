"""The pytest plugin: fixtures with the clients. pytest finds it by its entry point; it needs pytest-django."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from a2a_django.testing.client import A2AClient, AsyncA2AClient
    from a2a_django.testing.receiver import FakeReceiver

# Nothing else is imported here: there are no settings yet.


@pytest.fixture
def a2a_client(db: None) -> Iterator[A2AClient]:
    """A client for the site's agents, which run on the thread of the test and inside its transaction."""
    from a2a_django.testing.client import A2AClient
    from a2a_django.testing.stage import in_process

    with in_process():
        yield A2AClient()


@pytest.fixture
def async_a2a_client(transactional_db: None) -> Iterator[AsyncA2AClient]:
    """The same for asynchronous tests (of pytest-asyncio or anyio).

    Their database work is on another thread than the test, and so outside of any transaction of the test.
    """
    from a2a_django.testing.client import AsyncA2AClient
    from a2a_django.testing.stage import in_process

    with in_process():
        yield AsyncA2AClient()


@pytest.fixture
def a2a_receiver() -> FakeReceiver:
    """A receiver of notifications: ``a2a_client.send("...", push=a2a_receiver)``."""
    from a2a_django.testing.receiver import FakeReceiver

    return FakeReceiver()
