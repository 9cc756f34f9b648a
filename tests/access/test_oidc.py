"""Tokens of an OpenID Connect issuer: which are good, and how its keys are had."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.test import AsyncRequestFactory, RequestFactory
from joserfc.jwk import ECKey, OctKey
from pytest_django import Settings
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from a2a_django.access import OIDCAuthentication, authenticate, create_api_key, jwks, oidc
from a2a_django.access.oidc import IssuerUnavailable, OIDCOptions, OIDCToken
from a2a_django.protocol.errors import UnauthenticatedError, UnavailableError
from tests.access.issuer import Issuer, issuer, new_key

pytestmark = [pytest.mark.django_db, pytest.mark.spec("7.4")]

KEYS = "a2a_django.access.APIKeyAuthentication"
OIDC = "a2a_django.access.OIDCAuthentication"


@pytest.fixture
def them(settings: Settings) -> Iterator[Issuer]:
    """An issuer that the site trusts."""
    oidc.forget_keys()
    with issuer() as made:
        settings.A2A = {"OIDC": {"ISSUER": made.url, "AUDIENCE": "shop", "ALLOW_HTTP": True}}
        yield made
    oidc.forget_keys()


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice")


def change(settings: Settings, **options: Any) -> None:
    settings.A2A = {**settings.A2A, "OIDC": {**settings.A2A["OIDC"], **options}}


def ask(token: str, scheme: str = "Bearer") -> Any:
    """What the authenticator says of a request with this token."""
    sent = RequestFactory().post("/a2a/", headers={"Authorization": f"{scheme} {token}"})
    return OIDCAuthentication().authenticate(Request(sent))


def refuse(token: str) -> None:
    with pytest.raises(AuthenticationFailed) as caught:
        ask(token)
    assert str(caught.value.detail) == "Invalid token"  # and not why


class Clock:
    """The time of the cache of keys, which a test may move."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(jwks, "time", made)
    return made


def test_a_good_token(them: Issuer, alice: User) -> None:
    user, token = ask(them.token(scope="orders:read orders:write", role="buyer"))
    assert user == alice
    assert isinstance(token, OIDCToken)
    assert (token.issuer, token.subject, token.claims["role"]) == (them.url, "alice", "buyer")
    assert token.scopes == {"orders:read", "orders:write"}
    assert "buyer" not in repr(token)
    assert ask(them.token(scp=["a"]), scheme="bearer")[1].scopes == {"a"}
    assert ask(them.token(aud=["other", "shop"]))[0] == alice
    assert ask(them.token(header={"x-theirs": "odd"}))[0] == alice
    assert them.asked == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "another"},
        {"aud": []},
        {"aud": None},
        {"exp": None},
        {"exp": 1},
        {"exp": "tomorrow"},
        {"exp": -31},
        {"nbf": +300},
        {"sub": None},
        {"sub": "nobody"},
        {"sub": 7},
        {"sub": "x" * 200},
        {"header": {"kid": "k9"}},
        {"header": {"kid": 7}},
        {"header": {"alg": ["RS256"]}},
        {"header": {"alg": {}}},
        {"header": {"alg": None}},
        {"header": {"b64": False}},
        {"header": {"crit": 7}},
        {"header": {"crit": [[]]}},
        {"header": {"typ": []}},
        {"header": {"jwk": 5, "crit": ["b64"], "b64": False}},
        {"header": {"crit": ["exp"]}},
    ],
    ids=str,
)
def test_what_is_not_good(them: Issuer, alice: User, changes: dict[str, Any]) -> None:
    for name in ("exp", "nbf"):
        if isinstance(changes.get(name), int) and abs(changes[name]) < 1000 and changes[name] != 1:
            changes = {name: int(time.time()) + changes[name]}
    header = changes.pop("header", None) if isinstance(changes.get("header"), dict) else None
    if header is not None:
        refuse(signed_by_hand(them, {"alg": "RS256", "kid": "k1", **header}))
    else:
        refuse(them.token(**changes))


def signed_by_hand(them: Issuer, header: dict[str, Any], key: bytes = b"") -> str:
    """A token with any header, signed with the issuer's key whatever the header says."""
    from cryptography.hazmat.primitives import hashes, hmac
    from cryptography.hazmat.primitives.asymmetric import padding

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    text = f"{part(header)}.{part(them.claims())}"
    if key:
        mac = hmac.HMAC(key, hashes.SHA256())
        mac.update(text.encode())
        signature = mac.finalize()
    else:
        private: Any = them.keys[0].private_key
        signature = private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    return text + "." + base64.urlsafe_b64encode(signature).decode().rstrip("=")


