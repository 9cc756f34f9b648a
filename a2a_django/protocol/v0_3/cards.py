"""Agent cards for readers of version 0.3 (facts 4, 6.6, 9): the pure card of 0.3, and one that both generations read.

Both are made of a canonical card of 1.0 that lists interfaces of version 0.3; its other content is not changed. So what
a signature of 1.0 covers stands in the united card as it was: readers of 1.0 leave out what they do not know. A pure
card has no signatures, those of 1.0 would not be good for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from a2a_django.protocol.versions import V0_3
from a2a_django.protocol.wire import Wire

#: What the cards of 0.3 say of themselves; in ``supportedInterfaces`` of 1.0 it is "0.3".
PROTOCOL_VERSION: Final = "0.3.0"

#: Members that both versions have, in the same form.
_SAME: Final = (
    "name",
    "description",
    "version",
    "provider",
    "iconUrl",
    "documentationUrl",
    "defaultInputModes",
    "defaultOutputModes",
)
_CAPABILITIES: Final = ("streaming", "pushNotifications", "extensions")

#: Member of a scheme in 1.0 -> its ``type`` in 0.3.
_TYPES: Final = {
    "apiKeySecurityScheme": "apiKey",
    "httpAuthSecurityScheme": "http",
    "oauth2SecurityScheme": "oauth2",
    "openIdConnectSecurityScheme": "openIdConnect",
    "mtlsSecurityScheme": "mutualTLS",
}
#: Flow of OAuth in 0.3 -> its members; of these ``scopes`` has to be there.
_FLOWS: Final = {
    "authorizationCode": ("authorizationUrl", "tokenUrl", "refreshUrl"),
    "clientCredentials": ("tokenUrl", "refreshUrl"),
    "implicit": ("authorizationUrl", "refreshUrl"),
    "password": ("tokenUrl", "refreshUrl"),
}


def pure(card: Wire) -> Wire:
    """Return the card of version 0.3, which has nothing of 1.0 in it.

    Raises ``ValueError`` for a card without an interface of version 0.3.
    """
    old: Wire = {"protocolVersion": PROTOCOL_VERSION}
    old |= {name: card[name] for name in _SAME if name in card}
    old |= _addresses(card)
    capabilities = card.get("capabilities", {})
    old["capabilities"] = {name: capabilities[name] for name in _CAPABILITIES if name in capabilities}
    schemes = _schemes(card)
    if schemes:
        old["securitySchemes"] = schemes
    old |= _security(card, schemes)
    old["skills"] = [
        {name: value for name, value in skill.items() if name != "securityRequirements"} | _security(skill, schemes)
        for skill in card.get("skills", ())
    ]
    return old | _extended(card)


def union(card: Wire) -> Wire:
    """Return the card with everything that a reader of 0.3 looks for beside what it has.

    A scheme that cannot be said in 0.3 stays without a ``type``. So does one that can only be said in part, when the
    card is signed: the official SDK reads nothing but the part then, and would find the signature wrong. Raises
    ``ValueError`` for a card without an interface of version 0.3.
    """
    united = {**card, "protocolVersion": PROTOCOL_VERSION, **_addresses(card), **_extended(card)}
    schemes = _schemes(card)
    if "securitySchemes" in card:
        whole = "signatures" in card
        united["securitySchemes"] = {
            name: {**schemes[name], **scheme} if name in schemes and not (whole and _is_more(scheme)) else scheme
            for name, scheme in card["securitySchemes"].items()
        }
    united |= _security(card, schemes)
    if "skills" in card:
        united["skills"] = [skill | _security(skill, schemes) for skill in card["skills"]]
    return united


def _addresses(card: Wire) -> Wire:
    entries = [entry for entry in card.get("supportedInterfaces", ()) if entry.get("protocolVersion") == V0_3]
    if not entries:
        raise ValueError("The card has no interface of version 0.3")
    first = entries[0]
    return {
        "url": first["url"],
        "preferredTransport": first["protocolBinding"],
        "additionalInterfaces": [{"url": one["url"], "transport": one["protocolBinding"]} for one in entries],
    }


def _extended(card: Wire) -> Wire:
    """Return the member that says that there is an extended card; it is left out where there is none."""
    return {"supportsAuthenticatedExtendedCard": True} if card.get("capabilities", {}).get("extendedAgentCard") else {}


def _security(holder: Wire, schemes: Mapping[str, Any]) -> Wire:
    """Return the requirements of a card or a skill, but for those that need a scheme which 0.3 cannot say."""
    wanted = [
        {name: list(scopes.get("list", ())) for name, scopes in requirement.get("schemes", {}).items()}
        for requirement in holder.get("securityRequirements", ())
    ]
    found = [one for one in wanted if one.keys() <= schemes.keys()]
    return {"security": found} if found else {}


def _schemes(card: Wire) -> dict[str, Wire]:
    """Return the schemes that can be said in 0.3, by their names."""
    found = ((name, _scheme(scheme)) for name, scheme in card.get("securitySchemes", {}).items())
    return {name: scheme for name, scheme in found if scheme is not None}


def _scheme(scheme: Wire) -> Wire | None:
    for member, kind in _TYPES.items():
        if member not in scheme:
            continue
        old = {"type": kind, **scheme[member]}
        if "location" in old:
            old["in"] = old.pop("location")
        if kind == "oauth2":
            flows = {name: _flow(flow, _FLOWS[name]) for name, flow in old.get("flows", {}).items() if name in _FLOWS}
            if not flows:
                return None
            old["flows"] = flows
        return old
    return None


def _flow(flow: Wire, names: Iterable[str]) -> Wire:
    return {name: flow[name] for name in names if name in flow} | {"scopes": flow.get("scopes", {})}


def _is_more(scheme: Wire) -> bool:
    """Whether a scheme says something that has no place in 0.3, though the rest of it has."""
    flows = scheme.get("oauth2SecurityScheme", {}).get("flows", {})
    return any(not set(flow) <= {*_FLOWS[name], "scopes"} for name, flow in flows.items() if name in _FLOWS)
