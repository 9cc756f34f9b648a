"""Who calls, whose tasks these are, and which agent is meant. The bindings ask here before anything else."""

from __future__ import annotations

from a2a_django.access.certificates import ClientCertificateAuthentication
from a2a_django.access.identity import Identity, owner_of
from a2a_django.access.keys import APIKeyAuthentication, check_agent, create_api_key, revoke_api_key
from a2a_django.access.oidc import OIDCAuthentication
from a2a_django.access.policy import PolicyView, authenticate, challenge_for, permit, recognise
from a2a_django.access.scopes import HasScope
from a2a_django.access.standing import keep_watch
from a2a_django.access.tenants import RESERVED_TENANTS, default_agent, owner_at, resolve_agent
from a2a_django.access.throttles import AnonThrottle, UserThrottle

__all__ = [
    "RESERVED_TENANTS",
    "APIKeyAuthentication",
    "AnonThrottle",
    "ClientCertificateAuthentication",
    "HasScope",
    "Identity",
    "OIDCAuthentication",
    "PolicyView",
    "UserThrottle",
    "authenticate",
    "challenge_for",
    "check_agent",
    "create_api_key",
    "default_agent",
    "keep_watch",
    "owner_at",
    "owner_of",
    "permit",
    "recognise",
    "resolve_agent",
    "revoke_api_key",
]
