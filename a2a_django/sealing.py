"""Secrets at rest: what other people entrusted to the site is in the database only in sealed form (R-144).

Sealed is encrypted and authenticated (Fernet). The first key of ``A2A["ENCRYPTION_KEYS"]`` seals and every one of them
unseals; behind them stand ``SECRET_KEY`` and ``SECRET_KEY_FALLBACKS``, which are all there is for a site that sets no
keys, and which go on unsealing what they sealed once it does. ``manage.py a2a_rotate_keys`` seals all rows anew under
the first key.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.encoding import force_bytes
from django.utils.translation import gettext_lazy as _

from a2a_django.conf import a2a_settings

#: A passphrase that is shorter could be guessed; it is no word for people but something a machine made.
SHORTEST_PASSPHRASE: Final = 32

_KEY_BYTES: Final = 32
#: What a key is derived for: the same text used elsewhere gives another key there.
_INFO: Final = b"a2a_django.sealing"


class UndecryptableError(Exception):
    """What is sealed cannot be opened with any of the site's keys; the message is for the people who run the site."""

    MESSAGE: Final = _(
        "A sealed secret cannot be opened: it was sealed under a key that this site does not have, or was changed. "
        'Add the key it was sealed under to A2A["ENCRYPTION_KEYS"], or, where the site has no such keys, the former '
        "SECRET_KEY to SECRET_KEY_FALLBACKS; then run manage.py a2a_rotate_keys."
    )

    def __str__(self) -> str:
        return str(self.MESSAGE)


def seal(text: str) -> str:
    """Return ``text`` encrypted under the site's first key.

    Raises ``ImproperlyConfigured`` for a key that is none.
    """
    return _keys()[0].encrypt(text.encode()).decode("ascii")


def unseal(sealed: str) -> str:
    """Return the text that was sealed.

    Raises ``UndecryptableError`` when none of the site's keys opens it, also for what never was sealed, and
    ``ImproperlyConfigured`` for a key that is none.
    """
    try:
        return _all_keys().decrypt(sealed.encode()).decode()
    except (InvalidToken, UnicodeError):
        raise UndecryptableError() from None


def reseal(sealed: str) -> str | None:
    """Return the same secret under the site's first key; None where it is under it already. Raises as ``unseal``."""
    try:
        _keys()[0].decrypt(sealed.encode())
    except (InvalidToken, UnicodeError):
        return seal(unseal(sealed))
    return None


def is_key(text: str) -> bool:
    """Return whether a text may stand in ``A2A["ENCRYPTION_KEYS"]``."""
    return len(text) >= SHORTEST_PASSPHRASE


@lru_cache(maxsize=1)
def _keys() -> tuple[Fernet, ...]:
    return tuple(_from_settings())


@lru_cache(maxsize=1)
def _all_keys() -> MultiFernet:
    return MultiFernet(_keys())


def _from_settings() -> Iterator[Fernet]:
    texts: Sequence[Any] = a2a_settings.ENCRYPTION_KEYS  # nobody need have run the checks
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str) or not is_key(text):
            raise ImproperlyConfigured(
                f'A2A["ENCRYPTION_KEYS"]: no. {number} has to be a Fernet key or a text of at least '
                f"{SHORTEST_PASSPHRASE} characters"
            )
        yield Fernet(text if _is_fernet_key(text) else _derived(text))
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        yield Fernet(_derived(secret))


def _is_fernet_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)) == _KEY_BYTES
    except (UnicodeError, binascii.Error):
        return False


def _derived(secret: str | bytes) -> bytes:
    derive = HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=None, info=_INFO).derive
    return base64.urlsafe_b64encode(derive(force_bytes(secret)))


def _on_setting_changed(*, setting: str, **kwargs: Any) -> None:
    if setting in ("A2A", "SECRET_KEY", "SECRET_KEY_FALLBACKS"):
        _keys.cache_clear()
        _all_keys.cache_clear()


setting_changed.connect(_on_setting_changed, dispatch_uid="a2a_django.sealing")
