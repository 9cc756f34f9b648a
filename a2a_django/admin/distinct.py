"""The different values at the head of an index, without reading the rows between them."""

from __future__ import annotations

from django.db import connections

from a2a_django.engine.database import alias
from a2a_django.models import Task


def values_of(field: str, limit: int) -> list[str]:
    """Return the first ``limit`` different values that tasks have in ``field``, a column that leads an index.

    Jumps from one value to the next, so it costs as many look-ups as there are values. No ORM has that.
    """
    connection = connections[alias()]
    table = connection.ops.quote_name(Task._meta.db_table)
    column = connection.ops.quote_name(field)
    sql = (
        f"WITH RECURSIVE found (value, number) AS ("  # noqa: S608 - names of our own model
        f"SELECT MIN({column}), 1 FROM {table} UNION ALL "
        f"SELECT (SELECT MIN({column}) FROM {table} WHERE {column} > found.value), number + 1 FROM found "
        f"WHERE value IS NOT NULL AND number < %s) SELECT value FROM found WHERE value IS NOT NULL"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [limit])
        return [row[0] for row in cursor.fetchall()]
