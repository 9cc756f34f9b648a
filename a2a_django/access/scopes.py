"""Scopes: what a credential may be used for, whoever its user is (R-252)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView


class HasScope(BasePermission):
    """Lets in whose credentials have all of ``required_scopes``: API keys, tokens of OpenID Connect and OAuth.

    Derive a class for a setting, or write ``permissions = [HasScope.of("orders:read")]`` in an agent. Credentials that
    know no scopes, such as passwords and sessions, have none.
    """

    required_scopes: ClassVar[Sequence[str]] = ()

    @classmethod
    def of(cls, *scopes: str) -> type[HasScope]:
        """Return the permission class that asks for these scopes."""
        return type("HasScope", (cls,), {"required_scopes": scopes, "__module__": __name__})

    @property
    def message(self) -> str:
        """What a caller is told who lacks one (R-091)."""
        return f"The credentials need the scope {' '.join(self.required_scopes)}"

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the credentials of the request have all scopes."""
        return scopes_of(request.auth).issuperset(self.required_scopes)


def scopes_of(auth: Any) -> frozenset[str]:
    """Return the scopes of what an authenticator returned beside the user, in any of the usual forms."""
    if auth is None:
        return frozenset()
    for name in ("scope", "scp", "scopes"):
        # A token of django-oauth-toolkit has a text; one of simplejwt is a mapping of claims.
        value = getattr(auth, name, None)
        if value is None and (isinstance(auth, Mapping) or hasattr(auth, "payload")):
            value = auth.get(name)
        if isinstance(value, str):
            return frozenset(value.split())
        if isinstance(value, Iterable):
            return frozenset(map(str, value))
    return frozenset()


def scope_challenge(permissions: Iterable[Any], auth: Any) -> str | None:
    """Return the challenge that tells which scopes the credentials lack (RFC 6750, 3.1); None when that is not it."""
    held = scopes_of(auth)
    for permission in permissions:
        required = getattr(permission, "required_scopes", None)
        if isinstance(permission, HasScope) and required and not held.issuperset(required):
            return f'Bearer error="insufficient_scope", scope="{" ".join(required)}"'
    return None
