"""Secrets in the database: sealed under the site's keys, or not at all."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from a2a_django.sealing import UndecryptableError, reseal, seal, unseal

A, B, C = (Fernet.generate_key().decode() for _ in range(3))
PASSPHRASE = "correct horse battery staple, and then some"
SECRET = '{"token": "s3cret-token", "credentials": "Grüße ✓"}'


def keys(settings: Settings, *keys: str) -> None:
    settings.A2A = {"ENCRYPTION_KEYS": list(keys)}


@pytest.mark.parametrize("given", [(), (A,), (PASSPHRASE,), (PASSPHRASE, A)])
@pytest.mark.parametrize("text", ["", "x", SECRET, "x" * 100_000])
def test_what_was_sealed_comes_back(settings: Settings, given: tuple[str, ...], text: str) -> None:
    keys(settings, *given)
    sealed = seal(text)
    assert unseal(sealed) == text
    assert sealed.isascii()
    assert len(text) < 5 or text not in sealed
    assert seal(text) != sealed  # the same secret twice does not look the same


def test_a_fernet_key_is_used_as_it_is(settings: Settings) -> None:
    keys(settings, A)
    assert Fernet(A).decrypt(seal(SECRET)).decode() == SECRET
    assert unseal(Fernet(A).encrypt(b"made elsewhere").decode()) == "made elsewhere"


def test_a_passphrase_gives_the_same_key_in_every_process_and_for_ever(settings: Settings) -> None:
    # HKDF-SHA256 with info "a2a_django.sealing" and no salt, computed with the standard library's hmac.
    extracted = hmac.digest(b"\0" * 32, PASSPHRASE.encode(), hashlib.sha256)
    expanded = hmac.digest(extracted, b"a2a_django.sealing\x01", hashlib.sha256)
    keys(settings, PASSPHRASE)
    assert Fernet(base64.urlsafe_b64encode(expanded)).decrypt(seal(SECRET)).decode() == SECRET


def test_the_first_key_seals_and_all_unseal(settings: Settings) -> None:
    keys(settings, A)
    old = seal(SECRET)
    keys(settings, B, A)
    new = seal(SECRET)
    assert (unseal(old), unseal(new)) == (SECRET, SECRET)
    keys(settings, B)
    assert unseal(new) == SECRET
    with pytest.raises(UndecryptableError):
        unseal(old)


def test_secret_key_and_its_fallbacks_do_without_keys(settings: Settings) -> None:
    keys(settings)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "first-secret-key", []
    old = seal(SECRET)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "second-secret-key", ["first-secret-key"]
    assert unseal(old) == SECRET
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(UndecryptableError):
        unseal(old)


def test_a_site_that_begins_to_have_keys_still_reads_what_secret_key_sealed(settings: Settings) -> None:
    keys(settings)
    old = seal(SECRET)
    keys(settings, A)
    assert unseal(old) == SECRET
    settings.SECRET_KEY = "another one"  # what is sealed under A does not need it
    with pytest.raises(UndecryptableError):
        unseal(old)
    assert unseal(seal(SECRET)) == SECRET


@pytest.mark.parametrize("text", ["", "plain text", SECRET, "ü", "\x00", "gAAAAA", "\ud800"])
def test_what_never_was_sealed_is_an_error_and_not_passed_through(settings: Settings, text: str) -> None:
    keys(settings, A)
    with pytest.raises(UndecryptableError):
        unseal(text)
    with pytest.raises(UndecryptableError):
        reseal(text)


def test_a_changed_text_is_an_error(settings: Settings) -> None:
    keys(settings, A)
    sealed = seal(SECRET)
    for place in range(0, len(sealed) - 4, 7):  # the bits of the last characters may all be padding
        changed = sealed[:place] + ("A" if sealed[place] != "A" else "B") + sealed[place + 1 :]
        with pytest.raises(UndecryptableError):
            unseal(changed)


def test_the_error_names_the_settings_and_neither_secret_nor_key(settings: Settings) -> None:
    keys(settings, A)
    sealed = seal(SECRET)
    keys(settings, B)
    with pytest.raises(UndecryptableError) as caught:
        unseal(sealed)
    said = str(caught.value)
    assert 'A2A["ENCRYPTION_KEYS"]' in said
    assert "SECRET_KEY_FALLBACKS" in said
    assert "a2a_rotate_keys" in said
    assert not any(secret in repr(caught.value) + said for secret in (SECRET, sealed, A, B, settings.SECRET_KEY))
    assert caught.value.__cause__ is None


def test_resealing_is_done_once(settings: Settings) -> None:
    keys(settings, A)
    old = seal(SECRET)
    assert reseal(old) is None
    keys(settings, B, A)
    new = reseal(old)
    assert new is not None
    assert reseal(new) is None
    keys(settings, B)
    assert unseal(new) == SECRET
    with pytest.raises(UndecryptableError):
        reseal(old)


@pytest.mark.parametrize("wrong", ["", "short", "x" * 31, 7])
def test_a_key_that_can_be_guessed_is_refused_and_not_shown(settings: Settings, wrong: str) -> None:
    keys(settings, A, wrong)
    with pytest.raises(ImproperlyConfigured, match=r"no\. 2") as caught:
        seal(SECRET)
    assert A not in str(caught.value)


@pytest.mark.parametrize(
    "text", [A[:-1] + "!", A[:-1], A + "=", "é" * 44, A + A], ids=["altered", "cut", "longer", "accents", "twice"]
)
def test_a_text_that_only_looks_like_a_fernet_key_is_a_passphrase(settings: Settings, text: str) -> None:
    keys(settings, text)
    assert unseal(seal(SECRET)) == SECRET
