"""The gRPC service of version 0.3, ``a2a.v1.A2AService``, beside that of 1.0 on the same port (facts 3)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar, Final

import grpc

from a2a_django.bindings import sse
from a2a_django.bindings.grpc.errors import Metadata, status_of
from a2a_django.bindings.grpc.methods import Frames, Method
from a2a_django.bindings.v0_3.errors import name_of
from a2a_django.bindings.v0_3.rpcs import RPCS, Rpc, event
from a2a_django.protocol import extensions
from a2a_django.protocol.errors import A2AError
from a2a_django.protocol.v0_3 import a2a_pb2
from a2a_django.protocol.v0_3.proto_cards import proto_card
from a2a_django.protocol.v0_3.protojson import CODEC
from a2a_django.protocol.versions import V0_3
from a2a_django.protocol.wire import Wire

SERVICE: Final = a2a_pb2.DESCRIPTOR.services_by_name["A2AService"]
SERVICE_NAME: Final = SERVICE.full_name

_CARD: Final = "AgentCard"


@dataclass(frozen=True, slots=True)
class OldMethod(Method):
    """One RPC of 0.3."""

    rpc: Rpc

    version: ClassVar[str] = V0_3
    extensions_key: ClassVar[str] = extensions.OLD_NAME.lower()

    def read(self, frame: bytes) -> Wire:
        """Return the request of version 1.0 in canonical form. Raises what that of ``Method`` raises."""
        return self.rpc.read(CODEC.from_message(self.parse(frame)))

    def write(self, text: str) -> bytes:
        """Return the bytes of an answer that an operation gave as JSON text."""
        return self._bytes(self.rpc.write(json.loads(text)))

    def frames(self, events: sse.Events) -> Frames:
        """Return the events of a stream as bytes."""
        return self.rpc.events(events, self._event)

    def _event(self, response: Wire, final: bool) -> bytes:
        return self._bytes(event(response, final))

    def _bytes(self, answer: Wire) -> bytes:
        if not self.answer:
            return b""
        if self.answer == _CARD:
            answer = proto_card(answer)
        return CODEC.to_message(self.answer, answer).SerializeToString()

    def status(self, error: A2AError) -> tuple[grpc.StatusCode, str, Metadata]:
        """Return the status of an error, whose text begins with the error's name: some clients read nothing else."""
        return status_of(error, f"{name_of(error)}: {error.message}")


def _methods() -> dict[str, OldMethod]:
    methods = {}
    for rpc in RPCS.values():
        descriptor = SERVICE.methods_by_name[rpc.name]
        if rpc.operation.streaming != descriptor.server_streaming or rpc.request != descriptor.input_type.name:
            raise TypeError(f"RPC {rpc.name} is not the one of the service's descriptor")
        answer = descriptor.output_type
        path = f"/{SERVICE_NAME}/{rpc.name}"
        methods[path] = OldMethod(
            path,
            rpc.operation,
            getattr(a2a_pb2, rpc.request),
            answer.name if answer.file.package == SERVICE.file.package else "",
            rpc,
        )
    return methods


#: By the path of the HTTP/2 request.
METHODS: Final = _methods()
