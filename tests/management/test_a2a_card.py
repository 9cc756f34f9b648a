"""``manage.py a2a_card``."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.management import CommandError, call_command
from django.test import AsyncClient
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from a2a_django import Agent, Skill
from a2a_django.agents import registry
from a2a_django.management.commands import a2a_card
from a2a_django.models import AgentSetting
from a2a_django.signing import public_jwks
from tests.access.issuer import issuer
from tests.keys import jwk, pem

pytestmark = pytest.mark.django_db(transaction=True)


class Whole(Agent):
    """Has all that a card needs."""

    abstract = True
    skills = [Skill("a", "A", "Does ä", tags=["x"])]

    async def run(self, ctx: object) -> str:
        """Answer."""
        return "whole"


@pytest.fixture(autouse=True)
def site(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.all()
    monkeypatch.setattr(registry, "_agents", {})
    monkeypatch.setattr(registry, "duplicates", [])
    registry.add(Whole())
    settings.A2A = {**settings.A2A, "BASE_URL": "https://shop.example", "SIGNING_KEYS": [jwk(kid="mine"), pem()]}


def run(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command("a2a_card", *arguments, stdout=out, no_color=True, **options)
    return out.getvalue()


def saved(tmp_path: Path, card: Any, name: str = "card.json") -> str:
    path = tmp_path / name
    path.write_text(json.dumps(card))
    return str(path)


async def served() -> Any:
    headers = {"A2A-Version": "1.0"}
    return json.loads((await AsyncClient().get("/.well-known/agent-card.json", headers=headers)).content)


async def test_it_prints_the_card_that_is_served_but_for_signatures() -> None:
    printed = json.loads(await sync_to_async(run)())
    card = await served()
    assert card.pop("signatures")
    assert printed == card
    assert "Does ä" in await sync_to_async(run)()


def test_another_address_and_another_agent(settings: Settings) -> None:
    registry.add(Whole(name="Other"))
    settings.A2A = {**settings.A2A, "BASE_URL": None}
    with pytest.raises(CommandError, match="BASE_URL"):
        run("other")
    card = json.loads(run("other", base_url="https://x.example/"))
    assert card["name"] == "Other"
    assert card["supportedInterfaces"][0]["url"] == "https://x.example/a2a/"
    assert card["supportedInterfaces"][0]["tenant"] == "other"
    with pytest.raises(CommandError, match=r"no default agent\. There are: whole, other"):
        run(base_url="https://x.example/")
    with pytest.raises(CommandError, match=r"no agent 'third'\. There are"):
        run("third")


def test_the_name_in_the_database_counts() -> None:
    AgentSetting.objects.create(slug="whole", name="Renamed")
    assert json.loads(run())["name"] == "Renamed"


def test_what_it_signs_it_finds_good(tmp_path: Path) -> None:
    card = json.loads(run(sign=True))
    assert run(verify=saved(tmp_path, card), validate=True).splitlines() == [
        "The card has all that the protocol requires.",
        "Good: ES256 by the key mine of this site.",
    ]
    with pytest.raises(CommandError, match="It has 1 signatures, none of which is good"):
        run(verify=saved(tmp_path, card | {"name": "Other"}))
    with pytest.raises(CommandError, match="It is not signed"):
        run(verify=saved(tmp_path, json.loads(run())))


def test_without_a_key_it_cannot_sign(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": []}
    with pytest.raises(CommandError, match="SIGNING_KEYS"):
        run(sign=True)


def test_keys_of_others_are_told(settings: Settings, tmp_path: Path) -> None:
    card = json.loads(run(sign=True))
    jwks = saved(tmp_path, public_jwks(), "jwks.json")
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": [pem()]}
    file = saved(tmp_path, card)
    with pytest.raises(CommandError) as caught:
        run(verify=file)
    assert "https://shop.example/a2a/jwks.json; trust them with --jwks" in str(caught.value)
    assert "The key mine is not known" in str(caught.value)
    assert run(verify=file, jwks=jwks) == f"Good: ES256 by the key mine of {jwks}.\n"
    with pytest.raises(CommandError, match="The key mine is not known"):
        run(verify=file, jwks=saved(tmp_path, {"keys": [1, {}, {"kty": "x", "kid": "mine"}]}, "other.json"))


def test_keys_beside_the_card_are_found(live_server: LiveServer, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "BASE_URL": live_server.url}
    address = f"{live_server.url}/.well-known/agent-card.json"
    assert run(verify=address) == "Good: ES256 by the key mine of this site.\n"
    # A site without keys of its own looks where the card says.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(a2a_card, "public_jwks", lambda: {"keys": []})
        assert run(verify=address) == f"Good: ES256 by the key mine of {live_server.url}/a2a/jwks.json.\n"


def test_what_a_card_lacks_is_told() -> None:
    registry.add(Whole(name="Poor", skills=[Skill("a", "A", "", tags=[])]))
    with pytest.raises(CommandError, match=r"lacks: skills\[0\].description, skills\[0\].tags"):
        run("poor", validate=True)
    assert "has all" in run("whole", validate=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "holds no JSON object"),
        ('{"skills": 1}', "no card of version 1.0"),
    ],
)
def test_what_is_no_card_is_told(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "card.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(CommandError, match=said):
        run(verify=str(path), validate=True)
    with pytest.raises(CommandError, match="cannot be read"):
        run(verify="http://127.0.0.1:1/card.json")


def test_what_is_no_http_is_told() -> None:
    with issuer() as other:
        other.raw = b"nonsense\r\n\r\n"
        with pytest.raises(CommandError, match="cannot be read"):
            run(verify=f"{other.url}/card.json")


@pytest.mark.parametrize("options", [{"verify": "x", "sign": True}, {"verify": "x", "slug": "whole"}, {"jwks": "x"}])
def test_options_that_do_not_go_together(options: dict[str, Any]) -> None:
    slug = options.pop("slug", None)
    with pytest.raises(CommandError, match="--verify"):
        run(*([slug] if slug else []), **options)
