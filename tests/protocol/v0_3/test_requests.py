"""Resource names, and the requests of package a2a.v1 as requests of 1.0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_django.protocol import codec
from a2a_django.protocol.errors import InvalidParamsError
from a2a_django.protocol.v0_3 import names, requests
from a2a_django.protocol.v0_3.protojson import CODEC

pytestmark = pytest.mark.spec("A")

WEBHOOK = {"url": "https://w.example/"}
CONFIGS = "pushNotificationConfigs"


def refused(call: Callable[[], Any]) -> list[str]:
    with pytest.raises(InvalidParamsError) as caught:
        call()
    return [violation.field for violation in caught.value.violations]


IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1, max_size=20)


@given(IDS, st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20))
def test_names_come_back(task_id: str, config_id: str) -> None:
    assert names.task(names.of_task(task_id)) == task_id
    assert names.config(names.of_config(task_id, config_id)) == (task_id, config_id)


@pytest.mark.parametrize("name", ["", "tasks", "tasks/", "task/a", "a", "tasks/a/b", "/tasks/a", "tasks//", "Tasks/a"])
def test_what_is_no_name_of_a_task(name: str) -> None:
    assert refused(lambda: names.task(name)) == ["name"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "tasks/a",
        "tasks/a/",
        f"tasks/a/{CONFIGS}",
        f"tasks/a/{CONFIGS}/",
        f"tasks//{CONFIGS}/c",
        "tasks/a/pushNotificationConfig/c",
        f"a/{CONFIGS}/c",
    ],
)
def test_what_is_no_name_of_a_webhook(name: str) -> None:
    assert refused(lambda: names.config(name)) == ["name"]


@pytest.mark.parametrize("name", ["tasks/" + "x" * 1025, f"tasks/t/{CONFIGS}/" + "x" * 1025])
def test_ids_are_not_too_long(name: str) -> None:
    assert refused(lambda: names.partial_config(name)) == ["name"]


@pytest.mark.parametrize(
    ("message", "old", "read", "request_name", "new"),
    [
        ("GetTaskRequest", {"name": "tasks/t"}, requests.get, "GetTaskRequest", {"id": "t"}),
        (
            "GetTaskRequest",
            {"name": "tasks/t", "historyLength": 2},
            requests.get,
            "GetTaskRequest",
            {"id": "t", "historyLength": 2},
        ),
        ("GetTaskRequest", {"name": "tasks/t", "historyLength": 0}, requests.get, "GetTaskRequest", {"id": "t"}),
        ("CancelTaskRequest", {"name": "tasks/t"}, requests.of_task, "CancelTaskRequest", {"id": "t"}),
        ("TaskSubscriptionRequest", {"name": "tasks/t"}, requests.of_task, "SubscribeToTaskRequest", {"id": "t"}),
        (
            "GetTaskPushNotificationConfigRequest",
            {"name": f"tasks/t/{CONFIGS}/c"},
            requests.of_config,
            "GetTaskPushNotificationConfigRequest",
            {"taskId": "t", "id": "c"},
        ),
        (
            "ListTaskPushNotificationConfigRequest",
            {"parent": "tasks/t", "pageSize": 5, "pageToken": "p"},
            requests.list_configs,
            "ListTaskPushNotificationConfigsRequest",
            {"taskId": "t", "pageSize": 5, "pageToken": "p"},
        ),
        ("GetAgentCardRequest", {}, requests.card, "GetExtendedAgentCardRequest", {}),
    ],
)
def test_requests(message: str, old: Any, read: Callable[..., Any], request_name: str, new: dict[str, Any]) -> None:
    found = read(CODEC.decode(message, old))
    assert found == new == codec.decode(request_name, new)


@pytest.mark.parametrize(
    ("config", "config_id", "found"),
    [
        ({"pushNotificationConfig": {**WEBHOOK, "id": "a"}, "name": f"tasks/t/{CONFIGS}/c"}, "b", "a"),
        ({"pushNotificationConfig": WEBHOOK, "name": f"tasks/t/{CONFIGS}/c"}, "b", "b"),
        ({"pushNotificationConfig": WEBHOOK, "name": f"tasks/t/{CONFIGS}/c"}, "", "c"),
        ({"pushNotificationConfig": WEBHOOK, "name": f"tasks/t/{CONFIGS}/"}, "", None),
        ({"pushNotificationConfig": WEBHOOK, "name": f"tasks/t/{CONFIGS}"}, "", None),
        ({"pushNotificationConfig": WEBHOOK, "name": "tasks/t"}, "", None),
        ({"pushNotificationConfig": WEBHOOK}, "", None),
    ],
)
@pytest.mark.parametrize("parent", ["tasks/t", f"tasks/t/{CONFIGS}"])
def test_where_the_id_of_a_webhook_is_looked_for(
    parent: str, config: dict[str, Any], config_id: str, found: str | None
) -> None:
    old = {"parent": parent, "configId": config_id, "config": config}
    request = requests.create_config(CODEC.decode("CreateTaskPushNotificationConfigRequest", old))
    assert request == WEBHOOK | {"taskId": "t"} | ({"id": found} if found else {})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"parent": ""}, "parent"),
        ({"parent": "t"}, "parent"),
        ({"config": None}, "config"),
        ({"config": {}}, "config.push_notification_config"),
        ({"config": {"pushNotificationConfig": {}}}, "config.push_notification_config.url"),
        ({"config": {"name": "tasks/u", "pushNotificationConfig": WEBHOOK}}, "config.name"),
        ({"config": {"name": "u", "pushNotificationConfig": WEBHOOK}}, "config.name"),
        (
            {"config": {"pushNotificationConfig": {**WEBHOOK, "authentication": {"credentials": "c"}}}},
            "config.push_notification_config.authentication.schemes",
        ),
    ],
)
def test_wrong_webhooks(change: dict[str, Any], field: str) -> None:
    old = {"parent": "tasks/t", "config": {"pushNotificationConfig": WEBHOOK}, **change}
    message = "CreateTaskPushNotificationConfigRequest"
    assert refused(lambda: requests.create_config(CODEC.decode(message, old))) == [field]


def test_agents_do_not_send_messages() -> None:
    message = {"messageId": "m", "role": "ROLE_AGENT", "content": [{"text": "hi"}]}
    assert refused(lambda: requests.send(CODEC.decode("SendMessageRequest", {"message": message}))) == ["message.role"]
