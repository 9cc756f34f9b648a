"""The scripted site, open to everybody, with leases so short that runs change hands during a soak."""

from __future__ import annotations

from example_project.scripted.settings import *  # noqa: F403
from example_project.scripted.settings import A2A as SCRIPTED

SCRIPTED_VARIANT = "lasting"

A2A = {
    **SCRIPTED,
    "AUTHENTICATION_CLASSES": [],
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "LEASE_SECONDS": 6,
}
