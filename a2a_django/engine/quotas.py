"""How much each owner has taken of something that a process has not without end: runs at work, open streams (D-35).

Counted in this process, so a site with several processes allows as many times as much. All anonymous callers are one
owner. Invariants: a share is counted at most once; after ``release`` it is never counted again, whoever still holds it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from a2a_django.conf import a2a_settings
from a2a_django.protocol.errors import ThrottledError


class Quota:
    """What may be taken: ``A2A[setting]`` is the limit for one owner, ``refusal`` what is said beyond it."""

    def __init__(self, setting: str, refusal: str) -> None:
        self._setting = setting
        self._refusal = refusal
        self._lock = threading.Lock()
        self._taken: dict[str, int] = {}
        #: Told of an owner who has given a share back, outside of all locks.
        self.on_free: Callable[[str], None] = lambda owner: None

    def take(self, owner: str) -> Share:
        """Return a share of ``owner``'s. Raises ``ThrottledError`` when all are taken."""
        with self._lock:
            if self._taken.get(owner, 0) >= getattr(a2a_settings, self._setting):
                raise ThrottledError(self._refusal)
            self._add(owner, 1)
        return Share(self, owner)

    def take_anyway(self, owner: str) -> Share:
        """Return a share for what goes on in any case, whether there is one left or not."""
        with self._lock:
            self._add(owner, 1)
        return Share(self, owner)

    def taken(self, owner: str) -> int:
        """Return how many shares ``owner`` has."""
        return self._taken.get(owner, 0)

    def left(self, owner: str) -> int:
        """Return how many more shares ``owner`` may have."""
        return int(getattr(a2a_settings, self._setting)) - self._taken.get(owner, 0)

    def _add(self, owner: str, count: int) -> None:
        left = self._taken.get(owner, 0) + count
        if left:
            self._taken[owner] = left
        else:  # owners come and go
            del self._taken[owner]


class Share:
    """One of an owner's shares; from any thread, and everything as often as you like."""

    __slots__ = ("_counted", "_over", "_owner", "_quota")

    def __init__(self, quota: Quota, owner: str) -> None:
        self._quota, self._owner = quota, owner
        self._counted, self._over = True, False

    def pause(self) -> None:
        """Give the share back for now."""
        self._count(False)

    def resume(self) -> None:
        """Take it again, whether there is one left or not; not after ``release``."""
        self._count(True)

    def release(self) -> None:
        """Give it back for good."""
        self._count(False, over=True)

    def _count(self, counted: bool, *, over: bool = False) -> None:
        quota = self._quota
        with quota._lock:
            if self._over or counted is self._counted:
                self._over = self._over or over
                return
            self._over = over
            self._counted = counted
            quota._add(self._owner, 1 if counted else -1)
        if not counted:
            quota.on_free(self._owner)


class Place:
    """A place for a run that is about to begin, or none: then its task waits. From any thread.

    ``release`` is called when the place is no longer needed, because the run has begun or will not.
    """

    def __init__(self, release: Callable[[], None] | None = None, share: Share | None = None) -> None:
        self.is_free = release is not None
        self._release = release
        self._share = share

    def keep_share(self, quota: Quota, owner: str) -> None:
        """Count for ``owner``, too, until the run does."""
        self._share = quota.take_anyway(owner)

    def give_back(self) -> None:
        """Give the place back, once."""
        share, self._share = self._share, None
        release, self._release = self._release, None
        if release is not None:
            release()
        if share is not None:
            share.release()
