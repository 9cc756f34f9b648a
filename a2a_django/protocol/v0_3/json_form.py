"""The JSON schema of version 0.3, which JSON-RPC speaks (facts 1): objects with a ``kind``, states in lower case."""

from __future__ import annotations

from typing import Any, Final

from a2a_django.protocol.faults import Fault
from a2a_django.protocol.states import TaskState
from a2a_django.protocol.v0_3 import meaning
from a2a_django.protocol.v0_3.meaning import at, members, needed
from a2a_django.protocol.wire import Wire

#: A state of 1.0 -> its name; "unknown" stands for none.
STATES: Final = {state.value: state.value.removeprefix("TASK_STATE_").lower().replace("_", "-") for state in TaskState}

ROLES: Final = {"ROLE_USER": "user", "ROLE_AGENT": "agent"}

_FILE_MEMBERS: Final = (("mediaType", "mimeType"), ("filename", "name"))


class JsonWriter(meaning.Writer):
    """Writes objects; results and events are bare, and told apart by their kind."""

    states = STATES
    roles = ROLES
    no_state = "unknown"

    def named(self, kind: str) -> Wire:
        """Return the beginning of an object."""
        return {"kind": kind}

    def content(self, part: Wire) -> Wire:
        """Return a TextPart, a DataPart or a FilePart."""
        if "text" in part:
            return {"kind": "text", "text": part["text"]}
        if "data" in part:
            return {"kind": "data", "data": part["data"]}
        file: Wire = {"bytes": part["raw"]} if "raw" in part else {"uri": part["url"]}
        for new, old in _FILE_MEMBERS:
            if new in part:
                file[old] = part[new]
        return {"kind": "file", "file": file}

    def wrapped(self, member: str, old: Wire) -> Wire:
        """Return the object itself."""
        return old

    def config(self, config: Wire) -> Wire:
        """Return a TaskPushNotificationConfig."""
        return {"taskId": config["taskId"], "pushNotificationConfig": self.push_config(config)}


class JsonReader(meaning.Reader):
    """Reads objects; a part without a known kind, or whose kind and content do not fit, is refused."""

    roles = {old: new for new, old in ROLES.items()}
    webhook = "pushNotificationConfig"
    blocking = True

    def message(self, old: Any) -> Wire:
        """Return a Message."""
        if members(old).get("kind") != "message":
            raise Fault([("kind", 'must be "message"')])
        return super().message(old)

    def content(self, part: Wire) -> Wire:
        """Return the content of a part."""
        kind = part.get("kind")
        if kind == "text":
            return {"text": needed(part, "text")}
        if kind == "file":
            return at("file", needed(part, "file"), _file)  # type: ignore[no-any-return]
        if kind == "data":
            data = needed(part, "data")
            if type(data) is not dict:
                raise Fault([("data", "must be an object")])
            return {"data": data}
        raise Fault([("kind", "must be one of text, file, data")])

    def config(self, old: Any) -> Wire:
        """Return a TaskPushNotificationConfig."""
        given = members(old)
        config: Wire = at("pushNotificationConfig", needed(given, "pushNotificationConfig"), self.push_config)
        return config | {name: given[name] for name in ("taskId", "tenant") if name in given}


def _file(old: Any) -> Wire:
    given = members(old)
    if ("bytes" in given) == ("uri" in given):
        raise Fault("must have either bytes or uri")
    part = {"raw": given["bytes"]} if "bytes" in given else {"url": given["uri"]}
    return part | {new: given[name] for new, name in _FILE_MEMBERS if name in given}


WRITER: Final = JsonWriter()
READER: Final = JsonReader()
