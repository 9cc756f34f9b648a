"""How callers authenticate, as the card says it."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test.utils import override_script_prefix
from pytest_django import Settings
from rest_framework.authentication import BaseAuthentication, BasicAuthentication
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request

from a2a_django import Agent
from a2a_django.access import HasScope, OIDCAuthentication
from a2a_django.agents import registry
from a2a_django.agents.cards import CardBase, build_card
from a2a_django.protocol import codec

pytestmark = pytest.mark.spec("4.4", "7.3")

HERE = __name__ + "."
BASE = CardBase("https://shop.example/site", "/a2a")
DRF = "rest_framework.authentication."
KEYS = "a2a_django.access.APIKeyAuthentication"
OIDC = "a2a_django.access.OIDCAuthentication"
OAUTH = "oauth2_provider.contrib.rest_framework.OAuth2Authentication"
DEMAND, ALLOW = "rest_framework.permissions.IsAuthenticated", "rest_framework.permissions.AllowAny"

BEARER = {"httpAuthSecurityScheme": {"description": "An API key of this site", "scheme": "Bearer"}}


class Plain(Agent):
    """Says nothing special."""

    abstract = True


class Declared(BaseAuthentication):
    """Says itself what it wants."""

    security_scheme = ("mine", {"apiKeySecurityScheme": {"location": "header", "name": "X-Mine"}})


class Challenging(BaseAuthentication):
    """Has a challenge."""

    def authenticate_header(self, request: Request) -> str:
        return 'Hawk realm="x"'


class Silent(BaseAuthentication):
    """Says nothing."""


class Failing(BaseAuthentication):
    """Cannot say anything of an empty request."""

    def authenticate_header(self, request: Request) -> str:
        return request.META["NEEDED"]


class Basic(BasicAuthentication):
    """A site's own."""


@pytest.fixture(autouse=True)
def agent(monkeypatch: pytest.MonkeyPatch) -> Agent:
    registry.all()
    monkeypatch.setattr(registry, "_agents", {})
    made = Plain()
    registry.add(made)
    return made


def card_with(settings: Settings, agent: Agent, authenticators: list[str], **more: Any) -> dict[str, Any]:
    settings.A2A = {"AUTHENTICATION_CLASSES": authenticators, **more}
    card = build_card(agent, BASE)
    assert codec.decode("AgentCard", card) == card
    return card


@pytest.mark.parametrize(
    ("authenticators", "schemes"),
    [
        ([], {}),
        ([KEYS], {"bearer": BEARER}),
        (
            [DRF + "BasicAuthentication", DRF + "TokenAuthentication"],
            {
                "basic": {"httpAuthSecurityScheme": {"scheme": "Basic"}},
                "token": {"httpAuthSecurityScheme": {"scheme": "Token"}},
            },
        ),
        ([HERE + "Basic", DRF + "BasicAuthentication"], {"basic": {"httpAuthSecurityScheme": {"scheme": "Basic"}}}),
        (
            ["rest_framework_simplejwt.authentication.JWTStatelessUserAuthentication"],
            {"jwt": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}}},
        ),
        ([HERE + "Declared"], {"mine": Declared.security_scheme[1]}),
        ([HERE + "Challenging"], {"hawk": {"httpAuthSecurityScheme": {"scheme": "Hawk"}}}),
        ([HERE + "Silent", HERE + "Failing"], {}),
    ],
)
def test_the_schemes_are_those_of_the_authenticators(
    settings: Settings, agent: Agent, authenticators: list[str], schemes: dict[str, Any]
) -> None:
    card = card_with(settings, agent, authenticators)
    assert card.get("securitySchemes", {}) == schemes
    assert card.get("securityRequirements", []) == [{"schemes": {name: {}}} for name in schemes]


def test_a_session_is_a_cookie(settings: Settings, agent: Agent) -> None:
    settings.SESSION_COOKIE_NAME = "shop-session"
    scheme = card_with(settings, agent, [DRF + "SessionAuthentication"])["securitySchemes"]["session"]
    declared = scheme["apiKeySecurityScheme"]
    assert (declared["location"], declared["name"]) == ("cookie", "shop-session")
    assert "CSRF" in declared["description"]


