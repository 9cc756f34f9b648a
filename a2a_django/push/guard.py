"""Where webhooks may be: the guard against requests to places that only this server can reach (Spec 13.2, R-142).

Whoever registers a webhook chooses where this server sends a request, so it must not become a way into the network
the server stands in. The rule: https, to addresses that are public, and the site's own exceptions
(``A2A["WEBHOOK_ALLOWED_HOSTS"]``).

A URL is judged three times. ``target`` reads it, without asking anybody; ``check`` looks its name up besides, for a
clear error when a webhook is registered; and ``permits`` is asked for the very address that is about to be connected
to. Only the last one makes it safe: a name may have another address a moment later. The others make it understandable.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import idna
from django.core.exceptions import ImproperlyConfigured

from a2a_django.conf import a2a_settings
from a2a_django.push.names import Address, Resolver, resolver

MAX_URL: Final = 8 * 1024

#: Seconds that registering a webhook waits for the addresses of its name.
LOOK_UP_SECONDS: Final = 3.0

#: The parts of a URL. The host ends where every reader of URLs ends it; ``@``, ``%`` and ``\\`` never get past _HOST.
_URL: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<host>\[[^\]/?#]*\]|[^/?#:\[\]]*)(?P<port>:[^/?#]*)?"
    r"(?P<path>/[^?#]*)?(?P<query>\?[^#]*)?(?:#.*)?",
    re.DOTALL,
)
_BLANK: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
#: A host whose last label looks so is an address to some reader of URLs (inet_aton: 127.1, 0x7f.1, 017700000001).
_NUMBER: Final = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)", re.ASCII)

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HOST_LIMIT: Final = 253

_V4: Final = ipaddress.IPv4Network
_V6: Final = ipaddress.IPv6Network

#: What ``is_global`` of some supported Python takes for public, and is not meant for anybody's web server.
_NOT_PUBLIC_V4: Final = (
    _V4("0.0.0.0/8"),
    _V4("100.64.0.0/10"),  # shared by a provider's customers
    _V4("192.0.0.0/24"),  # protocol assignments
    _V4("192.88.99.0/24"),  # 6to4 relays
    _V4("198.18.0.0/15"),  # benchmarks
    _V4("224.0.0.0/4"),  # multicast
    _V4("240.0.0.0/4"),  # reserved, and broadcast
)
#: Only these are given out for the public network. Mapped, compatible and NAT64 addresses, which have an IPv4 address
#: inside, are not among them, and nothing local is.
_UNICAST_V6: Final = _V6("2000::/3")
_NOT_PUBLIC_V6: Final = (
    _V6("2001::/23"),  # protocol assignments: Teredo, benchmarks, ORCHID
    _V6("2001:db8::/32"),  # documentation
    _V6("2002::/16"),  # 6to4
    _V6("3fff::/20"),  # documentation
)
#: Bits 32 to 63 of an ISATAP address, whose last 32 bits are an IPv4 address (RFC 5214).
_ISATAP: Final = frozenset({0x00005EFE, 0x02005EFE})


class Refused(Exception):
    """A webhook must not be there; ``reason`` says why in words that may be shown to whoever registered it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Reach(Enum):
    """Which addresses a URL may lead to."""

    PUBLIC = "public addresses and those the site lists"
    LISTED = "addresses the site lists"
    ANYWHERE = "any: the site lists the name"


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that was read: how it is written in requests, its host in ASCII, its port, and where it may lead."""

    url: str
    host: str
    port: int
    reach: Reach
    address: Address | None


@dataclass(frozen=True, slots=True)
class Policy:
    """The site's two settings, read. Names and networks have the port for which they are listed, None for all."""

    https_only: bool
    names: frozenset[tuple[str, int | None]]
    suffixes: tuple[tuple[str, int | None], ...]
    networks: tuple[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, int | None], ...]

    def lists_name(self, host: str, port: int) -> bool:
        """Return whether the site lists a name, or a domain it is in."""
        if (host, None) in self.names or (host, port) in self.names:
            return True
        return any(f".{host}".endswith(suffix) and wanted in (None, port) for suffix, wanted in self.suffixes)

    def lists_address(self, address: Address, port: int) -> bool:
        """Return whether the site lists an address, or a network it is in."""
        return any(
            address in network and wanted in (None, port) and not getattr(address, "scope_id", None)
            for network, wanted in self.networks
        )


