"""The params of the methods of JSON-RPC 0.3 as requests of version 1.0 (facts 1.1, 6.1).

All functions take what stands in ``params`` and return a canonical request; they raise ``InvalidParamsError``. The
tenant, which 0.3 does not know, is read where a client sends it all the same, as the official SDK does.
"""

from __future__ import annotations

from typing import Any

from a2a_django.protocol import codec
from a2a_django.protocol.faults import Fault, invalid_params
from a2a_django.protocol.v0_3.json_form import READER
from a2a_django.protocol.v0_3.meaning import Read, is_zero, members, needed
from a2a_django.protocol.wire import Wire


def send(params: Any) -> Wire:
    """Return a SendMessageRequest for MessageSendParams."""
    return _request("SendMessageRequest", READER.send_request, params)


def get(params: Any) -> Wire:
    """Return a GetTaskRequest for TaskQueryParams; metadata has no place there."""
    return _request("GetTaskRequest", _query, params)


def cancel(params: Any) -> Wire:
    """Return a CancelTaskRequest for TaskIdParams."""
    return _request("CancelTaskRequest", _with_metadata, params)


def resubscribe(params: Any) -> Wire:
    """Return a SubscribeToTaskRequest for TaskIdParams; metadata has no place there."""
    return _request("SubscribeToTaskRequest", _task, params)


def set_config(params: Any) -> Wire:
    """Return a TaskPushNotificationConfig for one of 0.3."""
    return _request("TaskPushNotificationConfig", READER.config, params)


def list_configs(params: Any) -> Wire:
    """Return a ListTaskPushNotificationConfigsRequest for TaskIdParams."""
    return _request("ListTaskPushNotificationConfigsRequest", _of_task, params)


def get_config(params: Any) -> Wire:
    """Return a GetTaskPushNotificationConfigRequest; without an ``id`` where the params are a plain TaskIdParams, which
    names a task only and is allowed."""
    if isinstance(params, dict) and params.get("pushNotificationConfigId") in (None, ""):
        return list_configs(params)
    return _request("GetTaskPushNotificationConfigRequest", _config, params)


def delete_config(params: Any) -> Wire:
    """Return a DeleteTaskPushNotificationConfigRequest."""
    return _request("DeleteTaskPushNotificationConfigRequest", _config, params)


def card(params: Any) -> Wire:
    """Return a GetExtendedAgentCardRequest."""
    return _request("GetExtendedAgentCardRequest", _tenant, params)


def _tenant(old: Any) -> Wire:
    given = members(old)
    return {"tenant": given["tenant"]} if "tenant" in given else {}


def _task(old: Any) -> Wire:
    return {**_tenant(old), "id": _text(old, "id")}


def _with_metadata(old: Any) -> Wire:
    given = members(old)
    return _task(old) | ({"metadata": given["metadata"]} if "metadata" in given else {})


def _query(old: Any) -> Wire:
    length = members(old).get("historyLength")
    return _task(old) | ({} if length is None or is_zero(length) else {"historyLength": length})


def _of_task(old: Any) -> Wire:
    return {**_tenant(old), "taskId": _text(old, "id")}


def _config(old: Any) -> Wire:
    return {**_of_task(old), "id": _text(old, "pushNotificationConfigId")}


def _text(old: Any, name: str) -> str:
    """Return an id, under whose name of 0.3 faults are told; its length is the codec's business."""
    text = needed(members(old), name)
    if type(text) is not str or not text:
        raise Fault([(name, "must be a string and not empty")])
    return text


def _request(message: str, read: Read, params: Any) -> Wire:
    try:
        value = read(params)
    except Fault as fault:
        items = fault.items
    else:
        return codec.decode(message, value)
    raise invalid_params(items)
