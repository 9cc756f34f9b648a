"""The journal's statements: many rows in one INSERT, the tasks of a batch in one SELECT FOR UPDATE.

The ORM builds such a statement anew each time, which costs more than the database needs to carry it out; here its
parts are kept. Everything that differs between databases comes from Django's backend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar

from django.db import DataError, connections, models, router, transaction
from django.db.models.constants import OnConflict

from a2a_django.models import Task, TaskTally

Rows = TypeVar("Rows", bound="models.QuerySet[Any]")

#: Bytes of a statement that are not values, and of a value that is no text, generously.
STATEMENT_BYTES = 8192
OTHER_BYTES = 40
#: Values in one statement at most; SQLite allows 32,766, older ones 999 rows of few columns.
MAX_VALUES = 10_000


class Insert:
    """INSERT of a model's rows; with ``update`` and ``unique`` an upsert that changes these fields of known rows.

    PostgreSQL gets one array per column instead of one parameter per value: the statement is then the same for any
    number of rows, and psycopg need not take it apart each time.
    """

    def __init__(self, using: str, model: type[models.Model], update: Sequence[str], unique: Sequence[str]) -> None:
        connection = connections[using]
        ops, meta = connection.ops, model._meta
        fields = [field for field in meta.concrete_fields if not isinstance(field, models.AutoField)]
        columns = ", ".join(_columns(using, model, [field.name for field in fields], quoted=True))
        self._using = using
        self._arrays = connection.vendor == "postgresql"
        self._measures = connection.vendor == "mysql"
        self._head = f"INSERT INTO {ops.quote_name(meta.db_table)} ({columns}) "
        if self._arrays:
            arrays = ", ".join(f"%s::{field.db_type(connection)}[]" for field in map(_own_column, fields))
            self._head += f"SELECT * FROM UNNEST({arrays})"  # noqa: S608 - types of our own
        self._row = f"({', '.join(['%s'] * len(fields))})"
        self._tail = ""
        if update:
            self._tail = " " + ops.on_conflict_suffix_sql(
                fields,
                OnConflict.UPDATE,
                _columns(using, model, update),
                _columns(using, model, unique),
            )
        self._values = attrgetter(*(field.attname for field in fields))
        self._moments = [i for i, field in enumerate(fields) if isinstance(field, models.DateTimeField)]
        self._rows_at_once = max(1, MAX_VALUES // len(fields))

    def __call__(self, rows: Sequence[models.Model]) -> None:
        """Write the rows."""
        connection = connections[self._using]
        with connection.cursor() as cursor:
            for some in self._portions([self._values(row) for row in rows]):
                if self._arrays:
                    cursor.execute(self._head + self._tail, [list(column) for column in zip(*some, strict=True)])
                else:
                    places = ", ".join([self._row] * len(some))
                    cursor.execute(f"{self._head}VALUES {places}{self._tail}", self._adapted(some))

    def _portions(self, rows: list[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
        """Cut rows into what one statement may hold.

        MySQL takes statements up to a length that the server sets, and hangs up at a longer one, which looks like a
        server that is away. Raises ``DataError`` there for a row that is too long by itself.
        """
        if not self._measures:
            for start in range(0, len(rows), self._rows_at_once):
                yield rows[start : start + self._rows_at_once]
            return
        most = longest_statement(self._using)
        portion: list[tuple[Any, ...]] = []
        length = 0
        for row in rows:
            added = sum(map(_length, row))
            if added > most:
                raise DataError(f"A row of {added} bytes is longer than the server's max_allowed_packet allows")
            if portion and (length + added > most or len(portion) == self._rows_at_once):
                yield portion
                portion, length = [], 0
            portion.append(row)
            length += added
        if portion:
            yield portion

    def _adapted(self, rows: list[tuple[Any, ...]]) -> list[Any]:
        """Return the values of rows, one after the other, as the backend wants them."""
        adapt: Callable[[Any], Any] = connections[self._using].ops.adapt_datetimefield_value
        values: list[Any] = []
        for row in rows:
            one = list(row)
            for i in self._moments:
                if one[i] is not None:
                    one[i] = adapt(one[i])
            values += one
        return values


@lru_cache(maxsize=8)
def longest_statement(using: str) -> int:
    """Return how many bytes of values MySQL or MariaDB takes in one statement."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT @@max_allowed_packet")
        return int(cursor.fetchone()[0]) - STATEMENT_BYTES


def _length(value: Any) -> int:
    """Return how many bytes a value takes in a statement, at most."""
    if not isinstance(value, str):
        return OTHER_BYTES
    escaped = value.count("\\") + value.count('"') + value.count("'")
    return OTHER_BYTES + escaped + (len(value) if value.isascii() else len(value.encode()))


