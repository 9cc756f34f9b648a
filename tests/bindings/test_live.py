"""Under real servers: idle streams cost no thread, a client that leaves is noticed, encoded paths arrive undecoded."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.live import LiveProcess, Site

VERSION = {"A2A-Version": "1.0"}
STREAMS = 150

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads in /proc")


@pytest.fixture(params=["uvicorn", "daphne"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LiveProcess]:
    site = Site("example_project.settings", tmp_path, {"EXAMPLE_DATA_DIR": str(tmp_path), "EXAMPLE_DATABASE_URL": ""})
    site.manage("preparedemo")
    with site.server(request.param) as live:
        yield live


def call(method: str, params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def parked_task(server: LiveProcess) -> str:
    """A task that waits for an answer, so that a subscription to it is silent."""
    message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "where is my order?"}]}
    answer = httpx.post(f"{server.url}/a2a/", content=call("SendMessage", {"message": message}), headers=JSON).json()
    task_id: str = answer["result"]["task"]["id"]
    assert answer["result"]["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    return task_id


JSON = VERSION | {"Content-Type": "application/json"}


def subscribed(server: LiveProcess, task_id: str) -> socket.socket:
    """A connection on which the first event of a subscription has arrived."""
    body = call("SubscribeToTask", {"id": task_id})
    lines = ["POST /a2a/ HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in JSON.items())]
    head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode()
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=20)
    connection.sendall(head + body)
    received = b""
    while b'"task"' not in received:
        piece = connection.recv(65536)
        assert piece, received
        received += piece
    assert received.startswith(b"HTTP/1.1 200")
    return connection


def threads(server: LiveProcess) -> int:
    assert server._process is not None
    return len(os.listdir(f"/proc/{server._process.pid}/task"))


def sockets(server: LiveProcess) -> int:
    """Open sockets of the server."""
    assert server._process is not None
    folder = Path(f"/proc/{server._process.pid}/fd")
    found = 0
    for entry in folder.iterdir():
        try:
            found += str(entry.readlink()).startswith("socket:")
        except FileNotFoundError:  # closed meanwhile
            continue
    return found


def settle(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_idle_streams(server: LiveProcess) -> None:
    task_id = parked_task(server)
    before, quiet = threads(server), sockets(server)
    with ExitStack() as stack:
        for _ in range(STREAMS):
            stack.enter_context(subscribed(server, task_id))
        settle(lambda: threads(server) <= before + 2)
        got = httpx.get(f"{server.url}/a2a/tasks/{task_id}", headers=VERSION)
        assert got.status_code == 200
        # A kept connection of an earlier call may have been counted before and be gone by now.
        assert sockets(server) >= quiet + STREAMS - 5
    settle(lambda: sockets(server) <= quiet + 5)


@pytest.mark.parametrize("leave", ["close", "half"])
def test_a_client_that_leaves_is_noticed(server: LiveProcess, leave: str) -> None:
    task_id = parked_task(server)
    quiet = sockets(server)
    connection = subscribed(server, task_id)
    if leave == "half":
        connection.shutdown(socket.SHUT_WR)
    else:
        connection.close()
    settle(lambda: sockets(server) <= quiet)
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
