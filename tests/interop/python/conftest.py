"""Each test of the Python client runs over every binding."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from a2a.utils.constants import TransportProtocol

from tests.interop.live_site import Live
from tests.interop.python.sdk import Connect, Connection, connected


@pytest.fixture(
    params=[TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON, TransportProtocol.GRPC],
    ids=["jsonrpc", "rest", "grpc"],
)
def binding(request: pytest.FixtureRequest) -> str:
    return str(request.param.value)


@pytest.fixture
async def connect(live: Live, binding: str) -> AsyncIterator[Connect]:
    """Return a function that makes a client of one variant of the site; ``connected`` says what it takes."""
    async with AsyncExitStack() as stack:

        async def make(variant: str = "main", **options: Any) -> Connection:
            return await stack.enter_async_context(connected(live, variant, binding, **options))

        yield make
