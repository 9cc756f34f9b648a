"""Several server processes on one port, and the process that looks after them.

The kernel spreads connections over the processes that listen on a port together (SO_REUSEPORT). Nothing in here imports
grpc: its threads do not survive a fork, and the parent needs none of it.

The parent holds the port without listening, starts the workers, tells when all of them answer, starts another where one
has died, and passes signals on. A worker knows that the parent is gone by the end of its standard input.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

logger = logging.getLogger("a2a_django.grpc")

#: In the environment of a worker: the port to listen on, and the file descriptor on which to say that it does.
VARIABLE: Final = "A2A_GRPC_WORKER"

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0


def reserve(host: str, port: int) -> socket.socket:
    """Return a socket that holds the port for the workers; for port 0 a free one is chosen.

    Raises ``OSError`` when somebody has it, also when they would share it.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)
    holder = socket.socket(family, kind, protocol)
    try:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind(address)
    except OSError:
        holder.close()
        raise
    return holder


class Worker:
    """What a worker knows of its parent."""

    def __init__(self, port: int, ready: int) -> None:
        self.port = port
        self._ready = ready

    @classmethod
    def current(cls) -> Worker | None:
        """Return the worker that this process is, if it is one."""
        value = os.environ.pop(VARIABLE, "")
        if not value:
            return None
        port, _, ready = value.partition(",")
        return cls(int(port), int(ready))

    def say_ready(self) -> None:
        """Tell the parent that this worker answers."""
        with suppress(BrokenPipeError):
            os.write(self._ready, b".")
        os.close(self._ready)

    def when_orphaned(self, call: Callable[[], None]) -> None:
        """Have ``call`` called in the running loop when the parent is gone."""
        loop = asyncio.get_running_loop()

        def look() -> None:
            if not os.read(0, 1024):
                loop.remove_reader(0)
                call()

        loop.add_reader(0, look)


class Supervisor:
    """Runs ``count`` times ``command`` until it gets a signal, or until one does not even start.

    ``on_ready`` is called once, when all answer.
    """

    def __init__(self, command: Sequence[str], count: int, port: int, on_ready: Callable[[], None]) -> None:
        self._command, self._count, self._port, self._on_ready = command, count, port, on_ready
        self._processes: set[Process] = set()
        self._stopping = asyncio.Event()
        self._answering = 0
        self.failed = False

    async def run(self) -> bool:
        """Return whether all went well."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.stop)
        await asyncio.gather(*(self._keep() for _ in range(self._count)))
        return not self.failed

    def stop(self) -> None:
        """Tell all workers to end; the second time they do so at once."""
        self._stopping.set()
        for process in self._processes:
            _terminate(process)

    async def _keep(self) -> None:
        """Have one worker at any time."""
        pause = FIRST_PAUSE
        has_answered = False
        while not self._stopping.is_set():
            process, answers = await self._start()
            if answers:
                pause = FIRST_PAUSE
                if not has_answered:
                    has_answered = True
                    self._answering += 1
                    if self._answering == self._count:
                        self._on_ready()
            code = await process.wait()
            self._processes.discard(process)
            if self._stopping.is_set():
                return
            if not has_answered:  # the first one: it says itself why, and another would do the same
                self.failed = True
                self.stop()
                return
            logger.error("gRPC worker %d ended with %d; another one follows", process.pid, code)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _start(self) -> tuple[Process, bool]:
        """Start a worker; also returns whether it answers, as opposed to having ended."""
        read, write = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=PIPE,
                env={**os.environ, VARIABLE: f"{self._port},{write}"},
                pass_fds=(write,),
                start_new_session=True,  # Ctrl-C in a terminal reaches the parent alone
            )
            self._processes.add(process)
            if self._stopping.is_set():
                _terminate(process)
        finally:
            os.close(write)
        try:
            said = await asyncio.get_running_loop().run_in_executor(None, os.read, read, 1)
        finally:
            os.close(read)
        return process, bool(said)


def _terminate(process: Process) -> None:
    with suppress(ProcessLookupError):
        process.terminate()
