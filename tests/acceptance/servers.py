"""The servers that the black-box suite talks to: databases, users, processes."""

from __future__ import annotations

import json
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
    """Start the three variants; yield the processes by variant, and the users' Authorization headers by name."""
    with ExitStack() as stack:
        sites: dict[str, Site] = {}
        for variant in VARIANTS:
            url = stack.enter_context(database(database_kind, folder, variant))
            site = sites[variant] = scripted_site(variant, url, folder)
            site.manage("migrate", "--verbosity", "0")
        headers = make_users(sites, folder)
        yield {name: stack.enter_context(site.server(kind)) for name, site in sites.items()}, headers


def make_users(sites: dict[str, Site], folder: Path) -> dict[str, str]:
    """Make the two users and their keys on the main site and copy them to the others: one key for all three."""
    headers: dict[str, str] = json.loads(sites["main"].manage("scriptedusers"))
    users = str(folder / "users.json")
    sites["main"].manage("dumpdata", "auth.user", "a2a_django.apikey", "--output", users)
    for name, site in sites.items():
        if name != "main":
            site.manage("loaddata", users, "--verbosity", "0")
    return headers
