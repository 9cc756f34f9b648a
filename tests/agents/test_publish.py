"""``ctx.publish``: events as protobuf messages of either pool or ProtoJSON, and what may not be published (D-33)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from a2a import types as sdk

from a2a_django import InvalidAgentResponse
from a2a_django.models import Task
from a2a_django.protocol.v1 import a2a_pb2
from tests.agents.conftest import Doing
from tests.engine.kit import (
    get,
    made_of,
    outputs,
    rest,
    said,
    send,
    state_of,
    states_in,
    status_text,
    stream,
    texts_of,
    until,
)

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.7", "4.2")]

POOLS = pytest.mark.parametrize("pb", [a2a_pb2, sdk], ids=["ours", "sdk"])


def status(pb: Any, state: str, text: str = "", **ids: str) -> Any:
    """A status update as protobuf."""
    update = pb.TaskStatusUpdateEvent(status=pb.TaskStatus(state=f"TASK_STATE_{state}"), **ids)
    if text:
        update.status.message.CopyFrom(pb.Message(message_id=f"id of {text}", role="ROLE_AGENT"))
        update.status.message.parts.add(text=text)
    return update


def chunk(pb: Any, text: str, *, append: bool = False, last: bool = False, **ids: str) -> Any:
    """An artifact update as protobuf."""
    artifact = pb.Artifact(artifact_id="out", parts=[pb.Part(text=text)] if text else [])
    return pb.TaskArtifactUpdateEvent(artifact=artifact, append=append, last_chunk=last, **ids)


@POOLS
async def test_protobuf_events(doing: Doing, pb: Any) -> None:
    agent = doing(
        lambda ctx: ctx.publish(status(pb, "WORKING", "at work")),
        lambda ctx: ctx.publish(chunk(pb, "a", task_id=ctx.task_id, context_id=ctx.context_id)),
        lambda ctx: ctx.publish(pb.StreamResponse(artifact_update=chunk(pb, "b", append=True, last=True))),
        lambda ctx: ctx.publish(pb.StreamResponse(status_update=status(pb, "COMPLETED", "done"))),
    )
    events = await rest(await stream(agent))
    assert states_in(events) == ["WORKING", "COMPLETED"]
    task = await get(agent, events[0]["task"]["id"])
    assert outputs(task) == ["a", "b"]
    assert said(task) == ["hello", "at work"]
    assert task["history"][1]["messageId"] == "id of at work"
    for event in events[1:]:
        ((kind, update),) = event.items()
        assert (update["taskId"], update["contextId"]) == (task["id"], task["contextId"]), kind


async def test_json_events(doing: Doing) -> None:
    part = {"text": "a", "mediaType": "text/plain"}
    agent = doing(
        lambda ctx: ctx.publish({"statusUpdate": {"status": {"state": "TASK_STATE_WORKING"}, "metadata": {"m": 1}}}),
        lambda ctx: ctx.publish(
            {
                "artifactUpdate": {
                    "taskId": ctx.task_id,
                    "context_id": ctx.context_id,
                    "artifact": {"artifact_id": "out", "parts": [part], "extensions": ["https://e.example/x"]},
                    "lastChunk": True,
                    "metadata": {"of": "the event"},
                }
            }
        ),
    )
    events = await rest(await stream(agent))
    assert states_in(events) == ["WORKING", "COMPLETED"]
    assert events[2]["artifactUpdate"]["metadata"] == {"of": "the event"}
    task = await get(agent, events[0]["task"]["id"])
    assert task["metadata"] == {"m": 1}
    assert task["artifacts"] == [{"artifactId": "out", "parts": [part], "extensions": ["https://e.example/x"]}]


@POOLS
async def test_a_whole_task_is_its_artifacts_and_its_status(doing: Doing, pb: Any) -> None:
    def whole(ctx: Any) -> Any:
        task = pb.Task(id=ctx.task_id, context_id=ctx.context_id, status=pb.TaskStatus(state="TASK_STATE_COMPLETED"))
        for name in ("one", "two"):
            task.artifacts.add(artifact_id=name, parts=[pb.Part(text=name)])
        task.metadata.update({"m": 1})
        return ctx.publish(task)

    task = await send(doing(whole))
    assert state_of(task) == "COMPLETED"
    assert outputs(task) == ["one", "two"]
    assert task["metadata"] == {"m": 1}


async def test_a_task_as_it_is_when_it_is_made_changes_nothing(doing: Doing) -> None:
    agent = doing(
        lambda ctx: ctx.publish({"task": {"id": ctx.task_id, "status": {"state": "TASK_STATE_SUBMITTED"}}}),
        lambda ctx: ctx.publish({"statusUpdate": {"status": {"state": "TASK_STATE_SUBMITTED"}}}),
    )
    assert states_in(await rest(await stream(agent))) == ["SUBMITTED", "COMPLETED"]


@POOLS
async def test_a_message_answers_where_there_is_no_task(pb: Any) -> None:
    async def run(ctx: Any) -> None:
        await ctx.publish(pb.Message(message_id="mine", role="ROLE_AGENT", parts=[pb.Part(text="hi")]))

    for mode in ("auto", "message"):
        answer = await send(made_of(run, mode=mode), context_id="c")
        assert answer["kind"] == "message"
        assert (answer["messageId"], answer["contextId"], texts_of(answer)) == ("mine", "c", ["hi"])
        assert "taskId" not in answer


def foreign_status(ctx: Any) -> Any:
    return ctx.publish({"statusUpdate": {"taskId": "another", "status": {"state": "TASK_STATE_FAILED"}}})


def foreign_context(ctx: Any) -> Any:
    return ctx.publish(chunk(a2a_pb2, "x", context_id="another"))


def foreign_task(ctx: Any) -> Any:
    return ctx.publish({"task": {"id": "another", "status": {"state": "TASK_STATE_COMPLETED"}}})


def foreign_message(ctx: Any) -> Any:
    return ctx.working(a2a_pb2.Message(message_id="m", task_id="another", parts=[a2a_pb2.Part(text="x")]))


def no_parts(ctx: Any) -> Any:
    return ctx.publish(chunk(a2a_pb2, ""))


def no_parts_of_the_sdk(ctx: Any) -> Any:
    return ctx.publish(sdk.StreamResponse(artifact_update=chunk(sdk, "")))


def no_parts_in_json(ctx: Any) -> Any:
    return ctx.publish({"artifactUpdate": {"artifact": {"artifactId": "x", "parts": []}}})


def a_message_after_all(ctx: Any) -> Any:
    return ctx.publish(a2a_pb2.Message(message_id="m", role="ROLE_AGENT", parts=[a2a_pb2.Part(text="x")]))


def a_reply_after_all(ctx: Any) -> Any:
    return ctx.reply("x")


def an_unknown_state(ctx: Any) -> Any:
    return ctx.publish(status(a2a_pb2, "UNSPECIFIED"))


def an_unknown_state_in_json(ctx: Any) -> Any:
    return ctx.publish({"statusUpdate": {"status": {"state": "TASK_STATE_SLEEPING"}}})


def a_step_back(ctx: Any) -> Any:
    return ctx.publish({"statusUpdate": {"status": {"state": "TASK_STATE_SUBMITTED"}}})


def nothing_at_all(ctx: Any) -> Any:
    return ctx.publish(a2a_pb2.StreamResponse())


def two_at_once(ctx: Any) -> Any:
    return ctx.publish({"statusUpdate": {}, "artifactUpdate": {}})


def no_event(ctx: Any) -> Any:
    return ctx.publish("working")


def a_part(ctx: Any) -> Any:
    return ctx.publish(a2a_pb2.Part(text="x"))


def no_object(ctx: Any) -> Any:
    return ctx.publish({"statusUpdate": 7})


WRONG = pytest.mark.parametrize(
    "wrong",
    [
        foreign_status,
        foreign_context,
        foreign_task,
        foreign_message,
        no_parts,
        no_parts_of_the_sdk,
        no_parts_in_json,
        a_message_after_all,
        a_reply_after_all,
        an_unknown_state,
        an_unknown_state_in_json,
        a_step_back,
        nothing_at_all,
        two_at_once,
        no_event,
        a_part,
        no_object,
    ],
)


@WRONG
async def test_what_may_not_be_published_fails_the_task_and_is_not_forwarded(
    doing: Doing, wrong: Callable[[Any], Any], caplog: pytest.LogCaptureFixture
) -> None:
    agent = doing(lambda ctx: ctx.working(), wrong, lambda ctx: ctx.complete())
    events = await rest(await stream(agent))
    assert states_in(events) == ["WORKING", "FAILED"]
    task = await get(agent, events[0]["task"]["id"])
    assert status_text(task) == "The agent gave an invalid response."
    assert outputs(task) == []
    assert "another" not in str(events)
    assert [record.name for record in caplog.records if record.levelname == "ERROR"] == ["a2a_django.agents"]


@WRONG
async def test_an_agent_that_catches_the_refusal_goes_on(wrong: Callable[[Any], Any]) -> None:
    async def run(ctx: Any) -> str:
        await ctx.working()
        with pytest.raises(InvalidAgentResponse):
            await wrong(ctx)
        return "went on"

    def plain(ctx: Any) -> str:
        ctx.working()
        with pytest.raises(InvalidAgentResponse):
            wrong(ctx)
        return "went on"

    for function in (run, plain):
        task = await send(made_of(function))
        assert state_of(task) == "COMPLETED"
        assert outputs(task) == ["went on"]


async def test_a_foreign_event_does_not_touch_the_other_task(doing: Doing) -> None:
    agent = doing(lambda ctx: ctx.input_required("?"))
    other = await send(agent)
    await until(lambda: Task.objects.get().lease_holder == "")

    def wrong(ctx: Any) -> Any:
        return ctx.publish(status(a2a_pb2, "FAILED", task_id=other["id"]))

    assert state_of(await send(doing(wrong))) == "FAILED"
    assert await get(agent, other["id"]) == {key: value for key, value in other.items() if key != "kind"}


async def test_nothing_can_be_published_after_the_end() -> None:
    async def run(ctx: Any) -> None:
        await ctx.complete()
        for event in (chunk(a2a_pb2, "late"), status(a2a_pb2, "WORKING"), status(a2a_pb2, "FAILED")):
            with pytest.raises(InvalidAgentResponse):
                await ctx.publish(event)

    task = await send(made_of(run))
    assert state_of(task) == "COMPLETED"
    assert "artifacts" not in task
