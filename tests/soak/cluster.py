"""The processes of a soak: ASGI servers, a gRPC server and Redis, which can be killed and started again."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.live import LiveError, LiveProcess, Site, listens

SETTINGS = "tests.soak.settings"


def redis_server(folder: Path, port: int) -> LiveProcess:
    """Return a Redis with nothing on disk, not started yet: what it knew is lost with it."""
    program = shutil.which("redis-server")
    if program is None:
        raise LiveError("there is no redis-server; install it, or run without (--no-redis)")
    command = [program, "--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    return LiveProcess(command, cwd=folder, environment=os.environ, log=folder / "redis.log", ready=None, port=port)


@dataclass
class Victim:
    """A process that chaos may hit; ``hit`` says that it is being hit now."""

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
class Cluster:
    """What runs. ``asgi`` and ``grpc`` are on one database; ``redis`` carries their bells, if there is one."""

    asgi: list[Victim]
    grpc: list[Victim]
    redis: Victim | None
    folder: Path
    site: Site
    stopped: list[str] = field(default_factory=list)

    @property
    def servers(self) -> list[Victim]:
        """All processes that serve A2A."""
        return self.asgi + self.grpc

    @property
    def victims(self) -> list[Victim]:
        """All processes."""
        return [*self.servers, *([self.redis] if self.redis else [])]

    def stop(self) -> None:
        """End all processes as a process manager does; ``stopped`` gets those that did not end in order."""
        for victim in self.victims:
            try:
                victim.process.stop()
            except LiveError as error:
                self.stopped.append(str(error))


@contextmanager
def running(database: str, folder: Path, *, asgi: int, grpc: int, redis: bool) -> Iterator[Cluster]:
    """Start the processes on the database with this address; whatever happens, none of them is left behind."""
    # Ports below those that the system gives to clients: a killed server has to get its own again.
    ports = iter(low_ports(asgi + grpc + 1))
    bells = redis_server(folder, next(ports)) if redis else None
    environment = {
        "EXAMPLE_DATABASE_URL": database,
        "EXAMPLE_REDIS_URL": f"redis://127.0.0.1:{bells.port}/0" if bells else "",
        "EXAMPLE_DATA_DIR": str(folder),
        "EXAMPLE_ALLOWED_HOSTS": "127.0.0.1",
    }
    site = Site(SETTINGS, folder, environment)
    web = [Victim(f"asgi{n}", site.server("uvicorn", name=f"asgi{n}", port=next(ports))) for n in range(1, asgi + 1)]
    rpc = [Victim(f"grpc{n}", site.server("grpc", name=f"grpc{n}", port=next(ports))) for n in range(1, grpc + 1)]
    cluster = Cluster(web, rpc, Victim("redis", bells) if bells else None, folder, site)
    try:
        site.manage("migrate", "--verbosity", "0")
        for victim in reversed(cluster.victims):
            victim.process.start()
        yield cluster
    finally:
        for victim in cluster.victims:
            victim.process.kill()


def low_ports(count: int) -> list[int]:
    """Return free ports outside the range from which the system takes those of clients."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    candidates = random.sample(range(first - 8000, first), 500)
    found = [port for port in candidates if not listens(port)][:count]
    if len(found) < count:
        raise LiveError("no free ports")
    return found
