"""The one setting: ``A2A = {...}`` in the site's settings.

Every key has a default here and a line in docs/reference/settings.md. Values are read through ``a2a_settings``; dotted
paths are imported on first use; the object forgets everything when a test overrides the setting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Final

from django.conf import settings as django_settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

DEFAULTS: Final[Mapping[str, Any]] = {
    # Where the site is reached, without trailing slash ("https://shop.example"); None: taken from each request.
    "BASE_URL": None,
    # Bare "host:port" of the gRPC server; set = the card lists gRPC.
    "GRPC_URL": None,
    # Who is calling, who may call, how often: DRF classes as dotted paths.
    "AUTHENTICATION_CLASSES": ["a2a_django.access.APIKeyAuthentication"],
    "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "THROTTLE_CLASSES": [],
    # Rates of the throttles of this package by their scope: {"user": "100/min", "anon": "10/min"}.
    "THROTTLE_RATES": {},
    # Wrong credentials from one address within a minute, after which further ones are not looked at; 0: no limit.
    "AUTH_FAILURES_PER_MINUTE": 300,
    # The OpenID Connect issuer whose tokens ``a2a_django.access.OIDCAuthentication`` takes; see docs/access.md.
    "OIDC": {},
    # Dotted path of a function (user, auth) -> str: whose tasks these are. None: the user's primary key.
    "OWNER_RESOLVER": None,
    # Dotted path of a function (tenant: str) -> agent slug or None. None: the tenant is the slug.
    "TENANT_RESOLVER": None,
    # Slug of the agent that answers requests without a tenant; may be left out with one agent.
    "DEFAULT_AGENT": None,
    # Seconds after which a process looks again which agents are switched off or renamed in the database.
    "AGENT_CACHE_SECONDS": 5,
    # Largest request body in bytes, in every binding.
    "MAX_BODY_BYTES": 10 * 1024 * 1024,
    # Where agents run: "in_process", "django_tasks", "celery", the dotted path of a class, or a dict {"BACKEND": one of
    # these, "QUEUE": ..., "QUEUES": {agent: queue}, "WHEN_DOWN": "wait" or "refuse", ...}; docs/workers.md.
    "RUNNER": "in_process",
    # Seconds a run may be silent towards the database before another process may take its task.
    "LEASE_SECONDS": 30,
    # Seconds a task may wait for its sender before it fails; 0: for ever.
    "INPUT_REQUIRED_SECONDS": 0,
    # Seconds that runs may go on when a process is told to end, before their tasks are left to others.
    "SHUTDOWN_SECONDS": 5,
    # Seconds after which a blocking SendMessage answers with the task as it is.
    "BLOCKING_SECONDS": 300,
    # Seconds an agent of mode "auto" may run before its task is made although it has published nothing.
    "AUTO_GRACE_SECONDS": 1.0,
    # Seconds between keep-alive comments on a silent event stream, and the longest life of a subscription.
    "KEEPALIVE_SECONDS": 15,
    "STREAM_SECONDS": 3600,
    # Seconds between looks whether callers with open streams still have a right to them; 0: never.
    "STREAM_RECHECK_SECONDS": 60,
    # Open streams and running agents at a time, for one process. More streams are refused with 503; further tasks wait
    # in the database for the next process with room.
    "MAX_STREAMS": 10_000,
    "MAX_RUNS": 1_000,
    # The same for one owner (all anonymous callers are one) in one process; more streams are refused with 429. A run
    # whose task waits for its sender does not count.
    "MAX_STREAMS_PER_OWNER": 2_000,
    "MAX_RUNS_PER_OWNER": 500,
    # How many tasks of one owner may wait for a run, in all processes together; more are refused with 429. 0: none
    # waits, what there is no room for is refused with 503 or 429.
    "MAX_QUEUED_PER_OWNER": 10_000,
    # Database threads (and so connections) that serve reads, and threads for agents that are plain functions; over gRPC
    # as many again for access classes.
    "DATABASE_THREADS": 4,
    "AGENT_THREADS": 32,
    # Largest artifact: characters of JSON and chunks.
    "MAX_ARTIFACT_BYTES": 16 * 1024 * 1024,
    "MAX_ARTIFACT_CHUNKS": 10_000,
    # Webhooks. How many a task may have; whether this process sends (else `manage.py a2a_worker` does); how many
    # deliveries a process has under way, all in all and to one host.
    "MAX_PUSH_CONFIGS": 100,
    "PUSH_IN_PROCESS": True,
    "PUSH_CONCURRENCY": 200,
    "PUSH_HOST_CONCURRENCY": 50,
    # Seconds for one attempt; for the first pause after a failure, which doubles each time, and the longest pause.
    "PUSH_TIMEOUT_SECONDS": 10,
    "PUSH_RETRY_SECONDS": 1,
    "PUSH_MAX_RETRY_SECONDS": 3600,
    # When a delivery is given up (attempts, age in seconds), and after how many failures in a row a webhook is.
    "PUSH_MAX_ATTEMPTS": 12,
    "PUSH_MAX_AGE_SECONDS": 86_400,
    "PUSH_DISABLE_AFTER": 20,
    # Seconds a blocking SendMessage waits at most for a webhook that is about to be told of the end.
    "PUSH_WAIT_SECONDS": 0.3,
    # Media type of the bodies; receivers written for some SDKs want "application/json".
    "PUSH_MEDIA_TYPE": "application/a2a+json",
    # Where webhooks may be: at https only; and the exceptions to the guard, for which http is allowed, too: "host",
    # "host:port", ".domain", an address, a network ("10.0.0.0/8").
    "WEBHOOK_HTTPS_ONLY": True,
    "WEBHOOK_ALLOWED_HOSTS": [],
    # Hide token and credentials of webhooks in answers.
    "PUSH_MASK_SECRETS": False,
    # Days that tasks stay after they have ended, by how: {"completed": 90, "failed": 365, "canceled": 30, "rejected":
    # 30}; those that are not named stay for ever. Days until the events of tasks that stay go, as far as nobody needs
    # them; None: never. How often a worker sees to both.
    "RETENTION": {},
    "EVENT_RETENTION_DAYS": None,
    # Days for which an agent with ``deduplicate`` knows its answer to a message that made no task; None: for ever.
    "REPLY_RETENTION_DAYS": 1,
    "PRUNE_SECONDS": 3600,
    # Where large `raw` parts go: an alias of Django's STORAGES; None: they stay in the rows. What is large, in bytes;
    # how long the addresses are good that stand in their place; and whether these ask for the credentials of the
    # task's owner. See docs/files.md.
    "FILE_STORAGE": None,
    "FILE_MIN_BYTES": 256 * 1024,
    "FILE_URL_SECONDS": 3600,
    "FILE_URL_AUTH": True,
    # Parts of a message, artifacts of a task, messages in a task's history.
    "MAX_PARTS": 1_000,
    "MAX_ARTIFACTS": 1_000,
    "MAX_HISTORY": 10_000,
    # Give extended cards to callers who are not authenticated, too: for conformance kits, the specification forbids it.
    "EXTENDED_CARD_FOR_ALL": False,
    # Answer clients of version 0.3, too, on all bindings.
    "PROTOCOL_0_3": True,
    # Requests without A2A-Version: False takes the version of the method or path, True takes them for 0.3.
    "STRICT_VERSION": False,
    # Take in what the tutorials teach: JSON-RPC like 0.3 but looser, GET /sse, more names of the card. And whether
    # their message/send waits for the end of the task.
    "TUTORIAL_DIALECT": False,
    "TUTORIAL_WAITS": False,
    # Ask for required extensions on every operation, not only on the two that send messages.
    "REQUIRE_EXTENSIONS_EVERYWHERE": False,
    # Seconds that clients and proxies may keep the card.
    "CARD_MAX_AGE": 300,
    # Sites whose pages may read the public documents in a browser: origins, or "*" for all.
    "CARD_CORS_ORIGINS": [],
    # Media type of HTTP+JSON answers to requests that say neither in Accept nor in Content-Type what they want.
    "REST_MEDIA_TYPE": "application/a2a+json",
    # Seconds for which a process remembers that an API key is good; a revoked key may work for so long elsewhere.
    "API_KEY_CACHE_SECONDS": 5,
    # What seals secrets in the database: the first seals, all unseal; behind them stands SECRET_KEY. Fernet keys, or
    # texts of at least 32 characters.
    "ENCRYPTION_KEYS": [],
    # What signs cards and notifications: private keys on the curve P-256, as PEM, as JWK, or a path. The first signs,
    # the public halves of all are published.
    "SIGNING_KEYS": [],
    # Sign agent cards, once there are SIGNING_KEYS.
    "SIGN_CARDS": True,
    # Have OpenTelemetry watch calls, runs and deliveries (extra "otel").
    "OPENTELEMETRY": False,
    # How notifications are signed: "jwt" (with SIGNING_KEYS), "hmac" (with the token of the webhook), or both.
    "WEBHOOK_SIGNATURES": [],
}

#: Keys whose values are dotted paths (or lists of them) of things to import.
IMPORTS: Final = frozenset(
    {"AUTHENTICATION_CLASSES", "PERMISSION_CLASSES", "THROTTLE_CLASSES", "OWNER_RESOLVER", "TENANT_RESOLVER"}
)


class A2ASettings:
    """Attribute access to ``settings.A2A`` with defaults; dotted paths arrive imported.

    Raises ``ImproperlyConfigured`` for a path that cannot be imported, ``AttributeError`` for a key that does not
    exist.
    """

    BASE_URL: str | None
    GRPC_URL: str | None
    AUTHENTICATION_CLASSES: Sequence[type[Any]]
    PERMISSION_CLASSES: Sequence[type[Any]]
    THROTTLE_CLASSES: Sequence[type[Any]]
    THROTTLE_RATES: Mapping[str, str]
    AUTH_FAILURES_PER_MINUTE: int
    OIDC: Mapping[str, Any]
    OWNER_RESOLVER: Callable[[Any, Any], str] | None
    TENANT_RESOLVER: Callable[[str], str | None] | None
    DEFAULT_AGENT: str | None
    AGENT_CACHE_SECONDS: float
    MAX_BODY_BYTES: int
    RUNNER: str | Mapping[str, Any]
    LEASE_SECONDS: float
    INPUT_REQUIRED_SECONDS: float
    SHUTDOWN_SECONDS: float
    BLOCKING_SECONDS: float
    AUTO_GRACE_SECONDS: float
    KEEPALIVE_SECONDS: float
    STREAM_SECONDS: float
    STREAM_RECHECK_SECONDS: float
    MAX_STREAMS: int
    MAX_RUNS: int
    MAX_STREAMS_PER_OWNER: int
    MAX_RUNS_PER_OWNER: int
    MAX_QUEUED_PER_OWNER: int
    DATABASE_THREADS: int
    AGENT_THREADS: int
    MAX_ARTIFACT_BYTES: int
    MAX_ARTIFACT_CHUNKS: int
    MAX_PUSH_CONFIGS: int
    PUSH_IN_PROCESS: bool
    PUSH_CONCURRENCY: int
    PUSH_HOST_CONCURRENCY: int
    PUSH_TIMEOUT_SECONDS: float
    PUSH_RETRY_SECONDS: float
    PUSH_MAX_RETRY_SECONDS: float
    PUSH_MAX_ATTEMPTS: int
    PUSH_MAX_AGE_SECONDS: float
    PUSH_DISABLE_AFTER: int
    PUSH_WAIT_SECONDS: float
    PUSH_MEDIA_TYPE: str
    WEBHOOK_HTTPS_ONLY: bool
    WEBHOOK_ALLOWED_HOSTS: Sequence[str]
    PUSH_MASK_SECRETS: bool
    RETENTION: Mapping[str, float]
    EVENT_RETENTION_DAYS: float | None
    REPLY_RETENTION_DAYS: float | None
    PRUNE_SECONDS: float
    FILE_STORAGE: str | None
    FILE_MIN_BYTES: int
    FILE_URL_SECONDS: float
    FILE_URL_AUTH: bool
    MAX_PARTS: int
    MAX_ARTIFACTS: int
    MAX_HISTORY: int
    EXTENDED_CARD_FOR_ALL: bool
    PROTOCOL_0_3: bool
    STRICT_VERSION: bool
    TUTORIAL_DIALECT: bool
    TUTORIAL_WAITS: bool
    REQUIRE_EXTENSIONS_EVERYWHERE: bool
    CARD_MAX_AGE: int
    CARD_CORS_ORIGINS: Sequence[str]
    REST_MEDIA_TYPE: str
    API_KEY_CACHE_SECONDS: float
    ENCRYPTION_KEYS: Sequence[str]
    SIGNING_KEYS: Sequence[str | Mapping[str, Any] | PathLike[str]]
    SIGN_CARDS: bool
    OPENTELEMETRY: bool
    WEBHOOK_SIGNATURES: Sequence[str]

    def given(self) -> Mapping[str, Any]:
        """Return what the site wrote, unchecked."""
        value = getattr(django_settings, "A2A", {})
        return value if isinstance(value, Mapping) else {}

    def __getattr__(self, key: str) -> Any:
        if key not in DEFAULTS:
            raise AttributeError(f"A2A has no setting {key!r}")
        value = self.given().get(key, DEFAULTS[key])
        if key in IMPORTS and value:
            value = _imported(key, value)
        setattr(self, key, value)
        return value

    def reload(self) -> None:
        """Forget every value that was read."""
        self.__dict__.clear()


def _imported(key: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_imported(key, item) for item in value]
    if not isinstance(value, str):
        return value
    try:
        return import_string(value)
    except (ImportError, TypeError, ValueError) as error:  # the last two for paths that begin with a dot
        raise ImproperlyConfigured(f"A2A[{key!r}]: cannot import {value!r}: {error}") from error


a2a_settings = A2ASettings()


def _on_setting_changed(*, setting: str, **kwargs: Any) -> None:
    if setting == "A2A":
        a2a_settings.reload()


setting_changed.connect(_on_setting_changed, dispatch_uid="a2a_django.conf")
