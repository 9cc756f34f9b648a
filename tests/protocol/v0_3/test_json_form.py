"""The JSON schema of 0.3: properties for all input, with the official SDK's types and conversions as second opinion."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from a2a.compat.v0_3 import conversions, types
from hypothesis import HealthCheck, given, settings

from a2a_django.protocol import codec
from a2a_django.protocol.faults import Fault
from a2a_django.protocol.v0_3.json_form import READER, STATES, WRITER
from a2a_django.protocol.wire import Wire
from tests.protocol.strategies import messages

pytestmark = pytest.mark.spec("A")

some = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def kept(value: Any) -> Any:
    """Return what 0.3 keeps of a canonical object: the losses of facts 6 are taken out, and empty metadata."""
    if isinstance(value, list):
        return [kept(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for name, item in value.items():
        if name in ("data", "metadata"):
            if name == "metadata" and not item:
                continue
            result[name] = item
        elif name in ("mediaType", "filename") and ("text" in value or "data" in value):
            continue
        else:
            result[name] = kept(item)
    return result


@some
@given(messages("Message"))
def test_messages_survive(value: Any) -> None:
    wire = codec.decode("Message", value)
    before = copy.deepcopy(wire)
    old = WRITER.message(wire)
    assert wire == before  # what is written from is not changed
    assert kept(codec.decode("Message", READER.message(old))) == kept(wire)
    assert kept(codec.from_message(conversions.to_core_message(types.Message.model_validate(old)))) == kept(wire)


@some
@given(messages("Task"))
def test_tasks_are_what_the_sdk_reads(value: Any) -> None:
    wire = codec.decode("Task", value)
    theirs = conversions.to_core_task(types.Task.model_validate(WRITER.task(wire)))
    assert kept(codec.from_message(theirs)) == kept(wire)


@some
@given(messages("StreamResponse"))
def test_events_are_what_the_sdk_reads(value: Any) -> None:
    wire = codec.decode("StreamResponse", value)
    old = WRITER.event(wire, final=True)
    ((member, inner),) = wire.items()
    kind, read = {
        "task": (types.Task, conversions.to_core_task),
        "message": (types.Message, conversions.to_core_message),
        "statusUpdate": (types.TaskStatusUpdateEvent, conversions.to_core_task_status_update_event),
        "artifactUpdate": (types.TaskArtifactUpdateEvent, conversions.to_core_task_artifact_update_event),
    }[member]
    model = kind.model_validate(old)
    assert kept(codec.from_message(read(model))) == kept(inner)
    assert getattr(model, "final", True) is True


@some
@given(messages("TaskPushNotificationConfig"))
def test_push_configs_survive(value: Any) -> None:
    wire = codec.decode("TaskPushNotificationConfig", {**value, "taskId": "t"} if "task_id" not in value else value)
    wire.pop("tenant", None)
    wire.setdefault("taskId", "t")
    old = WRITER.config(wire)
    assert codec.decode("TaskPushNotificationConfig", READER.config(old)) == wire
    model = types.TaskPushNotificationConfig.model_validate(old)
    assert codec.from_message(conversions.to_core_task_push_notification_config(model)) == wire


def test_states_are_those_of_the_schema() -> None:
    assert {*STATES.values(), WRITER.no_state} == {state.value for state in types.TaskState}


@pytest.mark.parametrize("data", ["text", 7, 0.5, True, None, [1, {"a": 2}], []])
def test_data_that_is_no_object(data: Any) -> None:
    old = WRITER.part({"data": data, "metadata": {"a": 1}})
    assert old == {"kind": "data", "data": {"value": data}, "metadata": {"a": 1, "data_part_compat": True}}
    assert READER.part(old) == {"data": data, "metadata": {"a": 1}}
    assert READER.part(WRITER.part({"data": data})) == {"data": data}


@pytest.mark.parametrize(
    "part",
    [
        {"kind": "data", "data": {"value": 1}},
        {"kind": "data", "data": {"value": 1}, "metadata": {"data_part_compat": False}},
        {"kind": "data", "data": {"value": 1, "more": 2}, "metadata": {"data_part_compat": True}},
        {"kind": "data", "data": {"other": 1}, "metadata": {"data_part_compat": True}},
    ],
)
def test_objects_without_the_mark_stay_what_they_are(part: Wire) -> None:
    assert READER.part(part)["data"] == part["data"]


WRONG_PARTS: list[tuple[Any, str, str]] = [
    ({"text": "x"}, "kind", "must be one of text, file, data"),
    ({"kind": "video", "text": "x"}, "kind", "must be one of text, file, data"),
    ({"kind": "text"}, "text", "is required"),
    ({"kind": "text", "text": None}, "text", "is required"),
    ({"kind": "data", "data": [1]}, "data", "must be an object"),
    ({"kind": "data"}, "data", "is required"),
    ({"kind": "file"}, "file", "is required"),
    ({"kind": "file", "file": "x"}, "file", "must be an object"),
    ({"kind": "file", "file": {}}, "file", "must have either bytes or uri"),
    ({"kind": "file", "file": {"bytes": "AA==", "uri": "u"}}, "file", "must have either bytes or uri"),
    ("x", "", "must be an object"),
]


@pytest.mark.parametrize(("part", "field", "text"), WRONG_PARTS)
def test_wrong_parts_are_named(part: Any, field: str, text: str) -> None:
    where = f"parts[1].{field}" if field else "parts[1]"
    old = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}, part]}
    with pytest.raises(Fault) as caught:
        READER.message(old)
    assert caught.value.items == [(where, text)]


def test_files() -> None:
    file = {"bytes": "eHl6", "name": "a.bin", "mimeType": "application/x-a"}
    part = {"raw": "eHl6", "filename": "a.bin", "mediaType": "application/x-a"}
    assert READER.part({"kind": "file", "file": file}) == part
    assert WRITER.part(part) == {"kind": "file", "file": file}
    assert WRITER.part({"url": "https://x/y"}) == {"kind": "file", "file": {"uri": "https://x/y"}}
