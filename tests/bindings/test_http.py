"""Paths, queries and media types of one HTTP exchange."""

from __future__ import annotations

import pytest

from a2a_django.bindings import http
from a2a_django.protocol.errors import ContentTypeNotSupportedError, InvalidParamsError

pytestmark = pytest.mark.spec("11")

BOTH = "application/a2a+json, application/json"


@pytest.mark.parametrize(
    ("raw", "segments"),
    [
        ("tasks/7f", ("tasks", "7f")),
        ("tasks/7f%3Acancel", ("tasks", "7f:cancel")),
        ("tasks/a%2Fb", ("tasks", "a/b")),
        ("tasks/%C3%A4", ("tasks", "ä")),
        ("tasks/%FF", ("tasks", "\ufffd")),
        ("tasks/", ("tasks", "")),
    ],
)
def test_a_path_is_divided_before_it_is_decoded(raw: str, segments: tuple[str, ...]) -> None:
    assert http.segments(raw) == segments


def test_query_parameters_keep_their_order_and_their_blanks() -> None:
    assert http.query_pairs("b=1&a=&b=x%20y&c=%C3%A4") == [("b", "1"), ("a", ""), ("b", "x y"), ("c", "ä")]
    assert http.query_pairs("") == []


@pytest.mark.parametrize("query", ["a=%FF", "&".join(["a=1"] * (http.MAX_QUERY_FIELDS + 1))])
def test_a_query_that_is_none_is_refused(query: str) -> None:
    with pytest.raises(InvalidParamsError):
        http.query_pairs(query)


@pytest.mark.spec("14.1")
@pytest.mark.parametrize(
    "header",
    ["application/json", "application/a2a+json", "Application/JSON; charset=utf-8", "application/vnd.shop+json ; v=1"],
)
def test_every_json_type_is_a_json_type(header: str) -> None:
    http.check_content_type(header, b"{}")


@pytest.mark.spec("14.1")
@pytest.mark.parametrize("header", ["", "text/plain", "application/x-www-form-urlencoded", "text/x+json", "json"])
def test_a_body_of_another_type_is_refused(header: str) -> None:
    with pytest.raises(ContentTypeNotSupportedError):
        http.check_content_type(header, b"{}")
    http.check_content_type(header, b"")  # an empty body has no type


@pytest.mark.spec("14.1")
@pytest.mark.parametrize(
    ("accept", "content_type", "answer"),
    [
        ("*/*", "", "application/a2a+json"),
        ("", "application/json; charset=utf-8", "application/json"),
        ("*/*", "application/a2a+json", "application/a2a+json"),
        ("application/json", "application/a2a+json", "application/json"),
        (BOTH, "application/json", "application/a2a+json"),
        ("application/a2a+json;q=0, application/json", "", "application/json"),
        ("text/event-stream", "application/vnd.shop+json", "application/a2a+json"),
    ],
)
def test_the_type_of_an_answer_follows_accept_then_the_request_then_the_setting(
    accept: str, content_type: str, answer: str
) -> None:
    assert http.answer_type(accept, content_type, "application/a2a+json") == answer


@pytest.mark.spec("14.1")
@pytest.mark.parametrize(
    ("accept", "answer"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/a2a+json", "application/a2a+json"),
        (BOTH, "application/json"),
        ("application/a2a+json, application/json;q=0", "application/a2a+json"),
    ],
)
def test_an_error_is_plain_json_unless_only_the_other_type_is_accepted(accept: str, answer: str) -> None:
    assert http.error_type(accept) == answer
