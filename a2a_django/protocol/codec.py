"""ProtoJSON in and out: requests become plain dicts in canonical form, checked once for all bindings (A6).

*Canonical* means: lowerCamelCase names, enum names, no unknown members, no nulls but the value of a data part, no
defaults except where presence counts (``optional`` fields, members of a oneof, messages), times in UTC, standard
base64, numbers as a double has them with whole ones as int. Equal canonical forms mean equal messages.

The functions here are those of A2A 1.0; each other version has a ``Codec`` of its own.
"""

from __future__ import annotations

from typing import Any, Protocol

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message import Message

from a2a_django.protocol import query
from a2a_django.protocol.faults import Fault, below, invalid_params
from a2a_django.protocol.json_text import dumps, parse_json
from a2a_django.protocol.scalars import INT32_MAX
from a2a_django.protocol.schema import Rules, Schema
from a2a_django.protocol.v1 import a2a_pb2
from a2a_django.protocol.wire import Wire

__all__ = [
    "MAX_ID_LENGTH",
    "Codec",
    "Rules",
    "Wire",
    "decode",
    "decode_query",
    "dumps",
    "from_message",
    "parse_json",
    "to_message",
]

#: Characters in an id or tenant; far beyond any real one, and short enough for an index of every database.
MAX_ID_LENGTH = 1024


class Module(Protocol):
    """A generated module, with its messages."""

    DESCRIPTOR: FileDescriptor


class Codec:
    """Reads and writes the messages of one generated module, under its rules."""

    def __init__(self, module: Module, rules: Rules) -> None:
        self._module = module
        self._schema = Schema(module.DESCRIPTOR, rules)

    def decode(self, message: str, value: Any, *, prefix: str = "") -> Wire:
        """Return the canonical form of a parsed JSON value as the named message ("SendMessageRequest", ...).

        The result shares no list or dict with ``value``. Raises ``InvalidParamsError`` with one violation for each
        wrong field; the paths are snake_case and start with ``prefix`` where one is given.
        """
        try:
            return self._schema[message].from_json(value)
        except Fault as fault:
            items = below(prefix, fault.items)
        raise invalid_params(items)

    def decode_query(self, message: str, pairs: list[tuple[str, str]]) -> Wire:
        """Return the canonical form of query parameters, decoded but otherwise as they came, as the named message
        (R-181).

        Add the fields of the path as further pairs: one that the query contradicts is then refused.

        Raises ``InvalidParamsError`` with one violation for each wrong field.
        """
        try:
            return query.read(self._schema[message], pairs)
        except Fault as fault:
            items = fault.items
        raise invalid_params(items)

    def from_message(self, message: Message, *, prefix: str = "") -> Wire:
        """Return the canonical form of a protobuf message, under the same rules as ``decode``.

        Takes messages of any descriptor pool, so also those of the official SDK. Raises ``InvalidParamsError`` with one
        violation for each wrong field, and ``KeyError`` for messages of another package.
        """
        kind = self._schema.of(message.DESCRIPTOR.full_name)
        try:
            return kind.from_proto(message)
        except Fault as fault:
            items = below(prefix, fault.items)
        raise invalid_params(items)

    def to_message(self, message: str, wire: Wire) -> Message:
        """Return a canonical object as a protobuf message of the module.

        ``wire`` is trusted: it comes from ``decode``, ``from_message`` or the engine. Raises ``KeyError`` for members
        that the message does not have.
        """
        result: Message = getattr(self._module, message)()
        self._schema[message].fill(wire, result)
        return result


#: A2A 1.0.
V1 = Codec(
    a2a_pb2,
    Rules(
        ids=frozenset({"id", "tenant", "message_id", "context_id", "task_id", "artifact_id", "reference_task_ids"}),
        id_limit=MAX_ID_LENGTH,
        ranges={
            ("", "history_length"): (0, INT32_MAX),
            ("ListTasksRequest", "page_size"): (1, 100),
            ("ListTaskPushNotificationConfigsRequest", "page_size"): (0, INT32_MAX),  # D-17: 0 is "not set"
        },
        may_be_empty=frozenset(
            {
                "ListTasksResponse",
                # The agent card and what is only found in it: `skills: []` is usual (D-24).
                "AgentCard",
                "AgentInterface",
                "AgentProvider",
                "AgentCapabilities",
                "AgentExtension",
                "AgentSkill",
                "AgentCardSignature",
                "SecurityRequirement",
                "SecurityScheme",
                "APIKeySecurityScheme",
                "HTTPAuthSecurityScheme",
                "OAuth2SecurityScheme",
                "OpenIdConnectSecurityScheme",
                "MutualTlsSecurityScheme",
                "OAuthFlows",
                "AuthorizationCodeOAuthFlow",
                "ClientCredentialsOAuthFlow",
                "ImplicitOAuthFlow",
                "PasswordOAuthFlow",
                "DeviceCodeOAuthFlow",
            }
        ),
    ),
)

decode = V1.decode
decode_query = V1.decode_query
from_message = V1.from_message
to_message = V1.to_message