def _own_column(field: models.Field[Any, Any]) -> models.Field[Any, Any]:
    """Return the field that says which type a column has: for a foreign key the one it points to."""
    return field.target_field if isinstance(field, models.ForeignKey) else field


@lru_cache(maxsize=64)
def insert(using: str, model: type[models.Model], update: tuple[str, ...] = (), unique: tuple[str, ...] = ()) -> Insert:
    """Return the statement for a model."""
    return Insert(using, model, update, unique)


def add_to_tally(using: str, agent: str, owner: str, state: str, shard: int, count: int) -> None:
    """Add ``count`` to one tally; inside the transaction of what is counted."""
    key = (agent, owner, state, shard)
    with connections[using].cursor() as cursor:
        cursor.execute(_tally_update(using), (count, *key))
        if cursor.rowcount == 0:
            row = TaskTally(agent=agent, owner=owner, state=state, shard=shard, count=0)
            TaskTally.objects.using(using).bulk_create([row], ignore_conflicts=True)
            cursor.execute(_tally_update(using), (count, *key))


@lru_cache(maxsize=8)
def _tally_update(using: str) -> str:
    names = _columns(using, TaskTally, ("count", "agent", "owner", "state", "shard"), quoted=True)
    count, where = names[0], " AND ".join(f"{name} = %s" for name in names[1:])
    table = connections[using].ops.quote_name(TaskTally._meta.db_table)
    return f"UPDATE {table} SET {count} = {count} + %s WHERE {where}"  # noqa: S608 - names of our own


def _columns(using: str, model: type[models.Model], names: Sequence[str], *, quoted: bool = False) -> list[str]:
    """Return the columns of a model's fields."""
    quote = connections[using].ops.quote_name if quoted else str
    by_name = {field.name: str(field.column) for field in model._meta.concrete_fields}
    return [quote(by_name[name]) for name in names]


class Lock:
    """SELECT ... FOR UPDATE of a number of tasks: what the ORM makes of it, compiled once for each number."""

    def __init__(self, using: str, count: int, wait: bool) -> None:
        connection = connections[using]
        places = [f"{number:036}" for number in range(count)]
        rows = Task.objects.using(using).filter(pk__in=places).order_by("pk")
        if connection.features.has_select_for_update:
            skip = not wait and connection.features.has_select_for_update_skip_locked
            # The id does not change. So rows that refer to the task (a site's own, those of webhooks) and the journal
            # do not wait for each other: their check, at a COMMIT, would be the other half of a deadlock.
            no_key = connection.features.has_select_for_no_key_update
            rows = rows.select_for_update(skip_locked=skip, no_key=no_key)
        compiler = rows.query.get_compiler(using)
        with transaction.atomic(using=using):  # compiling FOR UPDATE asks for a transaction
            self._sql, params = compiler.as_sql()
        if list(params) != places:
            raise AssertionError("the ids are not the parameters of the statement")
        columns = [column for column, _, _ in compiler.select]
        self._names = [column.target.attname for column in columns]
        self._converters = [
            (place, converters, column) for place, (converters, column) in compiler.get_converters(columns).items()
        ]
        self._using = using

    def __call__(self, ids: Sequence[str]) -> dict[str, Task]:
        """Return the tasks that exist and (unless waited for) that nobody else holds, by id."""
        connection = connections[self._using]
        found: dict[str, Task] = {}
        with connection.cursor() as cursor:
            cursor.execute(self._sql, ids)
            for row in cursor.fetchall():
                values = list(row)
                for place, converters, column in self._converters:
                    for convert in converters:
                        values[place] = convert(values[place], column, connection)
                task = Task.from_db(self._using, self._names, values)
                found[task.pk] = task
        return found


@lru_cache(maxsize=512)
def lock(using: str, count: int, wait: bool) -> Lock:
    """Return the statement for ``count`` tasks; ``wait``: for those that others hold."""
    return Lock(using, count, wait)


def passing_over(rows: Rows) -> Rows:
    """Return the same rows under lock to the end of the transaction, without those that others have under lock; as they
    are, where a transaction has the database to itself.

    Their keys may be referred to meanwhile, as in ``Lock``.
    """
    features = connections[rows.db].features
    if not features.has_select_for_update:
        return rows
    skip, no_key = features.has_select_for_update_skip_locked, features.has_select_for_no_key_update
    return rows.select_for_update(skip_locked=skip, no_key=no_key)


def not_held(task_ids: Sequence[str]) -> list[str]:
    """Return those of the tasks whose rows nobody has under lock just now; all, where the database cannot say.

    For whoever looks after many tasks: the journal would wait for the others, and a site's own transaction may be long.
    """
    using = router.db_for_write(Task)
    if not task_ids or not connections[using].features.has_select_for_update_skip_locked:
        return list(task_ids)
    with transaction.atomic(using=using):
        free = lock(using, len(task_ids), False)(task_ids)
    return [pk for pk in task_ids if pk in free]
