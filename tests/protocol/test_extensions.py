"""Extension headers, activated and required extensions (R-223 to R-231, D-10, D-11)."""

from __future__ import annotations

import pytest

from a2a_django.protocol.errors import ExtensionSupportRequiredError
from a2a_django.protocol.extensions import activated, parse_header, require

pytestmark = pytest.mark.spec("4.6", "3.2.6")

A, B, C = "https://e.example/ext/a/v1", "https://e.example/ext/b/v1", "urn:a2a:c"


@pytest.mark.parametrize(
    ("values", "uris"),
    [
        ([], ()),
        ([""], ()),
        ([" , ,, "], ()),
        ([A], (A,)),
        ([f"{A},{B}"], (A, B)),
        ([f" {A} ,\t{B} ,"], (A, B)),
        ([B, A], (B, A)),
        ([f"{A},{B}", f"{C}, {A}"], (A, B, C)),
        (["caf\xe9"], ("caf\xe9",)),
    ],
)
def test_all_lines_are_joined_and_each_uri_counts_once(values: list[str], uris: tuple[str, ...]) -> None:
    assert parse_header(values) == uris


def test_unknown_extensions_are_ignored() -> None:
    assert activated([A, B], (C, B, A)) == (B, A)
    assert activated([A, B], ()) == ()
    assert activated([], (A,)) == ()


def test_other_versions_of_an_extension_are_other_extensions() -> None:
    assert activated([A], (A.replace("v1", "v2"), A.upper())) == ()


def test_required_extensions_that_are_asked_for() -> None:
    require([], ())
    require([], (A,))
    require([A, B], (B, C, A))


def test_required_extensions_that_are_not_asked_for_are_all_named() -> None:
    with pytest.raises(ExtensionSupportRequiredError) as caught:
        require([A, B, C], (B,))
    assert caught.value.metadata == {"extensions": f"{A}, {C}"}
    assert A in caught.value.message
    assert B not in caught.value.message
