"""System checks: what is wrong with the site's settings or agents, said by ``manage.py check`` and not by a caller.

``manage.py check --tag a2a_django`` runs these alone. Nothing here touches the database.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from django.db import connections, router
from django.utils.module_loading import import_string
from rest_framework.permissions import AllowAny

from a2a_django.access import RESERVED_TENANTS
from a2a_django.agents import Agent, registry
from a2a_django.bindings.http import A2A_JSON, JSON
from a2a_django.conf import DEFAULTS, IMPORTS, a2a_settings

TAG: Final = "a2a_django"

Apps = Sequence[AppConfig] | None
Messages = list[CheckMessage]


# -- the setting


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value of a setting has to be: a test, and the words for it."""

    fits: Callable[[Any], bool]
    words: str


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str | type) for item in value)


_COUNT: Final = Rule(lambda v: isinstance(v, int) and not isinstance(v, bool) and v > 0, "a whole number above 0")
_SECONDS: Final = Rule(lambda v: _number(v) and v > 0, "a number of seconds above 0")
_SECONDS_OR_NONE: Final = Rule(lambda v: _number(v) and v >= 0, "a number of seconds, 0 for none")
_SWITCH: Final = Rule(lambda v: isinstance(v, bool), "True or False")
_CLASSES: Final = Rule(_texts, "a list of dotted paths")
_FUNCTION: Final = Rule(lambda v: v is None or isinstance(v, str) or callable(v), "a dotted path or None")
_TEXT: Final = Rule(lambda v: v is None or (isinstance(v, str) and v != ""), "a text or None")
_JSON_TYPE: Final = Rule(lambda v: v in (JSON, A2A_JSON), f'"{JSON}" or "{A2A_JSON}"')

RULES: Final[dict[str, Rule]] = {
    "BASE_URL": _TEXT,
    "GRPC_URL": _TEXT,
    "AUTHENTICATION_CLASSES": _CLASSES,
    "PERMISSION_CLASSES": _CLASSES,
    "THROTTLE_CLASSES": _CLASSES,
    "OWNER_RESOLVER": _FUNCTION,
    "TENANT_RESOLVER": _FUNCTION,
    "DEFAULT_AGENT": _TEXT,
    "MAX_BODY_BYTES": _COUNT,
    "LEASE_SECONDS": _SECONDS,
    "BLOCKING_SECONDS": _SECONDS,
    "AUTO_GRACE_SECONDS": _SECONDS_OR_NONE,
    "KEEPALIVE_SECONDS": _SECONDS,
    "STREAM_SECONDS": _SECONDS,
    "MAX_STREAMS": _COUNT,
    "MAX_RUNS": _COUNT,
    "DATABASE_THREADS": _COUNT,
    "AGENT_THREADS": _COUNT,
    "MAX_ARTIFACT_BYTES": _COUNT,
    "MAX_ARTIFACT_CHUNKS": _COUNT,
    "STRICT_VERSION": _SWITCH,
    "REQUIRE_EXTENSIONS_EVERYWHERE": _SWITCH,
    "CARD_MAX_AGE": _SECONDS_OR_NONE,
    "REST_MEDIA_TYPE": _JSON_TYPE,
    "API_KEY_CACHE_SECONDS": _SECONDS_OR_NONE,
}


@register(TAG, Tags.urls)
def check_setting(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check ``settings.A2A``: E001 to E004."""
    given = getattr(settings, "A2A", {})
    if not isinstance(given, dict):
        return [Error("The setting A2A has to be a dict.", id="a2a_django.E001")]
    found: Messages = []
    for key, value in given.items():
        if key not in DEFAULTS:
            near = get_close_matches(str(key), DEFAULTS, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"The keys are {', '.join(sorted(DEFAULTS))}."
            found.append(Error(f"A2A has the unknown key {key!r}.", hint=hint, id="a2a_django.E002"))
        elif not RULES[key].fits(value):
            text = f"A2A[{key!r}] has to be {RULES[key].words}, not {value!r}."
            found.append(Error(text, hint=f"The default is {DEFAULTS[key]!r}.", id="a2a_django.E003"))
        elif key in IMPORTS:
            found += _check_paths(f"A2A[{key!r}]", value, "a2a_django.E004")
    return found


def _check_paths(where: str, value: Any, check_id: str) -> Messages:
    found: Messages = []
    for path in value if isinstance(value, list | tuple) else [value]:
        if isinstance(path, str):
            try:
                import_string(path)
            except ImportError as error:
                hint = "Give the dotted path of something that can be imported."
                found.append(Error(f"{where}: cannot import {path!r}: {error}", hint=hint, id=check_id))
    return found


@register(TAG, Tags.urls)
def check_addresses(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check the addresses that stand in the card: E005, E006."""
    found: Messages = []
    grpc = a2a_settings.GRPC_URL
    if isinstance(grpc, str) and not re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):[0-9]{1,5}", grpc):
        hint = 'Write "host:port" without scheme and path: clients hand it to gRPC as it is.'
        found.append(Error(f"A2A['GRPC_URL'] is no host and port: {grpc!r}.", hint=hint, id="a2a_django.E005"))
    base = a2a_settings.BASE_URL
    if isinstance(base, str):
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
            hint = 'Write the address of the site\'s root, for example "https://shop.example".'
            found.append(Error(f"A2A['BASE_URL'] is no absolute URL: {base!r}.", hint=hint, id="a2a_django.E006"))
    return found


