"""Signs agent cards with the site's key (spec 8.4; R-206 to R-218, D-27).

A card is signed once: who asks for the same card again gets the same signatures, as long as the process remembers them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from django.core.signals import setting_changed

from a2a_django.agents.cards import CardBase
from a2a_django.conf import a2a_settings
from a2a_django.protocol import cards
from a2a_django.protocol.errors import A2AError
from a2a_django.protocol.wire import Wire, text_of
from a2a_django.signing import JWKS_PATH, sign_detached, signing_keys

logger = logging.getLogger("a2a_django.agents")

#: How many cards are remembered: one for each agent, address and, of extended ones, user.
REMEMBERED: Final = 1000


def signs() -> bool:
    """Return whether the site signs its cards: it has a key, and ``A2A["SIGN_CARDS"]`` is not off."""
    return bool(a2a_settings.SIGN_CARDS and signing_keys())


def signer() -> str:
    """Return the ``kid`` of the key that signs cards, "" where none does."""
    return signing_keys()[0].kid if signs() else ""


def signed_text(card: Wire, base: CardBase) -> str:
    """Return the text of a card, with signatures where the site signs and the card has none of its own.

    What cannot be signed is logged and served without: it may be fit for use all the same.
    """
    text = text_of(card)
    if not signs() or "signatures" in card:
        return text
    try:
        entries = _entries(text, base.endpoint + JWKS_PATH if base.url else "")
    except A2AError as error:
        logger.error("An agent card cannot be signed: %s", error)
        return text
    return f'{text[:-1]},"signatures":{text_of(list(entries))}}}'


def sign(card: Wire, jku: str = "") -> list[dict[str, str]]:
    """Return the signatures of a card: over its canonical form, and over the one that SDKs make where they differ.

    ``jku`` is the address of the key set, "" where it is not known. Raises ``InvalidParamsError`` for what is no card,
    and as ``signing.sign_detached``.
    """
    header = {"typ": "JOSE"} | ({"jku": jku} if jku else {})
    forms = dict.fromkeys((cards.canonical(card), cards.without_empty(card)))
    return [sign_detached(form, **header) for form in forms]


@lru_cache(maxsize=REMEMBERED)
def _entries(text: str, jku: str) -> Sequence[dict[str, str]]:
    return sign(json.loads(text), jku)


def _on_setting_changed(*, setting: str, **kwargs: Any) -> None:
    if setting == "A2A":
        _entries.cache_clear()


setting_changed.connect(_on_setting_changed, dispatch_uid="a2a_django.agents.signatures")
