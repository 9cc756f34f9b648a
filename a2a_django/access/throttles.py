"""Throttles whose rates stand in ``A2A["THROTTLE_RATES"]``.

REST framework's own read theirs from ``REST_FRAMEWORK``, where they belong to the site's other interfaces; and their
counts would be mixed with those. The counts are in Django's default cache: one that all processes share, or each
process counts for itself.
"""

from __future__ import annotations

from rest_framework.throttling import AnonRateThrottle, SimpleRateThrottle, UserRateThrottle

from a2a_django.conf import a2a_settings


class RatedThrottle(SimpleRateThrottle):
    """The rate of the throttle's ``scope``; none set: no limit. A site's subclass gives another scope."""

    cache_format = "a2a_throttle_%(scope)s_%(ident)s"

    def get_rate(self) -> str | None:
        """Return the rate, as REST framework writes it: ``"100/min"``."""
        return a2a_settings.THROTTLE_RATES.get(self.scope or "")


class UserThrottle(RatedThrottle, UserRateThrottle):
    """So many calls of one user: ``THROTTLE_RATES["user"]``. Anonymous callers count by their address."""


class AnonThrottle(RatedThrottle, AnonRateThrottle):
    """So many calls of one address that does not authenticate: ``THROTTLE_RATES["anon"]``."""
