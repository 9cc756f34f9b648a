"""The one table of errors: what goes wrong -> JSON-RPC code, HTTP status, gRPC status, ErrorInfo reason.

Every layer raises these classes and only these; each binding renders them in its own form (Spec 5.4, R-098 to R-100,
R-159). The numbers are those of specification 1.0.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

DOMAIN = "a2a-protocol.org"
ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


@dataclass(frozen=True, slots=True)
class Violation:
    """One wrong field of a request: its snake_case dotted path and what a right value looks like (R-094)."""

    field: str
    description: str


class A2AError(Exception):
    """An error with a place in the protocol.

    Arguments: ``message`` (text for the caller, default per class), ``violations`` (wrong fields) and ``metadata``
    (string to string, goes into the ErrorInfo). Nothing internal may be put into any of them.
    """

    code: ClassVar[int]
    http_status: ClassVar[int]
    grpc_status: ClassVar[str]
    reason: ClassVar[str]
    default: ClassVar[str]
    #: Seconds after which the caller may try again; only errors that pass by themselves have one (D-35).
    retry_after: int | None = None
    #: The value of WWW-Authenticate, where the answer asks for credentials or for better ones (R-089).
    challenge: str | None = None

    def __init__(
        self,
        message: str | None = None,
        *,
        violations: Iterable[Violation] = (),
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        self.message = message or self.default
        self.violations = tuple(violations)
        self.metadata = dict(metadata or {})
        super().__init__(self.message)

    def details(self) -> list[dict[str, Any]]:
        """Return the google.rpc detail objects in ProtoJSON form, ErrorInfo first (C1: some clients read only it)."""
        info: dict[str, Any] = {"@type": ERROR_INFO, "reason": self.reason, "domain": DOMAIN}
        if self.metadata:
            info["metadata"] = self.metadata
        details = [info]
        if self.violations:
            fields = [{"field": v.field, "description": v.description} for v in self.violations]
            details.append({"@type": BAD_REQUEST, "fieldViolations": fields})
        if self.retry_after is not None:
            details.append({"@type": RETRY_INFO, "retryDelay": f"{self.retry_after}s"})
        return details


class TaskNotFoundError(A2AError):
    """The task is unknown, purged, or not the caller's; the three look the same (R-092, R-096)."""

    code, http_status, grpc_status, reason = -32001, 404, "NOT_FOUND", "TASK_NOT_FOUND"
    default = "Task not found"


class TaskNotCancelableError(A2AError):
    """CancelTask on a task that has already ended (R-063, D-18)."""

    code, http_status, grpc_status, reason = -32002, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"
    default = "Task cannot be canceled"


class PushNotificationNotSupportedError(A2AError):
    """A push operation, or a push config inside a message, while the card says no (R-102)."""

    code, http_status, grpc_status, reason = -32003, 400, "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"
    default = "Push Notification is not supported"


class UnsupportedOperationError(A2AError):
    """The operation is not declared in the card, or the task has ended (R-033, R-067, R-079, R-103)."""

    code, http_status, grpc_status, reason = -32004, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"
    default = "This operation is not supported"


class ContentTypeNotSupportedError(A2AError):
    """The media type of a part, or of the request body, is not accepted (R-032, D-13)."""

    code, http_status, grpc_status, reason = -32005, 400, "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"
    default = "Incompatible content types"


class InvalidAgentResponseError(A2AError):
    """The agent's code published something that is not valid (D-33)."""

    code, http_status, grpc_status, reason = -32006, 500, "INTERNAL", "INVALID_AGENT_RESPONSE"
    default = "Invalid agent response"


class ExtendedAgentCardNotConfiguredError(A2AError):
    """The card declares an extended card, but there is none for this caller (R-080)."""

    code, http_status, grpc_status = -32007, 400, "FAILED_PRECONDITION"
    reason = "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
    default = "Authenticated Extended Card is not configured"


class ExtensionSupportRequiredError(A2AError):
    """The card requires an extension that the request did not activate (R-104, D-11)."""

    code, http_status, grpc_status, reason = -32008, 400, "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"
    default = "Extension support required"


class VersionNotSupportedError(A2AError):
    """A2A-Version names a version that is not served here (R-150, D-09)."""

    code, http_status, grpc_status, reason = -32009, 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"
    default = "Version not supported"


class ParseError(A2AError):
    """The body is not JSON (R-169)."""

    code, http_status, grpc_status, reason = -32700, 400, "INVALID_ARGUMENT", "JSON_PARSE"
    default = "Invalid JSON payload"


class InvalidRequestError(A2AError):
    """The body is JSON, but not a JSON-RPC 2.0 request (R-162)."""

    code, http_status, grpc_status, reason = -32600, 400, "INVALID_ARGUMENT", "INVALID_REQUEST"
    default = "Request payload validation error"


class MethodNotFoundError(A2AError):
    """No such method, or no such path."""

    code, http_status, grpc_status, reason = -32601, 404, "UNIMPLEMENTED", "METHOD_NOT_FOUND"
    default = "Method not found"


class MethodNotAllowedError(MethodNotFoundError):
    """The path exists, but not with this HTTP verb; ``allow`` lists the verbs that do."""

    http_status = 405
    default = "Method not allowed"

    def __init__(self, allow: Iterable[str]) -> None:
        self.allow = tuple(allow)
        super().__init__(metadata={"allow": ", ".join(self.allow)})


class InvalidParamsError(A2AError):
    """A field is missing or has a wrong value; ``violations`` names it (R-093, R-094)."""

    code, http_status, grpc_status, reason = -32602, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"
    default = "Invalid parameters"

    @classmethod
    def of(cls, field: str, description: str) -> InvalidParamsError:
        """Return the error for one wrong ``field`` (snake_case path)."""
        return cls(f"Invalid parameters: {field}: {description}", violations=[Violation(field, description)])


class InternalError(A2AError):
    """Something failed on our side; the log has the rest."""

    code, http_status, grpc_status, reason = -32603, 500, "INTERNAL", "INTERNAL_ERROR"
    default = "Internal error"


class UnavailableError(A2AError):
    """The server is shutting down or is full; the same call may work a little later (R-097)."""

    code, http_status, grpc_status, reason = -32603, 503, "UNAVAILABLE", "UNAVAILABLE"
    default = "Service temporarily unavailable"
    retry_after = 1


class UnauthenticatedError(A2AError):
    """Missing or bad credentials (R-088, D-14); ``challenge`` is the value of WWW-Authenticate."""

    code, http_status, grpc_status, reason = -31401, 401, "UNAUTHENTICATED", "UNAUTHENTICATED"
    default = "Authentication required"

    def __init__(self, message: str | None = None, *, challenge: str | None = None) -> None:
        super().__init__(message)
        self.challenge = challenge


class PermissionDeniedError(A2AError):
    """Authenticated, but not allowed (R-090, D-14)."""

    code, http_status, grpc_status, reason = -31403, 403, "PERMISSION_DENIED", "PERMISSION_DENIED"
    default = "Permission denied"


class RequestTooLargeError(A2AError):
    """The body is larger than ``MAX_BODY_BYTES`` (D-35)."""

    code, http_status, grpc_status, reason = -32600, 413, "RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE"
    default = "Request body too large"


class ThrottledError(A2AError):
    """The caller is over a rate or a quota (R-272, D-35); ``retry_after`` is in whole seconds."""

    code, http_status, grpc_status, reason = -32429, 429, "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"
    default = "Too many requests"

    def __init__(self, message: str | None = None, *, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after
