"""What clients of version 0.3 do with a site, over every binding that they speak."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.interop.live_site import Live
from tests.interop.old.clients import OldClient, OldClientError, message, texts
from tests.interop.old.conftest import Olds

#: Long enough that a slow machine, too, subscribes before the end.
LONG = 8


def state(task: Any) -> str:
    """The state of a task or of a status update."""
    found: str = task["status"]["state"]
    return found


def shown(events: list[Any]) -> list[str]:
    """The texts of the chunks in a stream, in front those of the first task."""
    found = [text for artifact in events[0].get("artifacts", []) for text in texts(artifact)]
    return found + [text for event in events if event["kind"] == "artifact-update" for text in texts(event["artifact"])]


async def test_the_card_has_what_an_old_client_needs(live: Live, old: OldClient) -> None:
    card = await old.call("card")
    assert card["protocolVersion"].startswith("0.3")
    assert card["preferredTransport"] == "JSONRPC"
    assert card["url"].startswith(live.urls["main"])
    interfaces = {each["transport"]: each["url"] for each in card["additionalInterfaces"]}
    assert interfaces.keys() == {"JSONRPC", "HTTP+JSON", "GRPC"}
    assert interfaces["JSONRPC"] == card["url"]
    assert interfaces["GRPC"] == f"127.0.0.1:{live.grpc['main'].port}"
    assert card["supportsAuthenticatedExtendedCard"] is True
    assert card["capabilities"]["streaming"] is True
    assert card["securitySchemes"]["bearer"]["type"] == "http"
    assert card["security"] == [{"bearer": []}]
    assert [skill["id"] for skill in card["skills"]] == ["script"]


async def test_the_extended_card(old: OldClient) -> None:
    card = await old.call("extended_card")
    assert [skill["id"] for skill in card["skills"]] == ["script", "extra"]
    assert card["protocolVersion"].startswith("0.3")


async def test_a_message_that_waits_for_the_end(old: OldClient) -> None:
    task = await old.send("echo hello")
    assert (task["kind"], state(task)) == ("task", "completed")
    assert [texts(artifact) for artifact in task["artifacts"]] == [["hello"]]
    assert [(each["role"], texts(each)) for each in task["history"]] == [("user", ["echo hello"])]


async def test_a_message_that_does_not_wait(old: OldClient) -> None:
    task = await old.send("quiet 60", blocking=False)
    assert state(task) in ("submitted", "working")
    canceled = await old.call("cancel", id=task["id"])
    assert (canceled["id"], state(canceled)) == (task["id"], "canceled")
    assert state(await old.call("get", id=task["id"])) == "canceled"


async def test_an_answer_without_a_task(old: OldClient) -> None:
    answer = await old.send("direct hello")
    assert (answer["kind"], answer["role"], texts(answer)) == ("message", "agent", ["hello"])


async def test_every_kind_of_part_there_and_back(old: OldClient) -> None:
    parts: list[dict[str, Any]] = [
        {"kind": "data", "data": {"count": 3, "deep": {"list": [True, None, "x"]}}},
        {"kind": "file", "file": {"uri": "https://e.example/a.txt", "mimeType": "text/plain", "name": "a.txt"}},
        {"kind": "file", "file": {"bytes": "eHl6", "mimeType": "text/plain"}},
    ]
    said = message("copy")
    said["parts"] += parts
    task = await old.call("send", message=said, configuration={"blocking": True})
    assert state(task) == "completed"
    ((data, link, inline),) = (artifact["parts"] for artifact in task["artifacts"])
    assert data["data"]["deep"] == {"list": [True, None, "x"]}
    assert data["data"]["count"] == 3
    assert (link["file"]["uri"], link["file"]["mimeType"]) == ("https://e.example/a.txt", "text/plain")
    assert inline["file"]["mimeType"] == "text/plain"
    # Over HTTP+JSON three of the four SDKs take bytes for base64 of base64; the one for JavaScript reads them once.
    encoded = "ZUhsNg==" if (old.language, old.binding) == ("js", "HTTP+JSON") else "eHl6"
    assert inline["file"]["bytes"] == encoded


async def test_a_question_and_its_answer(old: OldClient) -> None:
    asked = await old.send("ask")
    assert state(asked) == "input-required"
    assert texts(asked["status"]["message"]) == ["which colour?"]
    answered = await old.send("blue", task=asked)
    assert (answered["id"], state(answered)) == (asked["id"], "completed")
    read = await old.call("get", id=asked["id"])
    assert [texts(each) for each in read["history"] if each["role"] == "user"] == [["ask"], ["blue"]]
    short = await old.call("get", id=asked["id"], historyLength=1)
    assert len(short["history"]) == 1


async def test_a_stream(old: OldClient) -> None:
    events = await old.whole("stream", message=message("slow 3"), configuration={"blocking": True})
    assert events[0]["kind"] == "task"
    assert {event["kind"] for event in events[1:]} == {"status-update", "artifact-update"}
    assert shown(events) == ["tick-0", "tick-1", "tick-2"]
    assert (events[-1]["kind"], state(events[-1]), events[-1]["final"]) == ("status-update", "completed", True)
    assert [event["final"] for event in events[:-1] if event["kind"] == "status-update"] == [False]


async def test_a_stream_of_one_message(old: OldClient) -> None:
    (event,) = await old.whole("stream", message=message("direct hello"), configuration={"blocking": True})
    assert (event["kind"], texts(event)) == ("message", ["hello"])


async def test_a_stream_that_ends_with_a_question(old: OldClient) -> None:
    events = await old.whole("stream", message=message("ask"), configuration={"blocking": True})
    assert (state(events[-1]), events[-1]["final"]) == ("input-required", True)


async def test_a_subscription_to_a_running_task(old: OldClient) -> None:
    task = await old.send(f"slow {LONG}", blocking=False)
    events = await old.whole("resubscribe", id=task["id"])
    assert events[0]["kind"] == "task"
    assert shown(events) == [f"tick-{i}" for i in range(LONG)]
    assert (state(events[-1]), events[-1]["final"]) == ("completed", True)


async def test_a_subscription_to_a_task_that_has_ended(old: OldClient) -> None:
    """As 0.3 has it: the task, and the end."""
    task = await old.send("echo hello")
    events = await old.whole("resubscribe", id=task["id"])
    assert (events[0]["kind"], state(events[0])) == ("task", "completed")
    assert (state(events[-1]), events[-1]["final"]) == ("completed", True)


async def test_a_cancel_ends_the_stream(old: OldClient) -> None:
    stream = old.events("stream", message=message("quiet 60"), configuration={"blocking": True})
    first = await anext(stream)
    await old.call("cancel", id=first["id"])
    events = [event async for event in stream]
    assert (state(events[-1]), events[-1]["final"]) == ("canceled", True)


async def test_what_is_not_there_or_not_to_be_done_is_an_error_that_the_client_knows(
    olds: Olds, old: OldClient
) -> None:
    with pytest.raises(OldClientError, match=NOT_FOUND[old.language, old.binding]):
        await old.call("get", id="nobody-has-this-id")
    done = await old.send("echo x")
    with pytest.raises(OldClientError, match=NOT_CANCELABLE[old.language, old.binding]):
        await old.call("cancel", id=done["id"])
    bob = olds(old.language, old.binding, "bob")
    with pytest.raises(OldClientError, match=NOT_FOUND[old.language, old.binding]):
        await bob.call("get", id=done["id"])


#: How the clients tell the errors: over HTTP+JSON the one for Python knows no more than the status.
NOT_FOUND = {
    ("python", "JSONRPC"): "(?i)-32001|task not found",
    ("python", "HTTP+JSON"): "404",
    ("python", "GRPC"): "TaskNotFoundError",
    ("js", "JSONRPC"): "TaskNotFoundError",
    ("js", "HTTP+JSON"): "TaskNotFoundError",
}
NOT_CANCELABLE = {
    ("python", "JSONRPC"): "(?i)-32002|cannot be canceled",
    ("python", "HTTP+JSON"): "40[09]",
    ("python", "GRPC"): "TaskNotCancelableError",
    ("js", "JSONRPC"): "TaskNotCancelableError",
    ("js", "HTTP+JSON"): "TaskNotCancelableError",
}


async def test_many_calls_at_the_same_time(old: OldClient) -> None:
    tasks = await asyncio.gather(*(old.send(f"echo {i}") for i in range(10)))
    assert [texts(task["artifacts"][0]) for task in tasks] == [[str(i)] for i in range(10)]
    assert len({task["id"] for task in tasks}) == 10


async def test_every_operation_reaches_the_agent_of_the_card(olds: Olds, old: OldClient) -> None:
    """Of an agent that is not the default one; 0.3 has no tenants, so its address says whose it is."""
    if old.binding == "GRPC":
        pytest.skip("over gRPC there is no address of an agent: the card does not list it")
    second, default = (olds(old.language, old.binding, tenant=tenant) for tenant in ("second", "scripted-agent"))
    assert (await second.call("card"))["name"] == "Second desk"
    assert [skill["id"] for skill in (await second.call("extended_card"))["skills"]] == ["script", "extra"]
    task = await second.send("ask")
    assert (await second.call("get", id=task["id"]))["id"] == task["id"]
    with pytest.raises(OldClientError, match=NOT_FOUND[old.language, old.binding]):
        await default.call("get", id=task["id"])
    config = {"id": "c1", "url": "https://93.184.215.14/a"}
    await second.call("push_set", taskId=task["id"], pushNotificationConfig=config)
    assert [each["taskId"] for each in await second.call("push_list", id=task["id"])] == [task["id"]]
    reading = asyncio.ensure_future(second.whole("resubscribe", id=task["id"]))
    answered = await second.send("blue", task=task)
    assert (answered["id"], state(answered)) == (task["id"], "completed")
    events = await reading
    assert (state(events[-1]), events[-1]["final"]) == ("completed", True)
    streamed = await second.whole("stream", message=message("slow 1"), configuration={"blocking": True})
    assert shown(streamed) == ["tick-0"]
    waiting = await second.send("ask")
    assert state(await second.call("cancel", id=waiting["id"])) == "canceled"
