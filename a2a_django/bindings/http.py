"""One HTTP exchange without a framework: what a carrier hands to a binding, and what it gets back.

The carriers (Django's views, the Channels consumers) authenticate, read the body and make an ``Exchange``; the
bindings (``jsonrpc``, ``rest``) make an ``Answer`` or a ``StreamAnswer`` of it. Both sides stay testable alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl, unquote

from a2a_django.access import Identity
from a2a_django.agents.cards import CardBase
from a2a_django.bindings.sse import Frames
from a2a_django.protocol.errors import ContentTypeNotSupportedError, InvalidParamsError

JSON: Final = "application/json"
A2A_JSON: Final = "application/a2a+json"

#: So much of a body that is refused unread is looked at.
HEAD_BYTES: Final = 1024

#: More parameters than this in one query string are nonsense, and would only cost time.
MAX_QUERY_FIELDS: Final = 100


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request.

    ``path`` holds the percent-decoded segments below the address of the protocol (``("tasks", "7f")`` for
    ``/a2a/tasks/7f``), ``query`` the raw query string, ``headers`` the headers by lower-case name with repeated lines
    joined by commas.
    """

    method: str
    path: tuple[str, ...]
    query: str
    headers: Mapping[str, str]
    body: bytes
    identity: Identity
    base: CardBase

    @property
    def streaming(self) -> bool:
        """Whether the carrier can hold a stream open; under WSGI it cannot."""
        return self.base.streaming


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; ``headers`` includes the content type."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class StreamAnswer:
    """An answer of status 200 that goes on: the frames of an event stream. Whoever takes it must close ``frames``."""

    headers: dict[str, str]
    frames: Frames


def segments(raw_path: str) -> tuple[str, ...]:
    """Return the decoded segments of a percent-encoded path: ``%2F`` stays inside its segment (R-186, D-30)."""
    if "%" not in raw_path:
        return tuple(raw_path.split("/"))
    return tuple(unquote(segment) for segment in raw_path.split("/"))


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Return the parameters of a query string in their order. Raises ``InvalidParamsError`` for what is none."""
    if not query:
        return []
    try:
        return parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS)
    except UnicodeDecodeError:
        raise InvalidParamsError("Invalid parameters: the query string is not UTF-8") from None
    except ValueError:
        raise InvalidParamsError(f"Invalid parameters: more than {MAX_QUERY_FIELDS} query parameters") from None


def media_type(header: str) -> str:
    """Return the media type of a Content-Type header in lower case, without parameters."""
    if header == JSON:
        return header
    return header.partition(";")[0].strip().lower()


def check_content_type(header: str, body: bytes) -> None:
    """Accept JSON in any of its types, and any type on an empty body (D-13).

    Raises ``ContentTypeNotSupportedError`` otherwise, also when a body comes without a type.
    """
    if not body:
        return
    found = media_type(header)
    if found != JSON and not (found.startswith("application/") and found.endswith("+json")):
        named = f"not {found[:100]}" if found else "and the request names no Content-Type"
        raise ContentTypeNotSupportedError(f"The body has to be {A2A_JSON} or {JSON}, {named}")


def answer_type(accept: str, content_type: str, default: str) -> str:
    """Return the media type of a successful HTTP+JSON answer (D-13).

    It is what Accept names, else the one of the request, else ``default``.
    """
    named = accepted(accept)
    if A2A_JSON in named:
        return A2A_JSON
    if JSON in named:
        return JSON
    sent = media_type(content_type)
    return sent if sent in (JSON, A2A_JSON) else default


def error_type(accept: str) -> str:
    """Return the media type of an HTTP+JSON error (D-03): application/json unless Accept names only the other one."""
    named = accepted(accept)
    return A2A_JSON if A2A_JSON in named and JSON not in named else JSON


def accepted(accept: str) -> set[str]:
    """Return the media types that an Accept header names and does not refuse with ``q=0``."""
    if not accept or accept == "*/*":
        return set()
    named = set()
    for item in accept.split(","):
        kind, *parameters = (piece.strip().lower() for piece in item.split(";"))
        if not any(p.replace(" ", "") in ("q=0", "q=0.0", "q=0.00", "q=0.000") for p in parameters):
            named.add(kind)
    return named
