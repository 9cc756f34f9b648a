"""The signed form of a card: what belongs to it, byte by byte (R-207 to R-215, D-27)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from joserfc import jws
from joserfc.jwk import ECKey, Key, OctKey, RSAKey

from a2a_django.protocol.cards import canonical, empty_required, good_signatures, without_empty
from a2a_django.protocol.errors import InvalidParamsError

pytestmark = pytest.mark.spec("8.4")

CARD: dict[str, Any] = {
    "name": "A",
    "description": "d",
    "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "version": "1",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}],
}


def test_the_whole_form_of_a_small_card() -> None:
    assert canonical(CARD) == (
        b'{"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"d",'
        b'"name":"A","skills":[{"description":"d","id":"s","name":"S","tags":["t"]}],"supportedInterfaces":'
        b'[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://a.example"}],"version":"1"}'
    )


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        # `optional` fields that were set stay, whatever they hold.
        ({"iconUrl": ""}, '"iconUrl":""'),
        ({"capabilities": {"streaming": False}}, '"capabilities":{"streaming":false}'),
        # so do REQUIRED ones.
        ({"description": ""}, '"description":""'),
        ({"skills": []}, '"skills":[]'),
        # Messages have presence.
        ({"securityRequirements": [{"schemes": {"x": {}}}]}, '"securityRequirements":[{"schemes":{"x":{}}}]'),
        ({"securityRequirements": [{"schemes": {"x": {"list": []}}}]}, '"securityRequirements":[{"schemes":{"x":{}}}]'),
        # What an extension says is its own.
        (
            {"capabilities": {"extensions": [{"uri": "u", "params": {"b": [None, "", {}], "a": ""}}]}},
            '"params":{"a":"","b":[null,"",{}]}',
        ),
    ],
)
def test_what_is_empty_and_stays(change: dict[str, Any], kept: str) -> None:
    assert kept in canonical(CARD | change).decode()


@pytest.mark.parametrize(
    "change",
    [
        # other fields that are empty are left out.
        {"securitySchemes": {}},
        {"securityRequirements": []},
        {"capabilities": {"extensions": []}},
        # R-211, and what is not of this version.
        {"signatures": [{"protected": "x", "signature": "y"}]},
        {"url": "https://old.example", "protocolVersion": "0.3.0", "x-mine": 1},
    ],
)
def test_what_is_left_out(change: dict[str, Any]) -> None:
    assert canonical(CARD | change) == canonical(CARD)


def test_required_fields_that_are_not_there_are_there_empty() -> None:
    card = {name: value for name, value in CARD.items() if name != "skills"}
    assert canonical(card) == canonical(CARD | {"skills": []})


def test_the_order_of_names_is_that_of_utf_16_and_only_what_must_be_is_escaped() -> None:
    params = {"\U0001f600": 1, "\ufb33": 2, "é": 'ü"\\\n\u2028\x7f', "a": 3, "A": 4}
    form = canonical(CARD | {"capabilities": {"extensions": [{"uri": "u", "params": params}]}}).decode()
    assert '"params":{"A":4,"a":3,"é":"ü\\"\\\\\\n\u2028\x7f","\U0001f600":1,"\ufb33":2}' in form


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (2**53 - 1, "9007199254740991"),
        (2**53, "9007199254740992"),
        (-(2**53), "-9007199254740992"),
        (2**70, "1.1805916207174113e+21"),
    ],
)
def test_numbers_are_written_as_in_javascript(number: float, text: str) -> None:
    extension = {"uri": "u", "params": {"n": number}}
    for form in (canonical, without_empty):
        assert f'"params":{{"n":{text}}}' in form(CARD | {"capabilities": {"extensions": [extension]}}).decode()


def test_the_form_of_the_sdks_has_nothing_empty() -> None:
    extension = {"uri": "u", "params": {"b": [None, "", {}, [[]], 0, False], "a": "", "c": {"d": []}}}
    card = CARD | {
        "description": "",
        "capabilities": {"streaming": False, "extensions": [extension]},
        "securityRequirements": [{"schemes": {"x": {}}}],
    }
    form = json.loads(without_empty(card))
    assert form["capabilities"] == {"streaming": False, "extensions": [{"uri": "u", "params": {"b": [0, False]}}]}
    assert set(CARD) - set(form) == {"description"}
    assert set(form) <= set(CARD)


def test_what_is_no_card() -> None:
    for wrong in ({"skills": 1}, {"securitySchemes": {"x": {"apiKeySecurityScheme": {}, "mtlsSecurityScheme": {}}}}):
        with pytest.raises(InvalidParamsError):
            canonical(CARD | wrong)


def test_required_fields_that_are_empty_are_found_at_any_depth() -> None:
    assert empty_required(CARD) == []
    card = CARD | {
        "description": "",
        "skills": [CARD["skills"][0], {"id": "s", "name": "S", "tags": []}],
        "supportedInterfaces": [],
        "securitySchemes": {"key": {"apiKeySecurityScheme": {"location": "header"}}},
        "provider": {"url": "https://a.example"},
    }
    assert empty_required(card) == [
        "description",
        "supportedInterfaces",
        "provider.organization",
        "securitySchemes.key.apiKeySecurityScheme.name",
        "skills[1].description",
        "skills[1].tags",
    ]


# -- verification


def entry(payload: bytes, key: Key, alg: str = "ES256", **header: Any) -> dict[str, str]:
    token = jws.serialize_compact({"alg": alg, "kid": "k", **header}, payload, key, algorithms=[alg])
    protected, __, signature = token.split(".")
    return {"protected": protected, "signature": signature}


KEY = ECKey.generate_key("P-256")


def test_a_signature_over_either_form_is_good() -> None:
    card = CARD | {"skills": []}
    for form in (canonical(card), without_empty(card)):
        signed = card | {"signatures": [entry(form, KEY)]}
        assert [header["kid"] for header in good_signatures(signed, lambda header: KEY)] == ["k"]
        assert good_signatures(signed | {"name": "B"}, lambda header: KEY) == []
        assert good_signatures(signed | {"x-mine": "B", "url": "u"}, lambda header: KEY)


def test_only_keys_that_the_reader_trusts_count() -> None:
    signed = CARD | {"signatures": [entry(canonical(CARD), KEY, kid="a"), entry(canonical(CARD), KEY, kid="b")]}
    found = good_signatures(signed, lambda header: KEY if header["kid"] == "b" else None)
    assert [header["kid"] for header in found] == ["b"]
    other = ECKey.generate_key("P-256")
    assert good_signatures(signed, lambda header: other) == []


def test_shared_secrets_and_no_algorithm_are_no_signatures() -> None:
    secret = OctKey.generate_key(256)
    signed = CARD | {"signatures": [entry(canonical(CARD), secret, "HS256")]}
    assert good_signatures(signed, lambda header: secret) == []
    unsigned = CARD | {"signatures": [{"protected": "eyJhbGciOiJub25lIn0", "signature": ""}]}
    assert good_signatures(unsigned, lambda header: KEY) == []


def test_other_algorithms_of_others_are_read() -> None:
    key = RSAKey.generate_key(2048)
    assert good_signatures(CARD | {"signatures": [entry(canonical(CARD), key, "RS256")]}, lambda header: key)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"protected": "!", "signature": "x"},
        {"protected": "W10", "signature": "x"},
        {"protected": "bm9uc2Vuc2U", "signature": "x"},
        {"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "é"},
        {"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "AAAA"},
        {"protected": "eyJhbGciOiJFUzI1NiIsImNyaXQiOjF9", "signature": "AAAA"},  # {"alg":"ES256","crit":1}
    ],
)
def test_broken_signatures_beside_a_good_one_do_not_matter(wrong: dict[str, str]) -> None:
    assert good_signatures(CARD | {"signatures": [wrong]}, lambda header: KEY) == []
    assert good_signatures(CARD | {"signatures": [wrong, entry(canonical(CARD), KEY)]}, lambda header: KEY)


def test_a_long_card_is_read_too() -> None:
    card = CARD | {"description": "x" * 500_000}
    assert good_signatures(card | {"signatures": [entry(canonical(card), KEY)]}, lambda header: KEY)
