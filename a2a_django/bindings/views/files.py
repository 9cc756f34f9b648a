"""The addresses of stored parts (docs/files.md).

Invariants:

* Whoever has no right to a file gets the answer that whoever asks for a file that does not exist gets: 404.
* No more of a file than one piece is in memory, and nobody who reads slowly holds a thread or a connection.
* A browser that is sent to such an address downloads a file, and never shows or runs it as a page of this site.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Final

from django.contrib.auth.decorators import login_not_required
from django.core.files import File
from django.db import transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header, parse_etags
from django.views.decorators.csrf import csrf_exempt

from a2a_django.access import authenticate, check_agent, owner_at, permit
from a2a_django.agents import Agent, registry
from a2a_django.agents.directory import directory
from a2a_django.bindings import rest
from a2a_django.bindings.views.carrier import MetaHeaders, is_asgi, response_of
from a2a_django.bindings.views.threads import release_request_thread
from a2a_django.conf import a2a_settings
from a2a_django.engine import database
from a2a_django.files import links, store
from a2a_django.models import StoredFile
from a2a_django.protocol.errors import MethodNotAllowedError, MethodNotFoundError, UnavailableError

_ALLOW: Final = ("GET", "HEAD")

PIECE: Final = 256 * 1024

#: Media types that are named in answers. Of all others browsers are told nothing, so that they cannot run them; what
#: the agent or the client has said stands with the part.
_HARMLESS: Final = re.compile(
    r"(image/(png|jpeg|gif|webp|avif|bmp|tiff)|audio/[\w.+-]+|video/[\w.+-]+|text/(plain|csv)|application/(pdf|json|zip|gzip))",
    re.ASCII | re.IGNORECASE,
)
_UNKNOWN: Final = "application/octet-stream"
_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\x22/\\\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_SAFE: Final = {
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-site",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


async def view(request: HttpRequest, file_id: uuid.UUID) -> HttpResponseBase:
    """Answer a request for a file: to whoever has a signed address that is good, and may read the task (R-250).

    404 for everybody else, after 401 where ``FILE_URL_AUTH`` asks for credentials and there are none.
    """
    headers = MetaHeaders(request.META)
    try:
        if request.method not in _ALLOW:
            raise MethodNotAllowedError(_ALLOW)
        file = await _permitted(request, file_id)
        if (answer := _known_already(file, headers)) is not None:
            return answer
        try:
            opened = await database.run_io(store.open_file, file)
        except FileNotFoundError:
            raise _nothing() from None  # removed in this moment
        except Exception as error:  # storages have errors of their own
            store.logger.exception("File %s could not be opened", file.pk)
            raise UnavailableError("The file cannot be read now") from error
    except Exception as error:
        return response_of(rest.refuse(error, headers))
    return _answer(request, file, opened, headers)


view = transaction.non_atomic_requests(login_not_required(csrf_exempt(view)))


def _nothing() -> MethodNotFoundError:
    return MethodNotFoundError("There is no such file here, or its address has expired")


async def _permitted(request: HttpRequest, file_id: uuid.UUID) -> StoredFile:
    """Return the file. Raises ``MethodNotFoundError``, and what ``authenticate`` and ``permit`` raise."""
    identity = await authenticate(request) if a2a_settings.FILE_URL_AUTH else None
    file = await database.read(_row, file_id)
    task = file.task if file is not None else None
    if file is None or task is None:
        raise _nothing()
    expires, signature = request.GET.get("expires", ""), request.GET.get("signature", "")
    if not links.is_good(file, task.owner, expires, signature):
        raise _nothing()
    agent = await _agent(task.agent)
    if agent is None or (identity is not None and owner_at(task.tenant, identity.owner) != task.owner):
        raise _nothing()
    if identity is not None:
        check_agent(identity.auth, agent.slug)
        await permit(identity, agent.permissions, tenant=task.tenant)
    return file


def _row(file_id: uuid.UUID) -> StoredFile | None:
    return store.rows().select_related("task").filter(pk=file_id, task__isnull=False).first()


async def _agent(slug: str) -> Agent | None:
    """Return an agent that callers may know of."""
    await directory.refresh()
    agent = registry.get(slug)
    return agent if agent is not None and directory.has(agent) else None


# ------------------------------------------------------------------------------------------------------ answers


def _tag(file: StoredFile) -> str:
    return f'"{file.sha256[:32]}"'


def _known_already(file: StoredFile, headers: Mapping[str, str]) -> HttpResponse | None:
    tags = headers.get("if-none-match")
    if not tags or _tag(file) not in {tag.removeprefix("W/") for tag in parse_etags(tags)}:
        return None
    answer = HttpResponse(status=304, headers={**_SAFE, "ETag": _tag(file)})
    del answer.headers["Content-Type"]
    return answer


def _answer(
    request: HttpRequest, file: StoredFile, opened: File[bytes], headers: Mapping[str, str]
) -> HttpResponseBase:
    """Return the whole file or the range that is asked for; the response closes the file."""
    ranges = opened.seekable()
    first, end = 0, file.size
    status = 200
    fields = {
        **_SAFE,
        "Content-Type": file.media_type if _HARMLESS.fullmatch(file.media_type) else _UNKNOWN,
        "Content-Disposition": content_disposition_header(True, _name(file)) or "attachment",
        "ETag": _tag(file),
        "Accept-Ranges": "bytes" if ranges else "none",
    }
    if ranges and headers.get("if-range", _tag(file)) == _tag(file):
        asked = _asked(headers.get("range", ""), file.size)
        if asked is not None:
            first, end = asked
            if first >= end:
                opened.close()
                answer = HttpResponse(status=416, headers={**_SAFE, "Content-Range": f"bytes */{file.size}"})
                del answer.headers["Content-Type"]
                return answer
            status, fields["Content-Range"] = 206, f"bytes {first}-{end - 1}/{file.size}"
    fields["Content-Length"] = str(end - first)
    if request.method == "HEAD":
        opened.close()
        return HttpResponse(status=status, headers=fields)
    content = (_AsyncContent if is_asgi(request) else _Content)(opened, first, end)
    return StreamingHttpResponse(content, status=status, headers=fields)


def _name(file: StoredFile) -> str:
    """Return the name under which the file is saved: one name, no path, nothing that cannot be seen."""
    return _UNPRINTABLE.sub("_", file.filename)[-150:].lstrip(".") or f"{file.pk.hex}.bin"


def _asked(header: str, size: int) -> tuple[int, int] | None:
    """Return beginning and end of the one range that a request asks for, beginning at or behind the end where there is
    nothing; None for the whole (RFC 9110, 14.2: several ranges may be ignored)."""
    found = _RANGE.fullmatch(header.strip())
    if found is None or found[0] == "bytes=-":
        return None
    first, last = found.groups()
    if not first:
        return (max(0, size - int(last)), size) if int(last) else (size, size)
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1, size) if last else size


class _Pieces:
    """A file from one place to another, in pieces. ``close`` is found by Django, and called when the response is
    closed: also for a client who left before the first piece."""

    def __init__(self, opened: File[bytes], first: int, end: int) -> None:
        self._opened = opened
        self._at, self._end = first, end
        if first:
            opened.seek(first)

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def _read(self) -> bytes:
        piece: bytes = self._opened.read(min(PIECE, self._end - self._at)) if self._at < self._end else b""
        self._at += len(piece)
        return piece


class _Content(_Pieces):
    """The pieces, read by whoever sends them."""

    def __iter__(self) -> Iterator[bytes]:
        while piece := self._read():
            yield piece


class _AsyncContent(_Pieces):
    """The pieces, read on threads of the package; the request's own is given back before."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        await release_request_thread()
        while piece := await database.run_io(self._read):
            yield piece
