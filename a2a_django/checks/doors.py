"""What is open, or is not what it seems, once a site is deployed. ``check_open_access`` and ``check_https`` stand with
the site; DEBUG and its error pages are Django's own W018."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.core.checks import Tags, Warning, register

from a2a_django.access.throttles import RatedThrottle
from a2a_django.agents import registry
from a2a_django.checks.rules import TAG, Apps, Messages
from a2a_django.checks.setting import RULES
from a2a_django.checks.site import classes
from a2a_django.conf import a2a_settings

#: Backends of Django's cache that every process has for itself.
_OWN_CACHES: Final = ("LocMemCache", "DummyCache")


@register(TAG, Tags.security)
def check_rates(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that throttles of this package have rates, and rates throttles: W035."""
    throttles = classes("THROTTLE_CLASSES")
    rates = a2a_settings.THROTTLE_RATES
    if throttles is None or not RULES["THROTTLE_RATES"].fits(rates):
        return []
    rated = [each for each in throttles if isinstance(each, type) and issubclass(each, RatedThrottle)]
    scopes = {each.scope for each in rated}
    found: Messages = []
    for each in rated:
        if each.scope not in rates and not getattr(each, "rate", None):
            text = f"{each.__name__} has no rate: A2A['THROTTLE_RATES'] has no {each.scope!r}."
            hint = f'Add it, for example {{"{each.scope}": "100/min"}}; without it nobody is slowed down.'
            found.append(Warning(text, hint=hint, id="a2a_django.W035"))
    for scope in rates:
        if scope not in scopes:
            text = f"A2A['THROTTLE_RATES'] has {scope!r}, but no class in THROTTLE_CLASSES goes by it."
            hint = "Add a2a_django.access.UserThrottle, AnonThrottle, or a subclass with this scope."
            found.append(Warning(text, hint=hint, id="a2a_django.W035"))
    return found


@register(TAG, Tags.urls)
def check_dialect(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that the tutorials' dialect has the binding that carries it out: W036."""
    if not a2a_settings.TUTORIAL_DIALECT or a2a_settings.PROTOCOL_0_3:
        return []
    return [
        Warning(
            "A2A['TUTORIAL_DIALECT'] is on, but A2A['PROTOCOL_0_3'] is off: the dialect's calls are refused.",
            hint="Leave A2A['PROTOCOL_0_3'] out, which carries them out, or A2A['TUTORIAL_DIALECT'].",
            id="a2a_django.W036",
        )
    ]


@register(TAG, Tags.security, deploy=True)
def check_tutorials(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that the site does not take in more forms than the protocol has: W047."""
    if not a2a_settings.TUTORIAL_DIALECT:
        return []
    return [
        Warning(
            "A2A['TUTORIAL_DIALECT'] is on: calls are taken in that no version of the protocol has.",
            hint="Leave it out, unless programs written after tutorials call this site. See docs/tutorial-dialect.md.",
            id="a2a_django.W047",
        )
    ]


@register(TAG)
def check_extended_cards(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check that somebody can get the extended cards there are: W037 (D-29)."""
    declared = [agent.slug for agent in registry.all() if agent.extended_agent_card]
    if not declared or a2a_settings.EXTENDED_CARD_FOR_ALL or classes("AUTHENTICATION_CLASSES") != []:
        return []
    return [
        Warning(
            f"Agents have extended cards ({', '.join(declared)}), but A2A['AUTHENTICATION_CLASSES'] is empty: nobody "
            "gets them.",
            hint="They are for authenticated callers only. Leave A2A['AUTHENTICATION_CLASSES'] out (then API keys are "
            "taken), say how callers authenticate, or take extended_agent_card from the agents.",
            id="a2a_django.W037",
        )
    ]


@register(TAG, Tags.security, deploy=True)
def check_cards_for_all(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that extended cards are for those who have authenticated: W048 (D-29)."""
    if not a2a_settings.EXTENDED_CARD_FOR_ALL or not any(agent.extended_agent_card for agent in registry.all()):
        return []
    return [
        Warning(
            "A2A['EXTENDED_CARD_FOR_ALL'] is on: anybody may read the extended cards.",
            hint="Leave it out; it is for conformance kits that ask without credentials.",
            id="a2a_django.W048",
        )
    ]


@register(TAG, Tags.security, deploy=True)
def check_encryption(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that secrets of webhooks have a key of their own: W043."""
    if a2a_settings.ENCRYPTION_KEYS or not any(agent.push_notifications for agent in registry.all()):
        return []
    return [
        Warning(
            "Secrets of webhooks are sealed with a key that is made of SECRET_KEY.",
            hint="Set A2A['ENCRYPTION_KEYS'], or they are lost when SECRET_KEY changes. See docs/keys.md.",
            id="a2a_django.W043",
        )
    ]


@register(TAG, Tags.security, deploy=True)
def check_webhooks(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that webhooks are encrypted and lead out of the site's network: W044 (R-142, R-144)."""
    given = a2a_settings.WEBHOOK_ALLOWED_HOSTS
    if not any(agent.push_notifications for agent in registry.all()):
        return []
    found: Messages = []
    if RULES["WEBHOOK_ALLOWED_HOSTS"].fits(given) and given:
        found.append(
            Warning(
                f"Webhooks may be unencrypted, and inside the site's own network, at {', '.join(map(str, given))}.",
                hint="Leave A2A['WEBHOOK_ALLOWED_HOSTS'] to what has to be there; silence this check for what has.",
                id="a2a_django.W044",
            )
        )
    if a2a_settings.WEBHOOK_HTTPS_ONLY is False:
        found.append(
            Warning(
                "Webhooks may be unencrypted anywhere: tokens and credentials can be read on the way.",
                hint="Leave A2A['WEBHOOK_HTTPS_ONLY'] at True.",
                id="a2a_django.W044",
            )
        )
    return found


@register(TAG, Tags.security, deploy=True)
def check_layer(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that the channel layer is more than one process's own: W045."""
    layers = getattr(settings, "CHANNEL_LAYERS", None) or {}
    backend = str(layers.get("default", {}).get("BACKEND", ""))
    if not backend.endswith("InMemoryChannelLayer"):
        return []
    return [
        Warning(
            "The channel layer is in the memory of one process; other processes hear of its events late.",
            hint="With several processes use channels_redis.pubsub.RedisPubSubChannelLayer. Without any layer the "
            "processes look into the database, which is right as well, and slower.",
            id="a2a_django.W045",
        )
    ]


@register(TAG, Tags.security, Tags.caches, deploy=True)
def check_cache(app_configs: Apps, **kwargs: Any) -> Messages:
    """Check, before deployment, that all processes count the same calls: W046."""
    if not classes("THROTTLE_CLASSES"):
        return []
    backend = str(getattr(settings, "CACHES", {}).get("default", {}).get("BACKEND", ""))
    if not backend.endswith(_OWN_CACHES):
        return []
    return [
        Warning(
            "Callers are throttled by what each process remembers by itself.",
            hint="Set CACHES['default'] to a cache that all processes share (Redis, Memcached, the database), or "
            "callers may call as many times as often as there are processes.",
            id="a2a_django.W046",
        )
    ]
