"""The servers that the black-box suite talks to: databases, users, processes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote, urlsplit

from tests.keys import pem
from tests.live import LiveProcess, Site, celery_worker, free_port

VARIANTS = ("main", "plain", "strict")


def scripted_site(variant: str, database: str, folder: Path, more: Mapping[str, str] = MappingProxyType({})) -> Site:
    """Return one variant of the scripted site with a database of its own, and ``more`` in its environment."""
    key = folder / "signing.pem"
    if not key.exists():
        key.write_text(pem())
    environment = {
        "EXAMPLE_SIGNING_KEYS": str(key),
        **more,
        "EXAMPLE_DATABASE_URL": database,
        "EXAMPLE_VARIANT": variant,
        "EXAMPLE_ALLOWED_HOSTS": "127.0.0.1",
        "EXAMPLE_DATA_DIR": str(folder),
    }
    return Site("example_project.scripted.settings", folder, environment, name=variant)


@contextmanager
def database(kind: str, folder: Path, name: str, *, template: str = "") -> Iterator[str]:
    """Make an empty database, or in PostgreSQL a copy of the one with the address ``template``, and yield its address;
    PostgreSQL is found through the PG* variables."""
    if kind == "sqlite":
        yield f"sqlite:///{quote(str(folder / f'{name}.sqlite3'))}"
        return
    import psycopg

    host, port = os.environ.get("PGHOST", "127.0.0.1"), os.environ.get("PGPORT", "5432")
    user, password = os.environ.get("PGUSER", "postgres"), os.environ.get("PGPASSWORD", "")
    address = f"postgresql://{quote(user)}:{quote(password)}@{host}:{port}"
    unique = f"a2a_{name}_{secrets.token_hex(4)}"
    with psycopg.connect(f"{address}/postgres", autocommit=True) as admin:
        source = f' TEMPLATE "{urlsplit(template).path[1:]}"' if template else ""
        admin.execute(f'CREATE DATABASE "{unique}"{source}')
        try:
            yield f"{address}/{unique}"
        finally:
            admin.execute(f'DROP DATABASE "{unique}" WITH (FORCE)')


@dataclass(frozen=True)
class Plan:
    """What is started for every variant: an ASGI server of the kind ``server``, on a database of the kind ``database``.

    With ``cluster`` there is a second ASGI process beside the first of the main variant, and a gRPC process beside each
    variant, all on the same database; ``redis`` is the address of the server that carries their messages, "" without.
    ``broker`` is that of the Redis through which agents run on workers of Celery, one beside each variant; "" without.
    """

    server: str
    database: str
    cluster: bool = False
    redis: str = ""
    broker: str = ""

    def __str__(self) -> str:
        words = [
            self.server,
            self.database,
            "cluster" if self.cluster else "",
            "redis" if self.redis else "",
            "workers" if self.broker else "",
        ]
        return ", ".join(filter(None, words))


@dataclass
class Running:
    """The processes, by the name of their variant, and the API keys of the users, good for all."""

    keys: Mapping[str, str]
    asgi: dict[str, LiveProcess] = field(default_factory=dict)
    grpc: dict[str, LiveProcess] = field(default_factory=dict)
    second: LiveProcess | None = None
    workers: list[LiveProcess] = field(default_factory=list)

    def logs(self) -> Iterator[str]:
        """Return the ends of the logs."""
        servers = [*self.asgi.values(), *self.grpc.values(), *([self.second] if self.second else [])]
        processes = [*servers, *self.workers]
        return (process.tail(150) for process in processes)


@contextmanager
def running(plan: Plan, folder: Path) -> Iterator[Running]:
    """Start the three variants."""
    found = Running({name: f"{name}.{secrets.token_urlsafe(32)}" for name in ("alice", "bob")})
    with ExitStack() as stack:
        for variant in VARIANTS:
            url = stack.enter_context(database(plan.database, folder, variant))
            environment = {"EXAMPLE_REDIS_URL": plan.redis}
            if plan.cluster:
                environment["EXAMPLE_GRPC_URL"] = f"127.0.0.1:{(port := free_port())}"
            if plan.broker:
                environment |= {"EXAMPLE_RUNNER": "celery", "EXAMPLE_BROKER_URL": plan.broker}
                environment["EXAMPLE_QUEUE"] = f"a2a-{secrets.token_hex(4)}"
            site = scripted_site(variant, url, folder, environment)
            site.manage("migrate", "--verbosity", "0")
            site.manage("scriptedusers", *found.keys.values())
            found.asgi[variant] = stack.enter_context(site.server(plan.server))
            if plan.broker:
                worker = celery_worker(site, "example_project", name=f"{variant}-worker")
                found.workers.append(stack.enter_context(worker))
            if plan.cluster:
                found.grpc[variant] = stack.enter_context(site.server("grpc", name=f"{variant}-grpc", port=port))
                if variant == "main":
                    found.second = stack.enter_context(site.server(plan.server, name="second"))
        yield found
