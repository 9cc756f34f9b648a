"""An error as gRPC tells it: status code, message, and ``grpc-status-details-bin`` with the ErrorInfo first (R-173,
R-174, C2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import grpc
from google.protobuf import json_format
from google.rpc import error_details_pb2, status_pb2

from a2a_django.protocol.errors import A2AError

DETAILS: Final = "grpc-status-details-bin"
CHALLENGE: Final = "www-authenticate"

#: Bytes of message and details. Clients in Java refuse more than 8 KiB of trailing metadata, base64 and overhead
#: included, and the caller then sees that error instead of ours.
MAX_MESSAGE: Final = 512
MAX_DETAILS: Final = 4096

Metadata = Sequence[tuple[str, str | bytes]]

# json_format finds the types inside an Any by their names, so they have to be loaded.
_TYPES: Final = (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo)


def status_of(error: A2AError, message: str | None = None) -> tuple[grpc.StatusCode, str, Metadata]:
    """Return status code, message and trailing metadata for an error (C1); ``message`` goes in the place of its own."""
    code = grpc.StatusCode[error.grpc_status]
    message = _cut(error.message if message is None else message)
    trailing: list[tuple[str, str | bytes]] = [(DETAILS, _details(code.value[0], message, error.details()))]
    if error.challenge:
        trailing.append((CHALLENGE, error.challenge))
    return code, message, trailing


def _cut(message: str) -> str:
    encoded = message.encode("utf-8", "replace")
    return message if len(encoded) <= MAX_MESSAGE else encoded[: MAX_MESSAGE - 3].decode("utf-8", "ignore") + "..."


def _details(code: int, message: str, details: list[dict[str, Any]]) -> bytes:
    """Return the serialized google.rpc.Status, with as many violations as there is room for."""
    while True:
        body = {"code": code, "message": message, "details": details}
        status: bytes = json_format.ParseDict(body, status_pb2.Status()).SerializeToString()
        if len(status) <= MAX_DETAILS:
            return status
        longest = next((detail for detail in details if len(detail.get("fieldViolations", ())) > 1), None)
        if longest is not None:
            longest["fieldViolations"].pop()
        elif len(details) > 1:
            details.pop()
        else:
            details[0].pop("metadata", None)
            message = ""
