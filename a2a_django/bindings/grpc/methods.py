"""The methods of the service: from a frame's bytes to a request, and from the text of an answer to bytes.

The table is made from the service's descriptor; no generated stubs are needed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import DecodeError, Message

from a2a_django.operations import OPERATIONS, Operation
from a2a_django.protocol import codec
from a2a_django.protocol.errors import A2AError, InvalidParamsError, InvalidRequestError
from a2a_django.protocol.v1 import a2a_pb2
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

    def read(self, frame: bytes) -> Wire:
        """Return the request in canonical form.

        Raises ``InvalidRequestError`` for bytes that are not the message, and ``InvalidParamsError`` with one
        violation for each wrong field.
        """
        try:
            message = self.request.FromString(frame)
        except (DecodeError, UnicodeDecodeError) as error:
            raise self._unreadable(str(error)) from None
        return codec.from_message(message)

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
