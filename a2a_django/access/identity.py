"""Who is calling, and the owner that stands in the rows of the caller's tasks (R-253 to R-255)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest

from a2a_django.conf import a2a_settings


@dataclass(frozen=True, slots=True)
class Identity:
    """The caller of one request.

    ``user`` and ``auth`` are what the authenticator returned (``AnonymousUser`` and None for nobody); tasks are found
    by ``owner`` and by nothing else. ``request`` is there for the permission classes of single agents.
    """

    user: Any
    owner: str
    auth: Any = None
    request: HttpRequest | None = None


def owner_of(user: Any, auth: Any = None) -> str:
    """Return the owner for a caller: what ``A2A["OWNER_RESOLVER"]`` says, else the user's primary key.

    All anonymous callers share the owner "". An authenticated user without a primary key must not fall in with them:
    that raises ``ImproperlyConfigured`` and asks for a resolver.
    """
    resolver = a2a_settings.OWNER_RESOLVER
    if resolver is not None:
        return str(resolver(user, auth))
    if user is None or not user.is_authenticated:
        return ""
    key = getattr(user, "pk", None)
    if key is None:
        raise ImproperlyConfigured('Authenticated users without primary key need A2A["OWNER_RESOLVER"]')
    return str(key)
