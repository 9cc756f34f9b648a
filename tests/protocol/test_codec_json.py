"""JSON text in and out."""

from __future__ import annotations

import json
import sys

import pytest

from a2a_django.protocol.codec import decode, dumps, parse_json
from a2a_django.protocol.errors import InvalidParamsError, ParseError
from a2a_django.protocol.json_text import MAX_DEPTH

from .wrong import wrong_fields

pytestmark = pytest.mark.spec("3.3.2")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"{",
        b'{"a":1}x',
        b'{"a":1}{"a":1}',
        b"{'a':1}",
        b'{"a":1,}',
        b'{"a":01}',
        b'{"a":+1}',
        b'{"a":.5}',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":-Infinity}',
        b'"\xff"',
        b'"\xc3\x28"',
        b'"\xed\xa0\x80"',  # a surrogate in UTF-8
        b'\xef\xbb\xbf{"a":1}',
        '{"a":1}'.encode("utf-16"),
        '{"a":1}'.encode("utf-32-le"),
        b'"line\nbreak"',
        b'"\x00"',
        b'"\\x41"',
        b"\x0c1",
    ],
)
def test_what_is_no_json_is_a_parse_error(body: bytes) -> None:
    with pytest.raises(ParseError):
        parse_json(body)


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_the_literals_that_only_python_knows_are_named(literal: str) -> None:
    with pytest.raises(ParseError, match=literal):
        parse_json(f"[{literal}]".encode())


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"a":1,"a":2}', {"a": 2}),
        (b" \t\r\n[1, 2.5, -0.0, 1e3, true, false, null] \n", [1, 2.5, -0.0, 1000.0, True, False, None]),
        (b'"\\ud83d\\ude42 \\u00e9"', "🙂 é"),
        ('"漢字"'.encode(), "漢字"),
        (b"18446744073709551616", 2**64),
        (b"null", None),
    ],
)
def test_json_is_parsed(body: bytes, value: object) -> None:
    assert parse_json(body) == value


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"\\"]":', b"}]")])
def test_nesting_has_an_end(opening: bytes, closing: bytes) -> None:
    def nested(times: int) -> bytes:
        return opening * times + b"1" + closing * times

    deepest = MAX_DEPTH // len(closing)
    assert parse_json(nested(deepest))
    for times in (deepest + 1, 5000, 100_000):
        with pytest.raises(InvalidParamsError, match="nested more than 200 deep"):
            parse_json(nested(times))


def test_nesting_that_never_closes_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(InvalidParamsError):
        parse_json(b"[" * 100_000)


@pytest.mark.parametrize(
    "text", ["[" * 1000, '\\"' + "[" * 1000, "\\\\" + "{" * 1000, '["' * 1000, "\\" * 1001, '"[\\' * 500]
)
def test_brackets_in_strings_do_not_nest(text: str) -> None:
    value = {text: [text, 1, {"a": text}]}
    assert parse_json(json.dumps(value).encode()) == value


def test_many_brackets_side_by_side_are_no_nesting() -> None:
    value = [[[{}]]] * 10_000
    assert parse_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize("place", ["data", "metadata"])
def test_five_thousand_levels_are_refused(place: str) -> None:
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    rest = b'"data":%s' % deep if place == "data" else b'"text":"x","metadata":%s' % deep
    body = b'{"message":{"messageId":"m","role":"ROLE_USER","parts":[{%s}]}}' % rest
    with pytest.raises(InvalidParamsError):
        decode("SendMessageRequest", parse_json(body))


@pytest.mark.parametrize("digits", ["9" * 5000, "-" + "9" * 5000, "9" * 310, "1e400", "-1e400", "1" * 4000 + ".5"])
def test_numbers_beyond_a_double_are_refused_where_they_stand(digits: str) -> None:
    request = '{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"},{"data":{"n":[1,%s]}}]}}'
    value = parse_json((request % digits).encode())
    assert wrong_fields(decode, "SendMessageRequest", value) == ["message.parts[1].data.n[1]"]


@pytest.mark.parametrize("digits", ["9" * 5000, "1e400"])
def test_numbers_beyond_a_double_are_no_integers(digits: str) -> None:
    assert wrong_fields(decode, "ListTasksRequest", parse_json(b'{"pageSize":%s}' % digits.encode())) == ["page_size"]


def test_giant_numbers_do_not_change_what_stands_beside_them() -> None:
    value = parse_json(b'{"a":1,"b":%s,"c":"9","d":-17,"e":2.5,"f":NULL}'.replace(b"NULL", b"null") % (b"9" * 5000))
    assert {key: value[key] for key in "acdef"} == {"a": 1, "c": "9", "d": -17, "e": 2.5, "f": None}
    assert not isinstance(value["b"], int | float | str)
    assert repr(value["b"]) == "OUT_OF_RANGE"


def test_giant_numbers_and_other_faults_keep_their_errors() -> None:
    giant = b"9" * (sys.get_int_max_str_digits() + 1)
    with pytest.raises(ParseError):
        parse_json(b"[%s, NaN]" % giant)
    with pytest.raises(ParseError):
        parse_json(b"[%s" % giant)


def test_text_goes_out_compact_and_in_ascii() -> None:
    value = {"a": [1, None, True], "b": "é\u2028\u0085🙂", "c": 1e308, "d": 2**53}
    text = dumps(value)
    assert text == '{"a":[1,null,true],"b":"\\u00e9\\u2028\\u0085\\ud83d\\ude42","c":1e+308,"d":9007199254740992}'
    assert json.loads(text) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_json_never_goes_out(value: float) -> None:
    with pytest.raises(ValueError):
        dumps([value])
