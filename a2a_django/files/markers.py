"""Markers: what stands in the rows as the address of a stored part.

A marker is the id of the file and a secret of it that nobody outside of the database ever sees. So a part that a caller
made up, whatever it says, is not taken for another's file: the address made of it is signed for a secret that is wrong.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from a2a_django.protocol.wire import Wire

SCHEME: Final = "a2a-file:"

#: What a text with markers has in it. Quotes inside of strings are escaped, so it is never part of a string.
SIGN: Final = f'"url":"{SCHEME}'

_MARKER: Final = re.compile(SCHEME + "([0-9a-f]{32})([0-9a-f]{32})")
_IN_TEXT: Final = re.compile(f'"url":"({_MARKER.pattern})"')


class Marker(NamedTuple):
    """Which file, and its secret."""

    file_id: uuid.UUID
    secret: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.file_id.hex}{self.secret}"


def of(url: Any) -> Marker | None:
    """Return the marker that an address is, None for all others."""
    found = _MARKER.fullmatch(url) if isinstance(url, str) else None
    return Marker(uuid.UUID(found[1]), found[2]) if found else None


def is_ours(url: Any) -> bool:
    """Whether an address has the scheme of markers, in any spelling."""
    return isinstance(url, str) and url.strip().lower().startswith(SCHEME)


def in_message(message: Wire) -> bool:
    """Whether a message has stored parts."""
    return any(of(part.get("url")) for part in message["parts"])


def without_secrets(text: str) -> str:
    """Return a text in which markers say which file it is, and nothing more."""
    return replaced(text, lambda marker: f"{SCHEME}{marker.file_id}")


def replaced(text: str, write: Callable[[Marker], str]) -> str:
    """Return a text with other addresses in the place of markers; ``write`` returns ASCII without quotes."""
    if SIGN not in text:
        return text
    return _IN_TEXT.sub(lambda found: f'"url":"{write(Marker(uuid.UUID(found[2]), found[3]))}"', text)
