"""Version 0.3, which has folders of its own: ``protocol/v0_3`` and ``bindings/v0_3``. The one place that knows of them.

Without the folders there is no 0.3, as with ``A2A["PROTOCOL_0_3"]`` off, and nothing else has to be changed.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Final

from a2a_django.bindings.optional import optional
from a2a_django.conf import a2a_settings
from a2a_django.protocol.versions import V0_3, V1_0

_FOLDER: Final = "a2a_django.bindings.v0_3"


def part(name: str) -> Any:
    """Return the module ``name`` of 0.3 ("jsonrpc", "cards", "grpc"), None where its folder is not there.

    Whether the setting lets 0.3 in is not asked: see ``speaks_0_3``.
    """
    return optional(f"v0_3.{name}")


def speaks_0_3() -> bool:
    """Return whether version 0.3 is answered."""
    return a2a_settings.PROTOCOL_0_3 and _is_there()


def versions() -> tuple[str, ...]:
    """Return the versions that are answered, the newest first (D-09)."""
    return (V1_0, V0_3) if speaks_0_3() else (V1_0,)


def jsonrpc() -> Any:
    """Return the module that answers JSON-RPC of 0.3; that of the tutorials' dialect, where it is on, is in front of
    it."""
    dialect = optional("dialect.jsonrpc") if a2a_settings.TUTORIAL_DIALECT else None
    return dialect or part("jsonrpc")


@lru_cache
def _is_there() -> bool:
    found = find_spec(_FOLDER)
    return found is not None and found.origin is not None  # a folder with nothing but __pycache__ is a package, too
