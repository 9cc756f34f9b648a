"""A shell command that kills a server of this process with SIGKILL and starts it again."""

from __future__ import annotations

import shlex
import sys
import threading
from multiprocessing.connection import Client, Listener
from pathlib import Path
from types import TracebackType

from tests.live import LiveError, LiveProcess


class Restarts:
    """Does what ``command`` asks for as long as the ``with`` block lasts; the process stays a child of this one."""

    def __init__(self, process: LiveProcess, address: Path) -> None:
        self._process = process
        self._listener = Listener(str(address), "AF_UNIX")
        #: Fails when the server does not come back.
        self.command = shlex.join([sys.executable, "-c", _COMMAND, str(address)])
        self._address = str(address)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        while True:
            with self._listener.accept() as connection:
                if not connection.recv():
                    return
                self._process.kill()
                try:
                    self._process.start()
                except LiveError as error:
                    connection.send(str(error))
                else:
                    connection.send("")

    def __enter__(self) -> Restarts:
        """Begin to listen for the command."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening, after a restart that is under way."""
        with Client(self._address, "AF_UNIX") as connection:
            connection.send(False)
        self._thread.join()
        self._listener.close()


_COMMAND = """
import sys
from multiprocessing.connection import Client

with Client(sys.argv[1], "AF_UNIX") as connection:
    connection.send(True)
    sys.exit(connection.recv() or 0)
"""
