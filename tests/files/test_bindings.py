"""Large parts over every binding: what comes in is stored, what goes out is an address, and nobody sees a marker."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from a2a.types import a2a_pb2
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.test import AsyncClient
from google.protobuf import json_format
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.agents import TaskContext
from a2a_django.files import markers
from a2a_django.models import Message, PushConfig, PushDelivery, StoredFile, TaskEvent
from a2a_django.protocol.v1 import a2a_pb2 as own_pb2
from tests.bindings.asgi import AsgiCall
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import VERSION, envelope, message
from tests.bindings.doors import Door
from tests.bindings.v0_3.conftest import call as old_call
from tests.bindings.v0_3.conftest import stream as old_stream
from tests.bindings.v0_3.doors import Door as OldDoor
from tests.bindings.v0_3.doors import door as old_door
from tests.bindings.v0_3.doors import say
from tests.files.conftest import Folder
from tests.files.kit import DATA, fetch, markers_in, raw, urls_in, wait_for
from tests.push.kit import at_rest
from tests.push.receiver import Receiver

__all__ = ["old_door"]

pytestmark = pytest.mark.usefixtures("sound_rows")

SAID = DATA[::-1]
MADE = DATA * 2


class Copyist(Agent):
    """Says something with a file, and makes one."""

    abstract = True
    slug = "copyist"
    push_notifications = True
    input_modes = ["*/*"]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.seen: list[list[bytes]] = []

    async def run(self, ctx: TaskContext) -> None:
        """Take the files; ask back when told to."""
        self.seen.append([part.raw for part in ctx.files])
        await ctx.working(own_pb2.Part(raw=SAID, filename="said.bin"))
        made = own_pb2.Part(raw=MADE, filename="made.pdf", media_type="application/pdf")
        await ctx.artifact(made, own_pb2.Part(raw=b"small"), own_pb2.Part(text="done"), artifact_id="a")
        if ctx.text == "ask":
            await ctx.input_required("more?")


@pytest.fixture
def agent(register: Callable[[Agent], Agent], folder: Folder) -> Copyist:
    """A site with one agent."""
    made = Copyist()
    register(made)
    return made


def sent(text: str = "go", **members: Any) -> dict[str, Any]:
    """A message with a large part."""
    said = message(text, **members)
    said["parts"].append(raw(filename="in.csv", mediaType="text/csv"))
    return said


@pytest.fixture
def application() -> Any:
    """The site, for those who fetch files."""
    return ASGIHandler()


async def bytes_of(application: Any, value: Any) -> list[bytes]:
    """What the addresses in an answer lead to."""
    answers = [await fetch(application, url) for url in urls_in(value)]
    assert {answer.status for answer in answers} <= {200}
    return [answer.body for answer in answers]


async def test_parts_are_addresses_for_callers_and_bytes_for_agents(
    door: Door, agent: Copyist, application: Any, folder: Folder
) -> None:
    made = await door.call("SendMessage", {"message": sent()})
    assert agent.seen == [[DATA]]
    task_id = made.task["id"]
    listed = {"includeArtifacts": True, "historyLength": 10, "contextId": made.task["contextId"]}
    for value in (
        made.value,
        (await door.call("GetTask", {"id": task_id})).value,
        (await door.call("ListTasks", listed)).value,
    ):
        assert not markers_in(value)
        found = await bytes_of(application, value)
        assert sorted(found) == sorted([DATA, SAID, MADE])
    task = (await door.call("GetTask", {"id": task_id})).value
    large, small, text = task["artifacts"][0]["parts"]
    assert large.pop("url")
    assert large == {"filename": "made.pdf", "mediaType": "application/pdf"}
    assert (small, text) == (raw(b"small"), {"text": "done"})
    assert sorted(folder.contents().values()) == sorted([DATA, SAID, MADE])
    await sync_to_async(folder.check)()


async def test_streams_have_addresses(door: Door, agent: Copyist, application: Any) -> None:
    request = {"message": sent()}
    if door.name == "GRPC":
        assert door.live is not None
        wire = json_format.ParseDict(request, a2a_pb2.SendMessageRequest())
        metadata = tuple((name.lower(), value) for name, value in VERSION.items())
        call = door.live.stub().SendStreamingMessage(wire, metadata=metadata)
        text = "".join([json.dumps(json_format.MessageToDict(event)) async for event in call])
    else:
        call = door._http_call("SendStreamingMessage", request, "", {}, dict(VERSION))
        async with call:
            assert (await call.head())[0] == 200
            text = (await call.body()).decode()
    assert "a2a-file" not in text
    assert await bytes_of(application, text) == [DATA, SAID, MADE]


async def test_follow_ups_and_what_the_task_has_had_before(door: Door, agent: Copyist, application: Any) -> None:
    first = await door.call("SendMessage", {"message": sent("ask")})
    again = await door.call("SendMessage", {"message": sent("go", taskId=first.task["id"], messageId="m2")})
    assert agent.seen == [[DATA], [DATA]]
    assert not markers_in(again.value)
    assert sorted(await bytes_of(application, again.value)) == sorted([DATA, DATA, SAID, SAID, MADE])
    cancelled = await door.call("SendMessage", {"message": sent("ask")})
    answer = await door.call("CancelTask", {"id": cancelled.task["id"]})
    assert len(urls_in(answer.value)) == 3


async def test_nobody_makes_up_an_address_of_the_storage(
    door: Door, agent: Copyist, application: Any, folder: Folder
) -> None:
    await door.call("SendMessage", {"message": sent()})
    victim = await StoredFile.objects.afirst()
    assert victim is not None
    for url in ("a2a-file:x", f"A2A-File:{victim.pk.hex}", str(markers.Marker(victim.pk, victim.secret))):
        said = message("go")
        said["parts"].append({"url": url})
        refused = await door.call("SendMessage", {"message": said})
        assert (refused.reason, refused.fields) == ("INVALID_PARAMS", ["message.parts[1].url"])
    # In data it is what the caller says: not refused, and no way to the file.
    guess = f"a2a-file:{victim.pk.hex}{'0' * 32}"
    said = message("go", parts=[{"text": "go"}, {"data": {"url": guess}}])
    answer = await door.call("SendMessage", {"message": said})
    for url in urls_in(answer.value["task"]["history"][0]):
        assert (await fetch(application, url)).status == 404
    text = json.dumps({"url": guess})
    answer = await door.call("SendMessage", {"message": message(text)})
    assert answer.task["history"][0]["parts"] == [{"text": text}]


async def test_what_is_not_large_stays_and_the_setting_off_changes_nothing(
    door: Door, agent: Copyist, folder: Folder, change: Callable[..., None], application: Any
) -> None:
    exactly = message("go")
    exactly["parts"].append(raw(DATA[:1000]))
    answer = await door.call("SendMessage", {"message": exactly})
    assert answer.task["history"][0]["parts"][1] == raw(DATA[:1000])
    before = len(folder.contents())
    change(FILE_STORAGE=None)
    again = await door.call("SendMessage", {"message": sent()})
    assert not urls_in(again.value)
    assert len(folder.contents()) == before
    # What was stored before is found all the same.
    old = await door.call("GetTask", {"id": answer.task["id"]})
    assert sorted(await bytes_of(application, old.value)) == sorted([SAID, MADE])


async def test_a_message_that_is_refused_leaves_nothing(door: Door, agent: Copyist, folder: Folder) -> None:
    refused = await door.call("SendMessage", {"message": sent(taskId="unknown")})
    assert refused.reason == "TASK_NOT_FOUND"
    assert folder.contents() == {}
    assert await StoredFile.objects.acount() == 0


async def test_a_storage_that_fails_refuses_the_message_and_keeps_nothing(
    door: Door, agent: Copyist, folder: Folder, trouble: Callable[..., None]
) -> None:
    trouble("save half")
    refused = await door.call("SendMessage", {"message": sent()})
    assert refused.reason == "UNAVAILABLE"
    assert await Message.objects.acount() == 0
    assert folder.contents() == {}
    assert await StoredFile.objects.acount() == 0


async def test_large_ones_are_large(door: Door, agent: Copyist, application: Any, folder: Folder) -> None:
    data = bytes(8 * 1024 * 1024)
    said = message("go")
    # In base64 that is more than a body may have; gRPC takes bytes as they are.
    data = data if door.name == "GRPC" else data[: 7 * 1024 * 1024]
    said["parts"].append(raw(data))
    answer = await door.call("SendMessage", {"message": said})
    assert agent.seen == [[data]]
    (url,) = urls_in(answer.task["history"][0])
    assert (await fetch(application, url)).body == data
    row = await Message.objects.aget(position=1)
    assert len(row.wire) < 1000


# ------------------------------------------------------------------------------------------------ version 0.3


async def test_version_0_3_has_files_with_addresses(
    old_door: OldDoor, agent: Copyist, application: Any, folder: Folder
) -> None:
    file = {"fileWithBytes": raw()["raw"], "name": "in.csv", "mimeType": "text/csv"}
    name = "request" if old_door.is_grpc else "message"
    said = say("go", content=[{"text": "go"}, {"file": file}])
    request = {name: said, "configuration": {"blocking": True}}
    answer = await old_door.ok("SendMessage", request)
    assert agent.seen == [[DATA]]
    told = await old_door.ok("GetTask", {"name": f"tasks/{answer['task']['id']}"})
    events = await old_door.stream("SendStreamingMessage", {name: {**said, "messageId": "m2"}})
    for value in (answer, told, events):
        assert not markers_in(value)
        assert sorted(await bytes_of(application, value)) == sorted([DATA, SAID, MADE])
    urls, part = urls_in(told), told["artifacts"][0]["parts"][0]["file"]
    assert part.pop("fileWithUri") in urls
    assert part == {"name": "made.pdf", "mimeType": "application/pdf"}


async def test_json_rpc_of_0_3_and_of_the_tutorials(
    carrier: Carrier, agent: Copyist, application: Any, change: Callable[..., None]
) -> None:
    change(TUTORIAL_DIALECT=True, TUTORIAL_WAITS=True)
    client = carrier.client()
    file = {"kind": "file", "file": {"bytes": raw()["raw"], "name": "in.csv", "mimeType": "text/csv"}}
    said = {"kind": "message", "role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "go"}, file]}
    params = {"message": said, "configuration": {"blocking": True}}
    for path in ("/a2a/", "/"):
        task = await old_call(client, "message/send", params, path=path)
        assert not markers_in(task)
        assert task["artifacts"][0]["parts"][0]["file"]["uri"] in urls_in(task)
        assert sorted(await bytes_of(application, task)) == sorted([DATA, SAID, MADE])
        events = await old_stream(client, "message/stream", params)
        assert not markers_in(events)
        assert sorted(await bytes_of(application, events)) == sorted([DATA, SAID, MADE])


async def test_tasks_that_are_read_again_in_0_3_have_addresses(
    carrier: Carrier, agent: Copyist, application: Any, change: Callable[..., None]
) -> None:
    change(TUTORIAL_DIALECT=True, TUTORIAL_WAITS=True)
    client = carrier.client()
    file = {"kind": "file", "file": {"bytes": raw()["raw"], "name": "in.csv", "mimeType": "text/csv"}}
    said = {"kind": "message", "role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "ask"}, file]}
    made = await old_call(client, "message/send", {"message": said, "configuration": {"blocking": True}})
    named = {"id": made["id"]}
    for value in (
        await old_call(client, "tasks/get", named),
        await old_call(client, "tasks/cancel", named),
        (await old_call(client, "tasks/get", named, path="/")),
    ):
        assert not markers_in(value)
        assert sorted(await bytes_of(application, value)) == sorted([DATA, SAID, MADE])
    messages = await old_call(client, "messages/list", {"taskId": made["id"]}, path="/")
    assert not markers_in(messages)
    assert sorted(await bytes_of(application, messages)) == sorted([DATA, SAID])


async def test_the_updates_of_the_tutorials_have_addresses(
    carrier: Carrier, agent: Copyist, application: Any, change: Callable[..., None]
) -> None:
    change(TUTORIAL_DIALECT=True, TUTORIAL_WAITS=True)
    file = {"kind": "file", "file": {"bytes": raw()["raw"], "name": "in.csv", "mimeType": "text/csv"}}
    said = {"kind": "message", "role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "ask"}, file]}
    made = await old_call(carrier.client(), "message/send", {"message": said, "configuration": {"blocking": True}})
    # A browser that has seen nothing but the beginning: what came after it, from the rows.
    headers = {"last-event-id": "0", "a2a-version": "0.3"}
    call = AsgiCall(carrier.application(), "GET", "/sse", query=f"taskId={made['id']}", headers=headers)
    text = ""
    async with call:
        status, _ = await call.head()
        assert status == 200, await call.body()
        while "input-required" not in text:
            text += (await call.chunk()).decode()
    assert not markers_in(text)
    assert await bytes_of(application, text) == [SAID, MADE]


async def test_a_site_that_has_the_protocol_below_a_prefix(
    carrier: Carrier, agent: Copyist, settings: Settings, change: Callable[..., None]
) -> None:
    settings.ROOT_URLCONF = "tests.bindings.urls_prefix"
    change(BASE_URL=None)
    application = carrier.application()
    for host in ("one.example", "two.example"):
        sent_to = f"http://{host}/agents/x/a2a/"
        call = AsgiCall(
            application,
            "POST",
            "/agents/x/a2a/",
            body=envelope("SendMessage", {"message": sent()}).encode(),
            headers={**VERSION, "host": host},
        )
        async with call:
            await call.head()
            urls = urls_in((await call.body()).decode())
        assert len(urls) == 3
        assert all(url.startswith(f"{sent_to}files/") for url in urls)
        assert DATA in [(await fetch(application, url)).body for url in urls]
    carrier.passed_on.clear()  # the views give the files


# ------------------------------------------------------------------------------------------------ webhooks


@pytest.mark.parametrize("old", [False, True])
async def test_webhooks_are_told_addresses(
    agent: Copyist, application: Any, folder: Folder, quick: Callable[..., None], receiver: Receiver, old: bool
) -> None:
    quick(BASE_URL="https://site.example")
    hook = receiver.hook()
    if old:
        given = {"url": hook.url}
        said = {"kind": "message", "role": "user", "messageId": "m", "parts": [{"kind": "text", "text": "go"}]}
        params = {"message": said, "configuration": {"blocking": True, "pushNotificationConfig": given}}
        await old_call(AsyncClient(), "message/send", params)
    else:
        configuration = {"taskPushNotificationConfig": {"url": hook.url}}
        await Door("JSONRPC", application).call("SendMessage", {"message": sent(), "configuration": configuration})
    await wait_for(lambda: all(at_rest(row) for row in PushConfig.objects.all()))
    bodies = [post.body.decode() for post in hook.posts]
    assert not any("a2a-file" in body for body in bodies)
    expected = [SAID, MADE] if old else [DATA, SAID, MADE]
    found = urls_in(bodies[-1] if old else "".join(bodies))
    assert {url.partition("/a2a/")[0] for url in found} == {"https://site.example"}
    assert sorted([(await fetch(application, url)).body for url in found]) == sorted(expected[-len(found) :])
    assert ["a2a-file" in text async for text in TaskEvent.objects.values_list("wire", flat=True)].count(True) == 2


async def test_a_webhook_waits_for_a_site_that_does_not_know_its_address(
    agent: Copyist, folder: Folder, quick: Callable[..., None], receiver: Receiver, application: Any
) -> None:
    quick(BASE_URL=None)
    hook = receiver.hook()
    configuration = {"taskPushNotificationConfig": {"url": hook.url}}
    await Door("JSONRPC", application).call("SendMessage", {"message": sent(), "configuration": configuration})

    def said_why() -> bool:
        return any(row.last_error for row in PushDelivery.objects.all())

    await wait_for(said_why)
    assert not any("a2a-file" in post.body.decode() for post in hook.posts)