def test_the_hand_signs_well(them: Issuer, alice: User) -> None:
    """Or the tests that use it would refuse for another reason than theirs."""
    assert ask(signed_by_hand(them, {"alg": "RS256", "kid": "k1"}))[0] == alice


def test_the_leeway_covers_clocks_that_differ(them: Issuer, alice: User) -> None:
    now = int(time.time())
    assert ask(them.token(exp=now - 10, nbf=now + 10))[0] == alice


def test_the_algorithm_is_ours_to_choose(them: Issuer, alice: User, settings: Settings) -> None:
    public = them.keys[0]
    for key in (public.as_pem(private=False), json.dumps(public.as_dict(private=False)).encode()):  # the old trick
        refuse(signed_by_hand(them, {"alg": "HS256", "kid": "k1"}, key))
    good = them.token()
    header, claims, signature = good.split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    refuse(f"{none}.{claims}.{signature}")
    refuse(signed_by_hand(them, {"alg": "ES256", "kid": "k1"}))
    refuse(f"{header}.{claims}.{signature[:-4]}AAAA")
    them.keys.append(new_key("e1", ECKey))
    oidc.forget_keys()
    assert ask(them.token())[0] == alice
    change(settings, ALGORITHMS=["RS256"])
    refuse(them.token())
    assert ask(good)[0] == alice


@pytest.mark.parametrize(
    "header",
    [
        {"alg": ["RS256"], "kid": "k1"},
        {"alg": {}, "kid": "k1"},
        {"kid": "k1"},
        {"alg": "RS256", "kid": ["k1"]},
        {"alg": "RS256", "kid": "k1", "crit": 1},
        {"alg": "RS256", "kid": "k1", "typ": {}, "jku": 1, "b64": False},
    ],
)
def test_a_header_of_other_kinds_is_no_fault_of_ours(them: Issuer, alice: User, header: dict[str, Any]) -> None:
    refuse(signed_by_hand(them, header))


@pytest.mark.parametrize("claims", [{"exp": 10**400}, {"exp": "soon"}, {"exp": {}}, {"sub": ["alice"]}, {"aud": {}}])
def test_claims_of_other_kinds_are_no_fault_of_ours(them: Issuer, alice: User, claims: dict[str, Any]) -> None:
    refuse(them.token(**claims))


@pytest.mark.parametrize("said", [{"alg": "RS384"}, {"use": "enc"}, {"key_ops": ["sign"]}])
def test_a_key_is_for_what_it_says(them: Issuer, alice: User, said: dict[str, Any]) -> None:
    them.jwks = json.dumps({"keys": [{**them.keys[0].as_dict(private=False), **said}]}).encode()
    refuse(them.token())


def test_a_token_without_kid_is_for_the_only_key(them: Issuer, alice: User) -> None:
    first = them.keys[0]
    assert ask(them.token(key=first, header={"kid": None}))[0] == alice
    them.keys.append(new_key("k2"))
    oidc.forget_keys()
    refuse(them.token(key=first, header={"kid": None}))


@pytest.mark.parametrize(
    "text",
    ["", "opaque", "alice.secret", "a.b.c", "e30.e30.x", "a.b.c.d.e", "Zm9v.YmFy.", "e30.e30.x y", "é.e30.e30"],
)
def test_what_is_no_token_of_theirs_is_left_to_others(them: Issuer, text: str) -> None:
    assert ask(text) is None
    assert them.asked == 0


def test_a_token_of_another_issuer_is_left_to_others(them: Issuer, alice: User) -> None:
    assert ask(them.token(iss="https://elsewhere.example")) is None
    assert ask(them.token(), scheme="Token") is None
    deep = base64.urlsafe_b64encode(b"[" * 20_000).decode().rstrip("=")
    assert ask(f"e30.{deep}.e30") is None


# -- users


def test_users(them: Issuer, alice: User, settings: Settings) -> None:
    alice.is_active = False
    alice.save()
    refuse(them.token())
    change(settings, USERNAME_CLAIM="email", CREATE_USERS=True)
    refuse(them.token())  # has none
    for _ in range(2):
        user, __ = ask(them.token(email="carol@shop.example"))
        assert user.username == "carol@shop.example"
        assert not user.has_usable_password()
    assert User.objects.count() == 2