def policy() -> Policy:
    """Return what the settings say. Raises ``ImproperlyConfigured`` for an entry that is none."""
    return _policy(a2a_settings.WEBHOOK_HTTPS_ONLY, tuple(a2a_settings.WEBHOOK_ALLOWED_HOSTS))


@lru_cache(maxsize=16)
def _policy(https_only: bool, entries: tuple[str, ...]) -> Policy:
    names, suffixes, networks = set(), [], []
    for entry in entries:
        try:
            host, port = _entry(entry)
        except ValueError as error:
            raise ImproperlyConfigured(f"A2A['WEBHOOK_ALLOWED_HOSTS']: {entry!r} is {error}") from error
        if not isinstance(host, str):
            networks.append((host, port))
        elif host.startswith("."):
            suffixes.append((host, port))
        else:
            names.add((host, port))
    return Policy(https_only, frozenset(names), tuple(suffixes), tuple(networks))


def is_entry(text: str) -> bool:
    """Return whether ``text`` can stand in ``WEBHOOK_ALLOWED_HOSTS``."""
    try:
        _entry(text)
    except ValueError:
        return False
    return True


def _entry(text: str) -> tuple[str | ipaddress.IPv4Network | ipaddress.IPv6Network, int | None]:
    """Return host or network and port of an entry. Raises ``ValueError`` that says what it is not."""
    host, port = text, None
    if found := re.fullmatch(r"(\[[^\]]*\]|[^:]*):([0-9]{1,5})", text, re.ASCII):
        host, port = found[1], int(found[2])
        if not 0 < port < 65536:
            raise ValueError("no host with a valid port")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if "/" in host or ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return ipaddress.ip_network(bare), port
        except ValueError as error:
            raise ValueError(f"no address and no network: {error}") from error
    try:
        return ("." if host.startswith(".") else "") + _name(host.removeprefix(".")), port
    except Refused as error:
        raise ValueError("no host, host:port, .domain, address or network") from error


async def check(url: str, *, names: Resolver = resolver) -> None:
    """Raise ``Refused`` when no webhook may be at ``url``, as its name is known now.

    A name without addresses is not refused. Whether it has some is a fact of this moment and this process: the name
    server may be down, the name just being made, or known only to the process that sends. Nothing is lost, because the
    address is judged when it is connected to, and the delivery says what was wrong with it.
    """
    found = target(url)
    if found.address is not None or found.reach is Reach.ANYWHERE:
        return
    try:
        async with asyncio.timeout(LOOK_UP_SECONDS):
            addresses = await names.addresses(found.host)
    except OSError:  # TimeoutError is one
        return
    check_addresses(found.reach, addresses, found.port)


def check_addresses(reach: Reach, addresses: Iterable[Address], port: int) -> None:
    """Raise ``Refused`` unless a URL of this reach may lead to every one of these addresses."""
    if not all(permits(reach, address, port) for address in addresses):
        raise Refused(_NOT_HTTPS if reach is Reach.LISTED else _NOT_PUBLIC)


def permits(reach: Reach, address: Address, port: int) -> bool:
    """Return whether a URL of this reach may be connected to at this address and port."""
    if reach is Reach.ANYWHERE or policy().lists_address(address, port):
        return True
    return reach is Reach.PUBLIC and is_public(address)


