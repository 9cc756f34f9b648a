"""The servers that the black-box suite talks to: databases, users, processes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

from tests.live import LiveProcess, Site

VARIANTS = ("main", "plain", "strict")


def scripted_site(variant: str, database: str, folder: Path) -> Site:
    """Return one variant of the scripted site with a database of its own."""
    environment = {
        "EXAMPLE_DATABASE_URL": database,
        "EXAMPLE_VARIANT": variant,
        "EXAMPLE_ALLOWED_HOSTS": "127.0.0.1",
        "EXAMPLE_DATA_DIR": str(folder),
    }
    return Site("example_project.scripted.settings", folder, environment, name=variant)


@contextmanager
def database(kind: str, folder: Path, name: str) -> Iterator[str]:
    """Make an empty database and yield its address; PostgreSQL is found through the PG* variables."""
    if kind == "sqlite":
        yield f"sqlite:///{quote(str(folder / f'{name}.sqlite3'))}"
        return
    import psycopg

    host, port = os.environ.get("PGHOST", "127.0.0.1"), os.environ.get("PGPORT", "5432")
    user, password = os.environ.get("PGUSER", "postgres"), os.environ.get("PGPASSWORD", "")
    address = f"postgresql://{quote(user)}:{quote(password)}@{host}:{port}"
    unique = f"a2a_{name}_{secrets.token_hex(4)}"
    with psycopg.connect(f"{address}/postgres", autocommit=True) as admin:
        admin.execute(f'CREATE DATABASE "{unique}"')
        try:
            yield f"{address}/{unique}"
        finally:
            admin.execute(f'DROP DATABASE "{unique}" WITH (FORCE)')


@contextmanager
def running(kind: str, database_kind: str, folder: Path) -> Iterator[tuple[dict[str, LiveProcess], dict[str, str]]]:
    """Start the three variants; yield them by name, and the API keys of alice and bob, good for all."""
    keys = {name: f"{name}.{secrets.token_urlsafe(32)}" for name in ("alice", "bob")}
    with ExitStack() as stack:
        servers: dict[str, LiveProcess] = {}
        for variant in VARIANTS:
            url = stack.enter_context(database(database_kind, folder, variant))
            site = scripted_site(variant, url, folder)
            site.manage("migrate", "--verbosity", "0")
            site.manage("scriptedusers", *keys.values())
            servers[variant] = stack.enter_context(site.server(kind))
        yield servers, keys
