"""What a run of an agent gets into its hands."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from a2a_django.agents import content
from a2a_django.protocol import codec
from a2a_django.protocol.changes import ArtifactChunk, StatusChange
from a2a_django.protocol.errors import InvalidAgentResponseError
from a2a_django.protocol.states import TaskState
from a2a_django.protocol.wire import Wire

if TYPE_CHECKING:
    from a2a_django.agents.base import Agent
    from a2a_django.agents.types import Extension
    from a2a_django.models import Task
    from a2a_django.protocol.v1 import a2a_pb2


#: Characters of JSON that a run may keep for the next one; it is a place to go on from, not a store.
MAX_CHECKPOINT: Final = 1_048_576


class RunHandle(Protocol):
    """The engine's side of a run; see ``a2a_django.engine.run``."""

    agent: Agent
    task_id: str
    context_id: str
    task: Task | None
    message: Wire
    request: Wire
    past: Sequence[str]
    references: Sequence[Task]
    user: Any
    tenant: str
    tries: int
    checkpoint_text: str | None
    stopped: bool

    async def publish(self, changes: Sequence[StatusChange | ArtifactChunk]) -> None: ...
    def publish_blocking(self, changes: Sequence[StatusChange | ArtifactChunk]) -> None: ...
    async def checkpoint(self, text: str) -> None: ...
    def checkpoint_blocking(self, text: str) -> None: ...
    def reply(self, message: Wire) -> None: ...
    async def conversation(self) -> list[str]: ...
    def conversation_blocking(self) -> list[str]: ...
    async def read_file(self, url: str) -> bytes: ...
    def read_file_blocking(self, url: str) -> bytes: ...


class BaseContext:
    """What is known about a run; the same for asynchronous and plain agents."""

    def __init__(self, handle: RunHandle) -> None:
        self._handle = handle

    @cached_property
    def message(self) -> a2a_pb2.Message:
        """The message to work on (protobuf)."""
        message: a2a_pb2.Message = codec.to_message("Message", self._handle.message)  # type: ignore[assignment]
        return message

    @cached_property
    def text(self) -> str:
        """The text parts of the message, joined by newlines."""
        return "\n".join(part["text"] for part in self._handle.message["parts"] if "text" in part)

    @cached_property
    def data(self) -> Any:
        """The value of the message's first data part, None when it has none."""
        return next((part["data"] for part in self._handle.message["parts"] if "data" in part), None)

    @cached_property
    def files(self) -> list[a2a_pb2.Part]:
        """The message's file parts: bytes (``raw``) or a reference (``url``)."""
        return [part for part in self.message.parts if part.WhichOneof("content") in ("raw", "url")]

    @property
    def task(self) -> Task | None:
        """The task's row as it was when the run began; None while there is none (mode "auto", "message")."""
        return self._handle.task

    @property
    def task_id(self) -> str:
        """The id of the task."""
        return self._handle.task_id

    @property
    def context_id(self) -> str:
        """The id of the conversation."""
        return self._handle.context_id

    @property
    def user(self) -> Any:
        """Who sent the message: a user of the site or an AnonymousUser."""
        return self._handle.user

    @property
    def operator(self) -> Any:
        """The operator of the site who wrote the message in the admin, in the place of the task's owner; None when the
        owner wrote it. Nothing that a caller sends can bring this about, so an approval may rest on it."""
        return self._handle.user if self._handle.request.get("operator") is True else None

    @property
    def tenant(self) -> str:
        """The tenant of the request, "" when it named none."""
        return self._handle.tenant

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata of the request (that of the message is in ``message``)."""
        found: Mapping[str, Any] = self._handle.request.get("metadata", {})
        return found

    @property
    def extensions(self) -> Sequence[str]:
        """The URIs of the extensions that are active for this request (R-229)."""
        return tuple(self._handle.request.get("extensions", ()))

    def extension(self, uri: str) -> Extension | None:
        """Return an extension as the agent declares it, with its ``params``, if it is active for this request."""
        if uri not in self.extensions:
            return None
        return next((each for each in self._handle.agent.extensions if each.uri == uri), None)

    @property
    def accepted_output_modes(self) -> Sequence[str]:
        """The media types the caller would like to get; empty: it did not say (R-040)."""
        return tuple(self._handle.request.get("acceptedOutputModes", ()))

    @property
    def traceparent(self) -> str:
        """The W3C trace context that the request came with, "" without; pass it on to what the agent calls."""
        found: str = self._handle.request.get("traceparent", "")
        return found

    @cached_property
    def history(self) -> list[a2a_pb2.Message]:
        """The task's messages up to the current one, oldest first, the current one last."""
        return [*_messages(self._handle.past), self.message]

    @property
    def references(self) -> Sequence[Task]:
        """The rows of the tasks the message refers to, those of them that the caller may see (R-120)."""
        return self._handle.references

    @property
    def attempt(self) -> int:
        """Which run of this message it is: 1, and more after the process of an earlier one was lost."""
        return self._handle.tries

    @property
    def checkpoint_data(self) -> Any:
        """What an earlier run of this message has left with ``checkpoint``, None when there is nothing."""
        text = self._handle.checkpoint_text
        return None if text is None else json.loads(text)

    @property
    def cancelled(self) -> bool:
        """Whether the task was cancelled or has otherwise been taken from this run."""
        return self._handle.stopped

    def _status(self, state: TaskState, message: Any, metadata: Mapping[str, Any] | None) -> StatusChange:
        return content.status_change(
            state.value, message, metadata, task_id=self._handle.task_id, context_id=self._handle.context_id
        )

    def _artifact(self, parts: Sequence[Any], **options: Any) -> ArtifactChunk:
        return content.artifact_chunk(
            parts, task_id=self._handle.task_id, context_id=self._handle.context_id, **options
        )

    def _event(self, event: Any) -> list[StatusChange | ArtifactChunk]:
        changes, message = content.event_changes(
            event, task_id=self._handle.task_id, context_id=self._handle.context_id
        )
        if message is not None:
            self._handle.reply(message)
        return changes

    def _reply(self, parts: Sequence[Any]) -> None:
        values: Any = parts[0] if len(parts) == 1 else tuple(parts)
        self._handle.reply(content.message_of(values, task_id="", context_id=self._handle.context_id))


