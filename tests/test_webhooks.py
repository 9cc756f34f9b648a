"""The receiving side of notifications: what is taken, and everything that is not."""

from __future__ import annotations

import base64
import json
import time
from io import BytesIO
from typing import Any

import jwt
import pytest
from django.core.cache import caches
from django.http import HttpRequest
from django.test import RequestFactory
from joserfc import jws
from joserfc.jwk import ECKey, OctKey
from pytest_django import Settings

from a2a_django import webhooks
from a2a_django.access import jwks as access_jwks
from a2a_django.push.signing import hash_of, headers_for
from a2a_django.signing import public_jwks
from a2a_django.webhooks import InvalidNotification, averify, verify
from tests.key_server import key_server
from tests.keys import jwk

URL = "https://client.example/hook?x=1"
TOKEN = "t0ken"
TASK = "t-1"
EVENT: dict[str, Any] = {
    "statusUpdate": {
        "taskId": TASK,
        "contextId": "c",
        "status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-11-30T00:00:00Z"},
    }
}
BODY = json.dumps(EVENT).encode()


@pytest.fixture(autouse=True)
def site(settings: Settings) -> None:
    """The sender: signs in both ways."""
    settings.ALLOWED_HOSTS = ["client.example"]
    settings.A2A = {
        "BASE_URL": "https://shop.example",
        "SIGNING_KEYS": [jwk(kid="first")],
        "WEBHOOK_SIGNATURES": ["jwt", "hmac"],
    }


def request_of(headers: dict[str, str], body: bytes = BODY) -> HttpRequest:
    return RequestFactory().post(
        "/hook?x=1",
        data=body,
        content_type="application/a2a+json",
        secure=True,
        headers={"Host": "client.example"} | headers,
    )


def signed(*, token: str = "", body: bytes = BODY, url: str = URL, age: float = 0, task: str = TASK) -> dict[str, str]:
    """The headers that the sender adds."""
    return headers_for(url, body, task, token=token, now=time.time() - age)


def hand_made(claims: dict[str, Any], *, key: Any = None, header: dict[str, Any] | None = None) -> dict[str, str]:
    """The header with a token of other claims than those that the sender would write."""
    now = int(time.time())
    full = {
        "iss": "https://shop.example",
        "aud": URL,
        "iat": now,
        "exp": now + 300,
        "jti": "j",
        "task_id": TASK,
        "request_body_sha256": hash_of(BODY),
    } | claims
    text = json.dumps({name: value for name, value in full.items() if value is not None})
    protected = {"alg": "ES256", "kid": "first"} | (header or {})
    key = key or ECKey.import_key(site_key())
    return {"A2A-Notification-JWT": jws.serialize_compact(protected, text, key, algorithms=["ES256", "HS256", "none"])}


def site_key() -> Any:
    from a2a_django.signing import signing_keys

    return signing_keys()[0].key.as_dict(private=True)


def refused(headers: dict[str, str], body: bytes = BODY, *, status: int = 403, **options: Any) -> str:
    with pytest.raises(InvalidNotification) as caught:
        verify(request_of(headers, body), **options)
    assert caught.value.status == status
    assert TOKEN not in str(caught.value)
    return str(caught.value)


# -- what comes out


@pytest.mark.parametrize(
    ("event", "kind", "task_id"),
    [
        (EVENT, "statusUpdate", TASK),
        ({"task": {"id": TASK, "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}}, "task", TASK),
        (
            {
                "artifactUpdate": {
                    "taskId": TASK,
                    "contextId": "c",
                    "artifact": {"artifactId": "a", "parts": [{"text": "x"}]},
                }
            },
            "artifactUpdate",
            TASK,
        ),
        (
            {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}], "taskId": TASK}},
            "message",
            TASK,
        ),
        ({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}, "message", ""),
    ],
)
def test_every_kind_of_event(event: dict[str, Any], kind: str, task_id: str) -> None:
    body = json.dumps(event).encode()
    request = request_of(signed(body=body), body)
    found = verify(request, jwks=public_jwks())
    assert (found.event, found.kind, found.payload, found.task_id) == (event, kind, event[kind], task_id)
    assert request.body == body


def test_the_claims_of_a_signed_token_are_handed_on() -> None:
    assert verify(request_of({"X-A2A-Notification-Token": TOKEN}), token=TOKEN).claims is None
    claims = verify(request_of(signed()), jwks=public_jwks()).claims
    assert claims is not None
    assert (claims["iss"], claims["task_id"]) == ("https://shop.example", TASK)


