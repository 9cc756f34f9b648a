"""Version negotiation (R-145 to R-154, D-09)."""

from __future__ import annotations

import pytest

from a2a_django.protocol.errors import VersionNotSupportedError
from a2a_django.protocol.versions import negotiate, parse

pytestmark = pytest.mark.spec("3.6", "14.2")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1", "1.0"),
        ("1.0", "1.0"),
        ("1.0.0", "1.0"),
        ("1.0.7", "1.0"),
        ("0.3", "0.3"),
        ("0.3.0", "0.3"),
        ("0", "0.0"),
        ("1.1", "1.1"),
        ("10.0", "10.0"),
        ("2.0", "2.0"),
    ],
)
def test_the_patch_number_does_not_count(text: str, version: str) -> None:
    assert parse(text) == version


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "v1.0",
        "1.0abc",
        "-1",
        "1.",
        ".3",
        "1..0",
        "1.0.",
        "1.0.x",
        "1.0.0.0",
        "01.0",
        "1.00",
        "1,0",
        "\uff11.\uff10",  # digits, but not ASCII ones
        "1.0\n",
        " 1.0",
        "9" * 5000,
        "1." + "0" * 100,
    ],
)
def test_what_is_no_version(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("header", ["1.0", " 1.0 ", "1.0.0", "1.0.7", "1", "1.0, 0.3", "1.0,", "1.0 ,9.9", "\t1.0"])
def test_headers_that_are_served_by_1_0(header: str) -> None:
    assert negotiate(header, None) == "1.0"
    assert negotiate(header, None, strict=True) == "1.0"


@pytest.mark.parametrize(
    "header",
    ["0.3", "0.3.0", "1.1", "2.0", "0.2", "abc", "v1.0", "9.9", "10.0", "1.0abc", "-1", "0.3, 1.0", "1.0;0.3", "é"],
)
def test_headers_that_are_not(header: str) -> None:
    with pytest.raises(VersionNotSupportedError):
        negotiate(header, None)
    with pytest.raises(VersionNotSupportedError):
        negotiate(header, "1.0")
    with pytest.raises(VersionNotSupportedError):
        negotiate(None, header)


@pytest.mark.parametrize("blank", [None, "", " ", "\t", ",", " , 1.0"])
def test_no_version_is_the_version_of_the_method_or_in_strict_mode_0_3(blank: str | None) -> None:
    assert negotiate(blank, None) == "1.0"
    assert negotiate(blank, blank) == "1.0"
    assert negotiate(blank, None, native="0.3") == "0.3"
    assert negotiate(blank, None, native="0.3", strict=True) == "0.3"
    with pytest.raises(VersionNotSupportedError):
        negotiate(blank, None, strict=True)


def test_the_query_counts_when_there_is_no_header() -> None:
    assert negotiate(None, "1.0") == "1.0"
    assert negotiate(" ", "1.0", strict=True) == "1.0"
    assert negotiate("1.0", "9.9") == "1.0"
    with pytest.raises(VersionNotSupportedError):
        negotiate("", "9.9")


def test_a_version_that_is_not_the_one_of_the_method_is_refused() -> None:
    assert negotiate("0.3", None, native="0.3") == "0.3"
    with pytest.raises(VersionNotSupportedError):
        negotiate("1.0", None, native="0.3")


def test_the_error_lists_what_is_supported() -> None:
    with pytest.raises(VersionNotSupportedError) as caught:
        negotiate("9.9", None, supported=("1.0", "0.3"))
    assert caught.value.metadata == {"supportedVersions": "1.0, 0.3"}
    assert "1.0, 0.3" in caught.value.message
    with pytest.raises(VersionNotSupportedError) as caught:
        negotiate("9.9", None)
    assert caught.value.metadata == {"supportedVersions": "1.0"}
