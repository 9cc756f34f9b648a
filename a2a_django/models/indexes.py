"""Indexes that Django does not have."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement


class PartialIndex(models.Index):
    """An index of the rows for which ``where`` is true; of all rows in MySQL and MariaDB, which have no such indexes.

    Django's own ``condition`` does the same, but has the checks warn of it (models.W037), and a site can do nothing
    about that.
    """

    def __init__(self, *, fields: list[str], where: models.Q, name: str) -> None:
        super().__init__(fields=fields, name=name)
        self.where = where

    def deconstruct(self) -> tuple[str, Any, dict[str, Any]]:
        """Return path and arguments, for migrations."""
        path, args, kwargs = super().deconstruct()
        return path, args, {**kwargs, "where": self.where}

    def create_sql(
        self, model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor, using: str = "", **kwargs: Any
    ) -> Statement:
        """Return the statement that makes the index."""
        if not schema_editor.connection.features.supports_partial_indexes:
            return super().create_sql(model, schema_editor, using, **kwargs)
        partial = models.Index(fields=self.fields, name=self.name, condition=self.where)
        return partial.create_sql(model, schema_editor, using, **kwargs)
