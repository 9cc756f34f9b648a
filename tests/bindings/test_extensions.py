"""Extensions on every binding: asked for, echoed, demanded, and handed to the agent (B22, D-10, D-11)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django import Agent, Extension
from a2a_django.agents import TaskContext
from a2a_django.models import Task
from a2a_django.operations import OPERATIONS
from tests.bindings.conftest import Echo, message
from tests.bindings.doors import Door, Outcome, door, serve
from tests.bindings.test_tenants import request_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spec("4.6")]

__all__ = ["door", "serve"]

ONE, TWO, OTHER = "https://ext.example/one/v1", "urn:ext:two", "https://ext.example/one/v2"
#: What travels with messages and artifacts; extensions put their data there under their own URI (R-225).
METADATA = {ONE: {"deep": [1.5, True, None, "ä"], "empty": {}}, "other": "x"}

#: What a request says, and what is active then.
ASKED = [
    ({}, []),
    ({"A2A-Extensions": ""}, []),
    ({"A2A-Extensions": ONE}, [ONE]),
    ({"A2A-Extensions": f"{TWO}, {ONE}"}, [TWO, ONE]),
    ({"A2A-Extensions": f" {ONE} ,, {ONE},{OTHER}"}, [ONE]),
    ({"A2A-Extensions": OTHER}, []),
    ({"A2A-Extensions": ONE.upper()}, []),
    ({"X-A2A-Extensions": ONE}, [ONE]),
    ({"A2A-Extensions": ONE, "X-A2A-Extensions": TWO}, [ONE, TWO]),
]


class Extended(Echo):
    """Tells what it is told of extensions."""

    extensions = [Extension(ONE, "One", params={"level": 3}), Extension(TWO)]

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        """Ask back first; then make an artifact with everything that an extension may put there."""
        self.seen.append(list(ctx.extensions))
        for uri in (ONE, TWO, OTHER):
            found = ctx.extension(uri)
            assert (found is not None) is (uri in ctx.extensions)
            assert found is None or found.uri == uri
        if ctx.text == "ask":
            await ctx.input_required("yes?", metadata=METADATA)
        elif ctx.text == "publish":
            artifact = {"artifactId": "a", "parts": [{"text": "x", "metadata": METADATA}]}
            await ctx.publish({"artifactUpdate": {"artifact": {**artifact, "metadata": METADATA, "extensions": [ONE]}}})
        else:
            yield ctx.text


@pytest.fixture
def extended(register: Callable[[Agent], Agent]) -> Extended:
    agent = Extended()
    register(agent)
    return agent


def echoed(outcome: Outcome) -> list[str]:
    return outcome.extensions.split(", ") if outcome.extensions else []


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_what_is_active_is_told(door: Door, extended: Extended, operation: str) -> None:
    task = (await door.call("SendMessage", {"message": message("ask")})).task
    for headers, active in ASKED:
        extended.seen.clear()
        request = request_of(operation)
        if operation in ("GetTask", "SubscribeToTask"):
            request["id"] = task["id"]
        outcome = await door.call(operation, request, headers=headers)
        if outcome.reason:
            assert operation.endswith(("Config", "Configs", "Card")) or operation == "CancelTask"
            continue
        assert echoed(outcome) == active
        if "message" in request:
            assert extended.seen == [active]


async def test_every_message_of_a_task_has_its_own(door: Door, extended: Extended) -> None:
    task = (await door.call("SendMessage", {"message": message("ask")}, headers={"A2A-Extensions": ONE})).task
    answer = {"message": message("blue", taskId=task["id"])}
    outcome = await door.call("SendMessage", answer, headers={"A2A-Extensions": TWO})
    assert echoed(outcome) == [TWO]
    assert extended.seen == [[ONE], [TWO]]
    assert extended.extensions[0].params == {"level": 3}


@pytest.mark.spec("3.3.4")
@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("operation", OPERATIONS)
async def test_what_is_required_has_to_be_asked_for(
    door: Door, extended: Extended, settings: Settings, operation: str, everywhere: bool
) -> None:
    extended.extensions = [Extension(ONE, required=True), Extension(TWO, required=True), Extension(OTHER)]
    settings.A2A = {**settings.A2A, "REQUIRE_EXTENSIONS_EVERYWHERE": everywhere}
    for headers in ({}, {"A2A-Extensions": ONE}, {"A2A-Extensions": f"{TWO}, {OTHER}"}):
        outcome = await door.call(operation, request_of(operation), headers=headers)
        if everywhere or operation in ("SendMessage", "SendStreamingMessage"):
            assert outcome.reason == "EXTENSION_SUPPORT_REQUIRED"
            assert outcome.status == {"JSONRPC": 200, "HTTP+JSON": 400, "GRPC": "FAILED_PRECONDITION"}[door.name]
        else:
            assert outcome.reason != "EXTENSION_SUPPORT_REQUIRED"
    assert await Task.objects.acount() == 0
    outcome = await door.call(operation, request_of(operation), headers={"A2A-Extensions": f"{ONE},{TWO}"})
    assert outcome.reason != "EXTENSION_SUPPORT_REQUIRED"


async def test_what_extensions_add_travels_untouched(door: Door, extended: Extended) -> None:
    """Also where the extension is not active: data that nobody here understands is none of our business."""
    for headers in ({}, {"A2A-Extensions": ONE}):
        extra = {"metadata": METADATA, "extensions": [ONE, "urn:nobody:knows"]}
        parts = [{"text": "publish", "metadata": METADATA}]
        sent = {"message": {**message("x", **extra), "parts": parts}, "metadata": METADATA}
        task = (await door.call("SendMessage", sent, headers=headers)).task
        for found in (task, (await door.call("GetTask", {"id": task["id"]})).value):
            (kept,) = found["history"]
            assert kept["metadata"] == METADATA
            assert kept["extensions"] == extra["extensions"]
            assert kept["parts"] == parts
            (artifact,) = found["artifacts"]
            assert artifact["metadata"] == artifact["parts"][0]["metadata"] == METADATA
            assert artifact["extensions"] == [ONE]
    asked = (await door.call("SendMessage", {"message": message("ask")})).task
    assert asked["metadata"] == METADATA
