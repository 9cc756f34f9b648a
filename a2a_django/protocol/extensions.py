"""Extensions that a request asks for (Spec 3.2.6 and 4.6, R-223 to R-231, D-10, D-11)."""

from __future__ import annotations

from collections.abc import Iterable

from a2a_django.protocol.errors import ExtensionSupportRequiredError

#: Header of requests and answers (gRPC metadata: lower case), and the older name that is read as well (D-11).
NAME = "A2A-Extensions"
OLD_NAME = "X-A2A-Extensions"


def parse_header(values: Iterable[str]) -> tuple[str, ...]:
    """Return the URIs of all header lines or metadata entries, each once, in the order they were given."""
    pieces = (piece.strip() for value in values for piece in value.split(","))
    return tuple(dict.fromkeys(piece for piece in pieces if piece))


def activated(offered: Iterable[str], asked: Iterable[str]) -> tuple[str, ...]:
    """Return the asked-for URIs that are offered, in their order; others are ignored (R-227, D-10)."""
    known = frozenset(offered)
    return tuple(uri for uri in asked if uri in known)


def require(required: Iterable[str], asked: Iterable[str]) -> None:
    """Raise ``ExtensionSupportRequiredError`` when a required URI was not asked for (R-104, R-228); it names all."""
    given = frozenset(asked)
    missing = [uri for uri in required if uri not in given]
    if missing:
        raise ExtensionSupportRequiredError(
            f"Extension support required: {', '.join(missing)}", metadata={"extensions": ", ".join(missing)}
        )
