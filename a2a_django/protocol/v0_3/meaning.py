"""What both forms of version 0.3 have in common: all that is not spelling (facts 6).

The JSON schema (JSON-RPC, agent cards, webhooks: ``json_form``) and the messages of package a2a.v1 (HTTP+JSON, gRPC)
say the same under different names. ``Writer`` and ``Reader`` hold the rules once, each form is a subclass of both that
says how things are called. What is written comes from the engine and is trusted; what is read goes through
``codec.decode`` afterwards, so a reader only checks what version 1.0 cannot say.

What version 0.3 has no place for is left out: media type and name of parts that are no files, tenants, and all
authentication schemes of a webhook but the first. Data parts that are no objects travel as ``{"value": ...}`` with a
mark in the part's metadata, as in the official SDKs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from a2a_django.protocol.faults import Fault, below
from a2a_django.protocol.states import TERMINAL, TaskState
from a2a_django.protocol.wire import Wire

Read = Callable[[Any], Any]

#: The mark in a part's metadata that its data stands in an object of one member, ``value``.
DATA_MARK: Final = "data_part_compat"

#: The states in which nothing more is to come: a stream that closes in one of them closes with ``final`` (L-023).
FINAL: Final = TERMINAL | {TaskState.INPUT_REQUIRED}


class Writer:
    """Writes canonical objects of version 1.0 in a form of 0.3. The results share values with what they are made of."""

    states: ClassVar[Mapping[str, str]]
    roles: ClassVar[Mapping[str, str]]
    #: What a status has as its state when it has none.
    no_state: ClassVar[str]
    #: The name of a message's parts.
    parts: ClassVar[str] = "parts"
    #: Members of a message that keep their names.
    message_members: ClassVar[frozenset[str]] = frozenset(
        {"messageId", "contextId", "taskId", "metadata", "extensions", "referenceTaskIds"}
    )

    def named(self, kind: str) -> Wire:
        """Return the beginning of an object of a kind ("task", "message", "status-update", "artifact-update")."""
        return {}

    def content(self, part: Wire) -> Wire:
        """Return the content of a part, metadata left out; data is an object."""
        raise NotImplementedError

    def wrapped(self, member: str, old: Wire) -> Wire:
        """Return an event or a result: an object that in 1.0 is the named member of its answer."""
        raise NotImplementedError

    def part(self, part: Wire) -> Wire:
        """Return a Part."""
        metadata = part.get("metadata")
        if "data" in part and type(part["data"]) is not dict:
            part = {"data": {"value": part["data"]}}
            metadata = {**(metadata or {}), DATA_MARK: True}
        old = self.content(part)
        if metadata is not None:
            old["metadata"] = metadata
        return old

    def message(self, message: Wire) -> Wire:
        """Return a Message."""
        old = self.named("message")
        for name, value in message.items():
            if name == "parts":
                old[self.parts] = [self.part(part) for part in value]
            elif name == "role":
                old[name] = self.roles[value]
            elif name in self.message_members:
                old[name] = value
        return old

    def artifact(self, artifact: Wire) -> Wire:
        """Return an Artifact."""
        return {**artifact, "parts": [self.part(part) for part in artifact["parts"]]}

    def status(self, status: Wire) -> Wire:
        """Return a TaskStatus."""
        old = {**status, "state": self.states.get(status.get("state", ""), self.no_state)}
        if "message" in status:
            old["message"] = self.message(status["message"])
        return old

    def task(self, task: Wire) -> Wire:
        """Return a Task; its contextId is always there."""
        old = self.named("task") | {"id": task["id"], "contextId": task.get("contextId", "")}
        for name, value in task.items():
            if name == "status":
                old[name] = self.status(value)
            elif name == "history":
                old[name] = [self.message(message) for message in value]
            elif name == "artifacts":
                old[name] = [self.artifact(artifact) for artifact in value]
            elif name == "metadata":
                old[name] = value
        return old

    def status_update(self, update: Wire, *, final: bool) -> Wire:
        """Return a TaskStatusUpdateEvent; ``final``: it is the last event of its stream."""
        old = self.named("status-update") | {"taskId": update["taskId"], "contextId": update.get("contextId", "")}
        old |= {"status": self.status(update["status"]), "final": final}
        if "metadata" in update:
            old["metadata"] = update["metadata"]
        return old

    def artifact_update(self, update: Wire) -> Wire:
        """Return a TaskArtifactUpdateEvent; both booleans are always there."""
        old = self.named("artifact-update") | {"taskId": update["taskId"], "contextId": update.get("contextId", "")}
        old["artifact"] = self.artifact(update["artifact"])
        old |= {"append": update.get("append", False), "lastChunk": update.get("lastChunk", False)}
        if "metadata" in update:
            old["metadata"] = update["metadata"]
        return old

    def event(self, response: Wire, *, final: bool = False) -> Wire:
        """Return a StreamResponse or a SendMessageResponse."""
        ((member, value),) = response.items()
        if member == "statusUpdate":
            return self.wrapped(member, self.status_update(value, final=final))
        if member == "artifactUpdate":
            return self.wrapped(member, self.artifact_update(value))
        return self.wrapped(member, self.task(value) if member == "task" else self.message(value))

    def push_config(self, config: Wire) -> Wire:
        """Return the PushNotificationConfig of a TaskPushNotificationConfig."""
        old: Wire = {name: config[name] for name in ("id", "url", "token") if name in config}
        if authentication := config.get("authentication"):
            old["authentication"] = {"schemes": [authentication["scheme"]]}
            if "credentials" in authentication:
                old["authentication"]["credentials"] = authentication["credentials"]
        return old


class Reader:
    """Reads objects of a form of 0.3 as what ``codec.decode`` takes; raises ``Fault`` for what 1.0 cannot say.

    Nulls count as not given. Members that 0.3 does not have are left out.
    """

    roles: ClassVar[Mapping[str, str]]
    parts: ClassVar[str] = "parts"
    message_members: ClassVar[frozenset[str]] = Writer.message_members
    #: The name of the webhook in a configuration.
    webhook: ClassVar[str]
    #: What a configuration means that does not say whether the call blocks (facts 6.4).
    blocking: ClassVar[bool]

    def content(self, part: Wire) -> Wire:
        """Return the content of a part in 1.0, metadata left out. Raises ``Fault``."""
        raise NotImplementedError

    def part(self, old: Any) -> Wire:
        """Return a Part."""
        given = members(old)
        part = self.content(given)
        if "metadata" in given:
            part["metadata"] = given["metadata"]
        return unmarked(part)

    def message(self, old: Any) -> Wire:
        """Return a Message."""
        given = members(old)
        message = {name: value for name, value in given.items() if name in self.message_members}
        if "role" in given:
            role = given["role"]
            if type(role) is not str or role not in self.roles:
                raise Fault([("role", "must be one of " + ", ".join(self.roles))])
            message["role"] = self.roles[role]
        if self.parts in given:
            message["parts"] = each(self.parts, given[self.parts], self.part)
        return message

    def configuration(self, old: Any) -> Wire:
        """Return a SendMessageConfiguration. A historyLength of 0 is none: in 0.3 it means everything."""
        given = members(old)
        blocking = given.get("blocking", self.blocking)
        if type(blocking) is not bool:
            raise Fault([("blocking", "must be true or false")])
        configuration: Wire = {"returnImmediately": not blocking}
        if "acceptedOutputModes" in given:
            configuration["acceptedOutputModes"] = given["acceptedOutputModes"]
        if (length := given.get("historyLength")) is not None and not is_zero(length):
            configuration["historyLength"] = length
        if self.webhook in given:
            configuration["taskPushNotificationConfig"] = at(self.webhook, given[self.webhook], self.push_config)
        return configuration

    def send_request(self, old: Any) -> Wire:
        """Return a SendMessageRequest: what all forms call message, configuration, metadata (and, of no 0.3, tenant).

        Only users send messages.
        """
        given = members(old)
        request: Wire = {name: given[name] for name in ("metadata", "tenant") if name in given}
        if "message" in given:
            request["message"] = at("message", given["message"], self.message)
            if request["message"].get("role") == "ROLE_AGENT":
                user = next(name for name, role in self.roles.items() if role == "ROLE_USER")
                raise Fault([("message.role", f"has to be {user} in a request")])
        if "configuration" in given:
            request["configuration"] = at("configuration", given["configuration"], self.configuration)
        return request

    def push_config(self, old: Any) -> Wire:
        """Return a TaskPushNotificationConfig without its task, of a PushNotificationConfig (facts 6.5)."""
        given = members(old)
        config: Wire = {name: given[name] for name in ("id", "url", "token") if name in given}
        if "authentication" in given:
            found = at("authentication", given["authentication"], self.authentication)
            if found is not None:
                config["authentication"] = found
        return config

    def authentication(self, old: Any) -> Wire | None:
        """Return an AuthenticationInfo with the first scheme; None where there is no scheme and nothing to send."""
        given = members(old)
        schemes = given.get("schemes", [])
        if type(schemes) is not list:
            raise Fault([("schemes", "must be a list")])
        if not schemes:
            if given.get("credentials"):
                raise Fault([("schemes", "is required and must not be empty where there are credentials")])
            return None
        return {"scheme": schemes[0]} | {name: given[name] for name in ("credentials",) if name in given}


def is_zero(length: Any) -> bool:
    """Whether a historyLength is 0, and so asks for everything."""
    return type(length) in (int, float) and length == 0


def members(value: Any) -> Wire:
    """Return the members of an object that are not null. Raises ``Fault`` for what is no object."""
    if not isinstance(value, dict):
        raise Fault("must be an object")
    return {name: item for name, item in value.items() if item is not None}


def needed(given: Wire, name: str) -> Any:
    """Return a member that has to be there. Raises ``Fault``."""
    if name not in given:
        raise Fault([(name, "is required")])
    return given[name]


def at(step: str, value: Any, read: Read) -> Any:
    """Return what ``read`` makes of a value; faults get ``step`` in front of their paths."""
    try:
        return read(value)
    except Fault as fault:
        raise Fault(below(step, fault.items)) from None


def each(step: str, values: Any, read: Read) -> list[Any]:
    """Return what ``read`` makes of the values of a list. Raises ``Fault`` at the first that is wrong."""
    if type(values) is not list:
        raise Fault([(step, "must be a list")])
    return [at(f"{step}[{index}]", value, read) for index, value in enumerate(values)]


def unmarked(part: Wire) -> Wire:
    """Return a part of 1.0 whose data is what the mark says that it is."""
    metadata = part.get("metadata")
    if type(metadata) is not dict or metadata.get(DATA_MARK) is not True:
        return part
    data = part.get("data")
    if type(data) is not dict or data.keys() != {"value"}:
        return part
    part = {**part, "data": data["value"], "metadata": {n: v for n, v in metadata.items() if n != DATA_MARK}}
    if not part["metadata"]:
        del part["metadata"]
    return part
