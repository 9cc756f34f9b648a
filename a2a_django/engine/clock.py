"""The database's clock: leases are given and judged by it, so the machines of a site need not agree on the time.

``read`` asks the database. ``now`` reckons from its last answer, which is never older than a third of a lease; it may
be behind by the time that answer took, so a lease that is given by it is rather too short than too long.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from typing import Final

from django.db import connections

from a2a_django.conf import a2a_settings

#: Seconds since 1970, whatever the time zones of session and connection. SQLite has this machine's clock.
STATEMENTS: Final = {
    "postgresql": "SELECT EXTRACT(EPOCH FROM CLOCK_TIMESTAMP())",
    "mysql": "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000000",
}

#: By database: by how much its clock is ahead of this process's monotonic one, and when that was seen.
_seen: dict[str, tuple[float, float]] = {}
#: The moments that were given for an order, by database.
_last: dict[str, dt.datetime] = {}
_lock = threading.Lock()


def read(using: str) -> dt.datetime:
    """Return the time of the database ``using``."""
    statement = STATEMENTS.get(connections[using].vendor)
    if statement is None:
        return _moment(time.time())
    with connections[using].cursor() as cursor:
        cursor.execute(statement)
        seconds = float(cursor.fetchone()[0])
    here = time.monotonic()
    _seen[using] = (seconds - here, here)
    return _moment(seconds)


def now(using: str) -> dt.datetime:
    """Return about the same, mostly without asking."""
    ahead, seen = _seen.get(using, (0.0, float("-inf")))
    here = time.monotonic()
    if here - seen > a2a_settings.LEASE_SECONDS / 3:
        return read(using)
    return _moment(here + ahead)


def tick(using: str) -> dt.datetime:
    """Return about the same, later than all that were returned here before: for what has to be in order."""
    moment = now(using)
    with _lock:
        if (last := _last.get(using)) is not None and moment <= last:
            moment = last + dt.timedelta(microseconds=1)
        _last[using] = moment
    return moment


def lease_end(using: str) -> dt.datetime:
    """Return the moment at which a lease given now expires."""
    return now(using) + dt.timedelta(seconds=a2a_settings.LEASE_SECONDS)


def _moment(seconds: float) -> dt.datetime:
    return dt.datetime.fromtimestamp(seconds, dt.UTC)
