"""Folders that may be taken out: who deletes one deletes what it adds, and nothing else has to be changed."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

#: The folders. Those of 0.3 go together, and the dialect is made of them.
_FOLDERS: Final = tuple(f"a2a_django.{name}." for name in ("protocol.v0_3", "bindings.v0_3", "bindings.dialect"))


@lru_cache
def optional(name: str) -> ModuleType | None:
    """Return a module of the package's bindings by its path below them, None where its folder was deleted or one that
    it needs.

    Raises ``ImportError`` where something else is missing.
    """
    try:
        return import_module(f"{__package__}.{name}")
    except ModuleNotFoundError as error:
        # Below a folder: one with nothing but __pycache__ in it is a package, too.
        if not f"{error.name}.".startswith(_FOLDERS):
            raise
        return None


def from_optional(name: str, attribute: str, default: Any) -> Any:
    """Return something of such a module, ``default`` without it."""
    module = optional(name)
    return default if module is None else getattr(module, attribute)
