"""The setting ``A2A``: unknown keys, values of the wrong kind, paths that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from os import PathLike
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register

from a2a_django.bindings.http import A2A_JSON, JSON
from a2a_django.checks.rules import TAG, Apps, Messages, Rule, check_paths, is_list_of, is_number, is_whole
from a2a_django.conf import DEFAULTS, IMPORTS, a2a_settings
from a2a_django.push.guard import is_entry
from a2a_django.push.signing import KINDS
from a2a_django.retention.prune import NAMES

_COUNT: Final = Rule(lambda v: is_whole(v) and v > 0, "a whole number above 0")
_COUNT_OR_NONE: Final = Rule(lambda v: is_whole(v) and v >= 0, "a whole number, 0 for no limit")
_SECONDS: Final = Rule(lambda v: is_number(v) and v > 0, "a number of seconds above 0")
_SECONDS_OR_NONE: Final = Rule(lambda v: is_number(v) and v >= 0, "a number of seconds, 0 for none")
_WHOLE_SECONDS_OR_NONE: Final = Rule(lambda v: is_whole(v) and v >= 0, "a whole number of seconds, 0 for none")
_SWITCH: Final = Rule(lambda v: isinstance(v, bool), "True or False")
_CLASSES: Final = Rule(lambda v: is_list_of(v, (str, type)), "a list of dotted paths")
_FUNCTION: Final = Rule(lambda v: v is None or isinstance(v, str) or callable(v), "a dotted path or None")
_TEXT: Final = Rule(lambda v: v is None or (isinstance(v, str) and v != ""), "a text or None")
_JSON_TYPE: Final = Rule(lambda v: v in (JSON, A2A_JSON), f'"{JSON}" or "{A2A_JSON}"')
_RATE: Final = re.compile(r"[0-9]+/[smhd][a-z]*")
_RATES: Final = Rule(
    lambda v: isinstance(v, dict) and all(isinstance(r, str) and bool(_RATE.fullmatch(r)) for r in v.values()),
    'a dict of rates like {"user": "100/min"}',
)
_HOSTS: Final = Rule(
    lambda v: is_list_of(v, str) and all(map(is_entry, v)),
    'a list of "host", "host:port", ".domain", addresses and networks',
)
_ORIGIN: Final = re.compile(r"https?://[^/\s?#@]+")
_ORIGINS: Final = Rule(
    lambda v: is_list_of(v, str) and all(origin == "*" or bool(_ORIGIN.fullmatch(origin)) for origin in v),
    'a list of origins like "https://app.example", or ["*"]',
)


def _is_days(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 36_500


RULES: Final[dict[str, Rule]] = {
    "BASE_URL": _TEXT,
    "GRPC_URL": _TEXT,
    "AUTHENTICATION_CLASSES": _CLASSES,
    "PERMISSION_CLASSES": _CLASSES,
    "THROTTLE_CLASSES": _CLASSES,
    "THROTTLE_RATES": _RATES,
    "AUTH_FAILURES_PER_MINUTE": _COUNT_OR_NONE,
    "OIDC": Rule(lambda v: isinstance(v, Mapping), "a dict"),
    "OWNER_RESOLVER": _FUNCTION,
    "TENANT_RESOLVER": _FUNCTION,
    "DEFAULT_AGENT": _TEXT,
    "AGENT_CACHE_SECONDS": _SECONDS_OR_NONE,
    "MAX_BODY_BYTES": _COUNT,
    "RUNNER": Rule(
        lambda v: isinstance(v, Mapping) or (isinstance(v, str) and v != ""), "a name, a dotted path or a dict"
    ),
    "LEASE_SECONDS": _SECONDS,
    "INPUT_REQUIRED_SECONDS": Rule(lambda v: is_number(v) and v >= 0, "a number of seconds, 0 for ever"),
    "SHUTDOWN_SECONDS": _SECONDS_OR_NONE,
    "BLOCKING_SECONDS": _SECONDS,
    "AUTO_GRACE_SECONDS": _SECONDS_OR_NONE,
    "KEEPALIVE_SECONDS": _SECONDS,
    "STREAM_SECONDS": _SECONDS,
    "STREAM_RECHECK_SECONDS": _SECONDS_OR_NONE,
    "MAX_STREAMS": _COUNT,
    "MAX_RUNS": _COUNT,
    "MAX_STREAMS_PER_OWNER": _COUNT,
    "MAX_RUNS_PER_OWNER": _COUNT,
    "MAX_QUEUED_PER_OWNER": Rule(lambda v: is_whole(v) and v >= 0, "a whole number, 0 for none"),
    "DATABASE_THREADS": _COUNT,
    "AGENT_THREADS": _COUNT,
    "MAX_ARTIFACT_BYTES": _COUNT,
    "MAX_ARTIFACT_CHUNKS": _COUNT,
    "MAX_PUSH_CONFIGS": _COUNT,
    "PUSH_IN_PROCESS": _SWITCH,
    "PUSH_CONCURRENCY": _COUNT,
    "PUSH_HOST_CONCURRENCY": _COUNT,
    "PUSH_TIMEOUT_SECONDS": _SECONDS,
    "PUSH_RETRY_SECONDS": _SECONDS,
    "PUSH_MAX_RETRY_SECONDS": _SECONDS,
    "PUSH_MAX_ATTEMPTS": _COUNT,
    "PUSH_MAX_AGE_SECONDS": _SECONDS,
    "PUSH_DISABLE_AFTER": _COUNT,
    "PUSH_WAIT_SECONDS": _SECONDS_OR_NONE,
    "PUSH_MEDIA_TYPE": _JSON_TYPE,
    "PUSH_MASK_SECRETS": _SWITCH,
    "RETENTION": Rule(
        lambda v: isinstance(v, Mapping) and set(v) <= set(NAMES) and all(map(_is_days, v.values())),
        f"a dict of days, with the keys {', '.join(NAMES)}",
    ),
    "EVENT_RETENTION_DAYS": Rule(lambda v: v is None or _is_days(v), "a number of days or None"),
    "REPLY_RETENTION_DAYS": Rule(lambda v: v is None or _is_days(v), "a number of days or None"),
    "PRUNE_SECONDS": _SECONDS,
    "FILE_STORAGE": _TEXT,
    "FILE_MIN_BYTES": Rule(lambda v: is_whole(v) and v >= 0, "a whole number of bytes"),
    "FILE_URL_SECONDS": _SECONDS,
    "FILE_URL_AUTH": _SWITCH,
    "MAX_PARTS": _COUNT,
    "MAX_ARTIFACTS": _COUNT,
    "MAX_HISTORY": _COUNT,
    "WEBHOOK_HTTPS_ONLY": _SWITCH,
    "WEBHOOK_ALLOWED_HOSTS": _HOSTS,
    "EXTENDED_CARD_FOR_ALL": _SWITCH,
    "PROTOCOL_0_3": _SWITCH,
    "STRICT_VERSION": _SWITCH,
    "TUTORIAL_DIALECT": _SWITCH,
    "TUTORIAL_WAITS": _SWITCH,
    "REQUIRE_EXTENSIONS_EVERYWHERE": _SWITCH,
    "CARD_MAX_AGE": _WHOLE_SECONDS_OR_NONE,
    "CARD_CORS_ORIGINS": _ORIGINS,
    "REST_MEDIA_TYPE": _JSON_TYPE,
    "API_KEY_CACHE_SECONDS": _SECONDS_OR_NONE,
    "ENCRYPTION_KEYS": Rule(lambda v: is_list_of(v, str), "a list of texts"),
    "SIGNING_KEYS": Rule(lambda v: is_list_of(v, (str, Mapping, PathLike)), "a list of keys or paths"),
    "SIGN_CARDS": _SWITCH,
    "OPENTELEMETRY": _SWITCH,
    "WEBHOOK_SIGNATURES": Rule(lambda v: is_list_of(v, str) and KINDS.issuperset(v), 'a list of "jwt" and "hmac"'),
}

#: Keys whose values no message may show.
SECRET: Final = frozenset({"ENCRYPTION_KEYS", "SIGNING_KEYS"})


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
            shown = f"a {type(value).__name__}" if key in SECRET else repr(value)
            text = f"A2A[{key!r}] has to be {RULES[key].words}, not {shown}."
            found.append(Error(text, hint=f"The default is {DEFAULTS[key]!r}.", id="a2a_django.E003"))
        elif key in IMPORTS:
            paths = value if isinstance(value, list | tuple) else [value]
            found += check_paths(f"A2A[{key!r}]", paths, "a2a_django.E004")
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
    if isinstance(base, str) and not _is_root(base):
        hint = 'Write the address of the site\'s root, for example "https://shop.example".'
        found.append(Error(f"A2A['BASE_URL'] is no absolute URL: {base!r}.", hint=hint, id="a2a_django.E006"))
    return found


@register(TAG)
def check_leases(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that an attempt at a webhook ends before its lease does: W005."""
    attempt, lease = a2a_settings.PUSH_TIMEOUT_SECONDS, a2a_settings.LEASE_SECONDS
    if not (is_number(attempt) and is_number(lease)) or attempt <= lease / 2:
        return []
    text = "A2A['PUSH_TIMEOUT_SECONDS'] is more than half of A2A['LEASE_SECONDS']."
    hint = "A process that was stopped for a while could send an old event after newer ones; make leases longer."
    return [Warning(text, hint=hint, id="a2a_django.W005")]


def _is_root(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets without an address
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not parts.query and not parts.fragment
