"""The signed form of an agent card (spec 8.4; R-207 to R-215, D-27).

What is signed is not the card's text but its canonical form, which every reader makes anew: the content of version 1.0
without signatures, in the JSON Canonicalization Scheme (RFC 8785).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import rfc8785
from google.api import field_behavior_pb2
from google.protobuf.message import Message
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key

from a2a_django.protocol import codec
from a2a_django.protocol.wire import Wire

#: Algorithms that a signature may have: none with a shared secret, and not "none".
ALGORITHMS: Final = ("ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")

#: Beyond it the library takes floats only.
_LARGEST_INTEGER: Final = 2**53 - 1

#: Returns the key that the protected header of a signature names, None for one that the reader does not trust.
FindKey = Callable[[Mapping[str, Any]], Key | None]


class _Registry(jws.JWSRegistry):
    """A card may be longer than the tokens that the library's limits are made for."""

    max_header_length = 8 * 1024
    max_payload_length = 16 * 1024 * 1024


def canonical(card: Wire) -> bytes:
    """Return the form of a card that a signature covers (R-207 to R-211).

    Fields that were set and REQUIRED ones stay also when they are empty, others are left out when they are; what is
    not of version 1.0 is no part of it. Raises ``InvalidParamsError`` for what is no card.
    """
    return _text(_content(card))


def without_empty(card: Wire) -> bytes:
    """Return the form that the SDKs make in place of the specification's: without anything that is empty (D-27).

    It differs where something is there and empty: a requirement without scopes, ``skills: []``. Raises as
    ``canonical``.
    """
    return _text(_pruned(_content(card)) or {})


def _content(card: Wire) -> Wire:
    content = codec.decode("AgentCard", card)
    content.pop("signatures", None)
    return content


def _text(content: Any) -> bytes:
    return rfc8785.dumps(_as_doubles(content))


def _as_doubles(value: Any) -> Any:
    """Return a value whose numbers are written as those of JavaScript, to which all integers are doubles."""
    if isinstance(value, dict):
        return {name: _as_doubles(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_doubles(item) for item in value]
    return float(value) if type(value) is int and abs(value) > _LARGEST_INTEGER else value


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        value = {name: kept for name, item in value.items() if (kept := _pruned(item)) is not None}
    elif isinstance(value, list):
        value = [kept for item in value if (kept := _pruned(item)) is not None]
    return None if value in ("", [], {}) else value


def empty_required(card: Wire) -> list[str]:
    """Return the paths of REQUIRED fields that are empty, such as ``skills[0].tags``. Raises as ``canonical``."""
    return list(_empty(codec.to_message("AgentCard", codec.decode("AgentCard", card)), ""))


def _empty(message: Message, path: str) -> Iterator[str]:
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        inner = field.message_type
        where = path + field.json_name
        required = field_behavior_pb2.REQUIRED in field.GetOptions().Extensions[field_behavior_pb2.field_behavior]
        if required and not value and (inner is None or field.is_repeated):
            yield where
        elif inner is None or inner.file is not message.DESCRIPTOR.file:
            continue
        elif inner.GetOptions().map_entry:
            if inner.fields_by_name["value"].message_type is not None:
                for name in value:
                    yield from _empty(value[name], f"{where}.{name}.")
        elif field.is_repeated:
            for number, item in enumerate(value):
                yield from _empty(item, f"{where}[{number}].")
        elif message.HasField(field.name):
            yield from _empty(value, f"{where}.")


def good_signatures(card: Wire, find_key: FindKey) -> list[Mapping[str, Any]]:
    """Return the protected headers of the signatures that are right, by a key that ``find_key`` gives (R-215).

    One is enough to trust the card (R-216). Raises as ``canonical``.
    """
    forms = {canonical(card), without_empty(card)}
    return [
        header
        for entry in codec.decode("AgentCard", card).get("signatures", ())
        if (header := _header(entry)) is not None and (key := find_key(header)) is not None
        if any(_is_right(entry, form, key) for form in forms)
    ]


def _header(entry: Wire) -> Mapping[str, Any] | None:
    text = str(entry.get("protected", ""))
    try:
        header = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return header if isinstance(header, dict) else None


def _is_right(entry: Wire, payload: bytes, key: Key) -> bool:
    encoded = base64.urlsafe_b64encode(payload).rstrip(b"=").decode("ascii")
    token = f"{entry.get('protected')}.{encoded}.{entry.get('signature')}"
    try:
        jws.deserialize_compact(token, key, registry=_Registry(algorithms=ALGORITHMS))
    except (JoseError, ValueError, TypeError):  # the last for members of the header that are of other kinds
        return False
    return True
