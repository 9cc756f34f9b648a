"""The processes of the chaos: PostgreSQL, Redis, ASGI and gRPC servers and workers, which can be ended and started
again."""

from __future__ import annotations

import os
import random
import secrets
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.postgres import Postgres, own_postgres
from tests.live import LiveError, LiveProcess, Site, listens

SETTINGS = "tests.chaos.settings"
USER = """
from django.contrib.auth import get_user_model
from a2a_django.access import create_api_key

create_api_key(get_user_model().objects.create_user("chaos"), "chaos", "{key}")
"""


def redis_server(folder: Path, port: int) -> LiveProcess:
    """Return a Redis with nothing on disk, not started yet: what it knew is lost with it."""
    program = shutil.which("redis-server")
    if program is None:
        raise LiveError("there is no redis-server; install it, or run without (--no-redis)")
    command = [program, "--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    return LiveProcess(command, cwd=folder, environment=os.environ, log=folder / "redis.log", ready=None, port=port)


class Worker(LiveProcess):
    """``manage.py a2a_worker``; ready when it says so, each time anew."""

    def start(self) -> None:
        """Start it and wait until it is ready."""
        self._said = self._count()
        super().start()

    def _is_ready(self) -> bool:
        return self._count() > self._said

    def _count(self) -> int:
        return self.log.read_text(errors="replace").count("at work") if self.log.exists() else 0


@dataclass
class Victim:
    """A process that may be hit; ``hit`` says that it is being hit now."""

    name: str
    process: LiveProcess
    hit: bool = False

    def pause(self) -> None:
        """Stop the process where it is."""
        self.process.signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self.process.signal(signal.SIGCONT)


@dataclass
class Size:
    """How many processes of each kind there are."""

    asgi: int = 2
    grpc: int = 1
    workers: int = 1
    redis: bool = True


@dataclass
class Cluster:
    """What runs. ``asgi``, ``grpc`` and ``workers`` are on one database; ``redis`` carries their bells, if there is
    one."""

    asgi: list[Victim]
    grpc: list[Victim]
    workers: list[Victim]
    redis: Victim | None
    postgres: Postgres | None
    folder: Path
    site: Site
    #: The API key of the one user.
    key: str
    stopped: list[str] = field(default_factory=list)

    @property
    def servers(self) -> list[Victim]:
        """All processes that serve A2A."""
        return self.asgi + self.grpc

    @property
    def victims(self) -> list[Victim]:
        """All processes but the database."""
        return [*self.servers, *self.workers, *([self.redis] if self.redis else [])]

    def stop(self) -> None:
        """End all processes as a process manager does; ``stopped`` gets those that did not end in order."""
        for victim in self.victims:
            try:
                victim.process.stop()
            except LiveError as error:
                self.stopped.append(str(error))


@contextmanager
def running(database: str, folder: Path, size: Size) -> Iterator[Cluster]:
    """Start the processes on a database of the kind ``database``; whatever happens, none of them is left behind."""
    # Ports below those that the system gives to clients: a killed server has to get its own again.
    ports = iter(low_ports(size.asgi + size.grpc + 2))
    with ExitStack() as stack:
        postgres = None
        if database == "postgres":
            postgres = stack.enter_context(own_postgres(folder / "postgres.log", next(ports)))
        bells = redis_server(folder, next(ports)) if size.redis else None
        environment = {
            "EXAMPLE_DATABASE_URL": postgres.address if postgres else f"sqlite:///{folder / 'site.sqlite3'}",
            "EXAMPLE_REDIS_URL": f"redis://127.0.0.1:{bells.port}/0" if bells else "",
            "EXAMPLE_DATA_DIR": str(folder),
            "EXAMPLE_ALLOWED_HOSTS": "127.0.0.1",
        }
        site = Site(SETTINGS, folder, environment)
        cluster = Cluster(
            [Victim(name, site.server("uvicorn", name=name, port=next(ports))) for name in _names("asgi", size.asgi)],
            [Victim(name, site.server("grpc", name=name, port=next(ports))) for name in _names("grpc", size.grpc)],
            [Victim(name, worker(site, name)) for name in _names("worker", size.workers)],
            Victim("redis", bells) if bells else None,
            postgres,
            folder,
            site,
            f"chaos.{secrets.token_urlsafe(32)}",
        )
        for victim in cluster.victims:
            stack.callback(victim.process.kill)
        site.manage("migrate", "--run-syncdb", "--verbosity", "0")
        site.manage("shell", "--no-imports", "--command", USER.format(key=cluster.key))
        for victim in reversed(cluster.victims):
            victim.process.start()
        yield cluster


def worker(site: Site, name: str) -> Worker:
    """Return a process of ``manage.py a2a_worker``."""
    command = [sys.executable, "manage.py", "a2a_worker"]
    return Worker(command, cwd=site.root, environment=site._environment(), log=site.folder / f"{name}.log")


def _names(kind: str, count: int) -> list[str]:
    return [f"{kind}{number}" for number in range(1, count + 1)]


def low_ports(count: int) -> list[int]:
    """Return free ports outside the range from which the system takes those of clients."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    candidates = random.sample(range(first - 8000, first), 500)
    found = [port for port in candidates if not listens(port)][:count]
    if len(found) < count:
        raise LiveError("no free ports")
    return found