class TaskContext(BaseContext):
    """The context of an asynchronous agent.

    The methods return when what was said is on its way into the database, in order; a run that says more than can be
    stored waits. ``TaskEnded`` is raised once the task is no longer this run's, ``InvalidAgentResponse`` for something
    that may not be published; left alone, the latter fails the task.
    """

    async def working(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """Report that work goes on; ``message`` is text, a Part, or several."""
        await self._handle.publish([self._status(TaskState.WORKING, message, metadata)])

    async def input_required(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """Ask back: the task waits for the next message (R-119). Return after it."""
        await self._handle.publish([self._status(TaskState.INPUT_REQUIRED, message, metadata)])

    async def auth_required(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """Say that a credential is needed, and which (R-261); go on when it has come, or return."""
        await self._handle.publish([self._status(TaskState.AUTH_REQUIRED, message, metadata)])

    async def complete(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """End the task: done."""
        await self._handle.publish([self._status(TaskState.COMPLETED, message, metadata)])

    async def fail(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """End the task: it did not work."""
        await self._handle.publish([self._status(TaskState.FAILED, message, metadata)])

    async def reject(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """End the task: the agent will not do it."""
        await self._handle.publish([self._status(TaskState.REJECTED, message, metadata)])

    async def artifact(
        self,
        *parts: Any,
        artifact_id: str | None = None,
        name: str = "",
        description: str = "",
        metadata: Mapping[str, Any] | None = None,
        append: bool = False,
        last_chunk: bool = False,
    ) -> str:
        """Add an artifact, or with ``append`` a piece to one; returns its id."""
        chunk = self._artifact(
            parts,
            artifact_id=artifact_id,
            name=name,
            description=description,
            metadata=metadata,
            append=append,
            last_chunk=last_chunk,
        )
        await self._handle.publish([chunk])
        return chunk.artifact_id

    async def reply(self, *parts: Any) -> None:
        """Answer with one message and no task (modes "auto" and "message")."""
        self._reply(parts)

    async def publish(self, event: Any) -> None:
        """Publish a StreamResponse, or one of its members, as protobuf or ProtoJSON dict (D-33)."""
        await self._handle.publish(self._event(event))

    async def checkpoint(self, data: Any) -> None:
        """Keep how far the run has come, for the one that goes on after a loss; replaces what was kept before.

        ``data`` is what JSON can say, at most ``MAX_CHECKPOINT`` characters of it. It and everything said before is
        committed when this returns. Raises ``TypeError`` and ``ValueError`` for other data.
        """
        await self._handle.checkpoint(_json_of(data))

    async def conversation(self) -> list[a2a_pb2.Message]:
        """Return all earlier messages of the context that belong to the caller, of all its tasks, oldest first."""
        return _messages(await self._handle.conversation())

    async def read(self, part: a2a_pb2.Part) -> bytes:
        """Return the bytes of a file part: of the message, its history or the conversation.

        Large parts of earlier messages are references to the site's storage (``A2A["FILE_STORAGE"]``). Raises
        ``FileNotFoundError`` for a part that has no bytes on this site, and what the storage raises.
        """
        return part.raw if part.WhichOneof("content") == "raw" else await self._handle.read_file(part.url)


class SyncTaskContext(BaseContext):
    """The context of an agent that is a plain function: the same methods, blocking.

    What was said is committed when the method returns; inside ``transaction.atomic()`` it joins that transaction.
    """

    def working(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """Report that work goes on."""
        self._handle.publish_blocking([self._status(TaskState.WORKING, message, metadata)])

    def input_required(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """Ask back: the task waits for the next message (R-119). Return after it."""
        self._handle.publish_blocking([self._status(TaskState.INPUT_REQUIRED, message, metadata)])

    def auth_required(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """Say that a credential is needed, and which (R-261)."""
        self._handle.publish_blocking([self._status(TaskState.AUTH_REQUIRED, message, metadata)])

    def complete(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """End the task: done."""
        self._handle.publish_blocking([self._status(TaskState.COMPLETED, message, metadata)])

    def fail(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """End the task: it did not work."""
        self._handle.publish_blocking([self._status(TaskState.FAILED, message, metadata)])

    def reject(self, message: Any = None, *, metadata: Mapping[str, Any] | None = None) -> None:
        """End the task: the agent will not do it."""
        self._handle.publish_blocking([self._status(TaskState.REJECTED, message, metadata)])

    def artifact(
        self,
        *parts: Any,
        artifact_id: str | None = None,
        name: str = "",
        description: str = "",
        metadata: Mapping[str, Any] | None = None,
        append: bool = False,
        last_chunk: bool = False,
    ) -> str:
        """Add an artifact, or with ``append`` a piece to one; returns its id."""
        chunk = self._artifact(
            parts,
            artifact_id=artifact_id,
            name=name,
            description=description,
            metadata=metadata,
            append=append,
            last_chunk=last_chunk,
        )
        self._handle.publish_blocking([chunk])
        return chunk.artifact_id

    def reply(self, *parts: Any) -> None:
        """Answer with one message and no task (modes "auto" and "message")."""
        self._reply(parts)

    def publish(self, event: Any) -> None:
        """Publish a StreamResponse, or one of its members, as protobuf or ProtoJSON dict (D-33)."""
        self._handle.publish_blocking(self._event(event))

    def checkpoint(self, data: Any) -> None:
        """Keep how far the run has come, for the one that goes on after a loss; replaces what was kept before.

        ``data`` is what JSON can say, at most ``MAX_CHECKPOINT`` characters of it. Raises ``TypeError`` and
        ``ValueError`` for other data.
        """
        self._handle.checkpoint_blocking(_json_of(data))

    def conversation(self) -> list[a2a_pb2.Message]:
        """Return all earlier messages of the context that belong to the caller, of all its tasks, oldest first."""
        return _messages(self._handle.conversation_blocking())

    def read(self, part: a2a_pb2.Part) -> bytes:
        """Return the bytes of a file part: of the message, its history or the conversation.

        Large parts of earlier messages are references to the site's storage (``A2A["FILE_STORAGE"]``). Raises
        ``FileNotFoundError`` for a part that has no bytes on this site, and what the storage raises.
        """
        return part.raw if part.WhichOneof("content") == "raw" else self._handle.read_file_blocking(part.url)


def _json_of(data: Any) -> str:
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    if len(text) > MAX_CHECKPOINT:
        raise ValueError(f"A checkpoint has at most {MAX_CHECKPOINT} characters of JSON, not {len(text)}")
    return text


def _messages(texts: Sequence[str]) -> list[a2a_pb2.Message]:
    return [codec.to_message("Message", json.loads(text)) for text in texts]  # type: ignore[misc]


InvalidAgentResponse = InvalidAgentResponseError