async def test_asynchronous_views_have_a_form_of_their_own() -> None:
    assert (await averify(request_of(signed()), jwks=public_jwks())).task_id == TASK
    with pytest.raises(InvalidNotification):
        await averify(request_of({}), token=TOKEN)


@pytest.mark.parametrize("body", [b"", b"x", b"[]", b"{}", b'{"kind":"task","id":"t-1"}', BODY[:-1], b"\xff" + BODY])
def test_what_is_no_event(body: bytes) -> None:
    refused({"X-A2A-Notification-Token": TOKEN}, body, token=TOKEN, status=400)


def test_events_may_be_larger_than_djangos_limit_for_forms_but_not_without_limit(settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    settings.A2A = {**settings.A2A, "MAX_BODY_BYTES": 5000}
    parts = [{"text": "x" * 3000}]
    event = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts}}
    body = json.dumps(event).encode()
    assert verify(request_of({"X-A2A-Notification-Token": TOKEN}, body), token=TOKEN).event == event
    refused({"X-A2A-Notification-Token": TOKEN}, body + b" " * 5000, token=TOKEN, status=413)


# -- the token of the config


@pytest.mark.parametrize("name", ["X-A2A-Notification-Token", "A2A-Notification-Token"])
def test_the_token_in_either_header(name: str) -> None:
    assert verify(request_of({name: TOKEN}), token=TOKEN).task_id == TASK
    refused({name: TOKEN + "x"}, token=TOKEN)
    refused({name: ""}, token=TOKEN)


@pytest.mark.parametrize("token", ["t\u00f6k\u00e9n", "\u00fc", "\u00c3\u00b6"])
def test_a_token_with_other_letters_as_it_comes_in(token: str) -> None:
    """The sender writes UTF-8, a server hands it to Django byte by byte; another sender may write ISO 8859-1."""
    for as_read in (token.encode().decode("latin-1"), token):
        assert verify(request_of({"X-A2A-Notification-Token": as_read}), token=token).task_id == TASK
    refused({"X-A2A-Notification-Token": "t\u00f6k"}, token=token)


def test_every_header_has_to_be_right() -> None:
    both = {"X-A2A-Notification-Token": TOKEN, "A2A-Notification-Token": TOKEN}
    verify(request_of(both), token=TOKEN)
    for name in both:
        refused({**both, name: "x"}, token=TOKEN)


def test_without_proof_nothing_is_taken() -> None:
    refused({}, token=TOKEN)
    refused({}, jwks=public_jwks())
    refused({"X-A2A-Notification-Token": TOKEN}, jwks=public_jwks())
    refused(signed(), token=TOKEN)


def test_an_hmac_is_as_good_as_the_token() -> None:
    verify(request_of(signed(token=TOKEN)), token=TOKEN)
    refused(signed(token="another"), token=TOKEN)
    refused(signed(token=TOKEN), BODY + b" ", token=TOKEN)


def test_a_wrong_hmac_is_not_made_good_by_the_token() -> None:
    headers = signed(token="another") | {"X-A2A-Notification-Token": TOKEN}
    refused(headers, token=TOKEN)


def test_an_hmac_does_not_last() -> None:
    refused(signed(token=TOKEN, age=301), token=TOKEN)
    verify(request_of(signed(token=TOKEN, age=301)), token=TOKEN, max_age=400)
    refused(signed(token=TOKEN, age=-120), token=TOKEN)
    verify(request_of(signed(token=TOKEN, age=-30)), token=TOKEN)


@pytest.mark.parametrize("timestamp", [None, "", "x", "-1", "1e9", "٣", "1" * 5000, " 1"])
def test_an_hmac_without_a_time(timestamp: str | None) -> None:
    headers = signed(token=TOKEN)
    del headers["A2A-Notification-Timestamp"]
    if timestamp is not None:
        headers["A2A-Notification-Timestamp"] = timestamp
    refused(headers, token=TOKEN)


def test_the_time_is_signed_too() -> None:
    headers = signed(token=TOKEN, age=100)
    refused({**headers, "A2A-Notification-Timestamp": str(int(time.time()))}, token=TOKEN)


