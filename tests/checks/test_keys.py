"""The checks of the site's keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django import Skill
from a2a_django.agents import registry
from tests.checks.kit import Good, found, messages
from tests.keys import jwk, pem


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        (["x" * 32], False),
        (["PhTBGLO2jlH8Hm6uYbU8LWCmCYYIcRyZWJpHAWkW1nM="], False),
        (["x" * 32, "x" * 31], True),
        ([""], True),
    ],
)
def test_e007_keys_that_can_be_guessed(settings: Settings, value: list[str], wrong: bool) -> None:
    settings.A2A = {"ENCRYPTION_KEYS": value}
    messages = found()
    assert ("E007" in messages) is wrong
    if wrong:
        assert f"no. {len(value)} has" in messages["E007"].msg
        assert "x" * 31 not in messages["E007"].msg


def test_e008_is_silent_for_keys_of_every_form(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text(pem())
    settings.A2A = {"SIGNING_KEYS": [pem(), jwk(), file]}
    assert "E008" not in found()


@pytest.mark.parametrize(
    "wrong", [{}, "s3cret", "file:/no/such/file", "{", jwk(curve="P-384"), pem(password=b"s3cret")]
)
def test_e008_what_is_no_key(settings: Settings, wrong: Any) -> None:
    settings.A2A = {"SIGNING_KEYS": [pem(), wrong]}
    message = found()["E008"]
    assert "no. 2" in message.msg
    assert "s3cret" not in message.msg
    assert "openssl" in str(message.hint)


def test_e008_tells_of_every_wrong_key(settings: Settings) -> None:
    settings.A2A = {"SIGNING_KEYS": ["x", pem(), "file:/no/such/file"]}
    assert [message.msg[:28] for message in messages() if message.id == "a2a_django.E008"] == [
        'A2A["SIGNING_KEYS"]: no. 1 h',
        'A2A["SIGNING_KEYS"]: no. 3 c',
    ]


def test_e008_the_same_kid_twice(settings: Settings) -> None:
    settings.A2A = {"SIGNING_KEYS": [jwk(kid="a"), jwk(kid="b"), jwk(kid="a")]}
    assert "no. 3 has the kid of one before it: a" in found()["E008"].msg


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ({}, ["SIGNING_KEYS", "BASE_URL"]),
        ({"SIGNING_KEYS": [pem()]}, ["BASE_URL"]),
        ({"BASE_URL": "https://shop.example"}, ["SIGNING_KEYS"]),
        ({"BASE_URL": "https://shop.example", "SIGNING_KEYS": [pem()]}, []),
    ],
)
def test_e009_what_signed_notifications_need(settings: Settings, value: dict[str, Any], missing: list[str]) -> None:
    settings.A2A = {"WEBHOOK_SIGNATURES": ["jwt", "hmac"], **value}
    said = [message.msg for message in messages() if message.id == "a2a_django.E009"]
    assert [text.partition("but A2A['")[2].partition("'")[0] for text in said] == missing
    settings.A2A = {"WEBHOOK_SIGNATURES": ["hmac"], **value}
    assert "E009" not in found()


class Poor(Good):
    """Has a skill of which it says little."""

    abstract = True
    skills = [Skill("a", "A", "", tags=[])]
    output_modes = ()


def test_w061_signed_cards_lack_nothing(settings: Settings) -> None:
    settings.A2A = {"SIGNING_KEYS": [pem()]}
    assert "W061" not in found()
    registry.add(Poor(name="Poor"))
    said = found()["W061"].msg
    assert "lacks defaultOutputModes, skills[0].description, skills[0].tags" in said
    settings.A2A = {"SIGNING_KEYS": [pem()], "SIGN_CARDS": False}
    assert "W061" not in found()
    settings.A2A = {}
    assert "W061" not in found()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"SIGNING_KEYS": ["x"]}, "E008"),
        ({"SIGNING_KEYS": 1}, "E003"),
        ({"AUTHENTICATION_CLASSES": "x"}, "E003"),
        ({"AUTHENTICATION_CLASSES": ["no.where"]}, "E004"),
        ({"BASE_URL": 1}, "E003"),
    ],
)
def test_w061_leaves_to_others_what_is_theirs(settings: Settings, wrong: dict[str, Any], says: str) -> None:
    registry.add(Poor(name="Poor"))
    settings.A2A = {"SIGNING_KEYS": [pem()], **wrong}
    messages = found()
    assert says in messages
    assert not {"E061", "W061"} & set(messages)


def test_e061_a_card_that_is_none(settings: Settings) -> None:
    class Odd:
        security_scheme = (
            "odd",
            {"apiKeySecurityScheme": {"name": "x", "location": "header"}, "mtlsSecurityScheme": {}},
        )

    settings.A2A = {"SIGNING_KEYS": [pem()], "AUTHENTICATION_CLASSES": [Odd]}
    assert "is none of version 1.0" in found()["E061"].msg


@pytest.mark.parametrize(
    ("hosts", "value", "warned"),
    [
        (["*"], {}, True),
        (["shop.example"], {}, False),
        (["*"], {"BASE_URL": "https://shop.example"}, False),
        (["*"], {"SIGN_CARDS": False}, False),
        (["*"], {"SIGNING_KEYS": []}, False),
    ],
)
def test_w063_cards_that_lead_elsewhere(
    settings: Settings, hosts: list[str], value: dict[str, Any], warned: bool
) -> None:
    settings.ALLOWED_HOSTS = hosts
    settings.A2A = {"SIGNING_KEYS": [pem()], **value}
    assert ("W063" in found(deploy=True)) is warned
    assert "W063" not in found()
