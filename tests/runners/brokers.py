"""Redis and RabbitMQ as processes of the tests, which may stop and start them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path

from tests.live import LiveError, free_port, listens

START_SECONDS = 120
STOP_SECONDS = 20


class Broker(ABC):
    """A broker on a port of its own, which it keeps when it is stopped and started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def url(self) -> str:
        """The address for clients."""

    @abstractmethod
    def _command(self) -> tuple[list[str], dict[str, str]]:
        """Return the command and what is in its environment besides."""

    def _is_ready(self) -> bool:
        return listens(self.port)

    def start(self) -> None:
        """Start it and wait until it takes connections. Raises ``LiveError``."""
        if self._process is not None:
            return
        command, more = self._command()
        log = self.folder / "log"
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, **more},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise LiveError(f"{command} did not start\n{log.read_text(errors='replace')[-3000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop it, at once: what has been sent to it and not been fetched may be lost, or not."""
        if self._process is None:
            return
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(STOP_SECONDS)
        self._process = None
        deadline = time.monotonic() + STOP_SECONDS
        while listens(self.port):
            if time.monotonic() > deadline:
                raise LiveError(f"somebody else listens on port {self.port}")
            time.sleep(0.02)

    def end(self) -> None:
        """Stop it for good."""
        self.stop()


class Redis(Broker):
    """Forgets everything when it is stopped."""

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def _command(self) -> tuple[list[str], dict[str, str]]:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        return ["redis-server", *options], {}


class RabbitMQ(Broker):
    """A node of its own, with an epmd of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._epmd, self._dist = free_port(), free_port()
        (folder / "rabbitmq.conf").write_text(f"listeners.tcp.default = 127.0.0.1:{self.port}\n")
        (folder / "plugins").write_text("[].\n")

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def _more(self) -> dict[str, str]:
        folder = str(self.folder)
        return {
            "HOME": folder,
            "ERL_EPMD_PORT": str(self._epmd),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": "a2a@localhost",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._dist),
            "RABBITMQ_MNESIA_BASE": f"{folder}/mnesia",
            "RABBITMQ_LOG_BASE": f"{folder}/logs",
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
        }

    def _command(self) -> tuple[list[str], dict[str, str]]:
        return ["/usr/lib/rabbitmq/bin/rabbitmq-server"], self._more()

    def end(self) -> None:
        """Stop it, and the name server that it has left."""
        self.stop()
        subprocess.run(["epmd", "-kill"], env={**os.environ, **self._more()}, capture_output=True, check=False)
