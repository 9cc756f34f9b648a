"""Who may call: authenticators that can be told in the card, issuers of tokens that are set up."""

from __future__ import annotations

from typing import Any

from django.core.checks import Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

from a2a_django.access import OIDCAuthentication
from a2a_django.agents.security import schemes_of
from a2a_django.checks.rules import TAG, Apps, Messages
from a2a_django.checks.site import classes


@register(TAG, Tags.security)
def check_oidc(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check the issuers of OpenID Connect: E060."""
    found: Messages = []
    for authenticator in _authenticators():
        if issubclass(authenticator, OIDCAuthentication):
            try:
                authenticator.configured()
            except ImproperlyConfigured as error:
                hint = "At least ISSUER and AUDIENCE are needed; docs/access.md describes all keys."
                found.append(Error(str(error), hint=hint, id="a2a_django.E060"))
    return found


@register(TAG, Tags.security)
def check_schemes(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that the card can say how callers authenticate: W060."""
    silent = []
    for authenticator in _authenticators():
        try:
            # Any site will do: one that has no address has no card.
            if not schemes_of(authenticator, "https://site.example"):
                silent.append(f"{authenticator.__module__}.{authenticator.__qualname__}")
        except ImproperlyConfigured:  # E060 says so
            continue
    if not silent:
        return []
    return [
        Warning(
            f"The card cannot say how callers authenticate with {', '.join(silent)}.",
            hint='Give the class an attribute security_scheme = ("name", {...}), a SecurityScheme in ProtoJSON. '
            "For django-oauth-toolkit, include oauth2_provider.urls.",
            id="a2a_django.W060",
        )
    ]


def _authenticators() -> list[type[Any]]:
    return [each for each in classes("AUTHENTICATION_CLASSES") or () if isinstance(each, type)]
