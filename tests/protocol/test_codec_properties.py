"""Properties that hold for all input, with protobuf's own json_format as the second opinion."""

from __future__ import annotations

import json
from typing import Any

import pytest
from a2a.types import a2a_pb2 as sdk
from google.protobuf import json_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2a_django.protocol.codec import decode, dumps, from_message, parse_json, to_message
from a2a_django.protocol.errors import A2AError, InvalidParamsError
from a2a_django.protocol.v1 import a2a_pb2

from .strategies import BYTES, OBJECTS, TIMES, VALUES, messages

few = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])

ALL = sorted(a2a_pb2.DESCRIPTOR.message_types_by_name)


def by_json_format(name: str, value: Any, classes: Any = a2a_pb2) -> Any:
    return json_format.ParseDict(value, getattr(classes, name)(), ignore_unknown_fields=True)


@pytest.mark.parametrize("name", ALL)
@few
@given(data=st.data())
def test_valid_messages(name: str, data: st.DataObject) -> None:
    value = data.draw(messages(name))
    wire = decode(name, value)

    # The message is the one that json_format makes of the same JSON, in our classes and in the SDK's.
    message = to_message(name, wire)
    assert message == by_json_format(name, value)
    theirs = by_json_format(name, value, sdk)
    assert message.SerializeToString(deterministic=True) == theirs.SerializeToString(deterministic=True)

    # The canonical form stays what it is, whichever way it travels.
    text = dumps(wire)
    assert text.isascii()
    assert dumps(decode(name, parse_json(text.encode()))) == text
    assert from_message(message) == wire == from_message(theirs)
    assert by_json_format(name, wire) == message


#: Messages whose members can be anything, and what to put in beside it so that nothing REQUIRED is missing.
OPEN: dict[str, dict[str, Any]] = {
    "Part": {},
    "SendMessageConfiguration": {},
    "ListTasksRequest": {},
    "GetTaskRequest": {"id": "t"},
    "Message": {"messageId": "m", "role": 1, "parts": [{"text": "x"}]},
    "TaskPushNotificationConfig": {"url": "u"},
}

#: Letters only: json_format also takes enum numbers in strings, signs and underscores in numbers, and broken base64.
WORDS = st.text("abcXYZ", max_size=5)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 200)
    | st.sampled_from([0.5, 3.0, -1.0, 1e10, 2**31, 2**40, -(2**31) - 1])
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def loose(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Members of the message with any JSON in them."""
    made = dict(OPEN[name])
    fields = list(a2a_pb2.DESCRIPTOR.message_types_by_name[name].fields)
    for field in draw(st.lists(st.sampled_from(fields), max_size=4, unique_by=lambda one: one.number)):
        likely: dict[str, st.SearchStrategy[Any]] = {
            "raw": BYTES,
            "data": VALUES.filter(lambda value: value is not None),
            "metadata": OBJECTS,
            "status_timestamp_after": TIMES,
            "role": st.sampled_from(["ROLE_USER", "ROLE_UNSPECIFIED", 2, 3]),
            "status": st.sampled_from(["TASK_STATE_FAILED", "TASK_STATE_UNSPECIFIED", 8, 9]),
        }
        spelling = draw(st.sampled_from([field.json_name, field.name]))
        if field.json_name not in made:  # one field under both names is refused here, but not by json_format
            # A null `data` beside another content is refused here, while json_format lets the later one win; and
            # booleans and fractions are no enum numbers here, but there.
            odd: tuple[type, ...] = (bool, float, type(None)) if field.enum_type is not None else (type(None),)
            anything = ANYTHING.filter(lambda value, odd=odd: not isinstance(value, odd))
            made[spelling] = draw(likely.get(field.name, ANYTHING) | anything)
    return made


@pytest.mark.parametrize("name", OPEN)
@many
@given(data=st.data())
def test_what_is_refused_agrees_with_json_format(name: str, data: st.DataObject) -> None:
    """Refused by the one, refused by the other; what json_format lets through must also pass as a protobuf message."""
    value = data.draw(loose(name))
    try:
        theirs: Any = from_message(json_format.ParseDict(value, getattr(a2a_pb2, name)()))
    except (json_format.ParseError, InvalidParamsError):
        theirs = None
    try:
        ours: Any = decode(name, value)
    except InvalidParamsError:
        ours = None
    assert ours == theirs


def no_constant(name: str) -> None:
    raise ValueError(name)


@many
@given(st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode(errors="replace")))
def test_any_body_is_parsed_or_refused(body: bytes) -> None:
    try:
        value = parse_json(body)
    except A2AError:
        with pytest.raises((ValueError, RecursionError)):
            json.loads(body.decode(), parse_constant=no_constant)
    else:
        assert value == json.loads(body)


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("name", ["SendMessageRequest", "ListTasksRequest", "AgentCard", "StreamResponse"])
@many
@given(data=st.data())
def test_any_value_is_decoded_or_refused(name: str, data: st.DataObject) -> None:
    names = [field.json_name for field in a2a_pb2.DESCRIPTOR.message_types_by_name[name].fields]
    value = data.draw(ODD | st.dictionaries(st.sampled_from(names), ODD | messages("Message"), max_size=4))
    try:
        wire = decode(name, value)
    except InvalidParamsError as error:
        refused: InvalidParamsError | None = error
    else:
        refused = None
        assert from_message(to_message(name, wire)) == wire
    if refused is not None:
        assert refused.violations
        assert all(violation.field.isascii() for violation in refused.violations)
