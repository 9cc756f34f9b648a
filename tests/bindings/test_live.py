"""Under real servers: idle streams cost no thread, callers who leave are noticed, paths arrive as they were sent."""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.live import LiveProcess, Site

VERSION = {"A2A-Version": "1.0"}
JSON = VERSION | {"Content-Type": "application/json"}

#: The package whose asgi.py each carrier is started from, and the servers with the number of idle streams.
CARRIERS = {
    "views": ("tests.bindings.behind_views", {"uvicorn": 150, "daphne": 150}),
    "consumers": ("example_project", {"uvicorn": 1000, "daphne": 1000, "hypercorn": 200, "granian": 200}),
}

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads in /proc")


SERVERS = [(name, server) for name, (_, servers) in CARRIERS.items() for server in servers]

Running = tuple[str, str, LiveProcess]


@pytest.fixture(scope="module", params=SERVERS, ids="-".join)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Carrier, kind and process of each server in turn."""
    carrier, server = request.param
    folder = tmp_path_factory.mktemp("live")
    site = Site("example_project.settings", folder, {"EXAMPLE_DATA_DIR": str(folder), "EXAMPLE_DATABASE_URL": ""})
    site.manage("preparedemo")
    with site.server(server, app=CARRIERS[carrier][0]) as live:
        yield carrier, server, live
        log = live.log.read_text()
    assert "Traceback" not in log, log
    assert "took too long to shut down" not in log


@pytest.fixture
def server(running: Running) -> LiveProcess:
    return running[2]


def call(method: str, params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def message(text: str) -> dict[str, object]:
    return {"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}]}}


def parked_task(server: LiveProcess) -> str:
    """A task that waits for an answer, so that a subscription to it is silent."""
    body = call("SendMessage", message("where is my order?"))
    answer = httpx.post(f"{server.url}/a2a/", content=body, headers=JSON).json()
    assert "result" in answer, (answer, server.tail())
    task_id: str = answer["result"]["task"]["id"]
    assert answer["result"]["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    return task_id


def head(length: int, path: str = "/a2a/") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in JSON.items())]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


def connected(server: LiveProcess, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    connection.sendall(sent)
    return connection


def subscribed(server: LiveProcess, task_id: str) -> socket.socket:
    """A connection on which the first event of a subscription has arrived."""
    body = call("SubscribeToTask", {"id": task_id})
    connection = connected(server, head(len(body)) + body)
    received = b""
    while b'"task"' not in received:
        piece = connection.recv(65536)
        assert piece, received
        received += piece
    assert received.startswith(b"HTTP/1.1 200")
    return connection


def process_of(server: LiveProcess) -> Path:
    """The process that serves: the server's own, or the one that it started for it."""
    assert server._process is not None
    pid = server._process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    workers = [child for child in children if b"resource_tracker" not in Path(f"/proc/{child}/cmdline").read_bytes()]
    return Path(f"/proc/{workers[0] if workers else pid}")


def threads(server: LiveProcess) -> int:
    return len(os.listdir(process_of(server) / "task"))


def sockets(server: LiveProcess) -> int:
    """Open sockets of the server."""
    found = 0
    for entry in (process_of(server) / "fd").iterdir():
        try:
            found += str(entry.readlink()).startswith("socket:")
        except FileNotFoundError:  # closed meanwhile
            continue
    return found


def settle(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def quiet(server: LiveProcess) -> int:
    """The sockets of the server when nobody is connected."""
    counts = [sockets(server)]
    while len(counts) < 5 or len(set(counts[-5:])) > 1:
        time.sleep(0.05)
        counts.append(sockets(server))
    return counts[-1]


def leave(connection: socket.socket, how: str) -> None:
    if how == "half":
        connection.shutdown(socket.SHUT_WR)
        return
    if how == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_idle_streams(running: Running) -> None:
    carrier, kind, server = running
    streams = CARRIERS[carrier][1][kind]
    task_id = parked_task(server)
    before, closed = threads(server), quiet(server)
    with ExitStack() as stack:
        for _ in range(streams):
            stack.enter_context(subscribed(server, task_id))
        # The database's threads, whatever the number of streams.
        settle(lambda: threads(server) <= before + 4)
        assert sockets(server) >= closed + streams - 5
        got = httpx.get(f"{server.url}/a2a/tasks/{task_id}", headers=VERSION)
        assert got.status_code == 200
    settle(lambda: sockets(server) <= closed + 5)
    assert httpx.get(f"{server.url}/a2a/tasks/{task_id}", headers=VERSION).status_code == 200


@pytest.mark.parametrize("how", ["close", "half", "reset"])
def test_callers_who_leave_are_noticed(server: LiveProcess, how: str) -> None:
    """While a stream is silent, while a call is waited for, and while the body arrives."""
    task_id = parked_task(server)
    closed = quiet(server)
    body = call("SendMessage", message("stocktake"))
    connections = [
        subscribed(server, task_id),
        connected(server, head(len(body)) + body),
        connected(server, head(1000) + b'{"jsonrpc":'),
    ]
    settle(lambda: sockets(server) >= closed + 3)
    for connection in connections:
        leave(connection, how)
    settle(lambda: sockets(server) <= closed)
    for connection in connections:
        connection.close()


def test_encoded_paths_arrive_undecoded(server: LiveProcess) -> None:
    for path, reason in (
        ("/tasks/a%2Fb", "TASK_NOT_FOUND"),
        ("/tasks/a%2FpushNotificationConfigs", "TASK_NOT_FOUND"),
        ("/tasks/a%3Ab", "TASK_NOT_FOUND"),
        ("/tasks%2Fa", "METHOD_NOT_FOUND"),
    ):
        response = httpx.get(f"{server.url}/a2a{path}", headers=VERSION)
        assert response.status_code == 404
        assert response.json()["error"]["details"][0]["reason"] == reason, path


@pytest.mark.parametrize("path", ["/a2a/", "/a2a/message:send"])
def test_bodies_that_are_too_large(running: Running, path: str) -> None:
    """Behind the consumers the answer comes before the body; the connection is closed and not read to its end."""
    carrier, kind, server = running
    closed = quiet(server)
    size = 11 * 1024 * 1024
    whole = httpx.post(f"{server.url}{path}", content=b'{"id":7,"x":"' + b"x" * size, headers=JSON, timeout=30)
    if path == "/a2a/":
        assert (whole.status_code, whole.json()["id"], whole.json()["error"]["code"]) == (200, 7, -32600)
    else:
        assert whole.status_code == 413
    if carrier == "consumers" and kind != "daphne":  # Twisted reads all of it before anybody is asked
        connection = connected(server, head(2**40, path) + b'{"id":7,"x":"' + b"x" * 2000)
        received = b""
        while piece := connection.recv(65536):
            received += piece
        assert b"onnection: close" in received.replace(b"Connection", b"connection")
        assert (b"-32600" in received) == (path == "/a2a/")
        connection.close()
    settle(lambda: sockets(server) <= closed)
    assert parked_task(server)
