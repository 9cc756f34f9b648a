"""The short way and the long way give the same, and everything that is more than a piece of text goes the long one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from a2a_django.protocol import codec, wire
from a2a_django.protocol.v0_3.chunks import json_chunk, proto_chunk
from a2a_django.protocol.v0_3.json_form import WRITER
from tests.protocol.strategies import TEXTS, messages

pytestmark = pytest.mark.spec("A")

IDS = TEXTS.filter(bool)
STRINGS = TEXTS | st.sampled_from(['"', "\\", '\\"', "\u2028", "\x1f", "}]}", '"}]},"append":true}}', "\\u0022"])


@settings(max_examples=300, deadline=None)
@given(IDS, STRINGS, IDS | STRINGS, STRINGS, st.booleans(), st.booleans())
@example("t", "c", "a", "", True, False)
def test_pieces_of_text(task: str, context: str, artifact: str, text: str, append: bool, last: bool) -> None:
    made = {"artifactId": artifact, "parts": [{"text": text}]}
    event = wire.artifact_update(task, context, made, append=append, last_chunk=last)
    quick = json_chunk(event)
    assert quick is not None
    assert quick == codec.dumps(WRITER.event(json.loads(event)))
    assert proto_chunk(event) == event


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(messages("StreamResponse"))
def test_whatever_goes_the_short_way_comes_out_as_on_the_long_one(value: Any) -> None:
    response = codec.decode("StreamResponse", value)
    quick = json_chunk(codec.dumps(response))
    if quick is not None:
        assert json.loads(quick) == WRITER.event(response)


PIECE: dict[str, Any] = {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "parts": [{"text": "x"}]}}


@pytest.mark.parametrize(
    "update",
    [
        {**PIECE, "metadata": {"a": 1}},
        {**PIECE, "artifact": {"artifactId": "a", "parts": [{"text": "x"}, {"text": "y"}]}},
        {**PIECE, "artifact": {"artifactId": "a", "parts": [{"text": "x", "metadata": {"a": 1}}]}},
        {**PIECE, "artifact": {"artifactId": "a", "parts": [{"text": "x", "mediaType": "text/plain"}]}},
        {**PIECE, "artifact": {"artifactId": "a", "parts": [{"data": {"text": "x"}}]}},
        {**PIECE, "artifact": {"artifactId": "a", "parts": [{"raw": "eHl6"}]}},
        {**PIECE, "artifact": {"artifactId": "a", "name": "n", "parts": [{"text": "x"}]}},
        {**PIECE, "artifact": {"artifactId": "a", "parts": [{"text": "x"}], "metadata": {}}},
    ],
)
def test_what_is_more_goes_the_long_way(update: dict[str, Any]) -> None:
    text = codec.dumps({"artifactUpdate": update})
    assert json_chunk(text) is None
    assert proto_chunk(text) is None


def test_other_events_go_the_long_way() -> None:
    for text in (
        '{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}',
        '{"task":{"id":"t"}}',
        codec.dumps({"artifactUpdate": PIECE}) + " ",
        json.dumps({"artifactUpdate": PIECE}),
    ):
        assert json_chunk(text) is None
