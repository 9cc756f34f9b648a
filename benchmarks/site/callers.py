"""The caller of all calls: known without a look into the database, as busy callers are."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication

from a2a_django.agents.callers import Application

LOAD: Final = Application("load")


class Load(BaseAuthentication):
    """Takes every call for one of the load. Anonymous callers could not list their tasks."""

    def authenticate(self, request: Any) -> tuple[Any, None]:
        """Return the caller."""
        return LOAD, None

    @staticmethod
    def remembered(request: HttpRequest) -> tuple[Any, None]:
        """Return the caller without a thread."""
        return LOAD, None


class Named(BaseAuthentication):
    """Takes every call for one of what it says in `X-Bench-Caller`."""

    def authenticate(self, request: Any) -> tuple[Any, None]:
        """Return the caller."""
        return self.remembered(request)

    @staticmethod
    def remembered(request: Any) -> tuple[Any, None]:
        """Return the caller without a thread."""
        return Application(request.META.get("HTTP_X_BENCH_CALLER", LOAD.client_id)), None
