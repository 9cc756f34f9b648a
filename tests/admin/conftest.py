from __future__ import annotations

from collections.abc import Iterator

import pytest

from a2a_django.engine.journal import Journal
from tests.engine.writing import journal


@pytest.fixture
def writer() -> Iterator[Journal]:
    """A journal of another process."""
    with journal() as (made, _):
        yield made
