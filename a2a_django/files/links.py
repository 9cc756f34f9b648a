"""The addresses under which callers get stored parts: signed for one file of one owner, and until a moment."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.core.signing import BadSignature, Signer

from a2a_django.conf import a2a_settings
from a2a_django.files import markers
from a2a_django.files.markers import Marker
from a2a_django.models import StoredFile

#: Where the files are, below the endpoints.
PATH: Final = "/files/"

_SALT: Final = "a2a_django.files"
#: Digits of a moment.
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class Links:
    """Writes the addresses for a caller: ``endpoint`` is the address of HTTP+JSON, ``owner`` whose tasks are shown."""

    endpoint: str
    owner: str

    def resolved(self, text: str) -> str:
        """Return a text that goes out; one without stored parts as it is."""
        if markers.SIGN not in text:
            return text
        expires = int(time.time() + a2a_settings.FILE_URL_SECONDS) + 1

        def write(marker: Marker) -> str:
            signature = Signer(salt=_SALT).signature(_signed(marker, self.owner, expires))
            query = urlencode({"expires": expires, "signature": signature})
            return f"{self.endpoint}{PATH}{marker.file_id}?{query}"

        return markers.replaced(text, write)


def is_good(file: StoredFile, owner: str, expires: str, signature: str) -> bool:
    """Whether a caller has an address of a file of ``owner`` that is still good."""
    if not (expires.isascii() and expires.isdigit() and len(expires) <= _DIGITS) or int(expires) < time.time():
        return False
    try:
        Signer(salt=_SALT).unsign(f"{_signed(Marker(file.pk, file.secret), owner, int(expires))}:{signature}")
    except BadSignature:
        return False
    return True


def _signed(marker: Marker, owner: str, expires: int) -> str:
    return f"{marker.file_id.hex}{marker.secret}.{expires}.{owner}"
