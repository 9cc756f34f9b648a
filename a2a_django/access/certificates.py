"""Client certificates: callers whose TLS connection has proved who they are.

Whether a certificate is good was decided by the server that ended the TLS connection; it says so in ``META``, under the
names that Apache and the others use. ``rungrpc --client-ca`` does so, and ``mod_ssl`` in front of WSGI. No caller can
write there: what is sent as a header or as metadata has ``HTTP_`` before its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

from cryptography import x509
from django.contrib.auth import get_user_model
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from a2a_django.protocol.wire import Wire


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """``request.auth``: the names in a certificate, by kind; when it ends, in seconds since 1970."""

    common_names: tuple[str, ...]
    dns_names: tuple[str, ...]
    uris: tuple[str, ...]
    emails: tuple[str, ...]
    serial_number: int
    expires_at: float
    certificate: x509.Certificate = field(repr=False)

    @classmethod
    def of(cls, certificate: x509.Certificate) -> ClientCertificate:
        """Return what a certificate says."""
        try:
            names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except x509.ExtensionNotFound:
            names = x509.SubjectAlternativeName([])
        common = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
        return cls(
            common_names=tuple(str(each.value) for each in common),
            dns_names=tuple(names.get_values_for_type(x509.DNSName)),
            uris=tuple(names.get_values_for_type(x509.UniformResourceIdentifier)),
            emails=tuple(names.get_values_for_type(x509.RFC822Name)),
            serial_number=certificate.serial_number,
            expires_at=certificate.not_valid_after_utc.timestamp(),
            certificate=certificate,
        )


class ClientCertificateAuthentication(BaseAuthentication):
    """Takes a caller for the user whose username is a name in the certificate; ``request.auth`` is then a
    ``ClientCertificate``.

    A certificate that belongs to no user is left to other authenticators: where every caller has one, it may be
    only the way in. For another way to find users override ``user_for``.
    """

    #: Which names count: "common_names", "dns_names", "uris" or "emails".
    names: ClassVar[str] = "common_names"

    #: How the card declares it (R-249).
    security_scheme: ClassVar[tuple[str, Wire]] = (
        "mtls",
        {"mtlsSecurityScheme": {"description": "A client certificate, where the server asks for one"}},
    )

    def authenticate(self, request: Request) -> tuple[Any, ClientCertificate] | None:
        """Return user and certificate; None without a verified certificate, and without a user of its names.

        Raises ``AuthenticationFailed`` for inactive users.
        """
        text = request.META.get("SSL_CLIENT_CERT")
        if not text or request.META.get("SSL_CLIENT_VERIFY") != "SUCCESS":
            return None
        try:
            certificate = _read(text)
        except ValueError:  # not as PEM, so somebody else's to read
            return None
        user = self.user_for(certificate)
        if user is None:
            return None
        if not user.is_active:
            raise AuthenticationFailed("Invalid client certificate")
        return user, certificate

    def user_for(self, certificate: ClientCertificate) -> Any:
        """Return the user of a certificate, None when there is none or more than one."""
        model: Any = get_user_model()
        names: tuple[str, ...] = getattr(certificate, self.names)
        found = list(model._default_manager.filter(**{f"{model.USERNAME_FIELD}__in": names})[:2]) if names else []
        # Some databases find names that differ in case or accents.
        return found[0] if len(found) == 1 and found[0].get_username() in names else None


@lru_cache(maxsize=1000)
def _read(text: str) -> ClientCertificate:
    return ClientCertificate.of(x509.load_pem_x509_certificate(text.encode()))
