"""What is read from an ASGI request: headers, and Django's request for those who want one."""

from __future__ import annotations

from io import BytesIO, RawIOBase
from typing import IO, Any, cast

from django.core.handlers.asgi import ASGIRequest

from a2a_django.bindings.consumers.asgi import Scope


def headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers by lower-case name, repeated lines joined by commas, as ``request.META`` has them.

    Names keep their underscores, so they cannot be taken for those with hyphens; Django leaves them out for that.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin1")
        value = raw_value.decode("latin1")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers


class Unread(RawIOBase):
    """In the place of a body that has not arrived yet; remembers whether somebody wanted to read it.

    Django turns the ``OSError`` into ``UnreadablePostError``.
    """

    def __init__(self) -> None:
        self.touched = False

    def read(self, size: int = -1, /) -> bytes:
        """Raise ``OSError``."""
        self.touched = True
        raise OSError("The request body is not there yet")

    def readline(self, size: int | None = -1, /) -> bytes:
        """Raise ``OSError``."""
        return self.read()


def full_request(scope: Scope, body: Unread | BytesIO) -> ASGIRequest:
    """Return Django's request."""
    return ASGIRequest(scope, cast("IO[bytes]", body))


class LazyRequest(ASGIRequest):
    """Django's request, made at the first look at it; most calls need none.

    Nothing can be read from it: its body belongs to the call.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__
        if "META" in known or "scope" not in known:  # made already; not made by ``__init__``, but as a copy
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        super().__init__(self.scope, cast("IO[bytes]", Unread()))
        return getattr(self, name)
