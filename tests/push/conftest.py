"""Receivers on loopback, which the guard has to let through, and rows that can be seen by other threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.conftest import sound_rows
from tests.push.receiver import Receiver, receiving

__all__ = ["sound_rows"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A running receiver."""
    with receiving() as found:
        yield found


@pytest.fixture
def quick(settings: Any) -> Any:
    """Settings with which failures are repeated at once; change ``settings.A2A`` through ``quick(...)``."""

    def change(**values: Any) -> None:
        settings.A2A = {**settings.A2A, **values}

    settings.A2A = {
        **getattr(settings, "A2A", {}),
        "WEBHOOK_ALLOWED_HOSTS": ["127.0.0.1"],
        # So long that a look at the rows that was missed is seen: the next one comes too late for any test.
        "LEASE_SECONDS": 120,
        "PUSH_RETRY_SECONDS": 0.02,
        "PUSH_TIMEOUT_SECONDS": 1,
    }
    return change
