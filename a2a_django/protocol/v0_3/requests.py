"""The requests of package a2a.v1, as ``CODEC`` has read them, as requests of version 1.0 (facts 3, 6).

All functions return a canonical request and raise ``InvalidParamsError``.
"""

from __future__ import annotations

from a2a_django.protocol.errors import InvalidParamsError
from a2a_django.protocol.faults import Fault, invalid_params
from a2a_django.protocol.v0_3 import names
from a2a_django.protocol.v0_3.meaning import Read, at
from a2a_django.protocol.v0_3.protojson import READER
from a2a_django.protocol.wire import Wire


def send(old: Wire) -> Wire:
    """Return a SendMessageRequest."""
    return _read(READER.send_request, old)


def get(old: Wire) -> Wire:
    """Return a GetTaskRequest; a ``historyLength`` of 0 is none, and asks for everything."""
    return {"id": names.task(old["name"])} | _given(old, "historyLength")


def of_task(old: Wire) -> Wire:
    """Return a CancelTaskRequest or a SubscribeToTaskRequest."""
    return {"id": names.task(old["name"])}


def create_config(old: Wire) -> Wire:
    """Return a TaskPushNotificationConfig for a CreateTaskPushNotificationConfigRequest.

    Clients say the new id in one of three places; the first of them counts: the webhook, ``config_id``, the name.
    """
    task_id, _ = names.partial_config(old["parent"], field="parent")
    named_id = ""
    if name := old["config"].get("name"):
        named_task, named_id = names.partial_config(name, field="config.name")
        if named_task != task_id:
            raise InvalidParamsError.of("config.name", "is not of the task of parent")
    config = _read(lambda config: at("config.push_notification_config", config, READER.push_config), _webhook(old))
    config_id = config.get("id") or old.get("configId") or named_id
    return {**config, "taskId": task_id} | ({"id": config_id} if config_id else {})


def of_config(old: Wire) -> Wire:
    """Return a GetTaskPushNotificationConfigRequest or a DeleteTaskPushNotificationConfigRequest."""
    task_id, config_id = names.config(old["name"])
    return {"taskId": task_id, "id": config_id}


def list_configs(old: Wire) -> Wire:
    """Return a ListTaskPushNotificationConfigsRequest."""
    task_id, _ = names.partial_config(old["parent"], field="parent")
    return {"taskId": task_id} | _given(old, "pageSize") | _given(old, "pageToken")


def card(old: Wire) -> Wire:
    """Return a GetExtendedAgentCardRequest."""
    return {}


def _webhook(old: Wire) -> Wire:
    webhook: Wire = old["config"]["pushNotificationConfig"]
    return webhook


def _given(old: Wire, name: str) -> Wire:
    return {name: old[name]} if name in old else {}


def _read(read: Read, old: Wire) -> Wire:
    try:
        request: Wire = read(old)
        return request
    except Fault as fault:
        items = fault.items
    raise invalid_params(items)