def is_public(address: Address) -> bool:
    """Return whether an address belongs to the public network and could be anybody's web server."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not any(address in network for network in _NOT_PUBLIC_V4)
    return (
        address in _UNICAST_V6
        and address.is_global
        and address.scope_id is None
        and not any(address in network for network in _NOT_PUBLIC_V6)
        and (int(address) >> 32) & 0xFFFFFFFF not in _ISATAP
    )


_NOT_HTTPS: Final = "it has to begin with https://"
_NOT_PUBLIC: Final = "its host is not in the public network"
_NO_HOST: Final = "its host is no valid host name"


def target(url: str) -> Target:
    """Read a URL. Raises ``Refused`` when it can be told from the text alone that no webhook may be there."""
    parts = _parts(url)
    scheme = parts["scheme"].lower()
    if scheme not in _DEFAULT_PORTS:
        raise Refused(_NOT_HTTPS)
    port = _port(parts["port"], _DEFAULT_PORTS[scheme])
    host = _host(parts["host"])
    netloc = f"[{host}]" if isinstance(host, ipaddress.IPv6Address) else str(host)
    if port != _DEFAULT_PORTS[scheme]:
        netloc = f"{netloc}:{port}"
    path, query = _quoted(parts["path"] or "/"), _quoted(parts["query"] or "")
    reach = _reach(scheme, host, port)
    address = None if isinstance(host, str) else host
    return Target(f"{scheme}://{netloc}{path}{query}", str(host), port, reach, address)


def _parts(url: str) -> re.Match[str]:
    if not url:
        raise Refused("it is empty")
    if len(url) > MAX_URL:
        raise Refused("it is too long")
    if _BLANK.search(url):
        raise Refused("it has a blank or a control character in it")
    parts = _URL.fullmatch(url)
    if parts is None:
        raise Refused("it is no absolute URL with a host")
    if "@" in parts["host"] or "@" in (parts["port"] or ""):
        raise Refused("it has a user name or a password in it")
    return parts


def _port(text: str | None, default: int) -> int:
    if text is None:
        return default
    if not re.fullmatch(r":[0-9]{1,5}", text, re.ASCII) or not 0 < int(text[1:]) < 65536:
        raise Refused("its port is no number from 1 to 65535")
    return int(text[1:])


def _host(text: str) -> str | Address:
    """Return the address that a host is, else its name in ASCII."""
    if not text:
        raise Refused("it has no host")
    if text.startswith("["):
        try:
            address = ipaddress.IPv6Address(text[1:-1])
        except ValueError:
            raise Refused(_NO_HOST) from None
        if address.scope_id is not None:
            raise Refused(_NOT_PUBLIC)
        return address
    name = _name(text)
    if not _NUMBER.fullmatch(name.rpartition(".")[2]) and not _reads_as_address(name):
        return name
    try:
        return ipaddress.IPv4Address(name)
    except ValueError:
        raise Refused("an address has to be written in its usual form, as in 192.0.2.1") from None


def _name(text: str) -> str:
    """Return a host name in lower case and ASCII, without the dot at its end. Raises ``Refused`` if it is none."""
    if len(text) > _HOST_LIMIT + 1:
        raise Refused(_NO_HOST)
    if not text.isascii():
        try:
            text = idna.encode(text, uts46=True).decode("ascii")
        except UnicodeError:  # idna's own are of this kind
            raise Refused(_NO_HOST) from None
    name = text.lower().removesuffix(".")
    if len(name) > _HOST_LIMIT or not all(_LABEL.fullmatch(label) for label in name.split(".")):
        raise Refused(_NO_HOST)
    return name


def _reads_as_address(name: str) -> bool:
    try:
        socket.inet_aton(name)
    except OSError:
        return False
    return True


def _reach(scheme: str, host: str | Address, port: int) -> Reach:
    rules = policy()
    listed = rules.lists_name(host, port) if isinstance(host, str) else rules.lists_address(host, port)
    if listed:
        return Reach.ANYWHERE
    # A name may turn out to be in a network that the site lists; an address is what it is.
    possible = isinstance(host, str) and bool(rules.networks)
    if scheme != "https" and rules.https_only:
        if possible:
            return Reach.LISTED
        raise Refused(_NOT_HTTPS)
    if not possible and not (_may_be_public(host) if isinstance(host, str) else is_public(host)):
        raise Refused(_NOT_PUBLIC)
    return Reach.PUBLIC


def _may_be_public(name: str) -> bool:
    """Return whether a name can have public addresses: one without a dot has a meaning in one network only."""
    return "." in name and not name.endswith(".localhost")


def _quoted(text: str) -> str:
    try:
        return quote(text, safe="!$%&'()*+,/:;=?@[]~")
    except UnicodeEncodeError:
        raise Refused("it has a character in it that is none") from None
