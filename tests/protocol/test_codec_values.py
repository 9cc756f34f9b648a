"""Data parts, metadata and timestamps."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from datetime import date
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any

import pytest

from a2a_django.protocol.codec import decode, dumps

from .wrong import wrong_fields


def data(value: Any) -> Any:
    """Return what a data part of the value becomes."""
    wire: Any = decode("Part", {"data": value})["data"]
    return wire


VALUES = [1, 0, -1, 0.1, 1e308, 5e-324, 2**53, "9007199254740993", True, False, None, "", "str", [], {}]
VALUES += [[1, "a", None], {"n": 3}, {"n": {"m": [1.5, {"x": False}]}}, {"": 0, "a b": [[]]}, [True, 1, 1.5, "1"]]


@pytest.mark.spec("3.2.5", "4.1")
@pytest.mark.parametrize("value", VALUES, ids=str)
def test_json_values_come_back_equal(value: object) -> None:
    assert dumps(data(value)) == dumps(value)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (-3.0, "-3"),
        (1e15, "1000000000000000"),
        (2.0**53, "9007199254740992"),
        (2**53 + 1, "9007199254740992"),
        (2**53 + 3, "9007199254740996.0"),
        (-(2**53) - 1, "-9007199254740992"),
        (10**17, "1e+17"),
        (1e17, "1e+17"),
        (10**308, "1e+308"),
        (1e308, "1e+308"),
    ],
)
def test_numbers_become_what_a_double_makes_of_them(given: float, text: str) -> None:
    assert dumps(data(given)) == text


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 10**309, -(10**400)])
def test_numbers_are_finite(bad: float) -> None:
    assert wrong_fields(decode, "Part", {"data": bad}) == ["data"]
    assert wrong_fields(decode, "Part", {"data": {"a": [0, {"b": bad}]}}) == ["data.a[1].b"]


@pytest.mark.parametrize("bad", ["a\x00b", "\ud800", "\udc00x"])
def test_texts_and_keys_hold_neither_nul_nor_lone_surrogates(bad: str) -> None:
    assert wrong_fields(decode, "Part", {"data": [bad]}) == ["data[0]"]
    for field in wrong_fields(decode, "Part", {"text": "x", "metadata": {bad: 1}}):
        assert field.startswith("metadata[")
        assert field.isascii()
        assert field.isprintable()


@pytest.mark.spec("3.2.5", "4.1")
@pytest.mark.parametrize("bad", [[], "x", 5, True])
def test_metadata_is_an_object(bad: object) -> None:
    assert wrong_fields(decode, "CancelTaskRequest", {"id": "t", "metadata": bad}) == ["metadata"]


def test_what_agents_hand_over_beside_plain_json() -> None:
    class Colour(StrEnum):
        RED = "red"

    class Size(IntEnum):
        BIG = 3

    class Money(float):
        pass

    given = OrderedDict(a=(1, (2,)), b=Colour.RED, c=Size.BIG, d=defaultdict(int, x=1), e=Money(2.0), f=[Colour.RED])
    value = data(given)
    assert value == {"a": [1, [2]], "b": "red", "c": 3, "d": {"x": 1}, "e": 2, "f": ["red"]}
    assert dumps(value) == '{"a":[1,[2]],"b":"red","c":3,"d":{"x":1},"e":2,"f":["red"]}'
    assert type(value) is type(value["d"]) is dict
    assert type(value["b"]) is type(value["f"][0]) is str
    assert type(value["c"]) is int


@pytest.mark.parametrize("bad", [b"x", Decimal(1), date(2026, 1, 1), {1, 2}, object(), 1j, {1: 2}, {None: 1}])
def test_what_is_no_json_value_is_refused(bad: object) -> None:
    assert wrong_fields(decode, "Part", {"data": {"a": bad}})[0].startswith("data.a")


def test_paths_into_values_are_short_and_readable() -> None:
    def field(key: str) -> str:
        return wrong_fields(decode, "Part", {"data": {key: float("nan")}})[0]

    assert field("plain_key") == "data.plain_key"
    assert field("with space") == 'data["with space"]'
    assert field('quote"') == 'data["quote\\""]'
    assert field("") == 'data[""]'
    assert field("é") == 'data["\\u00e9"]'
    assert len(field("x" * 100_000)) < 100


# ----------------------------------------------------------------------------------------------------------- timestamps


def after(value: object) -> Any:
    return decode("ListTasksRequest", {"statusTimestampAfter": value})["statusTimestampAfter"]


@pytest.mark.spec("5.6")
@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00.500Z"),
        ("2026-01-01T00:00:00.123Z", "2026-01-01T00:00:00.123Z"),
        ("2026-01-01T00:00:00.1234Z", "2026-01-01T00:00:00.123400Z"),
        ("2026-01-01T00:00:00.123456789Z", "2026-01-01T00:00:00.123456789Z"),
        ("2026-01-01T00:00:00.000000001Z", "2026-01-01T00:00:00.000000001Z"),
        ("2026-01-01T01:30:00+02:00", "2025-12-31T23:30:00Z"),
        ("2026-01-01T01:30:00.25-05:30", "2026-01-01T07:00:00.250Z"),
        ("2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00Z"),
        ("2024-02-29T23:59:59+23:59", "2024-02-29T00:00:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
    ],
)
def test_times_are_read_with_any_zone_and_written_in_utc(given: str, canonical: str) -> None:
    assert after(given) == canonical


@pytest.mark.spec("5.6")
@pytest.mark.parametrize(
    "bad",
    [
        "",
        "yesterday",
        "2026-01-01",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01t00:00:00z",
        "2026-02-30T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T25:00:00Z",
        "2026-01-01T00:60:00Z",
        "2016-12-31T23:59:60Z",
        "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567890Z",
        "2026-01-01T00:00:00+2:00",
        "2026-01-01T00:00:00+0200",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+02:60",
        "2026-01-01T00:00:00 02:00",
        "2026-01-01T00:00:00Zjunk",
        " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z\n",
        "٢٠٢٦-01-01T00:00:00Z",
        "1767225600",
        1767225600,
        1767225600000,
        1.5,
        True,
        {"seconds": 1},
        [],
    ],
)
def test_what_is_no_time_is_refused(bad: object) -> None:
    assert wrong_fields(decode, "ListTasksRequest", {"statusTimestampAfter": bad}) == ["status_timestamp_after"]
