"""Webhooks on every binding and carrier: the four operations, the config of a message, what arrives (D-16, D-17)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from a2a_django import Agent
from tests.bindings.conftest import Echo, message
from tests.bindings.doors import Door, door, serve
from tests.push.conftest import quick, receiver
from tests.push.receiver import Receiver

__all__ = ["door", "quick", "receiver", "serve"]

pytestmark = pytest.mark.django_db(transaction=True)

URL = "https://93.184.215.14/hook"
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CREATE, GET, LIST, DELETE = (
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
)


class Hooked(Echo):
    abstract = True
    push_notifications = True


@pytest.fixture
def agent(register: Callable[[Agent], Agent]) -> Agent:
    """A site with one agent, which tells webhooks."""
    return register(Hooked(slug="hooked"))


async def parked(door: Door) -> str:
    """A task that waits for input."""
    outcome = await door.call("SendMessage", {"message": message("ask")})
    return str(outcome.task["id"])


def is_fine(door: Door, status: Any) -> bool:
    return bool(status == ("OK" if door.name == "GRPC" else 200))


# -- the operations


@pytest.mark.spec("3.1.7", "3.1.8", "3.1.9", "3.1.10")
async def test_the_life_of_a_config(door: Door, agent: Agent) -> None:
    task_id = await parked(door)
    config = {
        "id": "a:1",
        "taskId": task_id,
        "url": URL,
        "token": "tok",
        "authentication": {"scheme": "Bearer", "credentials": "cred \u00e9"},
    }
    made = await door.call(CREATE, config)
    assert is_fine(door, made.status)
    assert made.value == config
    changed = {"id": "a:1", "taskId": task_id, "url": URL + "/new"}
    assert (await door.call(CREATE, changed)).value == changed
    assert (await door.call(GET, {"taskId": task_id, "id": "a:1"})).value == changed
    own = (await door.call(CREATE, {"taskId": task_id, "url": URL})).value
    assert own.pop("id") not in ("", "a:1")
    assert own == {"taskId": task_id, "url": URL}
    first = (await door.call(LIST, {"taskId": task_id, "pageSize": 1})).value
    assert first["configs"] == [changed]
    second = (await door.call(LIST, {"taskId": task_id, "pageToken": first["nextPageToken"]})).value
    assert [each["url"] for each in second["configs"]] == [URL]
    assert "nextPageToken" not in second
    for _ in range(2):
        gone = await door.call(DELETE, {"taskId": task_id, "id": "a:1"})
        assert is_fine(door, gone.status)
        assert gone.value == (None if door.name == "JSONRPC" else {})
    assert len((await door.call(LIST, {"taskId": task_id})).value["configs"]) == 1
    assert (await door.call(GET, {"taskId": task_id, "id": "a:1"})).reason == "TASK_NOT_FOUND"


async def test_a_tenant_is_echoed(door: Door, agent: Agent) -> None:
    task_id = await parked(door)
    config = {"taskId": task_id, "id": "c", "url": URL, "tenant": "hooked"}
    assert (await door.call(CREATE, config)).value == config
    if door.name == "HTTP+JSON":
        found = (await door.call(GET, {"taskId": task_id, "id": "c"}, path_tenant="hooked")).value
        assert found == config
    assert (await door.call(GET, {"taskId": task_id, "id": "c", "tenant": "hooked"})).value == config
    other = await door.call(CREATE, {**config, "tenant": "nobody"})
    assert (other.reason, other.fields) == ("INVALID_PARAMS", ["tenant"])


@pytest.mark.spec("13.2")
@pytest.mark.parametrize(
    ("operation", "request_", "reason", "fields"),
    [
        (CREATE, {"taskId": "unknown", "url": URL}, "TASK_NOT_FOUND", []),
        (CREATE, {"taskId": "TASK"}, "INVALID_PARAMS", ["url"]),
        (CREATE, {"taskId": "TASK", "url": "ftp://h.example"}, "INVALID_PARAMS", ["url"]),
        (CREATE, {"taskId": "TASK", "url": "https://127.0.0.1/"}, "INVALID_PARAMS", ["url"]),
        (CREATE, {"taskId": "TASK", "url": URL, "token": "a\nb"}, "INVALID_PARAMS", ["token"]),
        (
            CREATE,
            {"taskId": "TASK", "url": URL, "authentication": {"credentials": "x"}},
            "INVALID_PARAMS",
            ["authentication.scheme"],
        ),
        (CREATE, {"taskId": "TASK", "url": URL, "id": "x" * 1025}, "INVALID_PARAMS", ["id"]),
        (GET, {"taskId": "TASK", "id": "unknown"}, "TASK_NOT_FOUND", []),
        (GET, {"taskId": "unknown", "id": "c"}, "TASK_NOT_FOUND", []),
        (LIST, {"taskId": "unknown"}, "TASK_NOT_FOUND", []),
        (LIST, {"taskId": "TASK", "pageToken": "x"}, "INVALID_PARAMS", ["page_token"]),
        (LIST, {"taskId": "TASK", "pageSize": -1}, "INVALID_PARAMS", ["page_size"]),
        (DELETE, {"taskId": "unknown", "id": "c"}, "TASK_NOT_FOUND", []),
    ],
)
async def test_refusals(
    door: Door, agent: Agent, operation: str, request_: dict[str, Any], reason: str, fields: list[str]
) -> None:
    task_id = await parked(door)
    request_ = {name: task_id if value == "TASK" else value for name, value in request_.items()}
    outcome = await door.call(operation, request_)
    assert (outcome.reason, outcome.fields) == (reason, fields)
    assert not (await door.call(LIST, {"taskId": task_id})).value.get("configs")


@pytest.mark.spec("13.2")
@pytest.mark.parametrize("operation", ["SendMessage", "SendStreamingMessage"])
async def test_a_message_with_a_webhook_that_is_refused_makes_no_task(door: Door, agent: Agent, operation: str) -> None:
    where = "configuration.task_push_notification_config"
    for config, field in (
        ({"url": "https://10.0.0.1/"}, f"{where}.url"),
        ({"token": "x"}, f"{where}.url"),
        ({"url": URL, "token": "a\r\nb"}, f"{where}.token"),
        ({"url": URL, "authentication": {"scheme": "B", "credentials": "\x7f"}}, f"{where}.authentication.credentials"),
    ):
        request = {"message": message("hi"), "configuration": {"taskPushNotificationConfig": config}}
        outcome = await door.call(operation, request)
        assert (outcome.reason, outcome.fields) == ("INVALID_PARAMS", [field])
    assert not (await door.call("ListTasks")).value.get("totalSize")


@pytest.mark.spec("3.3.4")
@pytest.mark.parametrize("operation", [CREATE, GET, LIST, DELETE, "SendMessage", "SendStreamingMessage"])
async def test_an_agent_without_webhooks(door: Door, echo: Agent, operation: str) -> None:
    requests: dict[str, dict[str, Any]] = {
        CREATE: {"taskId": "t", "url": URL},
        LIST: {"taskId": "t"},
        GET: {"taskId": "t", "id": "c"},
        DELETE: {"taskId": "t", "id": "c"},
    }
    sending = {"message": message("hi"), "configuration": {"taskPushNotificationConfig": {"url": URL}}}
    outcome = await door.call(operation, requests.get(operation, sending))
    assert outcome.reason == "PUSH_NOTIFICATION_NOT_SUPPORTED"


# -- what arrives


@pytest.mark.spec("4.3.3")
async def test_the_end_has_arrived_when_a_blocking_send_answers(
    door: Door, agent: Agent, receiver: Receiver, quick: Callable[..., None]
) -> None:
    quick(PUSH_WAIT_SECONDS=15)
    hook = receiver.hook()
    config = {"url": hook.url, "token": "tok", "authentication": {"scheme": "Bearer", "credentials": "cred"}}
    request = {"message": message("hi"), "configuration": {"taskPushNotificationConfig": config}}
    outcome = await door.call("SendMessage", request, headers={"traceparent": TRACE})
    assert outcome.task["artifacts"][0]["parts"] == [{"text": "hi"}]
    assert hook.states()[-1:] == ["COMPLETED"]
    for post in hook.posts:
        headers = {name.lower(): value for name, value in post.headers.items()}
        assert headers["authorization"] == "Bearer cred"
        assert headers["x-a2a-notification-token"] == "tok"
        assert headers["traceparent"] == TRACE
    asking = await door.call("SendMessage", {**request, "message": message("ask")}, headers={"traceparent": "nonsense"})
    assert asking.task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert hook.states()[-1:] == ["INPUT_REQUIRED"]
    assert "traceparent" not in {name.lower() for name in hook.posts[-1].headers}
    await door.call("SendMessage", {"message": message("more", taskId=asking.task["id"])})
    assert hook.states()[-1:] == ["COMPLETED"]


async def test_a_slow_webhook_is_not_waited_for(
    door: Door, agent: Agent, receiver: Receiver, quick: Callable[..., None]
) -> None:
    quick(PUSH_WAIT_SECONDS=0.05, PUSH_TIMEOUT_SECONDS=20)
    hook = receiver.hook(10.0)
    request = {"message": message("hi"), "configuration": {"taskPushNotificationConfig": {"url": hook.url}}}
    outcome = await door.call("SendMessage", request)
    assert outcome.task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert not hook.accepted()
