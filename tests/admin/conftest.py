from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import DEFAULT_DB_ALIAS
from django.test import TransactionTestCase

from a2a_django.engine.journal import Journal
from tests.engine.conftest import delete_rows
from tests.engine.kit import check_rows
from tests.engine.writing import journal


@pytest.fixture
def writer() -> Iterator[Journal]:
    """A journal of another process."""
    with journal() as (made, _):
        yield made


def delete_all(case: TransactionTestCase) -> None:
    """Delete the rows of these tests; what points to users first."""
    for model in (LogEntry, Session):
        model._base_manager.all()._raw_delete(DEFAULT_DB_ALIAS)
    delete_rows(case)


@pytest.fixture
def sound_rows(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Iterator[None]:
    """Give access to the database, with real transactions, and check all rows after the test."""
    monkeypatch.setattr(TransactionTestCase, "_fixture_teardown", delete_all)
    yield
    check_rows()
