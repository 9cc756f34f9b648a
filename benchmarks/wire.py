"""The JSON-RPC requests of the benchmarks, and the checks of their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.load import LoadError, request_bytes

ECHO = "echo"
COMPLETED = "TASK_STATE_COMPLETED"
ASK_AGENT = "ask"  # tenant of the agent that waits for an answer
INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
CLOCK_AGENT = "clock"  # tenant of the agent that says when it published
CHUNK_AGENT = "chunks"  # tenant of the agent that streams; the SDK's server looks at the text instead


def chunk_text(number: int) -> str:
    """The text of chunk `number`: about the size of a few words, each one different."""
    return f"chunk {number:06d} of it "


def _rpc(
    path: str, number: int, method: str, params: dict[str, Any], *, accept: str = "application/json", caller: str = ""
) -> bytes:
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return request_bytes(path, json.dumps(body, separators=(",", ":")).encode("ascii"), accept=accept, caller=caller)


def _message(number: int, text: str) -> dict[str, Any]:
    return {"messageId": f"bench-{number}", "role": "ROLE_USER", "parts": [{"text": text}]}


def send_message(path: str, number: int) -> bytes:
    """A blocking SendMessage to the echo agent."""
    return _rpc(path, number, "SendMessage", {"message": _message(number, ECHO)})


def stream_chunks(path: str, number: int, chunks: int, webhook: str = "") -> bytes:
    """A SendStreamingMessage that is answered with `chunks` artifact chunks."""
    params: dict[str, Any] = {"tenant": CHUNK_AGENT, "message": _message(number, f"chunks {chunks}")}
    if webhook:
        params["configuration"] = {"taskPushNotificationConfig": {"url": webhook}}
    return _rpc(path, number, "SendStreamingMessage", params, accept="text/event-stream")


def start_chunks(path: str, number: int, chunks: int, webhook: str, *, immediately: bool = True) -> bytes:
    """A SendMessage with a webhook that starts a task of `chunks` chunks; answered at once, or when it is done."""
    configuration = {"returnImmediately": immediately, "taskPushNotificationConfig": {"id": "hook", "url": webhook}}
    params = {"tenant": CHUNK_AGENT, "message": _message(number, f"chunks {chunks}"), "configuration": configuration}
    return _rpc(path, number, "SendMessage", params)


def send_question(path: str, number: int) -> bytes:
    """A blocking SendMessage whose task waits for another message."""
    return _rpc(path, number, "SendMessage", {"tenant": ASK_AGENT, "message": _message(number, "?")})


def subscribe(path: str, task_id: str, *, tenant: str = ASK_AGENT) -> bytes:
    """A SubscribeToTask for a task of this agent."""
    params = {"tenant": tenant, "id": task_id}
    return _rpc(path, 1, "SubscribeToTask", params, accept="text/event-stream")


def start_clock(path: str, count: int, pause_ms: int) -> bytes:
    """A SendMessage that is answered at once and starts a task that tells the time."""
    params = {"tenant": CLOCK_AGENT, "message": _message(0, f"clock {count} {pause_ms}")}
    return _rpc(path, 0, "SendMessage", params | {"configuration": {"returnImmediately": True}})


def get_task(path: str, task_id: str, *, tenant: str = "") -> bytes:
    """A GetTask for one task."""
    return _rpc(path, 1, "GetTask", {"id": task_id} | ({"tenant": tenant} if tenant else {}))


def list_tasks(
    path: str,
    *,
    page_size: int,
    page_token: str = "",
    everything: bool = False,
    more: Mapping[str, Any] | None = None,
    caller: str = "",
) -> bytes:
    """A ListTasks for one page; with `everything`, artifacts and history are asked for too, with `more` whatever else.

    `caller` is the one whose tasks are listed, by default the caller of all calls.
    """
    params: dict[str, Any] = {"pageSize": page_size, **(more or {})}
    if page_token:
        params["pageToken"] = page_token
    if everything:
        params |= {"includeArtifacts": True, "historyLength": 10}
    return _rpc(path, 1, "ListTasks", params, caller=caller)


def result(body: bytes) -> dict[str, Any]:
    """The result of a JSON-RPC answer."""
    answer = json.loads(body)
    if "result" not in answer:
        raise LoadError(f"an error instead of a result: {body[:500]!r}")
    found: dict[str, Any] = answer["result"]
    return found


def artifact_text(task: dict[str, Any]) -> str:
    """All text of all artifacts of a task."""
    return "".join(part.get("text", "") for artifact in task.get("artifacts", ()) for part in artifact.get("parts", ()))


def check_sent(number: int, body: bytes) -> None:
    """The answer to `send_message` must be a completed task with the echoed text."""
    answer = json.loads(body)
    task = answer.get("result", {}).get("task", {})
    if answer.get("id") != number or task.get("status", {}).get("state") != COMPLETED or artifact_text(task) != ECHO:
        raise LoadError(f"wrong answer to SendMessage {number}: {body[:500]!r}")


def check_asked(body: bytes) -> str:
    """The answer to `send_question` must be a task that waits for input; returns its id."""
    task = result(body).get("task", {})
    if task.get("status", {}).get("state") != INPUT_REQUIRED:
        raise LoadError(f"wrong answer to a question: {body[:500]!r}")
    return str(task["id"])


def check_page(body: bytes, *, page_size: int, total: int, everything: bool = False) -> tuple[list[str], str]:
    """Checks a page of the prepared tasks; returns their ids and the token of the next page."""
    page = result(body)
    tasks = page.get("tasks", [])
    if len(tasks) != page_size or page.get("totalSize") != total:
        raise LoadError(f"a page of {len(tasks)} tasks of {page.get('totalSize')}, not {page_size} of {total}")
    for task in tasks:
        if task["status"]["state"] != COMPLETED or (everything and artifact_text(task) != ECHO):
            raise LoadError(f"a wrong task on a page: {task!r}")
    return [task["id"] for task in tasks], page.get("nextPageToken", "")
