"""The public keys of a site over HTTP: its JSON Web Key Set (RFC 7517)."""

from __future__ import annotations

from collections.abc import Mapping

from a2a_django.bindings import documents
from a2a_django.bindings.documents import Document
from a2a_django.bindings.http import Answer
from a2a_django.protocol.errors import MethodNotFoundError
from a2a_django.protocol.wire import text_of
from a2a_django.signing import public_jwks


async def handle(method: str, headers: Mapping[str, str]) -> Answer:
    """Answer a request for the key set: 404 where the site has no keys. Never raises but for cancellation."""
    return await documents.answer(method, headers, _keys)


async def _keys() -> Document:
    found = public_jwks()
    if not found["keys"]:
        raise MethodNotFoundError("This site has no signing keys")
    return Document(text_of(found).encode("ascii"))
