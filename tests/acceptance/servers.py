"""The servers that the black-box suite talks to: databases, users, processes."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 40
STOP_SECONDS = 15

#: How each ASGI server is started; uvicorn waits for open streams for ever unless it is told how long (README).
COMMANDS = {
    "daphne": ["daphne", "-b", "127.0.0.1", "-p", "{port}", "-v", "0", "example_project.asgi:application"],
    "uvicorn": [
        *("uvicorn", "example_project.asgi:application", "--host", "127.0.0.1", "--port", "{port}"),
        *("--log-level", "warning", "--timeout-graceful-shutdown", "2"),
    ],
}


class ServerError(Exception):
    """A server did not start or did not stop; the message says which, with the end of its log."""


@dataclass
class Server:
    """One server process of one variant of the scripted site, with a database of its own."""

    variant: str
    kind: str
    database: str
    folder: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.variant}.log"

    @property
    def environment(self) -> dict[str, str]:
        """Return what the process and its management commands find in their environment."""
        return {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "example_project.scripted.settings",
            "EXAMPLE_DATABASE_URL": self.database,
            "EXAMPLE_VARIANT": self.variant,
            "EXAMPLE_ALLOWED_HOSTS": "127.0.0.1",
            "PYTHONUNBUFFERED": "1",
        }

    def manage(self, *arguments: str) -> str:
        """Run a management command and return what it printed."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ServerError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def __enter__(self) -> Server:
        """Start the process and wait until it serves its card."""
        self.port = free_port()
        command = [part.format(port=self.port) for part in COMMANDS[self.kind]]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", *command],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not answers(f"{self.url}/.well-known/agent-card.json"):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise ServerError(f"{self.variant} under {self.kind} did not start\n{self.tail()}")
            time.sleep(0.1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ask the process to stop as a process manager does; one that stays is a fault."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerError(f"{self.variant} under {self.kind} did not stop on SIGTERM\n{self.tail()}") from None

    def kill(self) -> None:
        """End the process and whatever it started."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def tail(self, lines: int = 60) -> str:
        """Return the end of the server's log."""
        text = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join([f"--- the end of the log of {self.variant} ({self.kind})", *text[-lines:]])


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(url: str) -> bool:
    """Return whether a GET of the address gives 200."""
    try:
        with urllib.request.urlopen(url, timeout=2) as response:  # noqa: S310 - an address of our own
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def database(kind: str, folder: Path, name: str) -> Iterator[str]:
    """Make an empty database and yield its address; PostgreSQL is found through the PG* variables."""
    if kind == "sqlite":
        yield f"sqlite:///{quote(str(folder / f'{name}.sqlite3'))}"
        return
    import psycopg

    host, port = os.environ.get("PGHOST", "127.0.0.1"), os.environ.get("PGPORT", "5432")
    user, password = os.environ.get("PGUSER", "postgres"), os.environ.get("PGPASSWORD", "")
    unique = f"a2a_{name}_{secrets.token_hex(4)}"
    with psycopg.connect(
        host=host, port=int(port), user=user, password=password, dbname="postgres", autocommit=True
    ) as admin:
        admin.execute(f'CREATE DATABASE "{unique}"')
        try:
            yield f"postgres://{quote(user)}:{quote(password)}@{host}:{port}/{unique}"
        finally:
            admin.execute(f'DROP DATABASE "{unique}" WITH (FORCE)')


@contextmanager
def running(kind: str, database_kind: str, folder: Path) -> Iterator[dict[str, Server]]:
    """Start the three variants and yield them by name; ``Server.environment`` of each is ready for commands."""
    servers: dict[str, Server] = {}
    with ExitStack() as stack:
        for variant in ("main", "plain", "strict"):
            url = stack.enter_context(database(database_kind, folder, variant))
            server = servers[variant] = Server(variant, kind, url, folder)
            server.manage("migrate", "--verbosity", "0")
        copy_users(servers, folder)
        for server in servers.values():
            stack.enter_context(server)
        yield servers


def copy_users(servers: dict[str, Server], folder: Path) -> None:
    """Make the two users with their keys on the main server and give them to the others: one key for all three."""
    keys = servers["main"].manage("scriptedusers")
    (folder / "keys.json").write_text(keys)
    users = str(folder / "users.json")
    servers["main"].manage("dumpdata", "auth.user", "a2a_django.apikey", "--output", users)
    for name in ("plain", "strict"):
        servers[name].manage("loaddata", users, "--verbosity", "0")


def keys(folder: Path) -> dict[str, str]:
    """Return the Authorization header of each user."""
    headers: dict[str, str] = json.loads((folder / "keys.json").read_text())
    return headers
