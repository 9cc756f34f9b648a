"""Column types shared by the models."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import threading
import time
from functools import partial
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast
from django.db.models.lookups import Exact, In, Lookup


class ProtoJSONField(models.JSONField):
    """ProtoJSON as text: compact, ASCII-only, exactly as it travels.

    The Python value is a ``str``, not a decoded object, because answers are spliced from it and most rows are read to
    be sent, not to be looked into. PostgreSQL's ``json`` (not ``jsonb``) keeps key order and number spelling; MySQL's
    own JSON type does not, so a text column stands in. Key look-ups (``wire__statusUpdate__...``, ``has_key`` and the
    like) work as with any JSONField; ``exact`` and ``in`` compare the whole text. Assign text, or an object to have it
    encoded.
    """

    description = "ProtoJSON text"

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return {"postgresql": "json", "mysql": "longtext"}.get(connection.vendor, "text")

    def db_check(self, connection: BaseDatabaseWrapper) -> None:
        """Only this package writes the column, always from its own encoder; the check would parse every row again."""
        return None

    def from_db_value(self, value: Any, expression: Any, connection: BaseDatabaseWrapper) -> Any:
        return value if value is None or isinstance(value, str) else json.dumps(value, separators=(",", ":"))

    def get_prep_value(self, value: Any) -> Any:
        if value is None or isinstance(value, str) or hasattr(value, "resolve_expression"):
            return value
        return json.dumps(value, separators=(",", ":"))

    def get_db_prep_value(self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False) -> Any:
        return value if prepared else self.get_prep_value(value)

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        return self.get_prep_value(value)

    def select_format(self, compiler: Any, sql: str, params: Any) -> Any:
        if compiler.connection.vendor == "postgresql":
            return f"({sql})::text", params  # psycopg would decode a json column
        return sql, params

    def get_transform(self, lookup_name: str) -> Any:
        return models.Field.get_transform(self, lookup_name) or partial(_key_of_object, lookup_name)

    def get_lookup(self, lookup_name: str) -> Any:
        found = super().get_lookup(lookup_name)
        if found is not None and lookup_name in _OF_OBJECTS:
            return partial(_on_object, found)
        return {"exact": _TextExact, "in": _TextIn}.get(lookup_name, found)

    def value_to_string(self, obj: models.Model) -> Any:
        return self.value_from_object(obj)


class ExactCharField(models.CharField):  # type: ignore[type-arg]
    """Text that is equal to nothing but itself, in every database.

    MySQL and MariaDB compare without regard to case, accents and trailing blanks, unless the column says otherwise:
    one owner would get to see the tasks of another.
    """

    def db_parameters(self, connection: BaseDatabaseWrapper) -> Any:
        found = super().db_parameters(connection)
        if connection.vendor == "mysql":
            mariadb = connection.mysql_is_mariadb  # type: ignore[attr-defined]
            found["collation"] = "utf8mb4_nopad_bin" if mariadb else "utf8mb4_0900_bin"
        return found


#: Look-ups that look into the object.
_OF_OBJECTS = frozenset({"contains", "contained_by", "has_key", "has_keys", "has_any_keys"})


def _object(expression: Any) -> Cast:
    """Return a column of ours as the database's own kind of JSON, which has operators."""
    return Cast(expression, models.JSONField())


def _key_of_object(name: str, expression: Any) -> KeyTransform:
    return KeyTransform(name, _object(expression))


def _on_object(lookup: type[Lookup[Any]], expression: Any, value: Any) -> Lookup[Any]:
    return lookup(_object(expression), value)


def _as_text(value: Any) -> Any:
    if hasattr(value, "resolve_expression"):
        return Cast(value, models.TextField())
    return ProtoJSONField().get_prep_value(value)


class _TextExact(Exact):
    def __init__(self, lhs: Any, rhs: Any) -> None:
        super().__init__(Cast(lhs, models.TextField()), _as_text(rhs))


class _TextIn(In):
    def __init__(self, lhs: Any, rhs: Any) -> None:
        values = rhs if hasattr(rhs, "resolve_expression") else [_as_text(value) for value in rhs]
        super().__init__(Cast(lhs, models.TextField()), values)


def key_of(text: str) -> str:
    """Return 32 hex digits that stand for ``text`` in indexes.

    Ids made by clients may be long, differ only in case or in trailing blanks; databases disagree about all three.
    """
    return hashlib.sha256(text.encode()).hexdigest()[:32]


_uuid_lock = threading.Lock()
_last_ms = 0
_counter = 0
#: Random bytes in store, and how many are used: each ``os.urandom`` hands the interpreter to another thread and waits
#: to get it back, which under load costs more than all the rest of an id.
_store = b""
_used = 0


def _random(count: int) -> int:
    """Return a number of ``count`` random bytes; to be called with the lock."""
    global _store, _used
    if _used + count > len(_store):
        _store, _used = os.urandom(4096), 0
    _used += count
    return int.from_bytes(_store[_used - count : _used], "big")


def _after_fork() -> None:
    """A child must not use the bytes that its parent uses."""
    global _uuid_lock, _store
    _uuid_lock, _store = threading.Lock(), b""


os.register_at_fork(after_in_child=_after_fork)


def uuid7() -> str:
    """Return a UUIDv7 as text: 48 bits of milliseconds, a 12-bit counter inside the millisecond, 62 random bits.

    Ids made by one process sort in the order in which they were made.
    """
    global _last_ms, _counter
    with _uuid_lock:
        now = time.time_ns() // 1_000_000
        if now > _last_ms:
            _last_ms, _counter = now, _random(2) & 0x3FF
        else:
            _counter += 1
            if _counter > 0xFFF:
                _last_ms, _counter = _last_ms + 1, 0
        ms, counter = _last_ms, _counter
        tail = _random(8) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    return _dashed(f"{ms:012x}7{counter:03x}{tail:016x}")


def first_id(moment: dt.datetime) -> str:
    """Return an id that is not above those made at ``moment`` or later, and above those made before."""
    ms = max(0, int(moment.timestamp() * 1000))
    return _dashed(f"{ms:012x}7{0:03x}{8:x}{0:015x}")


def _dashed(text: str) -> str:
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
