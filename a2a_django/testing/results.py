"""What an agent has answered, as tests want to look at it; always in the form of version 1.0.

``wire`` is the object in ProtoJSON. States are ``ctx``'s words in small letters: "working", "input_required",
"completed", ...
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from a2a_django.protocol.folding import fold
from a2a_django.protocol.wire import Wire

PREFIX = "TASK_STATE_"


def state_of(name: str) -> str:
    """Return a state as tests write it."""
    return name.removeprefix(PREFIX).lower()


class _Parts:
    """Something that has parts."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    @property
    def parts(self) -> list[Wire]:
        """The parts."""
        return list(self.wire.get("parts", ()))

    @property
    def text(self) -> str:
        """The texts of the parts, as one."""
        return "".join(part["text"] for part in self.parts if "text" in part)

    @property
    def data(self) -> Any:
        """The value of the first data part, None without one."""
        return next((part["data"] for part in self.parts if "data" in part), None)

    @property
    def files(self) -> list[bytes | str]:
        """The files: contents, or addresses of those that are elsewhere."""
        return [
            base64.b64decode(part["raw"]) if "raw" in part else part["url"]
            for part in self.parts
            if "raw" in part or "url" in part
        ]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata."""
        found: Mapping[str, Any] = self.wire.get("metadata", {})
        return found


class Message(_Parts):
    """A message, of a task's history or as an answer by itself."""

    @property
    def id(self) -> str:
        """Its id."""
        found: str = self.wire["messageId"]
        return found

    @property
    def context_id(self) -> str:
        """The id of the conversation."""
        found: str = self.wire.get("contextId", "")
        return found

    @property
    def role(self) -> str:
        """Who has said it: "user" or "agent"."""
        return str(self.wire["role"]).removeprefix("ROLE_").lower()

    def __repr__(self) -> str:
        return f"<Message of the {self.role}: {self.text!r}>"


class Artifact(_Parts):
    """An artifact of a task, or a piece of one."""

    @property
    def id(self) -> str:
        """Its id."""
        found: str = self.wire["artifactId"]
        return found

    @property
    def name(self) -> str:
        """Its name, "" without one."""
        found: str = self.wire.get("name", "")
        return found

    def __repr__(self) -> str:
        return f"<Artifact {self.name or self.id}: {self.text or self.data!r}>"


class Task:
    """A task as it was when it was answered. ``exception`` is what its agent has raised, None for nothing."""

    def __init__(self, wire: Wire, exception: BaseException | None = None) -> None:
        self.wire = wire
        self.exception = exception

    @property
    def id(self) -> str:
        """Its id; ``a2a_django.models.Task.objects.get(pk=task.id)`` is its row."""
        found: str = self.wire["id"]
        return found

    @property
    def context_id(self) -> str:
        """The id of the conversation."""
        found: str = self.wire.get("contextId", "")
        return found

    @property
    def state(self) -> str:
        """Its state."""
        return state_of(self.wire["status"]["state"])

    @property
    def artifacts(self) -> list[Artifact]:
        """Its artifacts."""
        return [Artifact(wire) for wire in self.wire.get("artifacts", ())]

    @property
    def text(self) -> str:
        """The answer: the texts of all artifacts as one; where there are none, what the agent has said last."""
        if "artifacts" in self.wire:
            return "".join(artifact.text for artifact in self.artifacts)
        return self.message.text if self.message else ""

    @property
    def data(self) -> Any:
        """The value of the first data part of the artifacts, None without one."""
        return next((artifact.data for artifact in self.artifacts if artifact.data is not None), None)

    @property
    def files(self) -> list[bytes | str]:
        """The files of the artifacts."""
        return [file for artifact in self.artifacts for file in artifact.files]

    @property
    def message(self) -> Message | None:
        """The message of its status: what the agent has asked, or said at the end."""
        found = self.wire["status"].get("message")
        return Message(found) if found else None

    @property
    def history(self) -> list[Message]:
        """Its messages, oldest first."""
        return [Message(wire) for wire in self.wire.get("history", ())]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata that its agent has given it."""
        found: Mapping[str, Any] = self.wire.get("metadata", {})
        return found

    def __repr__(self) -> str:
        said = self.message.text if self.message else self.text
        raised = f"; the agent raised {self.exception!r}" if self.exception else ""
        return f"<Task {self.state}: {said!r}{raised}>"


class Event:
    """One event of a stream: a "task" or a "message" in front, then "status" and "artifact"."""

    _KINDS = {"statusUpdate": "status", "artifactUpdate": "artifact"}

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self._member = next(iter(wire))

    @property
    def kind(self) -> str:
        """Which kind it is."""
        return self._KINDS.get(self._member, self._member)

    @property
    def payload(self) -> Wire:
        """The object itself."""
        found: Wire = self.wire[self._member]
        return found

    @property
    def task_id(self) -> str:
        """The task it is about."""
        found: str = self.payload.get("id" if self.kind == "task" else "taskId", "")
        return found

    @property
    def state(self) -> str:
        """The state it tells, "" for none."""
        return state_of(self.payload["status"]["state"]) if "status" in self.payload else ""

    @property
    def artifact(self) -> Artifact | None:
        """The artifact, or the piece of one, that it brings."""
        return Artifact(self.payload["artifact"]) if self.kind == "artifact" else None

    @property
    def message(self) -> Message | None:
        """The message that it brings."""
        found = self.payload if self.kind == "message" else self.payload.get("status", {}).get("message")
        return Message(found) if found else None

    @property
    def text(self) -> str:
        """The text of the artifact or message that it brings."""
        found = self.artifact or self.message
        return found.text if found else ""

    @property
    def data(self) -> Any:
        """The data of the artifact or message that it brings."""
        found = self.artifact or self.message
        return found.data if found else None

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its metadata."""
        found: Mapping[str, Any] = self.payload.get("metadata", {})
        return found

    def __repr__(self) -> str:
        inner = " ".join(filter(None, (self.state, repr(self.text) if self.text else "")))
        return f"<Event {self.kind}: {inner}>"


def folded(events: Iterable[Event]) -> Wire | None:
    """Return the task that a reader of events has, None before the first."""
    rest: Iterator[Event] = iter(events)
    first = next(rest, None)
    if first is None or first.kind != "task":
        return None
    task = {"history": [], **copy.deepcopy(first.payload)}
    for event in rest:
        fold(task, copy.deepcopy(event.wire))
    if not task["history"]:
        del task["history"]
    return task
