"""The messages of package a2a.v1 (facts 2, 3): how they are read and written, and what their ProtoJSON means in 1.0.

HTTP+JSON below /v1 speaks their ProtoJSON, gRPC their binary form; both are read by ``CODEC`` under the rules that 1.0
has, so what one binding refuses both refuse, and what comes out of it needs no second look.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from typing import Any, Final

from a2a_django.protocol.codec import MAX_ID_LENGTH, Codec, Rules
from a2a_django.protocol.scalars import INT32_MAX
from a2a_django.protocol.states import TaskState
from a2a_django.protocol.v0_3 import a2a_pb2, meaning, names
from a2a_django.protocol.wire import Wire

CODEC: Final = Codec(
    a2a_pb2,
    Rules(
        ids=frozenset({"id", "config_id", "message_id", "context_id", "task_id", "artifact_id"}),
        id_limit=MAX_ID_LENGTH,
        ranges={("", "history_length"): (0, INT32_MAX), ("", "page_size"): (0, INT32_MAX)},
        # The proto marks next to nothing; this is what 1.0 asks of the same objects, in so far as they are requests.
        required={
            "SendMessageRequest": frozenset({"request"}),
            "Message": frozenset({"message_id", "role", "content"}),
            "DataPart": frozenset({"data"}),
            "PushNotificationConfig": frozenset({"url"}),
            "TaskPushNotificationConfig": frozenset({"push_notification_config"}),
            "GetTaskRequest": frozenset({"name"}),
            "CancelTaskRequest": frozenset({"name"}),
            "TaskSubscriptionRequest": frozenset({"name"}),
            "CreateTaskPushNotificationConfigRequest": frozenset({"parent", "config"}),
            "GetTaskPushNotificationConfigRequest": frozenset({"name"}),
            "DeleteTaskPushNotificationConfigRequest": frozenset({"name"}),
            "ListTaskPushNotificationConfigRequest": frozenset({"parent"}),
        },
    ),
)

#: A state of 1.0 -> its name; the two differ in one letter.
STATES: Final = {state.value: state.value for state in TaskState} | {TaskState.CANCELED.value: "TASK_STATE_CANCELLED"}

_ROLES: Final = {role: role for role in ("ROLE_USER", "ROLE_AGENT")}
_MESSAGE_MEMBERS: Final = frozenset({"messageId", "contextId", "taskId", "metadata", "extensions"})
_FILE_MEMBERS: Final = (("mediaType", "mimeType"), ("filename", "name"))
_FALSE: Final = ("final", "append", "lastChunk")


class ProtoWriter(meaning.Writer):
    """Writes ProtoJSON in canonical form; ``referenceTaskIds`` have no place there."""

    states = STATES
    roles = _ROLES
    no_state = "TASK_STATE_UNSPECIFIED"
    parts = "content"
    message_members = _MESSAGE_MEMBERS

    def content(self, part: Wire) -> Wire:
        """Return the content of a part."""
        if "text" in part:
            return {"text": part["text"]}
        if "data" in part:
            return {"data": {"data": part["data"]}}
        file: Wire = {"fileWithBytes": doubled(part["raw"])} if "raw" in part else {"fileWithUri": part["url"]}
        for new, old in _FILE_MEMBERS:
            if part.get(new):
                file[old] = part[new]
        return {"file": file}

    def wrapped(self, member: str, old: Wire) -> Wire:
        """Return a SendMessageResponse or StreamResponse, in which false is left out."""
        return {member: {name: value for name, value in old.items() if not (value is False and name in _FALSE)}}

    def config(self, config: Wire) -> Wire:
        """Return a TaskPushNotificationConfig."""
        name = names.of_config(config["taskId"], config["id"])
        return {"name": name, "pushNotificationConfig": self.push_config(config)}

    def configs(self, configs: Wire) -> Wire:
        """Return a ListTaskPushNotificationConfigResponse."""
        return {**configs, "configs": [self.config(config) for config in configs.get("configs", ())]}


class ProtoReader(meaning.Reader):
    """Reads what ``CODEC`` has read; the results are canonical."""

    roles = _ROLES
    parts = "content"
    message_members = _MESSAGE_MEMBERS
    webhook = "pushNotification"
    blocking = False

    def content(self, part: Wire) -> Wire:
        """Return the content of a part."""
        if "text" in part:
            return {"text": part["text"]}
        if "data" in part:
            return {"data": part["data"]["data"]}
        file = part["file"]
        found = {"raw": single(file["fileWithBytes"])} if "fileWithBytes" in file else {"url": file["fileWithUri"]}
        return found | {new: file[old] for new, old in _FILE_MEMBERS if old in file}

    def send_request(self, old: Any) -> Wire:
        """Return a SendMessageRequest. Raises ``Fault``."""
        request = super().send_request(old)
        configuration = request.get("configuration")
        if configuration is not None and not configuration["returnImmediately"]:
            del configuration["returnImmediately"]
        return request


def doubled(raw: str) -> str:
    """Return the bytes of a file, given in base64, as they are written: most SDKs put base64 *text* into the field of
    bytes, and JSON encodes that once more."""
    return b2a_base64(raw.encode("ascii"), newline=False).decode("ascii")


def single(written: str) -> str:
    """Return the bytes of a file in base64, from what a client has written: bytes that are base64 text are taken for
    what that text stands for, all others for the bytes themselves."""
    content = a2b_base64(written)
    try:
        if content and b2a_base64(a2b_base64(content, strict_mode=True), newline=False) == content:
            return content.decode("ascii")
    except (Base64Error, ValueError):
        pass
    return written


WRITER: Final = ProtoWriter()
READER: Final = ProtoReader()
