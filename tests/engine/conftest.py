"""Every test here leaves rows for which the invariants hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from pytest_django import DjangoDbBlocker

from tests.engine.kit import check_rows


@pytest.fixture
def sound_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Give access to the database, with real transactions, from every thread; check all rows after the test.

    Does what ``django_db(transaction=True)`` does, but deletes only the rows that there are: truncating every table
    takes PostgreSQL longer than most of these tests.
    """
    with django_db_blocker.unblock():
        try:
            yield
            check_rows()
        finally:
            with connection.constraint_checks_disabled(), transaction.atomic():  # the order does not matter then
                for label in ("a2a_django", "auth"):
                    for model in apps.get_app_config(label).get_models(include_auto_created=True):
                        if model is not Permission:
                            model._base_manager.all()._raw_delete(DEFAULT_DB_ALIAS)
            connections.close_all()