class Partner(OIDCAuthentication):
    """A second issuer."""

    options = {"ISSUER": "https://partner.example/realm/", "AUDIENCE": "shop"}


def test_every_issuer_has_its_scheme(settings: Settings, agent: Agent) -> None:
    options = {"ISSUER": "https://id.example", "AUDIENCE": "shop"}
    card = card_with(settings, agent, [OIDC, HERE + "Partner"], OIDC=options)
    well_known = "/.well-known/openid-configuration"
    assert card["securitySchemes"] == {
        "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://id.example" + well_known}},
        "oidc-2": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://partner.example/realm" + well_known}},
    }
    with pytest.raises(ImproperlyConfigured, match="ISSUER"):
        card_with(settings, agent, [OIDC])


def test_a_site_that_is_its_own_authorization_server(settings: Settings, agent: Agent) -> None:
    settings.ROOT_URLCONF = "tests.access.urls_oauth"
    settings.OAUTH2_PROVIDER = {"SCOPES": {"orders": "See orders"}}
    with override_script_prefix("/site/"):
        card = card_with(settings, agent, [OAUTH], PERMISSION_CLASSES=[HERE + "Orders"])
    schemes = {name: scheme["oauth2SecurityScheme"] for name, scheme in card["securitySchemes"].items()}
    token = "https://shop.example/site/o/token/"
    scopes = {"orders": "See orders"}
    assert schemes["oauth2"]["flows"] == {"clientCredentials": {"tokenUrl": token, "scopes": scopes}}
    assert schemes["oauth2-code"]["flows"] == {
        "authorizationCode": {
            "authorizationUrl": "https://shop.example/site/o/authorize/",
            "tokenUrl": token,
            "refreshUrl": token,
            "scopes": scopes,
            "pkceRequired": True,
        }
    }
    assert set(schemes["oauth2-device"]["flows"]) == {"deviceCode"}
    metadata = "https://shop.example/site/o/.well-known/oauth-authorization-server"
    assert {scheme["oauth2MetadataUrl"] for scheme in schemes.values()} == {metadata}
    # Scopes stand with the schemes that have such, and an alternative for each.
    assert card["securityRequirements"] == [{"schemes": {name: {"list": ["orders"]}}} for name in schemes]
    # Where the site is not known, there are no addresses to name.
    assert "securitySchemes" not in build_card(agent, CardBase("", ""))


def test_a_site_without_the_addresses_of_its_authorization_server(settings: Settings, agent: Agent) -> None:
    assert "securitySchemes" not in card_with(settings, agent, [OAUTH])


class Orders(HasScope):
    """Asks for a scope."""

    required_scopes = ("orders",)


class Odd(BasePermission):
    """Some rule of a site."""


@pytest.mark.parametrize(
    ("site", "own", "scopes"),
    [
        ([], [], None),
        ([ALLOW], [ALLOW], None),
        ([ALLOW], [IsAuthenticated], []),
        ([ALLOW], [DEMAND], []),
        (["rest_framework.permissions.IsAuthenticatedOrReadOnly"], [], []),
        ([HERE + "Odd"], [], []),
        ([DEMAND], [HasScope.of("a", "b"), HERE + "Orders"], ["a", "b", "orders"]),
        ([DEMAND], [IsAuthenticated & Orders], ["orders"]),
        ([DEMAND], [Odd | Orders], []),
    ],
)
def test_what_is_required_follows_from_the_permissions(
    settings: Settings, agent: Agent, site: list[str], own: list[Any], scopes: list[str] | None
) -> None:
    """Schemes are declared also where they are not required: who has credentials may show them (R-075)."""
    options = {"ISSUER": "https://id.example", "AUDIENCE": "shop"}
    agent.permissions = own
    card = card_with(settings, agent, [KEYS, OIDC], PERMISSION_CLASSES=site, OIDC=options)
    assert list(card["securitySchemes"]) == ["bearer", "oidc"]
    if scopes is None:
        assert "securityRequirements" not in card
    else:
        oidc = {"list": scopes} if scopes else {}
        assert card["securityRequirements"] == [{"schemes": {"bearer": {}}}, {"schemes": {"oidc": oidc}}]
