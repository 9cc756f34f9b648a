"""Where a request arrived: what the carriers read from its path, and where its caller finds the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from django.utils.encoding import escape_uri_path

from a2a_django.agents.cards import CardBase
from a2a_django.bindings.http import segments

#: Segments of the card's own path, and the place of the endpoints beside it.
_CARD: Final = 2
_ENDPOINTS: Final = "/a2a"

#: Where a card is, below the root of the site or the address of an agent (R-193).
CARD_PATH: Final = "/.well-known/agent-card.json"


@lru_cache(maxsize=256)
def base_at(url: str, endpoint: str, streaming: bool) -> CardBase:
    """Return where the protocol is reached: ``endpoint`` is the path of its endpoints on the site at ``url``, without
    script prefix and without trailing slash."""
    return CardBase(url.rstrip("/"), str(escape_uri_path(endpoint)), streaming)


def endpoint_near(path_info: str) -> str:
    """Return the path of the endpoints for the address of JSON-RPC, with or without its slash, and for what stands
    beside it: at the root of the site, or below the endpoints."""
    if path_info.endswith(_ENDPOINTS):
        return path_info
    above = path_info.rpartition("/")[0]
    return above if above.endswith(_ENDPOINTS) else above + _ENDPOINTS


def endpoint_above(path_info: str, count: int) -> str:
    """Return the path of the endpoints for one below them, of which the last ``count`` segments are the protocol's."""
    return "/".join(path_info.split("/")[:-count])


def endpoint_beside_card(path_info: str, tenant: str) -> str:
    """Return the path of the endpoints for the one of a card."""
    above = path_info.split("/")[:-_CARD]
    return "/".join(above[:-1]) if tenant else "/".join(above) + _ENDPOINTS


def card_address(base: CardBase) -> str:
    """Return the address of the default agent's card on a site."""
    return base.endpoint.removesuffix(_ENDPOINTS) + CARD_PATH


def segments_below(path_info: str, raw: str, count: int) -> tuple[str, ...]:
    """Return the decoded segments of the path that belong to the protocol: the last ``count`` of Django's decoded path.

    ``raw`` is the path before it was decoded, "" where the server does not tell; with it an encoded slash does not
    divide segments.
    """
    below = "/".join(path_info.split("/")[-count:])
    if "%" in raw:
        decoded = segments(raw)
        length = -1
        for start in range(len(decoded) - 1, -1, -1):
            length += len(decoded[start]) + 1
            if length == len(below) and "/".join(decoded[start:]) == below:
                return decoded[start:]
            if length >= len(below):
                break
    return tuple(below.split("/"))


def raw_path(scope: Mapping[str, Any]) -> str:
    """Return the undecoded path of an ASGI request, "" where the server does not tell."""
    raw: bytes = scope.get("raw_path") or b""
    return raw.decode("ascii", "replace")
