"""Every test here leaves rows for which the invariants hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.kit import check_rows


@pytest.fixture
def sound_rows(transactional_db: None) -> Iterator[None]:
    """Check, after the test, all rows it left."""
    yield
    check_rows()
