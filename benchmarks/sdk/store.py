"""The SDK's database task store, on the same database settings as ours."""

from __future__ import annotations

import os

from a2a.server.tasks import DatabaseTaskStore
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from benchmarks.databases import POOL_SIZE, Database


def create_engine() -> AsyncEngine:
    """The engine for the database that the environment names."""
    database = Database.from_environment(os.environ)
    if database.kind == "postgres":
        return create_async_engine(
            f"postgresql+asyncpg://{database.address}", pool_size=POOL_SIZE, max_overflow=0, pool_timeout=60
        )
    engine = create_async_engine(
        f"sqlite+aiosqlite:///{database.name}",
        pool_size=POOL_SIZE,
        max_overflow=0,
        pool_timeout=60,
        connect_args={"timeout": 20},
    )

    @event.listens_for(engine.sync_engine, "connect")
    def settings(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def create_store() -> DatabaseTaskStore:
    """The SDK's store over that engine."""
    return DatabaseTaskStore(create_engine())
