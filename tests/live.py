"""Sites in processes of their own, for tests: started on a free port, waited for, stopped as a process manager does."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 40
STOP_SECONDS = 15
CARD_PATH = "/.well-known/agent-card.json"

#: How each server is started, with the flags that the README tells for a clean stop. {app} is the package of the site.
SERVERS: Mapping[str, Sequence[str]] = {
    "runserver": ["manage.py", "runserver", "--noreload", "127.0.0.1:{port}"],
    "daphne": ["-m", "daphne", "-b", "127.0.0.1", "-p", "{port}", "-v", "0", "{app}.asgi:application"],
    "uvicorn": [
        *("-m", "uvicorn", "{app}.asgi:application", "--host", "127.0.0.1", "--port", "{port}"),
        *("--log-level", "warning", "--timeout-graceful-shutdown", "2"),
    ],
    "hypercorn": ["-m", "hypercorn", "-b", "127.0.0.1:{port}", "--graceful-timeout", "2", "{app}.asgi:application"],
    "granian": [
        *("-m", "granian", "--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}"),
        *("--workers-kill-timeout", "2", "{app}.asgi:application"),
    ],
    "wsgi": [
        "-m",
        "granian",
        "--interface",
        "wsgi",
        "--host",
        "127.0.0.1",
        "--port",
        "{port}",
        "{app}.wsgi:application",
    ],
    "grpc": ["manage.py", "rungrpc", "127.0.0.1:{port}", "--grace", "2"],
}


class LiveError(Exception):
    """A process did not start or did not stop; the message says which, with the end of its log."""


class LiveProcess:
    """A server process that is ready inside the ``with`` block.

    ``{port}`` in the command becomes ``port``, or a free one; the process is ready when the path ``ready`` answers 200,
    without a path when somebody listens on the port. Output goes to the file ``log``. Raises ``LiveError`` when the
    process does not get ready, or does not end in order on SIGTERM.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        log: Path,
        ready: str | None = CARD_PATH,
        port: int | None = None,
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        self._command = [part.replace("{port}", str(self.port)) for part in command]
        self._cwd, self._environment, self._ready = cwd, dict(environment), ready
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LiveProcess:
        """Start the process and wait for it."""
        self.start()
        return self

    def start(self) -> None:
        """Start the process, also again after ``kill``, and wait until it is ready."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._cwd,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise LiveError(f"{self._command} did not start\n{self.tail()}")
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        return listens(self.port) if self._ready is None else answers(self.url + self._ready)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Send SIGTERM and wait; a process that stays is ended the hard way and reported."""
        self.stop()

    def stop(self) -> None:
        """Send SIGTERM and wait; a process that stays is ended the hard way and reported."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise LiveError(f"{self._command} did not stop on SIGTERM\n{self.tail()}") from None
        if self._process.returncode not in (0, -signal.SIGTERM):
            raise LiveError(f"{self._command} ended with {self._process.returncode} on SIGTERM\n{self.tail()}")

    def signal(self, number: int) -> None:
        """Send a signal to the process."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """End the process and its children with SIGKILL, if it still runs."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def tail(self, lines: int = 60) -> str:
        """Return the end of the log."""
        text = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return "\n".join([f"--- the end of {self.log.name}", *text[-lines:]])


class Worker(LiveProcess):
    """A process that takes no connections, ready when it says ``words``."""

    def __init__(self, command: Sequence[str], *, words: str, **options: Any) -> None:
        super().__init__(command, **options)
        self._words = words

    def start(self) -> None:
        """Start it, also again."""
        self._seen = self.log.stat().st_size if self.log.exists() else 0
        super().start()

    def _is_ready(self) -> bool:
        if not self.log.exists():
            return False
        with self.log.open("rb") as log:
            log.seek(self._seen)
            return self._words.encode() in log.read()

    def wait(self, seconds: float) -> None:
        """Wait until it has ended by itself."""
        assert self._process is not None
        self._process.wait(seconds)


@dataclass(frozen=True)
class Site:
    """A Django site in ``root`` with what it finds in its environment; logs go to ``folder``."""

    settings: str
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    root: Path = ROOT
    name: str = "site"

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONUNBUFFERED": "1", **self.environment, "DJANGO_SETTINGS_MODULE": self.settings}

    def manage(self, *arguments: str) -> str:
        """Run a management command and return what it printed. Raises ``LiveError`` when it fails."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=self.root, env=self._environment(), capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise LiveError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def server(
        self, kind: str, *, app: str = "example_project", name: str = "", port: int | None = None
    ) -> LiveProcess:
        """Return a process of this site under one of ``SERVERS``, not started yet; ``name`` is that of its log."""
        command = [sys.executable, *(part.replace("{app}", app) for part in SERVERS[kind])]
        return LiveProcess(
            command,
            cwd=self.root,
            environment=self._environment(),
            log=self.folder / f"{name or self.name}.log",
            ready=None if kind == "grpc" else CARD_PATH,
            port=port,
        )


def celery_worker(site: Site, app: str, *, name: str, concurrency: int = 50) -> Worker:
    """Return a Celery worker of a site, whose threads wait for the runs of its agents; not started yet."""
    command = f"-m celery -A {app} worker --pool threads --concurrency {concurrency} -l INFO".split()
    return Worker(
        [sys.executable, *command, "--without-gossip", "--without-mingle"],
        cwd=site.root,
        environment=site._environment(),
        log=site.folder / f"{name}.log",
        words=" ready.",
    )


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Return whether somebody takes connections on a port of the loopback interface."""
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def answers(url: str) -> bool:
    """Return whether a GET of the address gives 200."""
    try:
        with urllib.request.urlopen(url, timeout=2) as response:  # noqa: S310 - an address of our own
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