def test_names_are_taken_exactly(them: Issuer, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the database does not, as MySQL and MariaDB mostly do not."""
    User.objects.create_user("ALICE")
    manager = type(User.objects)
    exact = manager.filter
    monkeypatch.setattr(manager, "filter", lambda self, username: exact(self, username__iexact=username))
    refuse(them.token())


class Vip(OIDCAuthentication):
    """Finds users in a way of its own."""

    def user_for(self, token: OIDCToken) -> Any:
        return User.objects.get(email=token.claims["email"])


def test_a_class_of_ones_own(them: Issuer, alice: User) -> None:
    alice.email = "a@shop.example"
    alice.save()
    sent = RequestFactory().post("/", headers={"Authorization": f"Bearer {them.token(email='a@shop.example')}"})
    found = Vip().authenticate(Request(sent))
    assert found is not None
    assert found[0] == alice


# -- keys


def test_a_new_key_is_found_and_an_old_one_forgotten(them: Issuer, alice: User, clock: Clock) -> None:
    old = them.keys[0]
    assert ask(them.token())[0] == alice
    them.keys = [new_key("k2")]
    clock.ahead = jwks.REFETCH_SECONDS + 1
    assert ask(them.token())[0] == alice
    assert them.asked == 2
    refuse(them.token(key=old))


def test_keys_are_looked_at_again_after_a_while(them: Issuer, alice: User, clock: Clock) -> None:
    """So a key that was withdrawn is used no longer, although nobody has sent a token with a new one."""
    old = them.token(exp=int(time.time()) + 10_000)
    assert ask(old)[0] == alice
    them.keys = [new_key("k2")]
    assert ask(old)[0] == alice
    clock.ahead = jwks.FRESH_SECONDS + 1
    refuse(old)


def test_unknown_keys_do_not_make_us_ask_again_and_again(them: Issuer, alice: User, clock: Clock) -> None:
    for number in range(20):
        refuse(them.token(key=new_key(f"x{number}", ECKey)))
    assert them.asked == 1
    clock.ahead = jwks.REFETCH_SECONDS + 1
    refuse(them.token(key=new_key("x", ECKey)))
    assert them.asked == 2


def test_many_at_once_ask_once(them: Issuer) -> None:
    them.pause = 0.3
    source = jwks.KeySource(them.url, allow_http=True)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(source.find("k1", "RS256"))) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 10
    assert None not in found
    assert them.asked == 1


def test_a_slow_issuer_does_not_hold_all_threads(them: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread asks; who makes up ids is sent away soon, and tokens with known keys are not held up at all."""
    monkeypatch.setattr(jwks, "WAIT_SECONDS", 0.05)
    source = jwks.KeySource(them.url, allow_http=True)
    assert source.find("k1", "RS256")
    source._tried = float("-inf")
    with source._lock:  # as while another thread asks
        with pytest.raises(jwks.KeysUnavailable):
            source.find("made up", "RS256")
        assert source.find("k1", "RS256")
        source._fetched -= jwks.FRESH_SECONDS + 1
        assert source.find("k1", "RS256")
    assert them.asked == 1


def test_an_issuer_that_does_not_answer(them: Issuer, alice: User, clock: Clock) -> None:
    """Nobody can say whether a token is good: 503, and not 401, which would have the caller throw it away. Keys that
    are known go on being used."""
    them.status = 500
    for _ in range(3):
        with pytest.raises(IssuerUnavailable):
            ask(them.token())
    assert them.asked <= 1  # it stops at the discovery document
    them.status = 200
    clock.ahead = jwks.REFETCH_SECONDS + 1
    token = them.token(exp=int(time.time()) + 10 * jwks.STALE_SECONDS)
    assert ask(token)[0] == alice
    them.status = 500
    clock.ahead = jwks.FRESH_SECONDS + 100
    assert ask(token)[0] == alice
    with pytest.raises(IssuerUnavailable):
        ask(them.token(key=new_key("new")))
    clock.ahead = jwks.STALE_SECONDS + 1000
    with pytest.raises(IssuerUnavailable):
        ask(token)
    them.status = 200
    clock.ahead += jwks.REFETCH_SECONDS + 1
    assert ask(token)[0] == alice


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b"{}",
        b'{"keys": {}}',
        b"[" * 10_000,
        b'{"keys": [' + b"{}," * 101 + b"{}]}",
        b'{"keys": [], "x": "' + b"x" * jwks.FETCH_BYTES + b'"}',
    ],
    ids=lambda answer: str(answer[:20]),
)
def test_an_issuer_that_answers_nonsense(them: Issuer, answer: bytes, caplog: pytest.LogCaptureFixture) -> None:
    them.jwks = answer
    with pytest.raises(IssuerUnavailable):
        ask(them.token())
    assert "could not be fetched" in caplog.text


