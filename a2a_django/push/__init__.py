"""Webhooks: the sender of the outbox (Spec 4.3.3)."""

from __future__ import annotations
