"""Databases for one turn each: made from a prepared template, dropped afterwards."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

SERVER_VARIABLE = "BENCH_POSTGRES"  # the PostgreSQL server to use, as a URL without a database name
DEFAULT_SERVER = "postgresql://postgres@127.0.0.1:5432"
POOL_SIZE = 8  # connections that either server may hold open: one for each connection of the load
_PREFIX = "bench_"


@dataclass(frozen=True)
class Database:
    """Where a server keeps its rows: a SQLite file, or a PostgreSQL database."""

    kind: str  # "sqlite" or "postgres"
    name: str  # path of the file, or name of the database

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """The database that `environment()` described to a child process."""
        return cls(environment["BENCH_KIND"], environment["BENCH_NAME"])

    def environment(self) -> dict[str, str]:
        """The variables that name this database to a child process."""
        return {"BENCH_KIND": self.kind, "BENCH_NAME": self.name}

    @property
    def address(self) -> str:
        """user@host:port/name of a PostgreSQL database."""
        return f"{urlsplit(server_url()).netloc}/{self.name}"


def server_url() -> str:
    """The PostgreSQL server the benchmarks use."""
    return os.environ.get(SERVER_VARIABLE, DEFAULT_SERVER).rstrip("/")


def _admin() -> psycopg.Connection[Any]:
    return psycopg.connect(f"{server_url()}/postgres", autocommit=True, connect_timeout=5)


def postgres_version() -> str | None:
    """The version of the PostgreSQL server, or None when none can be reached."""
    try:
        with _admin() as connection:
            row = connection.execute("SHOW server_version").fetchone()
    except psycopg.OperationalError:
        return None
    return str(row[0]) if row else None


class Databases:
    """Makes databases and removes every one of them at the end, also after a failure. For a `with` block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: list[Database] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for database in reversed(self._made):
            self._remove(database)
        self._made.clear()

    def empty(self, kind: str, label: str) -> Database:
        """A new database without tables."""
        database = self._new(kind, label)
        if kind == "postgres":
            with _admin() as connection:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database.name)))
        return database

    @contextmanager
    def copy(self, template: Database) -> Iterator[Database]:
        """A copy of `template` that lives as long as the block. Nobody may be connected to the template."""
        database = self._new(template.kind, "turn")
        if template.kind == "postgres":
            with _admin() as connection:
                command = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
                connection.execute(command.format(sql.Identifier(database.name), sql.Identifier(template.name)))
        else:
            shutil.copyfile(template.name, database.name)
        try:
            yield database
        finally:
            self._remove(database)
            self._made.remove(database)

    def _new(self, kind: str, label: str) -> Database:
        name = f"{_PREFIX}{label}_{secrets.token_hex(4)}"
        database = Database(kind, name if kind == "postgres" else str(self._folder / f"{name}.sqlite3"))
        self._made.append(database)
        return database

    @staticmethod
    def _remove(database: Database) -> None:
        if database.kind == "postgres":
            with _admin() as connection:
                command = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
                connection.execute(command.format(sql.Identifier(database.name)))
            return
        for suffix in ("", "-wal", "-shm"):
            Path(database.name + suffix).unlink(missing_ok=True)
