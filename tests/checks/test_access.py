"""Checks of authenticators: what the card can say, and issuers of tokens."""

from __future__ import annotations

import pytest
from django.core.checks import Error, Warning
from pytest_django import Settings
from rest_framework.authentication import BaseAuthentication, RemoteUserAuthentication

from a2a_django.access import OIDCAuthentication
from a2a_django.checks.access import check_issuers, check_oidc, check_proxies, check_schemes

HERE = __name__ + "."
KEYS = "a2a_django.access.APIKeyAuthentication"
OIDC = "a2a_django.access.OIDCAuthentication"
REMOTE = "rest_framework.authentication.RemoteUserAuthentication"
OAUTH = "oauth2_provider.contrib.rest_framework.OAuth2Authentication"
GOOD = {"ISSUER": "https://id.example", "AUDIENCE": "shop"}


class Silent(BaseAuthentication):
    """Says nothing of itself."""


class Partner(OIDCAuthentication):
    """Has an issuer of its own, and forgot for whom its tokens are."""

    options = {"ISSUER": "https://partner.example"}


def test_the_defaults_are_fine(settings: Settings) -> None:
    settings.A2A = {}
    assert check_oidc(None) == check_schemes(None) == []


def test_e060_issuers(settings: Settings) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": [KEYS, OIDC], "OIDC": GOOD}
    assert check_oidc(None) == []
    for options, word in (({}, "missing"), ({**GOOD, "ALGORITHMS": ["none"]}, "ALGORITHMS")):
        settings.A2A = {"AUTHENTICATION_CLASSES": [OIDC], "OIDC": options}
        (error,) = check_oidc(None)
        assert isinstance(error, Error)
        assert (error.id, error.msg.startswith('A2A["OIDC"]: '), word in error.msg) == ("a2a_django.E060", True, True)
        assert check_schemes(None) == []  # E060 has said it
    settings.A2A = {"AUTHENTICATION_CLASSES": [HERE + "Partner"]}
    (error,) = check_oidc(None)
    assert error.msg == "Partner.options: missing: AUDIENCE"


@pytest.mark.parametrize(
    ("authenticators", "silent"),
    [
        ([KEYS, "rest_framework.authentication.SessionAuthentication"], []),
        ([KEYS, HERE + "Silent"], [Silent]),
        (
            ["rest_framework.authentication.RemoteUserAuthentication", HERE + "Silent"],
            [RemoteUserAuthentication, Silent],
        ),
    ],
)
def test_w060_classes_that_say_nothing(
    settings: Settings, authenticators: list[str], silent: list[type[BaseAuthentication]]
) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": authenticators}
    found = check_schemes(None)
    assert [each.id for each in found] == ["a2a_django.W060"] * bool(silent)
    for each in found:
        assert isinstance(each, Warning)
        assert each.msg.endswith(", ".join(f"{cls.__module__}.{cls.__qualname__}" for cls in silent) + ".")


def test_w060_an_authorization_server_without_addresses(settings: Settings) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": [OAUTH]}
    (warning,) = check_schemes(None)
    assert "oauth2_provider.urls" in str(warning.hint)
    settings.ROOT_URLCONF = "tests.access.urls_oauth"
    assert check_schemes(None) == []


def test_w064_keys_without_tls(settings: Settings) -> None:
    for options, ids in ((GOOD, []), ({**GOOD, "ALLOW_HTTP": True}, ["a2a_django.W064"]), ({}, [])):
        settings.A2A = {"AUTHENTICATION_CLASSES": [OIDC], "OIDC": options}
        assert [each.id for each in check_issuers(None)] == ids
    settings.A2A = {"AUTHENTICATION_CLASSES": [KEYS], "OIDC": {**GOOD, "ALLOW_HTTP": True}}  # not in use
    assert check_issuers(None) == []


def test_w062_callers_behind_a_proxy(settings: Settings) -> None:
    assert check_proxies(None) == []
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    (warning,) = check_proxies(None)
    assert warning.id == "a2a_django.W062"
    for proxies in (0, 1):
        settings.REST_FRAMEWORK = {"NUM_PROXIES": proxies}
        assert check_proxies(None) == []
    settings.REST_FRAMEWORK = {}
    settings.A2A = {"AUTH_FAILURES_PER_MINUTE": 0}
    assert check_proxies(None) == []