@pytest.mark.parametrize(
    "raw", [b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n"]
)
def test_an_issuer_that_does_not_speak_http(them: Issuer, alice: User, clock: Clock, raw: bytes) -> None:
    token = them.token()
    them.raw = raw
    with pytest.raises(IssuerUnavailable):
        ask(token)
    them.raw = None
    clock.ahead = jwks.REFETCH_SECONDS + 1
    assert ask(token)[0] == alice
    them.raw = raw
    clock.ahead = jwks.FRESH_SECONDS + 100
    assert ask(token)[0] == alice


def test_keys_that_nobody_knows_stand_beside_good_ones(them: Issuer, alice: User) -> None:
    odd: list[Any] = [
        "x",
        {"kty": "XYZ"},
        {"kty": "RSA", "n": "!"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "k1"},
        OctKey.generate_key(256, {"kid": "k1"}).as_dict(private=True),
    ]
    them.jwks = json.dumps({"keys": [*odd, them.keys[0].as_dict(private=False)]}).encode()
    assert ask(them.token())[0] == alice


def test_addresses_are_what_they_are_said_to_be(them: Issuer, settings: Settings, alice: User) -> None:
    them.status = 302  # no redirects
    with pytest.raises(IssuerUnavailable):
        ask(them.token())
    them.status = 200
    for document in ({"issuer": "https://evil.example"}, {"jwks_uri": None}, {"jwks_uri": "file:///etc/passwd"}):
        oidc.forget_keys()
        them.document = {"issuer": them.url, "jwks_uri": them.url + "/keys", **document}
        with pytest.raises(IssuerUnavailable):
            ask(them.token())
    assert them.asked == 0
    change(settings, JWKS_URL=them.url + "/other")
    assert ask(them.token())[0] == alice
    source = jwks.KeySource(them.url)  # without TLS only where that is allowed
    with pytest.raises(jwks.KeysUnavailable):
        source.find("k1", "RS256")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "missing: AUDIENCE, ISSUER"),
        ({"ISSUER": "https://x.example"}, "missing: AUDIENCE"),
        ({"ISSUER": "http://x.example", "AUDIENCE": "a"}, "https"),
        ({"ISSUER": "https://x.example", "AUDIENCE": "a", "JWKS_URL": "http://x.example"}, "https"),
        ({"ISSUER": "https://x.example", "AUDIENCE": "a", "ALGORITHMS": ["RS256", "HS256"]}, "ALGORITHMS"),
        ({"ISSUER": "https://x.example", "AUDIENCE": "a", "ALGORITHMS": []}, "ALGORITHMS"),
        ({"ISSUER": "https://x.example", "AUDIENCE": "a", "ALGORITHMS": "RS256"}, "ALGORITHMS"),
        ({"ISSUER": "https://x.example", "AUDIENCE": "a", "AUDIANCE": "a"}, "unknown keys: AUDIANCE"),
        ({"ISSUER": "https://x.example", "AUDIENCE": "a", "leeway": 1}, "unknown keys: leeway"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=words):
        OIDCOptions.of(options)


# -- in the site's policy


def request_with(text: str) -> HttpRequest:
    made: HttpRequest = AsyncRequestFactory().post("/a2a/", headers={"Authorization": f"Bearer {text}"})
    return made


@pytest.mark.parametrize("order", [(KEYS, OIDC), (OIDC, KEYS)])
@pytest.mark.django_db(transaction=True)
async def test_keys_and_tokens_side_by_side(them: Issuer, settings: Settings, order: tuple[str, str]) -> None:
    settings.A2A = {**settings.A2A, "AUTHENTICATION_CLASSES": list(order)}
    alice = await User.objects.acreate(username="alice")
    __, text = await sync_to_async(create_api_key)(alice)
    for good in (text, them.token()):
        assert (await authenticate(request_with(good))).user == alice
    for bad in ("nobody.secret", them.token(aud="another"), them.token(iss="https://elsewhere.example")):
        with pytest.raises(UnauthenticatedError) as caught:
            await authenticate(request_with(bad))
        assert caught.value.challenge == "Bearer"
    oidc.forget_keys()
    them.status = 500
    with pytest.raises(UnavailableError) as down:
        await authenticate(request_with(them.token()))
    assert down.value.retry_after
