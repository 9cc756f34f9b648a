"""Which version of the protocol a request speaks (Spec 3.6, R-145 to R-154, D-09)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from a2a_django.protocol.errors import VersionNotSupportedError

#: Name of the query parameter and, in any letter case, of the header and the gRPC metadata key.
NAME = "A2A-Version"

#: The versions of this package; a site may leave 0.3 off.
V1_0, V0_3 = "1.0", "0.3"

_VERSION = re.compile(r"(0|[1-9][0-9]{0,3})(?:\.(0|[1-9][0-9]{0,3})(?:\.[0-9]{1,9})?)?")


def parse(text: str) -> str | None:
    """Return "Major.Minor" of a version, or None when the text is none; patch numbers never matter (R-145, R-146)."""
    match = _VERSION.fullmatch(text)
    return f"{match[1]}.{match[2] or '0'}" if match else None


def named(header: str | None, query: str | None) -> str:
    """Return the version that a request names, "" for none.

    ``header`` is the value of the A2A-Version header (several lines joined by commas; the first counts), ``query`` that
    of the query parameter, which is only looked at when the header is missing or blank.
    """
    for given in (header, query):
        asked = given.split(",", 1)[0].strip() if given else ""
        if asked:
            return asked
    return ""


def negotiate(
    header: str | None,
    query: str | None,
    *,
    native: str = V1_0,
    strict: bool = False,
    supported: Iterable[str] = (V1_0,),
) -> str:
    """Return the version to answer in, which is always ``native``: the one that the method, path or service belongs to.

    ``header`` and ``query`` are those of ``named``. A request that names no version speaks ``native``, or with
    ``strict`` version 0.3, as R-151 has it. ``supported`` is what the error lists.

    Raises ``VersionNotSupportedError`` for every other version and for what is no version.
    """
    asked = named(header, query) or (V0_3 if strict else native)
    if parse(asked) == native:
        return native
    versions = ", ".join(supported)
    raise VersionNotSupportedError(
        f"Version not supported here; the supported versions are {versions}", metadata={"supportedVersions": versions}
    )
