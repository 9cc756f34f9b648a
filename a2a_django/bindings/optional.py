"""Folders that may be taken out: who deletes one deletes what it adds, and nothing else has to be changed."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any


@lru_cache
def optional(name: str) -> ModuleType | None:
    """Return a module of this package's folder by its path below it, None where its folder was deleted.

    Raises ``ImportError`` where the folder is there and something that it needs is not.
    """
    path = f"{__package__}.{name}"
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{path}.".startswith(f"{error.name}."):
            raise
        return None


def from_optional(name: str, attribute: str, default: Any) -> Any:
    """Return something of such a module, ``default`` without it."""
    module = optional(name)
    return default if module is None else getattr(module, attribute)
