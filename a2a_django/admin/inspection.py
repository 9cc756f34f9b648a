"""What can be said of an agent's card before anybody asks for it: is it valid, and who has signed it."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext as _
from joserfc.jwk import Key, import_key

from a2a_django.agents import Agent
from a2a_django.agents.cards import CardBase, build_card
from a2a_django.agents.signatures import signed_text, signs
from a2a_django.checks.agents import check_one
from a2a_django.conf import a2a_settings
from a2a_django.protocol.cards import empty_required, good_signatures
from a2a_django.protocol.errors import A2AError
from a2a_django.protocol.wire import Wire
from a2a_django.signing import public_jwks

logger = logging.getLogger("a2a_django.admin")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with an agent or its card; ``serious``: callers will stumble over it."""

    text: str
    hint: str = ""
    serious: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of a card: the key's name, algorithm, where keys are said to be, and whether it is right."""

    kid: str
    algorithm: str
    jku: str
    good: bool


@dataclass(slots=True)
class Inspection:
    """An agent's card as callers get it (None where none can be made) and what there is to say of it."""

    card: Wire | None = None
    problems: list[Problem] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    #: Why there are no signatures.
    unsigned: str = ""

    @property
    def text(self) -> str:
        """The card as JSON for people."""
        return json.dumps(self.card, indent=2, ensure_ascii=False) if self.card is not None else ""

    @property
    def serious(self) -> int:
        """How many problems callers will stumble over."""
        return sum(problem.serious for problem in self.problems)


def problems_of(agent: Agent) -> list[Problem]:
    """Return what the system checks say of an agent."""
    return [Problem(str(each.msg), str(each.hint or ""), each.is_serious()) for each in check_one(agent)]


def inspect(agent: Agent, shown: Agent, base: CardBase) -> Inspection:
    """Return what there is to say of ``agent``, whose card shows it as ``shown`` and is asked for at ``base``."""
    found = Inspection(problems=problems_of(agent))
    try:
        found.card = json.loads(signed_text(build_card(shown, base), base))
    except (ImproperlyConfigured, A2AError) as error:
        found.problems.append(Problem(str(error), serious=True))
    except Exception as error:  # the author's attributes may be anything
        logger.warning("The card of %r cannot be made", agent, exc_info=True)
        text = _("The card cannot be made: %(error)s") % {"error": f"{type(error).__name__}: {error}"}
        found.problems.append(Problem(text, serious=True))
    if found.card is not None:
        _validate(found, found.card)
    return found


def _validate(found: Inspection, card: Wire) -> None:
    try:
        missing = empty_required(card)
        found.signatures = list(map(_judged(card), card.get("signatures", ())))
    except A2AError as error:
        text = _("This is no card of version 1.0: %(reason)s")
        wrong = [f"{each.field}: {each.description}" for each in error.violations] or [error.message]
        found.problems += [Problem(text % {"reason": reason}, serious=True) for reason in wrong]
        return
    if missing:
        text = _("The protocol requires, and the card lacks: %(names)s.")
        found.problems.append(Problem(text % {"names": ", ".join(missing)}, serious=True))
    if not card.get("supportedInterfaces"):
        hint = _('Include "a2a_django.urls" in the site\'s addresses, or set A2A["GRPC_URL"].')
        found.problems.append(Problem(_("The card names no address at which the agent can be called."), hint, True))
    if not found.signatures:
        found.unsigned = _why_unsigned()
    for each in found.signatures:
        if not each.good:
            text = _("The signature by the key %(kid)s is not right.") % {"kid": each.kid}
            found.problems.append(Problem(text, serious=True))


def _judged(card: Wire) -> Any:
    keys = _published()

    def judge(entry: Wire) -> Signature:
        good = good_signatures({**card, "signatures": [entry]}, lambda header: keys.get(str(header.get("kid"))))
        header = _header(entry)
        return Signature(
            str(header.get("kid", "")), str(header.get("alg", "")), str(header.get("jku", "")), good=bool(good)
        )

    return judge


def _header(entry: Wire) -> Mapping[str, Any]:
    text = str(entry.get("protected", ""))
    try:
        header = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except ValueError:
        return {}
    return header if isinstance(header, dict) else {}


def _published() -> dict[str, Key]:
    """Return the keys that this site publishes, by name: what a reader of its cards has."""
    try:
        return {key["kid"]: import_key(key) for key in public_jwks()["keys"]}
    except ImproperlyConfigured:
        return {}


def _why_unsigned() -> str:
    if not a2a_settings.SIGNING_KEYS:
        return _('The site has no signing key: A2A["SIGNING_KEYS"] is empty.')
    if not a2a_settings.SIGN_CARDS:
        return _('The site does not sign cards: A2A["SIGN_CARDS"] is off.')
    return _("The card could not be signed; the site's log says why.") if signs() else ""
