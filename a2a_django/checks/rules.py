"""What values have to be, and paths of things to import; shared by the checks of the setting and of the agents."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error
from django.utils.module_loading import import_string

TAG: Final = "a2a_django"

Apps = Sequence[AppConfig] | None
Messages = list[CheckMessage]


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value has to be: a test, and the words for it."""

    fits: Callable[[Any], bool]
    words: str


def is_whole(value: Any) -> bool:
    """Return whether ``value`` is a whole number; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether ``value`` is a finite number; True and False are none."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def is_list_of(value: Any, kinds: type | tuple[type, ...]) -> bool:
    """Return whether ``value`` is a list or tuple with members of ``kinds`` only."""
    return isinstance(value, list | tuple) and all(isinstance(item, kinds) for item in value)


def load(path: str) -> Any:
    """Return what a dotted path names. Raises ``ImportError``, also for what is no dotted path."""
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)+", path):  # import_string has other exceptions for these
        raise ImportError("it is no dotted path")
    return import_string(path)


def check_paths(where: str, values: Iterable[Any], check_id: str) -> Messages:
    """Check that each text among ``values`` is the dotted path of something that can be imported."""
    found: Messages = []
    for path in values:
        if isinstance(path, str):
            try:
                load(path)
            except ImportError as error:
                hint = "Give the dotted path of something that can be imported."
                found.append(Error(f"{where}: cannot import {path!r}: {error}", hint=hint, id=check_id))
    return found
