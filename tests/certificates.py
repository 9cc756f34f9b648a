"""An authority and certificates for tests, made on the spot: nothing in the repository expires."""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates for 127.0.0.1 and localhost, or for other names; its own is in ``certificate``."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        own = self._build(name, self._key.public_key(), authority=True)
        self.certificate = folder / f"{name}.pem"
        self.certificate.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, *hosts: str, names: Sequence[x509.GeneralName] = ()) -> Pair:
        """Make a certificate that is good for servers and clients; ``hosts`` are its names if not the usual ones, and
        ``names`` further ones."""
        key = ec.generate_private_key(ec.SECP256R1())
        signed = self._build(name, key.public_key(), authority=False, hosts=hosts, more=names)
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        pair.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return pair

    def _build(
        self,
        name: str,
        key: ec.EllipticCurvePublicKey,
        *,
        authority: bool,
        hosts: Sequence[str] = (),
        more: Sequence[x509.GeneralName] = (),
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(_name(name))
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            # Python 3.13 wants to see whose certificate and signature it is, and what an authority's key is for.
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if authority:
            builder = builder.add_extension(_SIGNS, critical=True)
        if not authority:
            address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
            names: list[x509.GeneralName] = [x509.DNSName(host) for host in hosts]
            names = [*(names or [address, x509.DNSName("localhost")]), *more]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self._key, hashes.SHA256())


_SIGNS = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])
