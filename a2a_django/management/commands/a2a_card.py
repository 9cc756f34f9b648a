"""``manage.py a2a_card``: print an agent's card, validate it, sign it; verify a card of anybody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import NoReverseMatch
from django.utils.translation import gettext as _
from joserfc.errors import JoseError
from joserfc.jwk import Key, import_key

from a2a_django.agents import Agent, registry
from a2a_django.agents.cards import CardBase, build_card, configured_base, endpoint_path
from a2a_django.agents.directory import directory
from a2a_django.agents.signatures import sign
from a2a_django.protocol.cards import empty_required, good_signatures
from a2a_django.protocol.errors import A2AError
from a2a_django.protocol.wire import Wire
from a2a_django.signing import JWKS_PATH, public_jwks

#: Seconds to wait for an address, and the largest answer.
FETCH_SECONDS: Final = 10
FETCH_BYTES: Final = 4 * 1024 * 1024


class Command(BaseCommand):
    """Without options it prints the card as it is served, but for signatures."""

    help = (
        "Print the card of an agent; with --validate or --verify say whether it is right, and exit with 1 when it is "
        "not."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the agent and what to do."""
        parser.add_argument(
            "slug", nargs="?", default="", help="The agent's slug; by default the site's default agent."
        )
        parser.add_argument("--base-url", help="Where the site is reached; by default A2A['BASE_URL'].")
        parser.add_argument("--sign", action="store_true", help="Sign the card with the first of A2A['SIGNING_KEYS'].")
        parser.add_argument("--validate", action="store_true", help="Say what the card lacks.")
        parser.add_argument(
            "--verify", metavar="URL|FILE", help="Take this card, of whatever site, and verify its signatures."
        )
        parser.add_argument(
            "--jwks",
            metavar="URL|FILE",
            help="Keys to verify with. By default those of this site, and those that the signature names (jku) when "
            "they are on the same host as the card.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it. Raises ``CommandError`` for a card that is not right."""
        source: str | None = options["verify"]
        if source and (options["sign"] or options["slug"]):
            raise CommandError(_("--verify takes a card as it is: leave out the slug and --sign."))
        if options["jwks"] and not source:
            raise CommandError(_("--jwks goes with --verify."))
        try:
            card = _read(source) if source else _own(options["slug"], options["base_url"], signed=options["sign"])
            if options["validate"]:
                self._validate(card)
            if source:
                self._verify(card, source, options["jwks"])
        except A2AError as error:
            raise CommandError(_("This is no card of version 1.0: %(reason)s") % {"reason": error}) from None
        if not source and not options["validate"]:
            self.stdout.write(json.dumps(card, indent=2, ensure_ascii=False))

    def _validate(self, card: Wire) -> None:
        missing = empty_required(card)
        if missing:
            raise CommandError(
                _("The protocol requires, and the card lacks: %(names)s.") % {"names": ", ".join(missing)}
            )
        self.stdout.write(self.style.SUCCESS(_("The card has all that the protocol requires.")))

    def _verify(self, card: Wire, source: str, jwks: str | None) -> None:
        keys = _Keys(source, jwks)
        good = good_signatures(card, keys.find)
        if not good:
            count = len(card.get("signatures") or ())
            reason = _("It has %(count)d signatures, none of which is good.") if count else _("It is not signed.")
            raise CommandError(" ".join([reason % {"count": count}, *keys.notes]))
        for header in good:
            told = {"kid": header.get("kid"), "alg": header.get("alg"), "where": keys.where[str(header.get("kid"))]}
            self.stdout.write(self.style.SUCCESS(_("Good: %(alg)s by the key %(kid)s of %(where)s.") % told))


def _own(slug: str, url: str | None, *, signed: bool) -> Wire:
    agent = _agent(slug)
    try:
        base = CardBase(url.rstrip("/"), endpoint_path()) if url else configured_base()
        async_to_sync(directory.refresh)()
        card = build_card(directory.presented(agent), base)
        if signed:
            card["signatures"] = sign(card, base.endpoint + JWKS_PATH)
    except (ImproperlyConfigured, NoReverseMatch) as error:
        raise CommandError(str(error)) from None
    return card


def _agent(slug: str) -> Agent:
    agent = registry.get(slug) if slug else registry.default()
    if agent is None:
        slugs = ", ".join(agent.slug for agent in registry.all())
        reason = _("There is no agent %(slug)r.") if slug else _("The site has no default agent.")
        raise CommandError(" ".join([reason % {"slug": slug}, _("There are: %(slugs)s") % {"slugs": slugs}]))
    return agent


class _Keys:
    """The keys that signatures may be verified with, by their ``kid``."""

    def __init__(self, source: str, jwks: str | None) -> None:
        self._source = source
        self._keys: dict[str, Key] = {}
        #: Where each key is from, and what could not be had.
        self.where: dict[str, str] = {}
        self.notes: list[str] = []
        self._may_follow = jwks is None
        try:
            self._take(_read(jwks) if jwks else public_jwks(), jwks or _("this site"))
        except ImproperlyConfigured as error:
            self.notes.append(str(error))

    def find(self, header: Mapping[str, Any]) -> Key | None:
        """Return the key of a signature."""
        kid, jku = str(header.get("kid")), header.get("jku")
        if kid not in self._keys and self._may_follow and isinstance(jku, str):
            if urlsplit(jku)[:2] == urlsplit(self._source)[:2]:
                self._take(_read(jku), jku)
            else:
                # Whoever can change a card can name keys of their own in it.
                self.notes.append(_("Its keys are said to be at %(url)s; trust them with --jwks.") % {"url": jku})
        if kid not in self._keys:
            self.notes.append(_("The key %(kid)s is not known.") % {"kid": kid})
        return self._keys.get(kid)

    def _take(self, jwks: Mapping[str, Any], where: str) -> None:
        found = jwks.get("keys")
        for each in found if isinstance(found, list) else ():
            try:
                key, kid = import_key(each), str(each["kid"])
            except (JoseError, ValueError, TypeError, KeyError):  # a kind that nobody knows, or one without a name
                continue
            self._keys[kid], self.where[kid] = key, where


def _read(source: str) -> dict[str, Any]:
    """Return the JSON object in a file or at an address. Raises ``CommandError``."""
    try:
        if urlsplit(source).scheme in ("http", "https"):
            request = Request(source, headers={"Accept": "application/json", "A2A-Version": "1.0"})  # noqa: S310
            with urlopen(request, timeout=FETCH_SECONDS) as response:  # noqa: S310 - the scheme is checked above
                body = response.read(FETCH_BYTES + 1)
        else:
            body = Path(source).read_bytes()
        found = json.loads(body[: FETCH_BYTES + 1])
    except (OSError, HTTPException, ValueError) as error:
        raise CommandError(_("%(source)s cannot be read: %(error)s") % {"source": source, "error": error}) from None
    if not isinstance(found, dict):
        raise CommandError(_("%(source)s holds no JSON object.") % {"source": source})
    return found
