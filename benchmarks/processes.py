"""Server processes: start on a free port, measure from /proc, stop by pid."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parent.parent
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
START_TIMEOUT = 60.0
STOP_TIMEOUT = 10.0


class ServerError(RuntimeError):
    """A server, or a helper that prepares its data, did not do what it should."""


def free_port() -> int:
    """A loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def run_module(module: str, *arguments: str, environment: Mapping[str, str]) -> str:
    """Runs `python -m module arguments` to its end and returns what it printed; raises `ServerError` when it fails."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    if done.returncode:
        raise ServerError(f"{module} {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _stat(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def machine_busy_seconds() -> float:
    """CPU seconds that everything on this machine has used, PostgreSQL and the load generator among it."""
    user, nice, system, _, _, irq, softirq, steal, *_ = map(int, Path("/proc/stat").read_text().split()[1:11])
    return (user + nice + system + irq + softirq + steal) / _TICK


def process_tree(pid: int) -> list[int]:
    """The process and all its living descendants."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (stat := _stat(int(entry))):
            children.setdefault(int(stat[1]), []).append(int(entry))
    tree, at = [pid], 0
    while at < len(tree):
        tree += children.get(tree[at], [])
        at += 1
    return tree


@dataclass(frozen=True)
class Usage:
    """CPU seconds used so far and resident bytes now, of a process tree."""

    cpu_seconds: float
    rss_bytes: int
    threads: int

    @classmethod
    def of(cls, processes: Iterable[Process]) -> Usage:
        """What several have used together."""
        all_ = [process.usage() for process in processes]
        return cls(sum(u.cpu_seconds for u in all_), sum(u.rss_bytes for u in all_), sum(u.threads for u in all_))


class Process:
    """A process that listens on a port of its own (`{port}` in its command), for use in a `with` block."""

    def __init__(self, command: Sequence[str], *, environment: Mapping[str, str]) -> None:
        self.port = free_port()
        self._command = [part.replace("{port}", str(self.port)) for part in command]
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Starts the process, also again after `kill`, and waits until it listens."""
        self._process = subprocess.Popen(self._command, cwd=ROOT, env=self._environment, stdin=subprocess.DEVNULL)
        try:
            self._wait_until_it_listens()
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        if self._process is None:
            raise ServerError("the server is not started")
        return self._process.pid

    def usage(self) -> Usage:
        """What the server has used so far; raises `ServerError` when it is gone."""
        ticks = pages = threads = 0
        for pid in process_tree(self.pid):
            if stat := _stat(pid):
                ticks += int(stat[11]) + int(stat[12])
                threads += int(stat[17])
                pages += int(stat[21])
        if self._process is None or self._process.poll() is not None:
            raise ServerError("the server died")
        return Usage(ticks / _TICK, pages * _PAGE, threads)

    def stop(self) -> None:
        """Ends the process; first politely."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self) -> None:
        """Ends the process, not politely."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _wait_until_it_listens(self) -> None:
        end = time.monotonic() + START_TIMEOUT
        while time.monotonic() < end:
            if self._process is None or self._process.poll() is not None:
                raise ServerError(f"the server did not start: {' '.join(self._command)}")
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise ServerError(f"the server does not listen after {START_TIMEOUT:.0f} s: {' '.join(self._command)}")


class Server(Process):
    """A uvicorn process serving `app`."""

    def __init__(self, app: str, *, environment: Mapping[str, str], options: tuple[str, ...] = ()) -> None:
        command = [
            *(sys.executable, "-m", "uvicorn", app, "--host", "127.0.0.1", "--port", "{port}"),
            *("--log-level", "warning", "--no-access-log", "--loop", "uvloop", "--http", "httptools"),
            *("--timeout-graceful-shutdown", "2", *options),
        ]
        super().__init__(command, environment=environment)


class Redis(Process):
    """A Redis server that keeps nothing on disk. Raises `ServerError` where the program is missing."""

    def __init__(self) -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise ServerError("there is no redis-server")
        quiet = ("--save", "", "--appendonly", "no", "--loglevel", "warning", "--logfile", os.devnull)
        super().__init__([program, "--port", "{port}", "--bind", "127.0.0.1", *quiet], environment={})

    def environment(self) -> dict[str, str]:
        """The variable that names this server to a site."""
        return {"BENCH_REDIS": f"redis://127.0.0.1:{self.port}/0"}
