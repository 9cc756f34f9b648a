"""The site in processes: servers, workers of each kind, and calls."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx

from tests.live import LiveProcess, Site, Worker

WAIT = 60

#: Kinds of runners by name: what RUNNERS_KIND says, and the broker.
KINDS = {
    "tasks-db": ("tasks-db", None),
    "tasks-rq": ("tasks-rq", "redis"),
    "celery-redis": ("celery", "redis"),
    "celery-rabbitmq": ("celery", "rabbitmq"),
}

_CELERY = [*("-m", "celery", "-A", "tests.runners.site", "worker", "-Q", "agents", "-l", "INFO")]
_CELERY += ["--without-gossip", "--without-mingle"]
#: How a worker is started, and what it says when it is ready.
WORKERS: dict[str, tuple[Sequence[str], str]] = {
    "tasks-db": (
        ["manage.py", "db_worker", "--interval", "0.05", "--no-startup-delay", "--no-reload"],
        "Starting worker",
    ),
    "tasks-rq": (["manage.py", "rqworker", "default", "slow", "--job-class", "django_tasks_rq.Job"], "Listening on"),
    "celery-prefork": ([*_CELERY, "-P", "prefork", "-c", "2"], " ready."),
    "celery-threads": ([*_CELERY, "-P", "threads", "-c", "4"], " ready."),
    "celery-solo": ([*_CELERY, "-P", "solo"], " ready."),
}


class RunnersSite(Site):
    """The site in a folder."""

    @property
    def kind(self) -> str:
        """What RUNNERS_KIND says."""
        return self.environment["RUNNERS_KIND"]

    def worker(self, pool: str = "prefork", name: str = "worker") -> Worker:
        """Return a worker of the site's kind; ``pool`` is for Celery."""
        command, words = WORKERS[f"celery-{pool}" if self.kind == "celery" else self.kind]
        return Worker(
            [sys.executable, *command],
            cwd=self.root,
            environment=self._environment(),
            log=self.folder / f"{name}.log",
            words=words,
        )

    def enqueue(self, *task_ids: str) -> None:
        """Give the queue tasks, whether they wait or not."""
        calls = "".join(f"; get_runner().enqueue({task_id!r}, queue=None)" for task_id in task_ids)
        self.manage("shell", "-c", f"from a2a_django.engine.runners import get_runner{calls}")

    def noted(self, task_id: str, kind: str = "runs") -> list[int]:
        """Return the processes in which runs of a task have begun, or were cancelled."""
        path = self.folder / f"{task_id}.{kind}"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def task_ids(self) -> list[str]:
        """Return the tasks in the site's database."""
        url = self.environment["EXAMPLE_DATABASE_URL"]
        statement = "SELECT id FROM a2a_django_task ORDER BY id"
        if url.startswith("sqlite"):
            with closing(sqlite3.connect(unquote(urlsplit(url).path[1:]))) as connection:
                return [pk for (pk,) in connection.execute(statement)]
        import psycopg

        with psycopg.connect(url) as there:
            return [pk for (pk,) in there.execute(statement).fetchall()]

    def go(self, task_id: str) -> None:
        """Let the run of a task come to its end."""
        (self.folder / f"{task_id}.go").touch()

    def kill(self, worker: Worker, task_id: str) -> None:
        """End a worker, and the process in which a task runs, with SIGKILL."""
        worker.kill()
        with suppress(ProcessLookupError):  # of its group
            os.kill(self.noted(task_id)[-1], signal.SIGKILL)


def until(condition: Callable[[], Any]) -> Any:
    """Wait until ``condition`` is true; its value."""
    deadline = time.monotonic() + WAIT
    while not (value := condition()):
        assert time.monotonic() < deadline, "nothing came of it"
        time.sleep(0.02)
    return value


@dataclass(frozen=True)
class Caller:
    """Calls the site over JSON-RPC."""

    live: LiveProcess

    def post(self, method: str, params: dict[str, Any]) -> Any:
        """Call; the whole answer."""
        return httpx.post(self._url, json=self._body(method, params), headers=self._headers, timeout=WAIT).json()

    def call(self, method: str, **params: Any) -> Any:
        """Call; the result."""
        answer = self.post(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def send(self, agent: str, text: str = "work", task: Any = None, **configuration: Any) -> Any:
        """Send a message and return the task, as it is at once unless the ``configuration`` says otherwise."""
        return self.call("SendMessage", **self.message(agent, text, task, **configuration))["task"]

    def message(self, agent: str, text: str, task: Any = None, **configuration: Any) -> dict[str, Any]:
        """Return the parameters of a call that sends a message."""
        message = {"messageId": os.urandom(8).hex(), "role": "ROLE_USER", "parts": [{"text": text}]}
        if task is not None:
            message["taskId"] = task["id"]
        return {
            "tenant": agent,
            "message": message,
            "configuration": {"returnImmediately": True, **configuration},
        }

    @contextmanager
    def stream(self, agent: str, text: str) -> Iterator[Iterator[Any]]:
        """Send a message and yield the events of its stream."""
        body = self._body("SendStreamingMessage", self.message(agent, text))
        with httpx.stream("POST", self._url, json=body, headers=self._headers, timeout=WAIT) as answer:
            yield (json.loads(line[5:])["result"] for line in answer.iter_lines() if line.startswith("data:"))

    def get(self, agent: str, task: Any) -> Any:
        """Return a task as it is now."""
        return self.call("GetTask", tenant=agent, id=task["id"])

    def state(self, agent: str, task: Any) -> str:
        """Return the state of a task."""
        return str(self.get(agent, task)["status"]["state"]).removeprefix("TASK_STATE_")

    def ended(self, agent: str, task: Any) -> Any:
        """Wait until a task has ended; the task."""
        until(lambda: self.state(agent, task) in ("COMPLETED", "FAILED", "CANCELED"))
        return self.get(agent, task)

    @property
    def pid(self) -> int:
        """The process of the server."""
        assert self.live._process is not None
        return self.live._process.pid

    @property
    def _url(self) -> str:
        return f"{self.live.url}/a2a/"

    _headers = {"A2A-Version": "1.0"}

    @staticmethod
    def _body(method: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
