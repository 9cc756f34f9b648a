"""What becomes a part of an answer, and what an author hears about the rest."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_django import InvalidAgentResponse, Part
from a2a_django.agents.content import part, parts
from a2a_django.protocol.v1 import a2a_pb2

pytestmark = pytest.mark.spec("4.1")


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        ("text", {"text": "text"}),
        (b"\x00", {"raw": "AA=="}),
        ({"a": 1}, {"data": {"a": 1}}),
        ([1, "x"], {"data": [1, "x"]}),
        (Part(text="text"), {"text": "text"}),
    ],
)
def test_parts(value: Any, wire: dict[str, Any]) -> None:
    assert part(value) == wire


@pytest.mark.parametrize(
    ("value", "kind"), [(7, "int"), (None, "NoneType"), ({1}, "set"), (a2a_pb2.Message(message_id="m"), "Message")]
)
def test_what_is_no_part_is_named_with_what_is_one(value: Any, kind: str) -> None:
    with pytest.raises(InvalidAgentResponse) as caught:
        part(value)
    assert str(caught.value) == f"{kind} cannot be a part of an answer: yield str, bytes, dict, list or Part"


def test_an_answer_has_parts() -> None:
    assert parts(["a", [Part(text="b"), Part(text="c")]]) == [{"text": "a"}, {"text": "b"}, {"text": "c"}]
    with pytest.raises(InvalidAgentResponse):
        parts([])
