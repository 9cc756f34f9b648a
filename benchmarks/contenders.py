"""The servers under test: how each is started and its database prepared."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import psycopg

from benchmarks.databases import Database, Databases, server_url
from benchmarks.processes import Process, Server, run_module


@dataclass(frozen=True)
class Contender:
    """A server under test."""

    name: str
    app: str  # for uvicorn, where there is no command
    fill: str  # module that makes the tables and COUNT stored tasks
    path: str = "/a2a/"  # of the JSON-RPC endpoint
    options: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()  # arguments of Python, with {port}
    measures: tuple[str, ...] = ("send", "stream", "list")  # in which it takes part
    kinds: tuple[str, ...] = ("sqlite", "postgres")  # and on which databases

    def serve(self, database: Database, environment: Mapping[str, str] = MappingProxyType({})) -> Process:
        """The server on that database, to be used in a `with` block; `environment` says more to it."""
        environment = {**self.environment, **database.environment(), **environment}
        if self.command:
            return Process([sys.executable, *self.command], environment=environment)
        return Server(self.app, environment=environment, options=self.options)


SDK = Contender("a2a-sdk", "benchmarks.sdk.server:app", "benchmarks.sdk.fill")
SDK_MEMORY = replace(
    SDK, name="a2a-sdk-memory", environment={"BENCH_STORE": "memory"}, measures=("send",), kinds=("sqlite",)
)
OURS = Contender(
    "a2a-django",
    "benchmarks.site.asgi:application",
    "benchmarks.site.fill",
    options=("--lifespan", "off"),
    environment={"DJANGO_SETTINGS_MODULE": "benchmarks.site.settings"},
    measures=("send", "stream", "list", "v03"),
)
CONSUMERS = replace(
    OURS, name="a2a-django-consumers", app="benchmarks.site.consumers:application", measures=("send", "stream", "v03")
)
SDK_GRPC = replace(SDK, name="a2a-sdk-grpc", command=("-m", "benchmarks.sdk.grpc_server", "{port}"), measures=("grpc",))
GRPC = replace(
    OURS, name="a2a-django-grpc", command=("-m", "django", "rungrpc", "127.0.0.1:{port}"), measures=("grpc",)
)
SDK_PUSH = replace(SDK, name="a2a-sdk-push", environment={"BENCH_PUSH": "1"}, measures=("push",))
PUSH = replace(CONSUMERS, name="a2a-django-push", measures=("push",))
CONTENDERS = (SDK, SDK_MEMORY, OURS, CONSUMERS, SDK_GRPC, GRPC, SDK_PUSH, PUSH)


class Templates:
    """Prepared databases, made once for each way to fill them, kind and number of stored tasks."""

    def __init__(self, databases: Databases) -> None:
        self._databases = databases
        self._made: dict[tuple[str, str, int], Database] = {}

    def get(self, contender: Contender, kind: str, tasks: int = 0) -> Database:
        """A database with the contender's tables and `tasks` stored tasks. Copy it, do not serve from it."""
        key = (contender.fill, kind, tasks)
        if key not in self._made:
            database = self._databases.empty(kind, "template")
            run_module(contender.fill, str(tasks), environment=contender.environment | database.environment())
            _settle(database)
            self._made[key] = database
        return self._made[key]


def _settle(database: Database) -> None:
    """Statistics and clean pages, as in a database that has been there for a while."""
    if database.kind == "postgres":
        with psycopg.connect(f"{server_url()}/{database.name}", autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        return
    with closing(sqlite3.connect(database.name, isolation_level=None)) as file:
        file.execute("ANALYZE")
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
