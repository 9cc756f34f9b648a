"""What the tests of the consumers share."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_django.bindings.consumers.application import Application


@pytest.fixture
def application() -> Application:
    """The consumers in front of a site that must not be asked."""

    async def site(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError(f"{scope} was left to the site")

    return Application(site)
