"""The site's keys: whether each is one, and whether they are there where they are needed. No message shows a key."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register
from django.core.exceptions import ImproperlyConfigured

from a2a_django import sealing, signing
from a2a_django.agents import registry, signatures
from a2a_django.agents.cards import CardBase, build_card
from a2a_django.checks.agents import RULES as AGENT_RULES
from a2a_django.checks.rules import TAG, Apps, Messages
from a2a_django.checks.setting import RULES
from a2a_django.checks.site import classes
from a2a_django.conf import a2a_settings
from a2a_django.protocol.cards import empty_required
from a2a_django.protocol.errors import A2AError


@register(TAG, Tags.security)
def check_encryption_keys(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that no key can be guessed: E007."""
    keys = a2a_settings.ENCRYPTION_KEYS
    if not RULES["ENCRYPTION_KEYS"].fits(keys):
        return []
    short = [str(number) for number, key in enumerate(keys, start=1) if not sealing.is_key(key)]
    if not short:
        return []
    hint = "Take what Fernet.generate_key() of the package cryptography makes, or any random text of that length."
    text = f"A2A['ENCRYPTION_KEYS']: no. {', '.join(short)} has less than {sealing.SHORTEST_PASSPHRASE} characters."
    return [Error(text, hint=hint, id="a2a_django.E007")]


@register(TAG, Tags.security)
def check_signing_keys(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that every key can be read and used, and that none stands there twice: E008."""
    keys = a2a_settings.SIGNING_KEYS
    if not RULES["SIGNING_KEYS"].fits(keys):
        return []
    found: Messages = []
    kids: set[str] = set()
    hint = "Make one with: openssl ecparam -name prime256v1 -genkey -noout"
    for number, given in enumerate(keys, start=1):
        try:
            kid = signing.read_key(number, given).kid
        except signing.WrongKeyError as error:
            found.append(Error(f"{error}.", hint=hint, id="a2a_django.E008"))
            continue
        if kid in kids:
            text = f"A2A['SIGNING_KEYS']: no. {number} has the kid of one before it: {kid}."
            found.append(Error(text, hint="Leave it out, or give it a kid of its own.", id="a2a_django.E008"))
        kids.add(kid)
    return found


@register(TAG, Tags.security)
def check_webhook_signatures(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that the site has what its notifications are to be signed with: E009."""
    kinds = a2a_settings.WEBHOOK_SIGNATURES
    if not RULES["WEBHOOK_SIGNATURES"].fits(kinds) or "jwt" not in kinds:
        return []
    needed = {
        "SIGNING_KEYS": "List a private key there; the first signs.",
        "BASE_URL": "It is the issuer of the tokens: outside of a request nobody knows where the site is.",
    }
    return [
        Error(f"A2A['WEBHOOK_SIGNATURES'] has 'jwt', but A2A[{key!r}] is empty.", hint=hint, id="a2a_django.E009")
        for key, hint in needed.items()
        if not getattr(a2a_settings, key)
    ]


@register(TAG, Tags.security)
def check_signed_cards(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that cards that are to be signed can be (E061), and mean the same to all readers (W061, D-27)."""
    keys = ("SIGNING_KEYS", "SIGN_CARDS", "BASE_URL", "GRPC_URL")
    readable = all(RULES[key].fits(getattr(a2a_settings, key)) for key in keys)
    if not readable or classes("AUTHENTICATION_CLASSES") is None or classes("PERMISSION_CLASSES") is None:
        return []  # E003 or E004 say so
    try:
        if not signatures.signs():
            return []
    except signing.WrongKeyError:  # E008 says so
        return []
    found: Messages = []
    for agent in registry.all():
        if not all(rule.fits(getattr(agent, name)) for name, rule in AGENT_RULES.items()):  # E018 says so
            continue
        try:
            # Any site will do.
            missing = empty_required(build_card(agent, CardBase("https://site.example", "/a2a")))
        except A2AError as error:
            text = f"The card of {agent!r} cannot be signed, it is none of version 1.0: {error}"
            found.append(Error(text, hint="It is served without a signature.", id="a2a_django.E061"))
        except ImproperlyConfigured:  # E060 says so
            continue
        else:
            if missing:
                text = f"The card of {agent!r} is signed, but lacks {', '.join(missing)}."
                hint = "Readers do not agree how to read such a card, so it has two signatures. Complete it."
                found.append(Warning(text, hint=hint, id="a2a_django.W061"))
    return found


@register(TAG, Tags.security, deploy=True)
def check_signed_addresses(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that nobody can have a card signed that leads elsewhere: W063."""
    base, keys, sign_cards = a2a_settings.BASE_URL, a2a_settings.SIGNING_KEYS, a2a_settings.SIGN_CARDS
    if base or not keys or not sign_cards or "*" not in settings.ALLOWED_HOSTS:
        return []
    return [
        Warning(
            "The site signs agent cards with addresses of whatever host a request names.",
            hint="Set A2A['BASE_URL'] to where the site is, or ALLOWED_HOSTS to its names without '*'.",
            id="a2a_django.W063",
        )
    ]
