"""The site's own keys: how they may be given, and what is signed with them."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import jwt
import pytest
from django.core.exceptions import ImproperlyConfigured
from joserfc.jwk import ECKey
from pytest_django import Settings

from a2a_django.signing import WrongKeyError, public_jwks, sign_compact, sign_detached, signing_keys
from tests.keys import jwk, pem


def keys(settings: Settings, *given: Any) -> None:
    settings.A2A = {"SIGNING_KEYS": list(given)}


def header_of(token: str) -> dict[str, Any]:
    part = token.partition(".")[0]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def test_a_key_may_be_given_in_many_forms(settings: Settings, tmp_path: Path) -> None:
    text, given = pem(), jwk()
    pem_file, jwk_file = tmp_path / "key.pem", tmp_path / "key.json"
    pem_file.write_text(text)
    jwk_file.write_text(json.dumps(given))
    same_pem = (text, text.replace("\n", "\\n"), pem_file, f"file:{pem_file}", f"file://{pem_file}")
    same_jwk = (given, json.dumps(given), jwk_file, f"file:{jwk_file}")
    for forms in (same_pem, same_jwk):
        found = set()
        for form in forms:
            keys(settings, form)
            (key,) = signing_keys()
            found.add(key.kid)
        assert len(found) == 1
    keys(settings, pem(sec1=True))
    assert len(signing_keys()) == 1


def test_the_kid_is_the_thumbprint_of_rfc_7638_unless_a_jwk_names_its_own(settings: Settings) -> None:
    given = jwk()
    # RFC 7638, 3: the required members in lexicographic order, without spaces.
    members = json.dumps({name: given[name] for name in ("crv", "kty", "x", "y")}, separators=(",", ":"))
    thumbprint = base64.urlsafe_b64encode(hashlib.sha256(members.encode()).digest()).rstrip(b"=").decode()
    keys(settings, given, jwk(kid="mine"))
    assert [key.kid for key in signing_keys()] == [thumbprint, "mine"]


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("", id="empty"),
        pytest.param("s3cret", id="text"),
        pytest.param(7, id="number"),
        pytest.param(None, id="none"),
        pytest.param("{", id="half JSON"),
        pytest.param("{}", id="empty JWK"),
        pytest.param([], id="list"),
        pytest.param(Path("/no/such/file"), id="no file"),
        pytest.param(Path("/"), id="folder"),
        pytest.param("file:/no/such/file", id="no file by name"),
        pytest.param(f"file:{__file__.replace('test_signing', 'settings')}", id="file without key"),
        pytest.param(pem(password=b"s3cret"), id="password"),
        pytest.param("-----BEGIN PRIVATE KEY-----\ns3cret\n-----END PRIVATE KEY-----", id="broken PEM"),
        pytest.param(ECKey.generate_key("P-256").as_pem(private=False).decode(), id="public PEM"),
        pytest.param(jwk(private=False), id="public JWK"),
        pytest.param(jwk(curve="P-384"), id="other curve"),
        pytest.param(jwk() | {"d": jwk()["d"]}, id="halves that do not belong together"),
        pytest.param(jwk() | {"kty": "RSA"}, id="other kind"),
        pytest.param(jwk(alg="ES384"), id="other algorithm"),
        pytest.param(jwk(use="enc"), id="other use"),
        pytest.param(jwk(kid=7), id="kid that is no text"),
        pytest.param({"kty": "oct", "k": "s3cret"}, id="symmetric"),
    ],
)
def test_what_is_no_key_is_named_by_its_place_and_not_shown(settings: Settings, wrong: Any) -> None:
    keys(settings, pem(), wrong)
    with pytest.raises(WrongKeyError, match=r"no\. 2 ") as caught:
        public_jwks()
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_no_two_keys_have_the_same_kid(settings: Settings) -> None:
    keys(settings, jwk(kid="a"), jwk(kid="a"))
    with pytest.raises(WrongKeyError, match="kid of one before it"):
        signing_keys()


def test_the_key_set_has_every_key_and_no_private_half(settings: Settings) -> None:
    assert public_jwks() == {"keys": []}
    given = jwk(kid="mine")
    keys(settings, pem(), given)
    found = public_jwks()["keys"]
    assert [key["kid"] for key in found][1] == "mine"
    assert all("d" not in key for key in found)
    assert given["d"] not in repr(found) + repr(signing_keys())


def test_a_compact_signature_is_one_that_other_libraries_read(settings: Settings) -> None:
    keys(settings, pem(), pem())
    token = sign_compact(b'{"sub": "x"}', typ="JWT")
    first, second = (jwt.PyJWK(key) for key in public_jwks()["keys"])
    assert jwt.decode(token, first, algorithms=["ES256"]) == {"sub": "x"}
    assert header_of(token) == {"alg": "ES256", "kid": first.key_id, "typ": "JWT"}
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(token, second, algorithms=["ES256"])


def test_a_detached_signature_does_not_contain_what_it_signs(settings: Settings) -> None:
    keys(settings, jwk(kid="mine"))
    signed = sign_detached(b"payload", typ="JOSE", jku="https://shop.example/a2a/jwks.json")
    assert set(signed) == {"protected", "signature"}
    assert header_of(signed["protected"]) == {
        "alg": "ES256",
        "kid": "mine",
        "typ": "JOSE",
        "jku": "https://shop.example/a2a/jwks.json",
    }
    public = jwt.PyJWK(public_jwks()["keys"][0])
    payload = base64.urlsafe_b64encode(b"payload").rstrip(b"=").decode()
    changed = base64.urlsafe_b64encode(b"qayload").rstrip(b"=").decode()
    token = f"{signed['protected']}.{payload}.{signed['signature']}"
    assert jwt.PyJWS().decode(token, public, algorithms=["ES256"]) == b"payload"
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.PyJWS().decode(token.replace(payload, changed), public, algorithms=["ES256"])


def test_without_keys_nothing_is_signed(settings: Settings) -> None:
    keys(settings)
    for sign in (lambda: sign_compact(b"", typ="JWT"), lambda: sign_detached(b"")):
        with pytest.raises(ImproperlyConfigured, match="SIGNING_KEYS"):
            sign()


def test_keys_are_read_once(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text(pem())
    keys(settings, file)
    before = public_jwks()
    file.unlink()
    assert public_jwks() == before
