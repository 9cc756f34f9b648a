"""The last official clients of version 0.3, unchanged, each in a process and an environment of its own.

Both have a driver that reads calls and writes answers in 0.3's JSON schema, so the tests are written once. The
environments are made beside the drivers when they are missing: a virtual environment with the interpreter of the tests
(``A2A_OLD_PYTHON`` names the interpreter of one that is there already), and a folder ``node_modules``.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from concurrent.futures import Future
from functools import cache
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from uuid import uuid4

HERE = Path(__file__).resolve().parent
INSTALL_SECONDS = 300
#: The drivers give up a call after 30 s; this is for drivers that hang.
SECONDS = 60


class OldClientError(Exception):
    """What the client raised, as text."""


@cache
def python() -> str:
    """Return the interpreter of an environment that has the Python client."""
    given = os.environ.get("A2A_OLD_PYTHON")
    if given:
        return given
    folder, wanted = HERE / "python" / ".venv", HERE / "python" / "requirements.txt"
    interpreter, mark = folder / "bin" / "python", folder / "installed.txt"
    if mark.exists() and mark.read_text() == wanted.read_text():
        return str(interpreter)
    # A Python without ensurepip (Debian without python3-venv) makes one all the same; our own pip fills it.
    _run(sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder))
    pip = (sys.executable, "-m", "pip", "--python", str(interpreter), "--disable-pip-version-check")
    _run(*pip, "install", "--quiet", "--requirement", str(wanted))
    mark.write_text(wanted.read_text())
    return str(interpreter)


@cache
def node() -> str:
    """Return the path of node, with the JavaScript client installed beside its driver."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        raise OldClientError("The JavaScript client needs node and npm")
    folder = HERE / "js"
    wanted: dict[str, str] = json.loads((folder / "package.json").read_text())["dependencies"]
    if any(_installed(folder, package) != version for package, version in wanted.items()):
        _run(npm, "ci", cwd=folder)
    return found


def _installed(folder: Path, package: str) -> str | None:
    path = folder / "node_modules" / package / "package.json"
    return str(json.loads(path.read_text())["version"]) if path.exists() else None


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise OldClientError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def command_of(language: str) -> list[str]:
    """Return how the driver of "python" or "js" is started."""
    if language == "python":
        return [python(), str(HERE / "python" / "driver.py")]
    return [node(), str(HERE / "js" / "driver.mjs")]


class OldClient:
    """One client with one binding and one key, in a process that runs inside the ``with`` block.

    ``path`` is where the card is that it goes by, None for the usual place.
    """

    def __init__(self, language: str, binding: str, url: str, key: str, log: Path, *, path: str | None = None) -> None:
        self.language, self.binding, self._log = language, binding, log
        self._order = {"binding": binding, "url": url, "path": path, "key": key}
        self._numbers = count(1)
        self._futures: dict[int, Future[Any]] = {}
        self._events: dict[int, SimpleQueue[tuple[str, Any]]] = {}

    def __enter__(self) -> OldClient:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command_of(self.language), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._write(self._order)
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _write(self, line: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            number = said["id"]
            if "event" in said:
                self._events[number].put(("event", said["event"]))
                continue
            if number in self._events:
                self._events.pop(number).put(("error" if "error" in said else "end", said.get("error")))
            future = self._futures.pop(number)
            if "error" in said:
                future.set_exception(OldClientError(said["error"]))
            else:
                future.set_result(said["result"])
        for future in self._futures.values():
            future.set_exception(OldClientError(f"The driver has ended: {self._log.read_text()[-3000:]}"))

    def _start(
        self, call: str, arguments: dict[str, Any], *, streaming: bool
    ) -> tuple[Future[Any], SimpleQueue[tuple[str, Any]]]:
        """Have a call begun; what is returned is filled by the thread that listens, perhaps already."""
        number = next(self._numbers)
        future = self._futures[number] = Future()
        queue: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        if streaming:
            self._events[number] = queue
        self._write({"id": number, "call": call, "arguments": arguments})
        return future, queue

    async def call(self, call: str, **arguments: Any) -> Any:
        """Carry out a call and return its answer. Raises ``OldClientError``."""
        future, __ = self._start(call, arguments, streaming=False)
        async with asyncio.timeout(SECONDS):
            return await asyncio.wrap_future(future)

    async def events(self, call: str, **arguments: Any) -> AsyncIterator[Any]:
        """Yield the events of a stream as they come. Raises ``OldClientError``."""
        __, queue = self._start(call, arguments, streaming=True)
        while True:
            async with asyncio.timeout(SECONDS):
                while queue.empty():  # noqa: ASYNC110 - it is filled by a thread
                    await asyncio.sleep(0.01)
            kind, value = queue.get()
            if kind == "error":
                raise OldClientError(value)
            if kind == "end":
                return
            yield value

    async def whole(self, call: str, **arguments: Any) -> list[Any]:
        """Return all events of a stream."""
        return [event async for event in self.events(call, **arguments)]

    async def send(self, text: str, *, task: Any = None, **configuration: Any) -> Any:
        """Send a message that waits for the end unless ``blocking=False``, and return what comes back."""
        asked = {"blocking": True, **configuration}
        return await self.call("send", message=message(text, task), configuration=asked)


def message(text: str, task: Any = None) -> dict[str, Any]:
    """A user's message as clients of 0.3 write it; ``task``: the one that it goes on with."""
    found = {
        "kind": "message",
        "messageId": str(uuid4()),
        "role": "user",
        "parts": [{"kind": "text", "text": text}],
    }
    if task is not None:
        found |= {"taskId": task["id"], "contextId": task["contextId"]}
    return found


def texts(value: Any) -> list[str]:
    """The texts of a message's or an artifact's parts."""
    return [part["text"] for part in value["parts"] if part["kind"] == "text"]
