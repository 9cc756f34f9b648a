"""Who may call: authenticators that can be told in the card, issuers of tokens that are set up."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured
from rest_framework.settings import api_settings

from a2a_django.access import OIDCAuthentication
from a2a_django.agents.security import schemes_of
from a2a_django.checks.rules import TAG, Apps, Messages
from a2a_django.checks.site import classes
from a2a_django.conf import a2a_settings


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


@register(TAG, Tags.security, deploy=True)
def check_issuers(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that nobody can put in keys of their own on the way: W064."""
    open_to_all = []
    for authenticator in _authenticators():
        if issubclass(authenticator, OIDCAuthentication):
            with suppress(ImproperlyConfigured):  # E060 says so
                if authenticator.configured().allow_http:
                    open_to_all.append(authenticator.configured().issuer)
    if not open_to_all:
        return []
    return [
        Warning(
            f"Keys of issuers may be fetched without TLS: {', '.join(open_to_all)}.",
            hint="Leave ALLOW_HTTP out: whoever is between the site and the issuer could be any user.",
            id="a2a_django.W064",
        )
    ]


@register(TAG, Tags.security, deploy=True)
def check_proxies(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that callers behind a proxy do not count as one: W062."""
    behind = [name for name in ("SECURE_PROXY_SSL_HEADER", "USE_X_FORWARDED_HOST") if getattr(settings, name, None)]
    if not behind or api_settings.NUM_PROXIES is not None or not a2a_settings.AUTH_FAILURES_PER_MINUTE:
        return []
    return [
        Warning(
            f"The site is behind a proxy ({', '.join(behind)}), and REST_FRAMEWORK['NUM_PROXIES'] is not set.",
            hint="Set it to the number of proxies, or to 0 where the server tells the caller's address itself. "
            "Otherwise wrong credentials of one caller count for all of them.",
            id="a2a_django.W062",
        )
    ]


def _authenticators() -> list[type[Any]]:
    return [each for each in classes("AUTHENTICATION_CLASSES") or () if isinstance(each, type)]
