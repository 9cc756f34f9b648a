"""Who is calling, and the owner that stands in the rows of the caller's tasks (R-253 to R-255)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest

from a2a_django.agents.callers import Application
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


def principal_of(user: Any, auth: Any) -> Any:
    """Return who is calling, for what an authenticator returned: mostly the user.

    Where it returned credentials without a user that belong to an ``application`` with a ``client_id``, as those of
    django-oauth-toolkit do, that application.
    """
    if auth is None or (user is not None and user.is_authenticated):
        return user
    client_id = getattr(getattr(auth, "application", None), "client_id", None)
    return Application(str(client_id)) if client_id else user


def owner_of(user: Any, auth: Any = None) -> str:
    """Return the owner for a caller: what ``A2A["OWNER_RESOLVER"]`` says, else the user's primary key.

    All anonymous callers share the owner "". A caller who is known, but as no user with a primary key, must not fall in
    with them: that raises ``ImproperlyConfigured`` and asks for a resolver.
    """
    resolver = a2a_settings.OWNER_RESOLVER
    if resolver is not None:
        return str(resolver(user, auth))
    known = user is not None and user.is_authenticated
    if not known and auth is None:
        return ""
    key = getattr(user, "pk", None) if known else None
    if key is None:
        raise ImproperlyConfigured('Authenticated callers without primary key need A2A["OWNER_RESOLVER"]')
    return str(key)
