"""Every test here leaves tallies that are right, and tasks whose artifacts are whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import TransactionTestCase

from a2a_django.engine.journal import Journal
from tests.engine.conftest import delete_rows
from tests.engine.kit import check_tallies
from tests.engine.writing import journal


@pytest.fixture(autouse=True)
def _right_tallies(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Iterator[None]:
    monkeypatch.setattr(TransactionTestCase, "_fixture_teardown", delete_rows)
    yield
    check_tallies()


@pytest.fixture
def writer() -> Iterator[Journal]:
    """A journal of its own."""
    with journal() as (made, _):
        yield made
