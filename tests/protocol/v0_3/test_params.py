"""The params of the methods: what they mean in 1.0, and what is refused under which name."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2a_django.protocol.errors import InvalidParamsError
from a2a_django.protocol.v0_3 import params
from a2a_django.protocol.wire import Wire
from tests.protocol.strategies import VALUES

pytestmark = pytest.mark.spec("A")

MESSAGE = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]}
CANONICAL = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}


@pytest.mark.parametrize(
    ("configuration", "canonical"),
    [
        ({}, {"returnImmediately": False}),
        ({"blocking": True}, {"returnImmediately": False}),
        ({"blocking": False}, {"returnImmediately": True}),
        ({"blocking": None}, {"returnImmediately": False}),
        ({"historyLength": 0}, {"returnImmediately": False}),
        ({"historyLength": 3}, {"returnImmediately": False, "historyLength": 3}),
        ({"acceptedOutputModes": ["a/b"]}, {"returnImmediately": False, "acceptedOutputModes": ["a/b"]}),
    ],
)
def test_configuration(configuration: Wire, canonical: Wire) -> None:
    request = params.send({"message": MESSAGE, "configuration": configuration})
    found = {"returnImmediately": False} | request["configuration"]
    assert request["message"] == CANONICAL
    assert found == canonical


def test_without_configuration_a_call_blocks() -> None:
    assert params.send({"message": MESSAGE, "metadata": {"a": 1}}) == {"message": CANONICAL, "metadata": {"a": 1}}


def test_ids_and_the_rest_of_a_message() -> None:
    more = {"taskId": "t", "contextId": "c", "referenceTaskIds": ["r"], "extensions": ["e"], "metadata": {"a": 1}}
    assert params.send({"message": {**MESSAGE, **more, "unknown": 1}, "unknown": 2})["message"] == {**CANONICAL, **more}


def test_a_webhook_in_a_message() -> None:
    config = {
        "url": "https://x/y",
        "id": "c",
        "token": "t",
        "authentication": {"schemes": ["Bearer", "Basic"], "credentials": "s"},
    }
    request = params.send({"message": MESSAGE, "configuration": {"pushNotificationConfig": config}})
    assert request["configuration"]["taskPushNotificationConfig"] == {
        "url": "https://x/y",
        "id": "c",
        "token": "t",
        "authentication": {"scheme": "Bearer", "credentials": "s"},
    }


@pytest.mark.parametrize("authentication", [{"schemes": []}, {"schemes": [], "credentials": ""}, {}])
def test_a_webhook_without_scheme(authentication: Wire) -> None:
    config = {"url": "https://x/y", "authentication": authentication}
    request = params.set_config({"taskId": "t", "pushNotificationConfig": config})
    assert request == {"taskId": "t", "url": "https://x/y"}


def test_tasks() -> None:
    assert params.get({"id": "t", "historyLength": 2, "metadata": {"a": 1}}) == {"id": "t", "historyLength": 2}
    assert params.get({"id": "t", "historyLength": 0}) == {"id": "t"}
    assert params.cancel({"id": "t", "metadata": {"a": 1}}) == {"id": "t", "metadata": {"a": 1}}
    assert params.resubscribe({"id": "t", "metadata": {"a": 1}, "tenant": "shop"}) == {"id": "t", "tenant": "shop"}


def test_configs() -> None:
    named = {"id": "t", "pushNotificationConfigId": "c", "metadata": {"a": 1}}
    assert params.get_config(named) == {"taskId": "t", "id": "c"}
    assert params.get_config({"id": "t"}) == {"taskId": "t"}
    assert params.get_config({"id": "t", "pushNotificationConfigId": None}) == {"taskId": "t"}
    assert params.delete_config(named) == {"taskId": "t", "id": "c"}
    assert params.list_configs({"id": "t"}) == {"taskId": "t"}
    assert params.card({}) == {}


def without(name: str) -> Wire:
    return {key: value for key, value in MESSAGE.items() if key != name}


WRONG: list[tuple[Any, Any, str]] = [
    (params.send, {}, "message"),
    (params.send, {"message": "x"}, "message"),
    (params.send, {"message": without("kind")}, "message.kind"),
    (params.send, {"message": {**MESSAGE, "kind": "task"}}, "message.kind"),
    (params.send, {"message": without("messageId")}, "message.message_id"),
    (params.send, {"message": without("parts")}, "message.parts"),
    (params.send, {"message": {**MESSAGE, "parts": []}}, "message.parts"),
    (params.send, {"message": {**MESSAGE, "parts": {}}}, "message.parts"),
    (params.send, {"message": {**MESSAGE, "parts": [{"kind": "text"}]}}, "message.parts[0].text"),
    (params.send, {"message": {**MESSAGE, "parts": [{"kind": "text", "text": 1}]}}, "message.parts[0].text"),
    (params.send, {"message": {**MESSAGE, "role": "ROLE_USER"}}, "message.role"),
    (params.send, {"message": {**MESSAGE, "role": 1}}, "message.role"),
    (params.send, {"message": {**MESSAGE, "role": "agent"}}, "message.role"),
    (params.send, {"message": without("role")}, "message.role"),
    (params.send, {"message": MESSAGE, "configuration": {"blocking": "yes"}}, "configuration.blocking"),
    (params.send, {"message": MESSAGE, "configuration": {"historyLength": -1}}, "configuration.history_length"),
    (params.set_config, {"taskId": "t"}, "pushNotificationConfig"),
    (params.set_config, {"taskId": "t", "pushNotificationConfig": {}}, "url"),
    (
        params.set_config,
        {"taskId": "t", "pushNotificationConfig": {"url": "u", "authentication": {"schemes": "x"}}},
        "pushNotificationConfig.authentication.schemes",
    ),
    (
        params.set_config,
        {"taskId": "t", "pushNotificationConfig": {"url": "u", "authentication": {"credentials": "x"}}},
        "pushNotificationConfig.authentication.schemes",
    ),
    (params.get, {}, "id"),
    (params.get, {"taskId": "t"}, "id"),
    (params.get, {"id": 1}, "id"),
    (params.get, {"id": "t", "historyLength": -1}, "history_length"),
    (params.cancel, {"id": ""}, "id"),
    (params.list_configs, {}, "id"),
    (params.delete_config, {"id": "t"}, "pushNotificationConfigId"),
    (params.get_config, {"id": "t", "pushNotificationConfigId": 1}, "pushNotificationConfigId"),
]


@pytest.mark.parametrize(("read", "value", "field"), WRONG)
def test_wrong_params_are_named(read: Any, value: Any, field: str) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        read(value)
    assert [violation.field for violation in caught.value.violations] == [field]


READERS = [
    params.send,
    params.get,
    params.cancel,
    params.resubscribe,
    params.set_config,
    params.list_configs,
    params.get_config,
    params.delete_config,
    params.card,
]

WORDS = """
    message configuration metadata id taskId pushNotificationConfig pushNotificationConfigId historyLength kind role
    parts text file data bytes uri authentication schemes credentials url token blocking tenant
"""
#: Members that lead somewhere, with anything in them.
NAMES = st.sampled_from(WORDS.split())
ANYTHING = st.recursive(
    VALUES | st.sampled_from(["message", "text", "file", "data", "user"]),
    lambda inner: st.dictionaries(NAMES, inner, max_size=5) | st.lists(inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(READERS), st.dictionaries(NAMES, ANYTHING, max_size=5) | ANYTHING)
def test_anything_is_read_or_refused(read: Any, value: Any) -> None:
    """Nothing else is raised."""
    with suppress(InvalidParamsError):
        assert isinstance(read(value), dict)
