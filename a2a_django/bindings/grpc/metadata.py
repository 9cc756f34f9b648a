"""From the metadata of a call to headers, and to the request that the site's access policy looks at.

REST framework's authenticators, permissions and throttles take a Django request; a gRPC call is an HTTP/2 POST, so one
can be made. Names with underscores are left out as in every server of Django's: ``x_api_key`` must not be taken for
``x-api-key`` by code that sits behind a proxy which knows only one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from django.http import HttpRequest

from a2a_django.conf import a2a_settings

#: Credentials that are sent twice, which some clients do, are the same credentials and not a list.
_CREDENTIALS: Final = frozenset({"authorization", "x-api-key"})


def headers_of(metadata: Iterable[tuple[str, str | bytes]]) -> dict[str, str]:
    """Return the text metadata by lower-case key, repeated keys joined by commas as HTTP does it (R-171)."""
    headers: dict[str, str] = {}
    for key, value in metadata:
        if not isinstance(value, str) or "_" in key:
            continue
        if key not in headers:
            headers[key] = value
        elif key not in _CREDENTIALS or headers[key] != value:
            headers[key] += f",{value}"
    return headers


@dataclass(frozen=True, slots=True)
class Origin:
    """How the site is reached, as requests made here tell it: scheme, host and port of ``BASE_URL``."""

    scheme: str
    host: str
    port: str

    @classmethod
    def configured(cls, *, encrypted: bool) -> Origin:
        """Return the origin of ``A2A["BASE_URL"]``; without, the local host, encrypted as the gRPC server is."""
        scheme = "https" if encrypted else "http"
        parts = urlsplit(a2a_settings.BASE_URL or f"{scheme}://localhost")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return cls("https" if encrypted else parts.scheme, parts.hostname or "localhost", str(port))


class GrpcRequest(HttpRequest):
    """A call as the access policy sees it: a POST to the path of the RPC, without a body.

    Metadata stands in ``META`` and ``headers`` as HTTP headers do. With mutual TLS ``META`` also has
    ``SSL_CLIENT_VERIFY``, ``SSL_CLIENT_S_DN_CN`` and ``SSL_CLIENT_CERT`` (PEM), as web servers name them; a caller
    cannot send these.
    """

    def __init__(
        self,
        path: str,
        headers: Mapping[str, str],
        peer: str,
        origin: Origin,
        certificate: Mapping[str, Iterable[bytes]] | None = None,
    ) -> None:
        super().__init__()
        self.method = "POST"
        self.path = self.path_info = path
        self._scheme = origin.scheme
        host, port = address_of(peer)
        self.META = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": path,
            "SCRIPT_NAME": "",
            "QUERY_STRING": "",
            "SERVER_PROTOCOL": "HTTP/2.0",
            "SERVER_NAME": origin.host,
            "SERVER_PORT": origin.port,
            "REMOTE_ADDR": host,
            "REMOTE_HOST": host,
            "REMOTE_PORT": port,
        }
        for name, value in headers.items():
            self.META["HTTP_" + name.upper().replace("-", "_")] = value
        if certificate:
            self.META |= _certificate_meta(certificate)
        # What reads the body finds an empty one; the message is none of the policy's business.
        self._body = b""
        self._stream = BytesIO()
        self._read_started = False

    def _get_scheme(self) -> str:
        return self._scheme


def address_of(peer: str) -> tuple[str, str]:
    """Return address and port of a peer as gRPC names it (``ipv4:127.0.0.1:1234``, ``ipv6:%5B::1%5D:1234``)."""
    family, _, rest = unquote(peer).partition(":")
    if family not in ("ipv4", "ipv6"):
        return "", ""  # a Unix socket
    host, _, port = rest.rpartition(":")
    return host.strip("[]").partition("%")[0], port


def _certificate_meta(certificate: Mapping[str, Iterable[bytes]]) -> dict[str, Any]:
    def first(name: str) -> str:
        return next(iter(certificate.get(name, ())), b"").decode("utf-8", "replace")

    pem = first("x509_pem_cert")
    if not pem:
        return {}
    return {"SSL_CLIENT_VERIFY": "SUCCESS", "SSL_CLIENT_S_DN_CN": first("x509_common_name"), "SSL_CLIENT_CERT": pem}
