"""The methods of the services: from a frame's bytes to a request, and from the text of an answer to bytes.

The table is made from the service's descriptor; no generated stubs are needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

import grpc
from google.protobuf.message import DecodeError, Message

from a2a_django.bindings import older, sse
from a2a_django.bindings.grpc.errors import Metadata, status_of
from a2a_django.operations import OPERATIONS, Operation
from a2a_django.protocol import codec, extensions
from a2a_django.protocol.errors import A2AError, InvalidParamsError, InvalidRequestError
from a2a_django.protocol.v1 import a2a_pb2
from a2a_django.protocol.versions import V1_0
from a2a_django.protocol.wire import Wire

SERVICE: Final = a2a_pb2.DESCRIPTOR.services_by_name["A2AService"]
SERVICE_NAME: Final = SERVICE.full_name


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC; ``answer`` is the name of its response message, "" where it answers with google.protobuf.Empty."""

    path: str
    operation: Operation
    request: type[Message]
    answer: str

    #: The version of the service, and the key of the metadata that tells which extensions are active.
    version: ClassVar[str] = V1_0
    extensions_key: ClassVar[str] = extensions.NAME.lower()

    def read(self, frame: bytes) -> Wire:
        """Return the request of version 1.0 in canonical form.

        Raises ``InvalidRequestError`` for bytes that are not the message, and ``InvalidParamsError`` with one
        violation for each wrong field.
        """
        return codec.from_message(self.parse(frame))

    def parse(self, frame: bytes) -> Message:
        """Return the message. Raises ``InvalidRequestError``, ``InvalidParamsError``."""
        try:
            return self.request.FromString(frame)
        except (DecodeError, UnicodeDecodeError) as error:
            raise self._unreadable(str(error)) from None

    def _unreadable(self, reason: str) -> A2AError:
        """Return the error for a frame that protobuf refuses; its reasons are only texts, so what is not known is one
        of the rest."""
        reason = reason.lower()
        if "depth" in reason or "recursion" in reason:
            return InvalidParamsError("Invalid parameters: the message is nested too deep")
        why = ": a string is not UTF-8" if "utf" in reason else ""
        return InvalidRequestError(f"The request is not a {self.request.DESCRIPTOR.full_name}{why}")

    def write(self, text: str) -> bytes:
        """Return the bytes of an answer that an operation gave as JSON text."""
        if not self.answer:
            return b""
        return codec.to_message(self.answer, json.loads(text)).SerializeToString()

    def frames(self, events: sse.Events) -> Frames:
        """Return the events of a stream as bytes, in lists of those that are ready now."""
        return _Frames(events, self.write)

    def status(self, error: A2AError) -> tuple[grpc.StatusCode, str, Metadata]:
        """Return status code, message and trailing metadata for an error."""
        return status_of(error)


class Frames(Protocol):
    """The events of a stream as bytes."""

    async def __anext__(self) -> list[bytes]: ...

    async def aclose(self) -> None: ...


class _Frames:
    """The events of an operation, written one by one."""

    def __init__(self, events: sse.Events, write: Callable[[str], bytes]) -> None:
        self._events = events
        self._write = write

    async def __anext__(self) -> list[bytes]:
        return [self._write(text) for text in await self._events.__anext__()]

    async def aclose(self) -> None:
        await self._events.aclose()


def _methods() -> dict[str, Method]:
    methods = {}
    for name, descriptor in SERVICE.methods_by_name.items():
        operation = OPERATIONS[name]
        if operation.streaming != descriptor.server_streaming or operation.request != descriptor.input_type.name:
            raise TypeError(f"Operation {name} is not the one of the service's descriptor")
        answer = descriptor.output_type
        path = f"/{SERVICE_NAME}/{name}"
        methods[path] = Method(
            path,
            operation,
            getattr(a2a_pb2, operation.request),
            answer.name if answer.file.package == SERVICE.file.package else "",
        )
    return methods


#: By the path of the HTTP/2 request.
METHODS: Final = _methods()


def services() -> dict[str, Mapping[str, Method]]:
    """Return the methods of the services that are answered, by the names of the services: that of 0.3 as well, if it is
    there and the site has it."""
    found: dict[str, Mapping[str, Method]] = {SERVICE_NAME: METHODS}
    if older.speaks_0_3():
        old = older.part("grpc")
        found[old.SERVICE_NAME] = old.METHODS
    return found
