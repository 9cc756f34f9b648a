"""Calls of a client, so that there is something to look at."""

from __future__ import annotations

import itertools
import time
from typing import Any

import httpx

_numbers = itertools.count(1)
#: Seconds that anything is waited for.
WAIT = 40


def send(
    base: str,
    text: str,
    *,
    agent: str = "order-desk",
    task: str = "",
    now: bool = False,
    configuration: Any = None,
    **members: Any,
) -> Any:
    """Send a message and return the task, as it is at once (``now``) or when it has come to a rest."""
    message = {"messageId": f"b-{next(_numbers)}", "role": "ROLE_USER", "parts": [{"text": text}], **members}
    if task:
        message["taskId"] = task
    body = {"message": message, "configuration": {"returnImmediately": now, **(configuration or {})}}
    answer = httpx.post(f"{base}/a2a/{agent}/message:send", json=body, headers={"A2A-Version": "1.0"}, timeout=WAIT)
    assert answer.status_code == 200, answer.text
    return answer.json()["task"]


def get(base: str, task: str, *, agent: str = "order-desk") -> Any:
    """The task."""
    answer = httpx.get(f"{base}/a2a/{agent}/tasks/{task}", headers={"A2A-Version": "1.0"}, timeout=WAIT)
    assert answer.status_code == 200, answer.text
    return answer.json()


def settled(base: str, task: str, state: str, *, agent: str = "order-desk") -> Any:
    """The task once it is in a state."""
    until = time.monotonic() + WAIT
    while True:
        found = get(base, task, agent=agent)
        if found["status"]["state"] == f"TASK_STATE_{state}":
            return found
        assert time.monotonic() < until, found["status"]
        time.sleep(0.1)


def cancel(base: str, task: str, *, agent: str = "order-desk") -> None:
    """Cancel the task."""
    answer = httpx.post(
        f"{base}/a2a/{agent}/tasks/{task}:cancel", json={}, headers={"A2A-Version": "1.0"}, timeout=WAIT
    )
    assert answer.status_code == 200, answer.text
