"""A PostgreSQL of the chaos's own: it may be stopped in the middle of everything."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.live import LiveError, LiveProcess

STOP_SECONDS = 20


def programs() -> Path:
    """Return the folder of PostgreSQL's programs, of the newest version that is there."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    if found:
        return found[-1]
    if (there := shutil.which("postgres")) is not None:
        return Path(there).resolve().parent
    raise LiveError("there is no PostgreSQL; install it, or run with --database sqlite")


class Postgres(LiveProcess):
    """The server, ready when it takes connections. It does not run as root, so then it is the user postgres."""

    def __init__(self, data: Path, log: Path, port: int) -> None:
        self._as: list[str] = []
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            self._as = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--"]
            os.chown(data, user.pw_uid, user.pw_gid)
        self._data = data
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(data),
            "fsync": "off",  # a machine that crashes is not part of the chaos
            "max_connections": "250",
            "shared_buffers": "64MB",
            "log_min_messages": "error",
        }
        command = [*self._as, str(programs() / "postgres"), "-D", str(data / "data"), "-p", "{port}"]
        command += [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        super().__init__(command, cwd=data, environment=os.environ, log=log, ready=None, port=port)
        self.address = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def make(self) -> None:
        """Make the cluster of databases."""
        command = [*self._as, str(programs() / "initdb"), "-D", str(self._data / "data")]
        command += ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        done = subprocess.run(command, cwd=self._data, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LiveError(f"initdb failed:\n{done.stdout}{done.stderr}")

    def _is_ready(self) -> bool:
        try:
            psycopg.connect(self.address, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def interrupt(self) -> None:
        """End it at once, without a word to its clients and without tidying up; it recovers when it starts."""
        self._end(signal.SIGQUIT)

    def stop(self) -> None:
        """End it; connections that are open are ended too."""
        self._end(signal.SIGINT)

    def _end(self, number: int) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self.signal(number)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def own_postgres(log: Path, port: int) -> Iterator[Postgres]:
    """Yield a server that runs; its data is deleted with it."""
    folder = Path(tempfile.mkdtemp(prefix="a2a-chaos-postgres-"))
    try:
        server = Postgres(folder, log, port)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.interrupt()
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
