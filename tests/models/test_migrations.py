"""The migrations lead to the models, and back."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from tests.engine.writing import create, journal, says, status


def tables() -> set[str]:
    return {name for name in connection.introspection.table_names() if name.startswith("a2a_django_")}


def ours() -> set[str]:
    return {model._meta.db_table for model in apps.get_app_config("a2a_django").get_models()}


@pytest.mark.django_db
def test_the_models_are_what_the_migrations_say() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_the_migrations_are_linear() -> None:
    loader = MigrationLoader(None)
    assert len(loader.graph.leaf_nodes("a2a_django")) == 1


@pytest.mark.django_db(transaction=True)
def test_the_migrations_lead_to_nothing_and_back_to_tables_that_work() -> None:
    with journal() as (writer, _):
        create(writer)
    before = tables()
    assert before == ours()
    try:
        call_command("migrate", "a2a_django", "zero", verbosity=0)
        assert tables() == set()
    finally:
        call_command("migrate", "a2a_django", verbosity=0)
    assert tables() == before
    with journal() as (writer, _):
        task = create(writer).task
        writer.write(says(task, status(task, "COMPLETED")))


@pytest.mark.django_db
def test_every_index_and_constraint_has_a_name_of_our_own() -> None:
    for model in apps.get_app_config("a2a_django").get_models():
        for one in [*model._meta.indexes, *model._meta.constraints]:
            assert one.name.startswith("a2a_"), one
            assert len(one.name) <= 30
