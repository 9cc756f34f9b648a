"""The header of 0.3 that is not the one of 1.0."""

from __future__ import annotations

from a2a_django.operations import CallContext
from a2a_django.protocol import extensions


def extension_headers(call: CallContext) -> dict[str, str]:
    """Return the header that tells which extensions are active, if there are any (L-036)."""
    active = call.activated()
    return {extensions.OLD_NAME: ", ".join(active)} if active else {}
