"""Every test here leaves rows for which the invariants hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase

from a2a_django.engine import watch
from tests.engine.kit import check_rows


def delete_rows(case: TransactionTestCase) -> None:
    """Delete the rows that there are; truncating every table takes PostgreSQL longer than most of these tests."""
    with connection.constraint_checks_disabled(), transaction.atomic():  # the order does not matter then
        for label in ("a2a_django", "auth"):
            for model in apps.get_app_config(label).get_models(include_auto_created=True):
                if model is not Permission:
                    model._base_manager.all()._raw_delete(DEFAULT_DB_ALIAS)


@pytest.fixture
def sound_rows(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Iterator[None]:
    """Give access to the database, with real transactions, and check all rows after the test."""
    monkeypatch.setattr(TransactionTestCase, "_fixture_teardown", delete_rows)
    yield
    check_rows()


@pytest.fixture
def looked_for_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody look for lost tasks or for those that wait but the test; an engine that begins would, when it comes to
    it."""
    look_for_lost = watch.Watch._look_for_lost

    async def on_demand(self: watch.Watch) -> None:
        await self._look_now.wait()
        self._look_now.clear()
        await look_for_lost(self)

    monkeypatch.setattr(watch.Watch, "_look_for_lost", on_demand)
    for name in ("MIN_LOOK_SECONDS", "MAX_LOOK_SECONDS", "IDLE_LOOK_SECONDS", "AGAIN_SECONDS"):
        monkeypatch.setattr(watch, name, 3600)


Losses = list[bool]


@pytest.fixture
def losses(monkeypatch: pytest.MonkeyPatch) -> Losses:
    """Put True into it for a COMMIT that takes place and gets no answer, False for one that does not take place."""
    due: Losses = []
    real = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]

    def commit(self: Any) -> Any:
        if not due:
            return real(self)
        if due.pop(0):
            real(self)
        self.connection.close()
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(BaseDatabaseWrapper, "_commit", commit)
    return due
