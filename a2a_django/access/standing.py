"""Whether callers with open streams still are who they were: users active, credentials good, permissions granted.

Invariants: who loses them is told so, and nothing more, within ``A2A["STREAM_RECHECK_SECONDS"]`` (and the time of one
look); there is one timer for all streams of a loop, and only while there are streams; a look costs a few queries for
all of them together, and asks for permissions one by one only where a site has more than who may call at all.

Authenticators are not asked again: some take the same request only once, and all want it whole, which for hours would
cost more memory than the stream.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from django.db import InterfaceError, OperationalError, models
from rest_framework.permissions import AllowAny, IsAuthenticated

from a2a_django.access.identity import Identity
from a2a_django.access.keys import check_agent
from a2a_django.access.policy import still_permitted
from a2a_django.conf import a2a_settings
from a2a_django.engine import database
from a2a_django.protocol.errors import A2AError, InternalError, PermissionDeniedError, UnauthenticatedError

logger = logging.getLogger("a2a_django.access")

#: Rows that are looked up at a time; some databases take no more.
AT_A_TIME: Final = 500

#: A row: its model and its primary key.
Key = tuple[type[models.Model], Any]


class Stream(Protocol):
    """What can be ended."""

    def fail(self, error: Exception) -> None:
        """End, with this error."""
        ...


@dataclass(frozen=True, slots=True)
class Standing:
    """What a caller's right to a stream rests on."""

    user: Key | None
    auth: Key | None
    expires_at: float | None
    #: Where there are permissions to ask for again: the caller, and those of the agent.
    identity: Identity | None
    permissions: tuple[Any, ...]
    tenant: str
    #: The slug of the agent, which a key may be for or not.
    agent: str = ""

    @classmethod
    def of(cls, identity: Identity, permissions: Iterable[Any], tenant: str, agent: str = "") -> Standing | None:
        """Return the standing of a caller; None where there is nothing that could be lost."""
        own = tuple(permissions)
        asked = any(each not in (AllowAny, IsAuthenticated) for each in (*a2a_settings.PERMISSION_CLASSES, *own))
        found = cls(
            _key(identity.user),
            _key(identity.auth),
            _expiry(identity.auth),
            identity if asked else None,
            own,
            tenant,
            agent,
        )
        if found.user is None and found.auth is None and found.expires_at is None and not asked:
            return None
        return found


def keep_watch(
    stream: Stream, identity: Identity, permissions: Iterable[Any] = (), tenant: str = "", agent: str = ""
) -> None:
    """End ``stream`` with an error soon after its caller has lost the right to it; in the running loop.

    ``permissions`` are those of the agent, beside the site's; ``agent`` is its slug.
    """
    if not a2a_settings.STREAM_RECHECK_SECONDS:
        return
    standing = Standing.of(identity, permissions, tenant, agent)
    if standing is not None:
        _watch().add(stream, standing)


def lapsed(standings: list[Standing]) -> list[A2AError | None]:
    """Return for each caller what is wrong now, None where nothing is. Asks the database."""
    rows = _rows({key for each in standings for key in (each.user, each.auth) if key is not None})
    now = time.time()
    return [_wrong(each, rows, now) for each in standings]


def _wrong(standing: Standing, rows: dict[Key, Any], now: float) -> A2AError | None:
    user = auth = None
    if standing.user is not None:
        user = rows.get(standing.user)
        if user is None or not getattr(user, "is_active", True):
            return UnauthenticatedError("The user may not call any more")
    if standing.auth is not None:
        auth = rows.get(standing.auth)
        if auth is None or not _is_good(auth):
            return UnauthenticatedError("The credentials are not good any more")
        try:
            check_agent(auth, standing.agent)
        except PermissionDeniedError as error:
            return error
    if standing.expires_at is not None and standing.expires_at <= now:
        return UnauthenticatedError("The credentials have expired")
    if standing.identity is not None:
        try:
            return still_permitted(standing.identity, user, auth, standing.permissions, standing.tenant)
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # as a call would end in this case
            logger.exception("A permission could not be asked for again")
            return InternalError()
    return None


def _rows(keys: set[Key]) -> dict[Key, Any]:
    """Return the rows that there are."""
    found: dict[Key, Any] = {}
    for model in {model for model, _ in keys}:
        wanted = iter([pk for each, pk in keys if each is model])
        while some := list(islice(wanted, AT_A_TIME)):
            for row in model._base_manager.filter(pk__in=some):
                found[model, row.pk] = row
    return found


def _key(value: Any) -> Key | None:
    if not isinstance(value, models.Model) or value.pk is None:
        return None
    return (value._meta.model, value.pk)  # not its type: the user of a session is wrapped into something lazy


def _is_good(auth: Any) -> bool:
    """Return whether a row of credentials is good: an API key of ours, a token of django-oauth-toolkit; of others
    nothing is known but that the row is still there."""
    if hasattr(auth, "is_usable"):
        return bool(auth.is_usable())
    return not auth.is_expired() if hasattr(auth, "is_expired") else True


def _expiry(auth: Any) -> float | None:
    """Return when credentials without a row end: a token of OpenID Connect, or one of simplejwt."""
    if auth is None or isinstance(auth, models.Model):
        return None
    value = getattr(auth, "expires_at", None)
    if value is None:
        value = (getattr(auth, "payload", None) or {}).get("exp")
    return float(value) if isinstance(value, int | float) else None


class _Watch:
    """The streams of a loop, and the timer for the next look."""

    def __init__(self) -> None:
        self._streams: WeakKeyDictionary[Stream, Standing] = WeakKeyDictionary()
        self._timer: asyncio.TimerHandle | None = None
        self._look: asyncio.Task[None] | None = None

    def add(self, stream: Stream, standing: Standing) -> None:
        self._streams[stream] = standing
        self._wind()

    def _wind(self) -> None:
        if self._timer is None and self._look is None and self._streams:
            self._timer = asyncio.get_running_loop().call_later(a2a_settings.STREAM_RECHECK_SECONDS, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._look = asyncio.ensure_future(self._look_at_all())
        self._look.add_done_callback(self._looked)

    def _looked(self, task: asyncio.Task[None]) -> None:
        self._look = None
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            # The database is away, and streams bring nothing from there. What cannot be said now is said next time.
            logger.error("Callers with open streams could not be looked at", exc_info=error)
        self._wind()

    async def _look_at_all(self) -> None:
        for streams in _some(list(self._streams.items())):
            wrong = await database.read(lapsed, [standing for _, standing in streams])
            for (stream, _), error in zip(streams, wrong, strict=True):
                if error is not None:
                    self._streams.pop(stream, None)
                    logger.warning("A stream is ended: %r", error.message)
                    stream.fail(error)


def _some(items: list[tuple[Stream, Standing]]) -> Iterator[list[tuple[Stream, Standing]]]:
    """Divide; and let go of what was dealt with, so that streams that end meanwhile are not kept."""
    while items:
        yield items[-AT_A_TIME:]
        del items[-AT_A_TIME:]


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, _Watch] = WeakKeyDictionary()


def _watch() -> _Watch:
    loop = asyncio.get_running_loop()
    watch = _watches.get(loop)
    if watch is None:
        watch = _watches[loop] = _Watch()
    return watch
