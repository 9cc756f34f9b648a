"""From what agent authors write to what travels: strings, bytes, objects and Parts become parts and messages."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.functional import Promise
from google.protobuf.message import Message as ProtoMessage

from a2a_django.models.fields import uuid7
from a2a_django.protocol import codec, wire
from a2a_django.protocol.changes import ArtifactChunk, Change, StatusChange
from a2a_django.protocol.errors import InvalidAgentResponseError, InvalidParamsError
from a2a_django.protocol.wire import Wire


def decoded(kind: str, value: Any) -> Wire:
    """Return a protobuf message or ProtoJSON dict as canonical wire. Raises ``InvalidAgentResponseError``."""
    try:
        return codec.from_message(value) if isinstance(value, ProtoMessage) else codec.decode(kind, value)
    except InvalidParamsError as error:
        said = "; ".join(f"{v.field}: {v.description}" for v in error.violations) or error.message
        raise InvalidAgentResponseError(f"The agent published an invalid {kind}: {said}") from error


def part(value: Any) -> Wire:
    """Return one part: text for ``str``, raw for ``bytes``, data for ``dict`` and ``list``, a Part as it is.

    Raises ``InvalidAgentResponseError`` for anything else.
    """
    value = _translated(value)
    if isinstance(value, str):
        if not value.isascii() or "\0" in value:
            return decoded("Part", {"text": value})
        return {"text": value}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"raw": base64.b64encode(bytes(value)).decode()}
    if isinstance(value, ProtoMessage):
        if value.DESCRIPTOR.name != "Part":
            raise _no_part(value.DESCRIPTOR.name)
        return decoded("Part", value)
    if isinstance(value, (dict, list)):
        return decoded("Part", {"data": value})
    raise _no_part(type(value).__name__)


def _no_part(kind: str) -> InvalidAgentResponseError:
    return InvalidAgentResponseError(f"{kind} cannot be a part of an answer: yield str, bytes, dict, list or Part")


def _translated(value: Any) -> Any:
    """Return the text of a lazy translation, anything else as it is."""
    return str(value) if isinstance(value, Promise) else value


def parts(values: Iterable[Any]) -> list[Wire]:
    """Return the parts of what an agent yielded or handed over; a list of Parts counts as its members.

    Raises ``InvalidAgentResponseError`` when there are none (R-025).
    """
    found: list[Wire] = []
    for value in values:
        if isinstance(value, (list, tuple)) and value and all(isinstance(item, ProtoMessage) for item in value):
            found += [part(item) for item in value]
        else:
            found.append(part(value))
    if not found:
        raise InvalidAgentResponseError("An artifact or a message needs at least one part")
    return found


def _metadata(value: Mapping[str, Any] | None) -> Wire | None:
    if not value:
        return None
    checked: Wire | None = decoded("TaskStatusUpdateEvent", {**_NO_EVENT, "metadata": dict(value)}).get("metadata")
    return checked


_NO_EVENT: Wire = {"taskId": "-", "contextId": "-", "status": {"state": "TASK_STATE_WORKING"}}


def message_of(values: Any, *, task_id: str, context_id: str) -> Wire:
    """Return a message of the agent: from text, a Part, several of them, or a whole protobuf Message."""
    if isinstance(values, ProtoMessage) and values.DESCRIPTOR.name == "Message":
        return owned_message(decoded("Message", values), task_id=task_id, context_id=context_id)
    several = values if isinstance(values, (tuple, list)) else (values,)
    return wire.message(message_id=uuid7(), context_id=context_id, task_id=task_id, parts=parts(several))


def owned_message(message: Wire, *, task_id: str, context_id: str) -> Wire:
    """Return ``message`` with the ids of its task; foreign ids raise ``InvalidAgentResponseError`` (D-33)."""
    own(message, task_id=task_id, context_id=context_id)
    return {**message, "contextId": context_id, **({"taskId": task_id} if task_id else {}), "role": "ROLE_AGENT"}


def own(event: Wire, *, task_id: str, context_id: str) -> None:
    """Raise ``InvalidAgentResponseError`` for an event with the id of another task or context (D-33)."""
    if event.get("taskId") not in (None, "", task_id) or event.get("contextId") not in (None, "", context_id):
        raise InvalidAgentResponseError("The agent published an event of another task or context")


def status_change(
    state: str,
    message: Any = None,
    metadata: Mapping[str, Any] | None = None,
    *,
    task_id: str,
    context_id: str,
) -> StatusChange:
    """Return the change to ``state`` with an optional message."""
    text = chosen = None
    if message is not None and message != "":
        body = message_of(message, task_id=task_id, context_id=context_id)
        text = wire.text_of(body)
        if isinstance(message, ProtoMessage) and message.DESCRIPTOR.name == "Message":
            chosen = body["messageId"]
    checked = _metadata(metadata)
    return StatusChange(state, wire.now(), text, wire.text_of(checked) if checked else None, chosen)


def artifact_chunk(
    values: Iterable[Any],
    *,
    artifact_id: str | None,
    name: str = "",
    description: str = "",
    metadata: Mapping[str, Any] | None = None,
    append: bool = False,
    last_chunk: bool = False,
    task_id: str,
    context_id: str,
) -> ArtifactChunk:
    """Return the change that adds an artifact, or a piece of one."""
    artifact: Wire = {"artifactId": artifact_id or uuid7()}
    if name:
        artifact["name"] = _translated(name)
    if description:
        artifact["description"] = _translated(description)
    if metadata:
        artifact["metadata"] = dict(metadata)
    if artifact_id or len(artifact) > 1:  # the author's words, checked with a part that stands for all
        artifact = decoded("Artifact", {**artifact, "parts": [{"text": "-"}]})
    artifact["parts"] = parts(values)
    return ArtifactChunk.of(task_id, context_id, artifact, append=append, last_chunk=last_chunk)


def event_changes(
    event: Any, *, task_id: str, context_id: str
) -> tuple[list[StatusChange | ArtifactChunk], Wire | None]:
    """Return what a published event changes, and the message when it is one.

    ``event`` is a StreamResponse or one of its members, as protobuf, or ``{"statusUpdate": {...}}`` and the like.
    """
    ids = {"task_id": task_id, "context_id": context_id}
    wrapped = _wrapped(event, ids)
    if "message" in wrapped:
        return [], owned_message(wrapped["message"], **ids)
    if "statusUpdate" in wrapped:
        update = wrapped["statusUpdate"]
        own(update, **ids)
        return [_status(update["status"], update.get("metadata"), ids)], None
    if "artifactUpdate" in wrapped:
        update = wrapped["artifactUpdate"]
        own(update, **ids)
        return [
            ArtifactChunk.of(
                task_id,
                context_id,
                update["artifact"],
                append=update.get("append", False),
                last_chunk=update.get("lastChunk", False),
                metadata=update.get("metadata"),
            )
        ], None
    task = wrapped["task"]
    own({"taskId": task.get("id"), "contextId": task.get("contextId")}, **ids)
    changes: list[Change] = [
        ArtifactChunk.of(task_id, context_id, artifact, append=False, last_chunk=True)
        for artifact in task.get("artifacts", ())
    ]
    if task["status"]["state"] != "TASK_STATE_SUBMITTED" or "message" in task["status"]:
        changes.append(_status(task["status"], task.get("metadata"), ids))
    return changes, None


def _status(status: Wire, metadata: Wire | None, ids: dict[str, str]) -> StatusChange:
    message = status.get("message")
    body = owned_message(message, **ids) if message else None
    return StatusChange(
        status["state"],
        wire.now(),
        wire.text_of(body) if body else None,
        wire.text_of(metadata) if metadata else None,
        body["messageId"] if body else None,
    )


_MEMBERS = {
    "Task": "task",
    "Message": "message",
    "TaskStatusUpdateEvent": "statusUpdate",
    "TaskArtifactUpdateEvent": "artifactUpdate",
}


def _wrapped(event: Any, ids: dict[str, str]) -> Wire:
    """Return the event as a canonical StreamResponse; ids that were left out are the task's."""
    if isinstance(event, ProtoMessage):
        name = event.DESCRIPTOR.name
        if name == "StreamResponse":
            member = event.WhichOneof("payload")
            if member is None:
                raise InvalidAgentResponseError("The agent published an empty event")
            event = getattr(event, member)
            name = event.DESCRIPTOR.name
        if name not in _MEMBERS:
            raise InvalidAgentResponseError(f"A {name} is not an event")
        filled = type(event)()
        filled.CopyFrom(event)
        if name != "Task" and name != "Message":
            filled.task_id = filled.task_id or ids["task_id"]
            filled.context_id = filled.context_id or ids["context_id"]
        return {_MEMBERS[name]: decoded(name, filled)}
    if not isinstance(event, Mapping):
        raise InvalidAgentResponseError(f"A {type(event).__name__} is not an event")
    members = {key: value for key, value in event.items() if key in _MEMBERS.values() and value is not None}
    if len(members) != 1:
        raise InvalidAgentResponseError("An event has exactly one of task, message, statusUpdate, artifactUpdate")
    ((key, value),) = members.items()
    if key in ("statusUpdate", "artifactUpdate") and isinstance(value, Mapping):
        value = {**value}
        if not (value.get("taskId") or value.get("task_id")):
            value["taskId"] = ids["task_id"]
        if not (value.get("contextId") or value.get("context_id")):
            value["contextId"] = ids["context_id"]
    return decoded("StreamResponse", {key: value})