@pytest.mark.parametrize(
    "change", [str.upper, lambda text: text[3:], lambda text: "v2=" + text[3:], lambda text: text[:-1]]
)
def test_an_hmac_of_another_form(change: Any) -> None:
    headers = signed(token=TOKEN)
    refused({**headers, "A2A-Notification-Signature": change(headers["A2A-Notification-Signature"])}, token=TOKEN)


# -- the signed token


def test_a_signed_token_is_for_this_body() -> None:
    refused(signed(), BODY.replace(b"WORKING", b"COMPLETED"), jwks=public_jwks())


def test_a_signed_token_is_for_this_webhook() -> None:
    refused(signed(url="https://other.example/hook"), jwks=public_jwks())
    refused(signed(), jwks=public_jwks(), audience="https://other.example/hook")
    verify(request_of(signed(url="https://proxy.example/h")), jwks=public_jwks(), audience="https://proxy.example/h")


def test_a_signed_token_is_from_this_site() -> None:
    for right in ("https://shop.example", "https://shop.example/"):
        verify(request_of(signed()), jwks=public_jwks(), issuer=right)
    refused(signed(), jwks=public_jwks(), issuer="https://other.example")


def test_a_signed_token_is_for_this_task() -> None:
    assert "another task" in refused(signed(task="t-2"), jwks=public_jwks())


def test_a_signed_token_does_not_last() -> None:
    refused(signed(age=301), jwks=public_jwks())
    verify(request_of(signed(age=301)), jwks=public_jwks(), max_age=400)
    refused(signed(age=361), jwks=public_jwks(), max_age=4000)  # expired, whatever the receiver would bear
    refused(signed(age=-120), jwks=public_jwks())


@pytest.mark.parametrize(
    "claims",
    [
        {"iat": None},
        {"exp": None},
        {"iat": "1"},
        {"iat": True},
        {"iat": float("nan")},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"iat": 10**400},
        {"aud": None},
        {"aud": [URL + "x"]},
        {"aud": {URL: 1}},
        {"request_body_sha256": None},
        {"request_body_sha256": hash_of(b"")},
        {"task_id": None},
        {"task_id": 1},
    ],
)
def test_claims_that_are_not_right(claims: dict[str, Any]) -> None:
    verify(request_of(hand_made({})), jwks=public_jwks())
    refused(hand_made(claims), jwks=public_jwks())


def test_one_of_several_audiences_is_enough() -> None:
    verify(request_of(hand_made({"aud": ["x", URL]})), jwks=public_jwks())


def test_keys_of_others_sign_nothing() -> None:
    other = ECKey.import_key(jwk())
    refused(hand_made({}, key=other), jwks=public_jwks())
    refused(hand_made({}, header={"kid": "other"}), jwks=public_jwks())
    refused(hand_made({}, key=other, header={"jwk": other.as_dict(private=False)}), jwks=public_jwks())
    refused(hand_made({}), jwks={"keys": []})


def test_the_algorithm_is_not_the_callers_choice() -> None:
    public = public_jwks()["keys"][0]
    # The public key as the secret of an HMAC: the oldest trick with these tokens.
    for secret in (json.dumps(public), public["x"]):
        refused(hand_made({}, key=OctKey.import_key(secret), header={"alg": "HS256"}), jwks=public_jwks())
    claims = jwt.decode(signed()["A2A-Notification-JWT"], options={"verify_signature": False})
    unsigned = jwt.encode(claims, None, algorithm="none", headers={"kid": "first"})
    refused({"A2A-Notification-JWT": unsigned}, jwks=public_jwks())


@pytest.mark.parametrize("token", ["", "x", "..", "a.b.c", "é.é.é", "x" * 10_000])
def test_what_is_no_token(token: str) -> None:
    refused({"A2A-Notification-JWT": token}, jwks=public_jwks())


@pytest.mark.parametrize(
    "header",
    [
        {"alg": ["ES256"], "kid": "first"},
        {"alg": "ES256", "kid": ["first"]},
        {"alg": "ES256", "kid": "first", "crit": 1},
        [1],
        None,
    ],
)
def test_a_header_of_other_kinds_is_no_fault_of_ours(header: Any) -> None:
    protected, claims, signature = signed()["A2A-Notification-JWT"].split(".")
    protected = base64.urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")
    refused({"A2A-Notification-JWT": f"{protected}.{claims}.{signature}"}, jwks=public_jwks())


