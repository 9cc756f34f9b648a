"""The site's access policy: its REST framework authenticators, permissions and throttles, for every binding (R-250).

Those classes may block (sessions, caches, queries), so they get a thread. What needs none is decided at once: open
access, and API keys that were looked up a moment ago.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.core.signals import setting_changed
from django.http import Http404, HttpRequest
from django.utils import translation
from django.utils.module_loading import import_string
from rest_framework import exceptions
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from a2a_django.access import failures
from a2a_django.access.identity import Identity, owner_of, principal_of
from a2a_django.access.scopes import scope_challenge
from a2a_django.conf import a2a_settings
from a2a_django.engine.database import patiently
from a2a_django.protocol.errors import (
    A2AError,
    MethodNotFoundError,
    PermissionDeniedError,
    ThrottledError,
    UnauthenticatedError,
    UnavailableError,
)


class PolicyView(APIView):
    """A REST framework view with the policy of ``A2A`` instead of that of ``REST_FRAMEWORK``."""

    def get_authenticators(self) -> list[Any]:
        """Return the authenticators of ``A2A["AUTHENTICATION_CLASSES"]``."""
        return [make() for make in a2a_settings.AUTHENTICATION_CLASSES]

    def get_permissions(self) -> list[Any]:
        """Return the permissions of ``A2A["PERMISSION_CLASSES"]``."""
        return [make() for make in a2a_settings.PERMISSION_CLASSES]

    def get_throttles(self) -> list[Any]:
        """Return the throttles of ``A2A["THROTTLE_CLASSES"]``."""
        return [make() for make in a2a_settings.THROTTLE_CLASSES]

    def get_authenticate_header(self, request: Request) -> str | None:  # type: ignore[override]  # None as in the base
        """Return the challenges of all authenticators, not only of the first: a caller may have any of them (R-089)."""
        found = (authenticator.authenticate_header(request) for authenticator in self.get_authenticators())
        return ", ".join(dict.fromkeys(filter(None, found))) or None


async def authenticate(http_request: HttpRequest, view: APIView | None = None) -> Identity:
    """Return who is calling, when the site's policy lets the call in.

    ``view`` is the REST framework view that permission classes see; by default one that belongs to no address. Raises
    ``UnauthenticatedError``, ``PermissionDeniedError`` or ``ThrottledError``.
    """
    identity = recognise(http_request)
    if identity is None:
        # The classes mostly read (users, keys, sessions): a lost connection is no reason to turn a caller away.
        identity = await sync_to_async(patiently)(partial(_check, http_request, view))
    return identity


def recognise(http_request: HttpRequest) -> Identity | None:
    """Return who is calling where that can be said without a thread; None where ``authenticate`` has to be asked."""
    return _shortcut()(http_request)


async def permit(identity: Identity, permissions: Any, *, tenant: str = "") -> None:
    """Check further permission classes (or dotted paths of them), those of one agent.

    They find the ``tenant`` of the call in ``view.kwargs["tenant"]``, "" for none. Raises
    ``UnauthenticatedError`` or ``PermissionDeniedError``.
    """
    if permissions:
        await sync_to_async(_check_permissions)(identity, permissions, tenant)


def challenge_for(identity: Identity) -> str | None:
    """Return the value of WWW-Authenticate with which the site asks for credentials, if it can take any."""
    view = PolicyView()
    view.setup(identity.request or HttpRequest())
    challenge: str | None = view.get_authenticate_header(Request(view.request))
    return challenge


def _check(http_request: HttpRequest, view: APIView | None) -> Identity:
    if view is None:
        view = PolicyView()
        view.setup(http_request)
    request = view.request = Request(http_request, authenticators=view.get_authenticators())
    failures.admit(http_request)
    # Errors on the wire are English, whatever the language of the request (and people read the log).
    with translation.override("en"):
        try:
            view.perform_authentication(request)
            request.user = principal_of(request.user, request.auth)
            if request.successful_authenticator:
                failures.note_good(http_request)
            view.check_permissions(request)
            view.check_throttles(request)
        except Exception as error:
            raise _refused(error, view, request) from error
    return Identity(request.user, owner_of(request.user, request.auth), request.auth, http_request)


def _check_permissions(identity: Identity, permissions: Any, tenant: str) -> None:
    view = PolicyView()
    view.setup(identity.request or HttpRequest(), tenant=tenant)
    request = view.request = Request(view.request, authenticators=view.get_authenticators())
    request.user, request.auth = identity.user, identity.auth
    made = [(import_string(each) if isinstance(each, str) else each)() for each in permissions]
    with translation.override("en"):
        for permission in made:
            try:
                allowed = permission.has_permission(request, view)
            except Exception as error:
                raise _refused(error, view, request, made) from error
            if not allowed:
                denied: Exception = exceptions.PermissionDenied(getattr(permission, "message", None))
                if identity.user is None or not identity.user.is_authenticated:
                    denied = exceptions.NotAuthenticated()
                raise _refused(denied, view, request, made)


def still_permitted(
    identity: Identity, user: Any, auth: Any, permissions: Sequence[Any], tenant: str
) -> A2AError | None:
    """Return what the site's and an agent's permissions say of a caller now, None when they let the caller in.

    ``user`` and ``auth`` stand in the place of those of ``identity`` where they are not None: they are newer. Raises
    what a permission raises that has no place in the protocol.
    """
    now = replace(identity, user=user or identity.user, auth=auth or identity.auth)
    try:
        _check_permissions(now, [*a2a_settings.PERMISSION_CLASSES, *permissions], tenant)
    except A2AError as error:
        return error
    return None


def _refused(error: Exception, view: APIView, request: Request, permissions: Sequence[Any] | None = None) -> Exception:
    """Return the error of the protocol for what a class of the site raised, after a note of it."""
    known = _translated(error, view, request)
    user = getattr(request, "_user", None)
    if isinstance(known, PermissionDeniedError):
        made = view.get_permissions() if permissions is None else permissions
        known.challenge = scope_challenge(made, getattr(request, "_auth", None))
    failures.note(request._request, known, user)
    return known


def _translated(error: Exception, view: APIView, request: Request) -> Exception:
    """Return the error of the protocol for what an authenticator, permission or throttle raised."""
    if isinstance(error, exceptions.Throttled):
        return ThrottledError(retry_after=max(1, math.ceil(getattr(error, "wait", None) or 1)))
    if isinstance(error, exceptions.NotAuthenticated | exceptions.AuthenticationFailed):
        return UnauthenticatedError(_text(error), challenge=view.get_authenticate_header(request))
    if isinstance(error, Http404 | exceptions.NotFound):
        return MethodNotFoundError()
    if isinstance(error, PermissionDenied):
        return PermissionDeniedError(str(error) or None)
    if isinstance(error, exceptions.APIException):
        kind = _STATUSES.get(error.status_code)
        return kind(_text(error)) if kind else error
    return error


_STATUSES: Final[dict[int, Callable[[str | None], A2AError]]] = {
    401: UnauthenticatedError,
    403: PermissionDeniedError,
    429: ThrottledError,
    503: UnavailableError,
}


def _text(error: exceptions.APIException) -> str | None:
    return str(error.detail) if isinstance(error.detail, str) else None


Shortcut = Callable[[HttpRequest], Identity | None]

_chosen: Shortcut | None = None


def _shortcut() -> Shortcut:
    global _chosen
    if _chosen is None:
        _chosen = _choose()
    return _chosen


def _choose() -> Shortcut:
    """Return the way to decide without a thread that the settings allow."""
    permissions = set(a2a_settings.PERMISSION_CLASSES)
    authenticators = a2a_settings.AUTHENTICATION_CLASSES
    if a2a_settings.THROTTLE_CLASSES or a2a_settings.OWNER_RESOLVER or not permissions <= {AllowAny, IsAuthenticated}:
        return _never
    if not authenticators and IsAuthenticated not in permissions:
        return _anonymous
    remembered = getattr(authenticators[0], "remembered", None) if authenticators else None
    if remembered is None:
        return _never

    def by_memory(http_request: HttpRequest) -> Identity | None:
        if "_force_auth_user" in http_request.__dict__:  # REST framework's test client
            return None
        found = remembered(http_request)
        if found is None:
            return None
        user, auth = found
        return Identity(user, owner_of(user, auth), auth, http_request)

    return by_memory


def _never(http_request: HttpRequest) -> Identity | None:
    return None


def _anonymous(http_request: HttpRequest) -> Identity | None:
    if "_force_auth_user" in http_request.__dict__:
        return None
    return Identity(AnonymousUser(), "", None, http_request)


def _on_setting_changed(*, setting: str, **kwargs: Any) -> None:
    global _chosen
    if setting in ("A2A", "REST_FRAMEWORK"):
        _chosen = None


setting_changed.connect(_on_setting_changed, dispatch_uid="a2a_django.access.policy")
