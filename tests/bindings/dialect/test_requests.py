"""What the tutorials write, said in 0.3 (facts 10.2)."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_django.bindings.dialect.requests import messages_of, rewritten
from a2a_django.protocol.errors import InvalidParamsError

SHORT = {"role": "user", "parts": [{"text": "hello"}]}
WHOLE = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hello"}]}


def params_of(method: str, params: dict[str, Any], *, waits: bool = False) -> dict[str, Any]:
    """The params after the rewriting; the ones before are not touched."""
    before = repr(params)
    found = rewritten(method, params, waits=waits)[1]
    assert repr(params) == before
    return found


@pytest.mark.parametrize("method", ["message/send", "message/stream"])
def test_a_message_gets_its_kind_its_id_and_the_kinds_of_its_parts(method: str) -> None:
    message = params_of(method, {"message": SHORT})["message"]
    assert len(message.pop("messageId")) == 36
    assert message == {"kind": "message", "role": "user", "parts": [{"kind": "text", "text": "hello"}]}


def test_two_messages_get_two_ids() -> None:
    first, second = (params_of("message/send", {"message": SHORT})["message"]["messageId"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ({"text": "x", "metadata": {"a": 1}}, {"kind": "text", "text": "x", "metadata": {"a": 1}}),
        ({"data": {"a": 1}}, {"kind": "data", "data": {"a": 1}}),
        ({"file": {"uri": "https://e.example"}}, {"kind": "file", "file": {"uri": "https://e.example"}}),
        (
            {"url": "https://e.example", "mediaType": "a/b", "filename": "c", "metadata": {"a": 1}},
            {
                "kind": "file",
                "file": {"uri": "https://e.example", "mimeType": "a/b", "name": "c"},
                "metadata": {"a": 1},
            },
        ),
        ({"raw": "eHl6"}, {"kind": "file", "file": {"bytes": "eHl6"}}),
        ({"kind": None, "text": "x"}, {"kind": "text", "text": "x"}),
    ],
)
def test_parts_get_a_kind(part: Any, found: Any) -> None:
    message = params_of("message/send", {"message": {"role": "user", "parts": [part]}})["message"]
    assert message["parts"] == [found]


@pytest.mark.parametrize(
    "part", [{"kind": "text"}, {"kind": "file", "text": "x"}, {"text": "x", "data": {}}, {}, "text", None]
)
def test_parts_that_are_not_clear_stay_as_they_are(part: Any) -> None:
    message = params_of("message/send", {"message": {"role": "user", "parts": [part]}})["message"]
    assert message["parts"] == [part]


@pytest.mark.parametrize(
    "params",
    [
        {"message": WHOLE, "configuration": {"blocking": True}},
        {"message": WHOLE},
        {"message": {**WHOLE, "taskId": "t"}},
        {"message": {**WHOLE, "kind": "else"}},
        {"message": {**WHOLE, "parts": "x"}},
        {"message": "x"},
        {},
    ],
)
def test_what_0_3_reads_or_refuses_stays_as_it_is(params: dict[str, Any]) -> None:
    assert rewritten("message/send", params, waits=False) == ("message/send", params)


@pytest.mark.parametrize(("role", "found"), [("ROLE_USER", "user"), ("ROLE_AGENT", "agent"), ("USER", "USER"), (1, 1)])
def test_roles_of_1_0(role: Any, found: Any) -> None:
    assert params_of("message/send", {"message": {**WHOLE, "role": role}})["message"]["role"] == found


def test_the_short_form_does_not_wait_unless_the_site_wants_it() -> None:
    assert params_of("message/send", {"message": SHORT})["configuration"] == {"blocking": False}
    assert "configuration" not in params_of("message/send", {"message": SHORT}, waits=True)
    assert "configuration" not in params_of("message/stream", {"message": SHORT})
    for more in ({"messageId": "m"}, {"kind": "message"}):
        assert "configuration" not in params_of("message/send", {"message": {**SHORT, **more}})
    asked = {"message": SHORT, "configuration": {"blocking": True}}
    assert params_of("message/send", asked)["configuration"] == {"blocking": True}


def test_the_task_of_a_message_may_stand_beside_it() -> None:
    found = params_of("message/send", {"message": SHORT, "taskId": "t"})
    assert found["message"]["taskId"] == "t"
    assert "taskId" not in found
    assert "taskId" not in params_of("message/send", {"message": SHORT, "taskId": None})["message"]
    same = {"message": {**SHORT, "taskId": "t"}, "taskId": "t"}
    assert params_of("message/send", same)["message"]["taskId"] == "t"
    with pytest.raises(InvalidParamsError, match="task_id"):
        rewritten("message/send", {"message": {**SHORT, "taskId": "t"}, "taskId": "u"}, waits=False)


@pytest.mark.parametrize(
    ("method", "meant"),
    [
        ("tasks/get", "tasks/get"),
        ("tasks/cancel", "tasks/cancel"),
        ("tasks/resubscribe", "tasks/resubscribe"),
        ("tasks/subscribe", "tasks/resubscribe"),
        ("messages/list", "tasks/get"),
        ("tasks/pushNotificationConfig/get", "tasks/pushNotificationConfig/get"),
        ("tasks/pushNotificationConfig/list", "tasks/pushNotificationConfig/list"),
        ("tasks/pushNotificationConfig/delete", "tasks/pushNotificationConfig/delete"),
    ],
)
def test_the_task_may_be_called_taskId(method: str, meant: str) -> None:
    assert rewritten(method, {"taskId": "t", "historyLength": 3}, waits=False) == (
        meant,
        {"id": "t", "historyLength": 3},
    )
    assert rewritten(method, {"taskId": "t", "id": "t"}, waits=False) == (meant, {"id": "t"})
    assert rewritten(method, {"id": "t"}, waits=False) == (meant, {"id": "t"})
    with pytest.raises(InvalidParamsError, match="task_id"):
        rewritten(method, {"taskId": "t", "id": "u"}, waits=False)


def test_a_webhook_is_registered_without_a_suffix() -> None:
    method, config = "tasks/pushNotificationConfig", {"url": "https://e.example", "token": "x"}
    whole = {"taskId": "t", "pushNotificationConfig": config}
    for params in (whole, {"id": "t", "pushNotificationConfig": config}, {"taskId": "t", **config}):
        assert rewritten(method, params, waits=False) == (f"{method}/set", whole)
    with pytest.raises(InvalidParamsError, match="task_id"):
        rewritten(method, {**whole, "id": "u"}, waits=False)


@pytest.mark.parametrize("method", ["SendMessage", "GetTask", "tasks/list", "tasks/pushNotificationConfig/set", "x/y"])
def test_other_methods_stay_as_they_are(method: str) -> None:
    params = {"taskId": "t", "message": SHORT}
    assert rewritten(method, params, waits=False) == (method, params)


def test_the_messages_of_a_task() -> None:
    first, second = ({"messageId": name, "role": "user"} for name in "ab")
    task = {"history": [first], "status": {"state": "working"}}
    assert messages_of(task) == [first]
    assert messages_of({**task, "status": {"message": second}}) == [first, second]
    assert messages_of({**task, "status": {"message": first}}) == [first]
    assert messages_of({"status": {"message": first}}) == [first]
