"""The site in processes, and calls to it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from tests.live import LiveProcess, Site

WAIT = 40


class Lasting(Site):
    """The site in a folder."""

    @classmethod
    def made(cls, folder: Path, **environment: str) -> Lasting:
        """Return the site with its tables."""
        database = os.environ.get("A2A_TEST_KILLS_DATABASE", "")
        given = {"EXAMPLE_DATA_DIR": str(folder), "EXAMPLE_DATABASE_URL": database, **environment}
        site = cls("tests.processes.lasting.settings", folder, given)
        site.manage("migrate", "--verbosity", "0")
        return site

    def worker(self, *arguments: str, name: str = "worker") -> Worker:
        """Return a process of ``manage.py a2a_worker``."""
        return Worker(
            [sys.executable, "manage.py", "a2a_worker", *arguments],
            cwd=self.root,
            environment=self._environment(),
            log=self.folder / f"{name}.log",
        )

    def runs(self, task_id: str) -> list[int]:
        """Return the processes in which runs of a task have begun."""
        path = self.folder / f"{task_id}.runs"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def go(self) -> None:
        """Let the agents come to an end."""
        (self.folder / "go").touch()


class Worker(LiveProcess):
    """Ready when it says so."""

    def _is_ready(self) -> bool:
        return self.log.exists() and "at work" in self.log.read_text(errors="replace")


def until(condition: Callable[[], Any], *, seconds: float = WAIT) -> Any:
    """Wait until ``condition`` is true; its value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "nothing came of it"
        time.sleep(0.02)
    return value


def call(live: LiveProcess, method: str, params: dict[str, Any]) -> Any:
    """Call the site over JSON-RPC; the result."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = httpx.post(f"{live.url}/a2a/", json=body, headers={"A2A-Version": "1.0"}, timeout=WAIT).json()
    assert "result" in answer, answer
    return answer["result"]


def send(live: LiveProcess, agent: str = "steady", **configuration: Any) -> Any:
    """Begin a task and return it as it is at once, unless the ``configuration`` says otherwise."""
    message = {"messageId": os.urandom(8).hex(), "role": "ROLE_USER", "parts": [{"text": "work"}]}
    configuration = {"returnImmediately": True, **configuration}
    return call(live, "SendMessage", {"tenant": agent, "message": message, "configuration": configuration})["task"]


def somebody(user: Any, auth: Any) -> str:
    """Return the one owner of everything, of a site that knows its callers."""
    return "somebody"


def get(live: LiveProcess, task: Any, agent: str = "steady") -> Any:
    """Return a task as it is now."""
    return call(live, "GetTask", {"tenant": agent, "id": task["id"]})