def test_a_payload_that_says_nothing() -> None:
    for payload in (b"", b"[]", b"x", b"[" * 5000):
        token = jws.serialize_compact({"alg": "ES256", "kid": "first"}, payload, ECKey.import_key(site_key()))
        refused({"A2A-Notification-JWT": token}, jwks=public_jwks())


def test_token_and_keys_have_to_be_right_both() -> None:
    headers = signed(token=TOKEN)
    verify(request_of(headers), token=TOKEN, jwks=public_jwks())
    refused({**headers, "X-A2A-Notification-Token": "x"}, token=TOKEN, jwks=public_jwks())
    refused({**headers, **hand_made({"aud": "x"})}, token=TOKEN, jwks=public_jwks())


# -- replays


def test_a_token_may_be_taken_once_where_the_receiver_wants_it(settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "replay"}}
    caches["default"].clear()
    first, second = signed(), signed()
    for headers in (first, second):
        verify(request_of(headers), jwks=public_jwks(), replay_cache="default")
        assert "before" in refused(headers, jwks=public_jwks(), replay_cache="default")
        verify(request_of(headers), jwks=public_jwks())
    refused(hand_made({"jti": None}), jwks=public_jwks(), replay_cache="default")


def test_what_is_refused_is_not_remembered(settings: Settings) -> None:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "refused"}}
    caches["default"].clear()
    headers = signed()
    refused(headers, BODY + b" ", jwks=public_jwks(), replay_cache="default")
    verify(request_of(headers), jwks=public_jwks(), replay_cache="default")


# -- keys that are fetched


def test_keys_are_fetched_once(settings: Settings) -> None:
    with key_server() as (url, state):
        for __ in range(3):
            verify(request_of(signed()), jwks_url=url)
        assert state.asked == 1
        refused(hand_made({}, header={"kid": "other"}), jwks_url=url)
        refused(hand_made({}, header={"kid": "other"}), jwks_url=url)
        assert state.asked == 1


def test_a_new_key_of_the_sender_is_found(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with key_server() as (url, state):
        verify(request_of(signed()), jwks_url=url)
        settings.A2A = {**settings.A2A, "SIGNING_KEYS": [jwk(kid="second"), *settings.A2A["SIGNING_KEYS"]]}
        refused(signed(), jwks_url=url)
        monkeypatch.setattr(access_jwks, "REFETCH_SECONDS", 0)
        assert verify(request_of(signed()), jwks_url=url).task_id == TASK
        assert state.asked == 2


@pytest.mark.parametrize("answer", [b"", b"x", b"[]", b"{}", b'{"keys": 1}', b" " * 1_000_000])
def test_keys_that_cannot_be_had_are_no_reason_to_give_up(answer: bytes) -> None:
    with key_server() as (url, state):
        state.answer = answer
        refused(signed(), jwks_url=url, status=503)
    refused(signed(), jwks_url=url, status=503)  # nobody listens any more


def test_keys_are_not_fetched_without_encryption_from_elsewhere() -> None:
    refused(signed(), jwks_url="http://shop.example/jwks.json", status=503)
    refused(signed(), jwks_url="file:///etc/passwd", status=503)


# -- mistakes of the receiver


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"token": ""},
        {"audience": URL},
        {"token": TOKEN, "replay_cache": "default"},
        {"jwks": {"keys": []}, "jwks_url": "https://shop.example/jwks.json"},
    ],
)
def test_a_view_that_checks_nothing_is_a_mistake(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        verify(request_of({"X-A2A-Notification-Token": ""}), **options)


def test_a_body_that_somebody_has_read_is_read_once_only() -> None:
    request = request_of({"X-A2A-Notification-Token": TOKEN})
    assert request.body == BODY
    assert verify(request, token=TOKEN).task_id == TASK


def test_a_sender_that_stops_in_the_middle(settings: Settings) -> None:
    class Broken(BytesIO):
        def read(self, *args: Any) -> bytes:
            raise OSError

    request = request_of({"X-A2A-Notification-Token": TOKEN})
    request._stream = Broken()
    with pytest.raises(InvalidNotification) as caught:
        verify(request, token=TOKEN)
    assert caught.value.status == 400


def test_the_public_names() -> None:
    assert set(webhooks.__all__) == {"InvalidNotification", "Notification", "averify", "verify"}
