"""Whose tasks, and whose agent's: what somebody else may know of them is nothing (R-051, R-092, R-096, R-253)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from a2a_django.agents import TaskContext
from a2a_django.operations import CallContext
from a2a_django.protocol.errors import A2AError, TaskNotFoundError
from tests.engine.kit import (
    call_of,
    cancel,
    get,
    listed,
    made_of,
    quiet,
    reading,
    send,
    state_of,
    states_in,
    stream,
    subscribe,
    up_to,
)

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("13.1")]


async def run(ctx: TaskContext) -> None:
    if ctx.text == "wait":
        await ctx.working()
        await asyncio.sleep(60)
    elif ctx.text == "ask":
        await ctx.input_required("?")


AGENT = made_of(run)
OTHERS = {
    "owner": call_of(AGENT, owner="bob"),
    "anonymous": call_of(AGENT, owner=""),
    "agent": call_of(made_of(run, slug="other")),
    "case": call_of(AGENT, owner="Alice"),
    "blank": call_of(AGENT, owner="alice "),
}


async def refusal(call: Any) -> tuple[type[A2AError], str, Any]:
    with pytest.raises(A2AError) as caught:
        await call
    return type(caught.value), caught.value.message, caught.value.details()


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("text", ["wait", "ask", "end"])
async def test_a_task_of_others_is_like_one_that_does_not_exist(other: CallContext, text: str) -> None:
    task = await send(AGENT, text, immediately=text == "wait")
    if text != "wait":
        await quiet()
    for task_id in (task["id"], "unknown"):
        for call in (
            get(other.agent, task_id, call=other),
            get(other.agent, task_id, call=other, historyLength=0),
            cancel(other.agent, task_id, call=other),
            subscribe(other.agent, task_id, call=other),
            send(other.agent, task_id=task_id, call=other),
            send(other.agent, task_id=task_id, context_id=task["contextId"], call=other),
            send(other.agent, task_id=task_id, context_id="wrong", call=other),
            stream(other.agent, task_id=task_id, call=other),
        ):
            assert await refusal(call) == await refusal(get(AGENT, "unknown"))
    assert (await listed(other.agent, call=other))["totalSize"] == 0
    assert (await listed(other.agent, call=other, contextId=task["contextId"]))["tasks"] == []
    for state in ("WORKING", "COMPLETED", "INPUT_REQUIRED"):
        assert (await listed(other.agent, call=other, status=f"TASK_STATE_{state}"))["totalSize"] == 0
    assert (await listed(AGENT))["totalSize"] == 1
    if text == "wait":
        assert state_of(await cancel(AGENT, task["id"])) == "CANCELED"
        await quiet()


async def test_what_others_try_does_not_disturb_a_stream() -> None:
    events = await stream(AGENT, "wait")
    task_id = (await up_to(events, "WORKING"))[0]["task"]["id"]
    async with reading(events) as ending:
        for other in OTHERS.values():
            with pytest.raises(TaskNotFoundError):
                await cancel(other.agent, task_id, call=other)
        assert not ending.done()
        await cancel(AGENT, task_id)
        assert states_in(await ending) == ["CANCELED"]
    await quiet()


async def test_a_context_id_is_shared_with_nobody() -> None:
    """Two owners may use one contextId: two conversations."""
    mine = await send(AGENT, "ask", context_id="c")
    bob = call_of(AGENT, owner="bob")
    his = await send(AGENT, "ask", context_id="c", call=bob)
    await quiet()
    assert [task["id"] for task in (await listed(AGENT, contextId="c"))["tasks"]] == [mine["id"]]
    assert [task["id"] for task in (await listed(AGENT, contextId="c", call=bob))["tasks"]] == [his["id"]]


@pytest.mark.parametrize("owner", ["", "alice", "a" * 190, "\u00fcber@shop.example", "x'; DROP TABLE--"])
async def test_any_owner_has_tasks_of_its_own(owner: str) -> None:
    call = call_of(AGENT, owner=owner)
    task = await send(AGENT, "end", call=call)
    assert (await get(AGENT, task["id"], call=call))["id"] == task["id"]
    assert (await listed(AGENT, call=call, contextId=task["contextId"]))["totalSize"] == 1
    # All anonymous callers are one owner, so they have no list of everything.
    assert (await listed(AGENT, call=call))["totalSize"] == (1 if owner else 0)
