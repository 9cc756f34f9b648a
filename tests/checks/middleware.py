"""Middleware of sites that the checks are asked about."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.security import SecurityMiddleware

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def stamped(get_response: GetResponse) -> GetResponse:
    """Middleware that is a function."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response["X-Stamp"] = "1"
        return response

    return answer


class Counting:
    """Middleware that is a class of its own."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.count = 0

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        self.count += 1
        return self.get_response(request)


class SameSecurity(SecurityMiddleware):
    """Django's under another name."""


class OtherSecurity(SecurityMiddleware):
    """Decides differently."""

    def process_request(self, request: HttpRequest) -> None:
        """Let everything pass."""


class OtherHeaders(XFrameOptionsMiddleware):
    """Answers differently."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add another header."""
        response["X-Other"] = "1"
        return response


class OwnSession(SessionMiddleware):
    """Finds the session in its own way, in which the consumers follow it."""

    def process_request(self, request: HttpRequest) -> None:
        """Begin a new one."""
        request.session = self.SessionStore()


class OwnSessionCookie(SessionMiddleware):
    """Answers in its own way, in which they do not."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Send no cookie."""
        return response


class OwnUser(AuthenticationMiddleware):
    """Finds the user in its own way, in which the consumers follow it."""

    def process_request(self, request: HttpRequest) -> None:
        """Find nobody."""