# -- the agents


@register(TAG, Tags.models)
def check_agents(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check which agents there are: W010, W011, E012, E013."""
    agents = registry.all()
    found: Messages = [
        Error(
            f"More than one agent has the slug {slug!r}.",
            hint="Give one of them another name or slug.",
            id="a2a_django.E013",
        )
        for slug in registry.duplicates
    ]
    slugs = ", ".join(repr(agent.slug) for agent in agents)
    default = a2a_settings.DEFAULT_AGENT
    if not agents:
        hint = "Derive a class from a2a_django.Agent in the agents.py of an installed app."
        found.append(Warning("The site has no agent.", hint=hint, id="a2a_django.W010"))
    elif default and registry.get(default) is None:
        found.append(
            Error(f"A2A['DEFAULT_AGENT'] is unknown: {default!r}.", hint=f"There are {slugs}.", id="a2a_django.E012")
        )
    elif not default and len(agents) > 1:
        hint = f"Set A2A['DEFAULT_AGENT'] to one of {slugs}. Until then the well-known card is missing."
        found.append(Warning("The site has several agents and no default one.", hint=hint, id="a2a_django.W011"))
    for agent in agents:
        found += _check_agent(agent)
    return found


def _check_agent(agent: Agent) -> Messages:
    """Check one agent: E014, W015, W016, E017."""
    found: Messages = []
    if agent.slug in RESERVED_TENANTS or not agent.slug or re.search(r"[/\s?#%]", agent.slug):
        hint = "It is the tenant in addresses: use letters, digits and hyphens."
        found.append(Error(f"{agent!r} cannot have the slug {agent.slug!r}.", hint=hint, id="a2a_django.E014"))
    empty = [name for name in ("skills", "input_modes", "output_modes") if not getattr(agent, name)]
    if empty:
        hint = "The protocol requires them in the card, and some clients refuse a card without."
        found.append(Warning(f"{agent!r} has no {', '.join(empty)}.", hint=hint, id="a2a_django.W015"))
    missing = [name for name in ("name", "description", "version") if not getattr(agent, name)]
    if missing:
        hint = "Write a docstring, or set the attributes." if "description" in missing else "Set the attributes."
        found.append(Warning(f"{agent!r} has no {', '.join(missing)}.", hint=hint, id="a2a_django.W016"))
    found += _check_paths(f"The permissions of {agent!r}", list(agent.permissions), "a2a_django.E017")
    return found


# -- the site around


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


@register(TAG, Tags.urls)
def check_streaming(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that what agents promise to stream can be streamed: W030."""
    streaming = [agent.name for agent in registry.all() if agent.streaming]
    if not streaming or getattr(settings, "ASGI_APPLICATION", None):
        return []
    return [
        Warning(
            f"Agents stream ({', '.join(streaming)}), but there is no ASGI_APPLICATION.",
            hint="Streams need an ASGI server. Set ASGI_APPLICATION, or streaming = False on the agents.",
            id="a2a_django.W030",
        )
    ]


@register(TAG, Tags.models)
def check_push(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that no agent offers push notifications, which this version does not serve: W031."""
    wanting = [agent.name for agent in registry.all() if agent.push_notifications]
    if not wanting:
        return []
    return [
        Warning(
            f"Agents offer push notifications ({', '.join(wanting)}), but this version does not send any.",
            hint="Leave push_notifications at False; the card says so in any case.",
            id="a2a_django.W031",
        )
    ]


@register(TAG, Tags.security, deploy=True)
def check_open_access(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that not everybody may call: W040."""
    try:
        permissions = a2a_settings.PERMISSION_CLASSES
    except ImproperlyConfigured:  # E004 has said it
        return []
    if any(permission is not AllowAny for permission in permissions):
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
