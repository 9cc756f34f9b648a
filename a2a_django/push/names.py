"""Host names to addresses, without one slow name server keeping the others waiting.

``getaddrinfo`` blocks, for half a minute when a name server is silent, and whoever registers a webhook chooses the
name. So every lookup has a thread of its own (none is kept, and none holds up the end of the process), a name is looked
up once however many ask, and threads are rationed: ``THREADS`` for all, ``PER_ZONE`` for names that share their last
two labels, and ``SLOW_THREADS`` for all zones together that were slow a while ago. So neither one silent zone nor many
can take all threads for long.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

THREADS: Final = 64
SLOW_THREADS: Final = 8
PER_ZONE: Final = 4

#: Seconds after which a zone counts as slow, and for how long it does.
SLOW: Final = 2.0
SLOW_FOR: Final = 300.0

#: Seconds for which an answer, a failure too, is good.
REMEMBER: Final = 5.0
_ENTRIES: Final = 1000


def look_up(host: str) -> list[Address]:
    """Return all addresses of a name, best first. Raises ``OSError``; blocks."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ipaddress.ip_address(address[0]) for *_, address in found))


class _Entry:
    __slots__ = ("answer", "asking", "until")

    def __init__(self) -> None:
        self.answer: Future[Sequence[Address]] = Future()
        self.answer.set_running_or_notify_cancel()  # one who asks and gives up must not cancel it for the others
        self.asking = 0
        self.until = 0.0


class Resolver:
    """Looks names up; one serves all threads and event loops of the process."""

    def __init__(
        self,
        function: Callable[[str], Sequence[Address]] = look_up,
        *,
        threads: int = THREADS,
        slow_threads: int = SLOW_THREADS,
        per_zone: int = PER_ZONE,
        slow: float = SLOW,
        remember: float = REMEMBER,
    ) -> None:
        self._function = function
        self._threads = {False: threads, True: slow_threads}
        self._per_zone = per_zone
        self._slow_after = slow
        self._remember = remember
        self.forget()

    def forget(self) -> None:
        """Start afresh, as after a fork: the threads are gone."""
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}
        self._waiting: dict[str, _Entry] = {}
        #: Threads at work: for each zone, and for those that are slow and those that are not.
        self._busy: Counter[str] = Counter()
        self._lanes: Counter[bool] = Counter()
        #: Zones that are slow, and until when they count as such.
        self._slow: dict[str, float] = {}

    async def addresses(self, host: str) -> Sequence[Address]:
        """Return the addresses of ``host``. Raises ``OSError`` when there are none or nobody can tell."""
        with self._lock:
            entry = self._entry(host)
            entry.asking += 1
        try:
            return await asyncio.wrap_future(entry.answer)
        finally:
            with self._lock:
                entry.asking -= 1

    def _entry(self, host: str) -> _Entry:
        entry = self._entries.get(host)
        if entry is None or (entry.answer.done() and entry.until <= time.monotonic()):
            if len(self._entries) >= _ENTRIES:
                self._entries = {name: old for name, old in self._entries.items() if not old.answer.done()}
            entry = self._entries[host] = self._waiting[host] = _Entry()
            self._start()
        return entry

    def _start(self) -> None:
        """Start what waits, as far as the limits allow. The lock is held."""
        for host, entry in list(self._waiting.items()):
            zone = _zone(host)
            slow = self._slow.get(zone, 0.0) > time.monotonic()
            if self._lanes[slow] >= self._threads[slow] or self._busy[zone] >= self._per_zone:
                continue
            del self._waiting[host]
            try:
                threading.Thread(target=self._work, args=(host, entry, slow), name="a2a-names", daemon=True).start()
            except RuntimeError:  # the process may have no more threads
                entry.answer.set_exception(OSError(errno.EAGAIN, "no thread to look the name up"))
            else:
                self._busy[zone] += 1
                self._lanes[slow] += 1

    def _work(self, host: str, entry: _Entry, slow: bool) -> None:
        started = time.monotonic()
        found: Sequence[Address] = ()
        error: Exception | None = None
        try:
            found = self._function(host)
        except Exception as failure:  # handed to whoever waits
            error = failure if isinstance(failure, OSError) else OSError(errno.EINVAL, "not a host name")
        with self._lock:
            now = time.monotonic()
            entry.until = now + self._remember
            self._busy -= Counter([_zone(host)])  # and forgets zones that have none
            self._lanes[slow] -= 1
            self._note(_zone(host), now, slow=now - started > self._slow_after)
            self._abandon()
            self._start()
        if error is not None:
            entry.answer.set_exception(error)
        else:
            entry.answer.set_result(found)

    def _note(self, zone: str, now: float, *, slow: bool) -> None:
        """Note how long a zone took. The lock is held."""
        if not slow:
            self._slow.pop(zone, None)
            return
        if len(self._slow) >= _ENTRIES:
            self._slow = {name: until for name, until in self._slow.items() if until > now}
        self._slow[zone] = now + SLOW_FOR

    def _abandon(self) -> None:
        """Forget what waits for its turn and nobody asks for any more. The lock is held."""
        for host in [host for host, entry in self._waiting.items() if not entry.asking]:
            del self._waiting[host], self._entries[host]


def _zone(host: str) -> str:
    return ".".join(host.split(".")[-2:])


resolver: Final = Resolver()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=resolver.forget)
