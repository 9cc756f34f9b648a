"""What proves a notification: exactly what is signed, and with what."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import jwt
import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from a2a_django.push.signing import headers_for
from a2a_django.signing import public_jwks
from tests.keys import jwk, pem

pytestmark = pytest.mark.spec("13.2")

URL = "https://client.example/hook?x=1"
BODY = b'{"statusUpdate":{"taskId":"t-1"}}'
TOKEN = "t0ken"
NOW = 1_800_000_000.75


@pytest.fixture(autouse=True)
def site(settings: Settings) -> None:
    settings.A2A = {"BASE_URL": "https://shop.example/", "SIGNING_KEYS": [jwk(kid="new"), pem()]}


def sign(settings: Settings, *kinds: str, token: str = TOKEN) -> dict[str, str]:
    settings.A2A = {**settings.A2A, "WEBHOOK_SIGNATURES": list(kinds)}
    return headers_for(URL, BODY, "t-1", token=token, now=NOW)


def claims_of(token: str, **options: Any) -> dict[str, Any]:
    keys = {key["kid"]: jwt.PyJWK(key) for key in public_jwks()["keys"]}
    key = keys[jwt.get_unverified_header(token)["kid"]]
    found: dict[str, Any] = jwt.decode(
        token, key, algorithms=["ES256"], audience=URL, options={"verify_exp": False, "verify_iat": False}, **options
    )
    return found


def test_by_default_nothing_is_signed() -> None:
    assert headers_for(URL, BODY, "t-1", token="t0ken", now=NOW) == {}


def test_a_token_is_for_one_webhook_one_task_and_one_body(settings: Settings) -> None:
    headers = sign(settings, "jwt")
    assert set(headers) == {"A2A-Notification-JWT"}
    token = headers["A2A-Notification-JWT"]
    assert jwt.get_unverified_header(token) == {"alg": "ES256", "kid": "new", "typ": "JWT"}
    claims = claims_of(token)
    assert claims.pop("jti")
    assert claims == {
        "iss": "https://shop.example",
        "aud": URL,
        "iat": 1_800_000_000,
        "exp": 1_800_000_300,
        "task_id": "t-1",
        "request_body_sha256": hashlib.sha256(BODY).hexdigest(),
    }


def test_every_attempt_has_an_id_of_its_own(settings: Settings) -> None:
    ids = {claims_of(sign(settings, "jwt")["A2A-Notification-JWT"])["jti"] for __ in range(20)}
    assert len(ids) == 20


def test_an_hmac_is_over_time_and_body_under_the_token(settings: Settings) -> None:
    digest = hmac.new(b"t0ken", b"1800000000." + BODY, hashlib.sha256).hexdigest()
    assert sign(settings, "hmac") == {
        "A2A-Notification-Timestamp": "1800000000",
        "A2A-Notification-Signature": f"v1={digest}",
    }


def test_a_token_need_not_be_ascii(settings: Settings) -> None:
    digest = hmac.new("tökén".encode(), b"1800000000." + BODY, hashlib.sha256).hexdigest()
    assert sign(settings, "hmac", token="tökén")["A2A-Notification-Signature"] == f"v1={digest}"


def test_without_a_token_there_is_no_hmac(settings: Settings) -> None:
    assert sign(settings, "hmac", token="") == {}


def test_both_may_go_along(settings: Settings) -> None:
    assert set(sign(settings, "jwt", "hmac")) == {
        "A2A-Notification-JWT",
        "A2A-Notification-Timestamp",
        "A2A-Notification-Signature",
    }
    assert set(sign(settings, "jwt", "hmac", token="")) == {"A2A-Notification-JWT"}


@pytest.mark.parametrize("missing", ["SIGNING_KEYS", "BASE_URL"])
def test_nothing_goes_unsigned_that_was_to_be_signed(settings: Settings, missing: str) -> None:
    settings.A2A = {key: value for key, value in settings.A2A.items() if key != missing}
    with pytest.raises(ImproperlyConfigured, match=missing):
        sign(settings, "jwt")


def test_the_clients_own_header_is_left_alone(settings: Settings) -> None:
    assert "authorization" not in {name.lower() for name in sign(settings, "jwt", "hmac")}
