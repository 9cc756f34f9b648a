"""The site around: its database, its addresses, who may call; and what matters before deployment."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import connections, router
from django.urls import NoReverseMatch, reverse
from django.utils.module_loading import import_string
from rest_framework.permissions import AllowAny, IsAdminUser, IsAuthenticated

from a2a_django.agents import registry
from a2a_django.checks.agents import permissions_of
from a2a_django.checks.rules import TAG, Apps, Messages
from a2a_django.checks.setting import RULES
from a2a_django.conf import DEFAULTS, a2a_settings


@register(TAG, Tags.models)
def check_sqlite(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that SQLite can take several writers: W020."""
    from a2a_django.models import Task

    alias = router.db_for_write(Task)
    database = connections.settings[alias]
    if not database["ENGINE"].endswith("sqlite3"):
        return []
    options = database.get("OPTIONS", {})
    missing = []
    if str(options.get("transaction_mode", "")).upper() != "IMMEDIATE":
        missing.append('"transaction_mode": "IMMEDIATE"')
    if not re.search(r"journal_mode\s*=\s*wal", str(options.get("init_command", "")), re.IGNORECASE):
        missing.append('"init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"')
    if not missing:
        return []
    return [
        Warning(
            f"The SQLite database {alias!r} is not set up for several writers at a time.",
            hint=f"Add {' and '.join(missing)} to its OPTIONS, or calls will fail with 'database is locked'.",
            id="a2a_django.W020",
        )
    ]


@register(TAG, Tags.models)
def check_time_zones(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that moments can be stored as what they are: E021."""
    if settings.USE_TZ:
        return []
    return [
        Error(
            "USE_TZ is off, and tasks cannot be stored: their times are moments, whatever the clock on the wall says.",
            hint="Set USE_TZ = True, which is Django's default.",
            id="a2a_django.E021",
        )
    ]


@register(TAG, Tags.urls)
def check_streaming(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that what agents promise to stream can be streamed: W030."""
    streaming = [str(agent.name) for agent in registry.all() if agent.streaming]
    if not streaming or getattr(settings, "ASGI_APPLICATION", None):
        return []
    return [
        Warning(
            f"Agents stream ({', '.join(streaming)}), but there is no ASGI_APPLICATION.",
            hint="Streams need an ASGI server. Set ASGI_APPLICATION, or streaming = False on the agents.",
            id="a2a_django.W030",
        )
    ]


@register(TAG, Tags.urls)
def check_included(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that the site has the addresses of the protocol: W032."""
    if not getattr(settings, "ROOT_URLCONF", None):
        return []
    try:
        reverse("a2a_django:jsonrpc")
    except NoReverseMatch:
        return [
            Warning(
                "The agents have no address: a2a_django.urls is not among the site's urls.",
                hint=f'Add path("", include("a2a_django.urls")) to the urlpatterns of {settings.ROOT_URLCONF}.',
                id="a2a_django.W032",
            )
        ]
    return []


@register(TAG, Tags.security)
def check_callers(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that somebody can call where only users may: W033."""
    permissions = classes("PERMISSION_CLASSES")
    if permissions is None or classes("AUTHENTICATION_CLASSES") != []:
        return []
    demanding = [
        repr(agent) for agent in registry.all() if any(_wants_user(each) for __, each in permissions_of(agent))
    ]
    if any(map(_wants_user, permissions)):
        demanding = ["A2A['PERMISSION_CLASSES']"]
    if not demanding:
        return []
    return [
        Warning(
            f"Only users may call ({', '.join(demanding)}), but A2A['AUTHENTICATION_CLASSES'] is empty: nobody can.",
            hint="Leave A2A['AUTHENTICATION_CLASSES'] out (then API keys are taken) or say how callers authenticate.",
            id="a2a_django.W033",
        )
    ]


def _wants_user(permission: Any) -> bool:
    return getattr(permission, "has_permission", None) in (IsAuthenticated.has_permission, IsAdminUser.has_permission)


def classes(key: str) -> list[Any] | None:
    """Return the classes of a key; None where E003 or E004 have something to say about it."""
    if not RULES[key].fits(a2a_settings.given().get(key, DEFAULTS[key])):
        return None
    try:
        return list(getattr(a2a_settings, key))
    except ImproperlyConfigured:
        return None


@register(TAG, Tags.urls)
def check_middleware(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that no middleware of the site waits for calls that the consumers answer without it: W034."""
    from a2a_django.bindings.consumers.site import unseen_middleware

    try:
        unseen = unseen_middleware()
    except ImportError:  # Django has its own words for it
        return []
    if not unseen or not _has_consumers():
        return []
    return [
        Warning(
            f"Calls of the agents do not pass through this middleware: {', '.join(unseen)}.",
            hint="The consumers of a2a_django.asgi answer without it. What calls need of it can go around the ASGI "
            "application as ASGI middleware; or use Django's get_asgi_application. If they need nothing of it, silence "
            "this check.",
            id="a2a_django.W034",
        )
    ]


def _has_consumers() -> bool:
    """Return whether ASGI_APPLICATION is the consumers' application, or a router of Channels that hands HTTP to it."""
    from a2a_django.bindings.consumers.application import Application

    try:
        found = import_string(getattr(settings, "ASGI_APPLICATION", None) or "")
    except Exception:  # code of the site; who serves it will see what is wrong
        return False
    return isinstance(getattr(found, "application_mapping", {}).get("http", found), Application)


@register(TAG, Tags.security, deploy=True)
def check_open_access(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that not everybody may call: W040."""
    permissions = classes("PERMISSION_CLASSES")
    if permissions is None or any(permission is not AllowAny for permission in permissions):
        return []
    return [
        Warning(
            "Anybody may call the agents of this site.",
            hint="Leave A2A['PERMISSION_CLASSES'] out (then callers have to authenticate) or set it.",
            id="a2a_django.W040",
        )
    ]


@register(TAG, Tags.security, deploy=True)
def check_connections(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that ASGI does not leak connections: W041."""
    if not getattr(settings, "ASGI_APPLICATION", None):
        return []
    lasting = [alias for alias in connections.settings if connections.settings[alias].get("CONN_MAX_AGE") != 0]
    if not lasting:
        return []
    return [
        Warning(
            f"CONN_MAX_AGE is set for {', '.join(map(repr, lasting))}, and the site is served over ASGI.",
            hint="Under ASGI each request has a thread of its own, whose connection would be left open. Use "
            "CONN_MAX_AGE = 0, and for PostgreSQL OPTIONS['pool'].",
            id="a2a_django.W041",
        )
    ]


@register(TAG, Tags.security, deploy=True)
def check_https(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that the card does not name unencrypted addresses: W042 (R-203, R-247)."""
    if not str(a2a_settings.BASE_URL or "").startswith("http://"):
        return []
    return [
        Warning(
            f"A2A['BASE_URL'] is not encrypted: {a2a_settings.BASE_URL!r}.",
            hint="Credentials travel with every call. Serve the site over https.",
            id="a2a_django.W042",
        )
    ]
