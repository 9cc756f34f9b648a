"""Keys for tests."""

from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from joserfc.jwk import ECKey


def pem(*, password: bytes | None = None, sec1: bool = False) -> str:
    """Return a new private key on P-256 as PEM: PKCS 8, or SEC 1 as older tools write it."""
    form = serialization.PrivateFormat.TraditionalOpenSSL if sec1 else serialization.PrivateFormat.PKCS8
    encryption = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(serialization.Encoding.PEM, form, encryption).decode()


def jwk(*, curve: str = "P-256", private: bool = True, **members: Any) -> dict[str, Any]:
    """Return a new key as a JSON web key."""
    return {**ECKey.generate_key(curve, private=True).as_dict(private=private), **members}
