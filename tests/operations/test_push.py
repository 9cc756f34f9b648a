"""Webhooks of tasks: the four operations, and the config that comes with a message (Spec 3.1.7 to 3.1.10, D-17)."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import string
from typing import Any

import pytest
from django.db import connection

from a2a_django import engine
from a2a_django.agents import TaskContext
from a2a_django.engine import database
from a2a_django.models import Message, PushConfig, PushCursor, Task
from a2a_django.operations import CallContext
from a2a_django.protocol import codec
from a2a_django.protocol.errors import (
    A2AError,
    InternalError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from a2a_django.push import configs, guard
from tests.engine.kit import ask, call_of, cancel, made_of, outputs, quiet, request, rest, send, stream

pytestmark = [pytest.mark.usefixtures("sound_rows", "nothing_is_sent"), pytest.mark.spec("3.1.7")]

URL = "https://93.184.215.14/hook"
TOKEN, CREDENTIALS = "tok-secret-4711", "cred-secret-4711"
AUTHENTICATION = {"scheme": "Bearer", "credentials": CREDENTIALS}
INLINE = "configuration.task_push_notification_config"


async def run(ctx: TaskContext) -> str | None:
    if ctx.text == "ask":
        await ctx.input_required("?")
        return None
    return ctx.text


AGENT = made_of(run, push_notifications=True)


@pytest.fixture
def nothing_is_sent(settings: Any) -> None:
    """The webhooks of these tests are nowhere."""
    settings.A2A = {**settings.A2A, "PUSH_IN_PROCESS": False}


def setting(settings: Any, **values: Any) -> None:
    settings.A2A = {**settings.A2A, **values}


async def create(task_id: str, *, call: CallContext | None = None, **members: Any) -> Any:
    wire = codec.decode("TaskPushNotificationConfig", {"taskId": task_id, "url": URL, **members})
    return await ask("CreateTaskPushNotificationConfig", call or call_of(AGENT), wire)


async def get(task_id: str, config_id: str, *, call: CallContext | None = None) -> Any:
    wire = {"taskId": task_id, "id": config_id}
    return await ask("GetTaskPushNotificationConfig", call or call_of(AGENT), wire)


async def listed(task_id: str, *, call: CallContext | None = None, **members: Any) -> Any:
    wire = codec.decode("ListTaskPushNotificationConfigsRequest", {"taskId": task_id, **members})
    return await ask("ListTaskPushNotificationConfigs", call or call_of(AGENT), wire)


async def delete(task_id: str, config_id: str, *, call: CallContext | None = None) -> Any:
    wire = {"taskId": task_id, "id": config_id}
    return await ask("DeleteTaskPushNotificationConfig", call or call_of(AGENT), wire)


async def parked() -> str:
    """A task that waits for input."""
    task = await send(AGENT, "ask")
    await quiet()
    return str(task["id"])


def inline(**members: Any) -> dict[str, Any]:
    return {"taskPushNotificationConfig": {"url": URL, **members}}


def fields(error: A2AError) -> list[str]:
    return [violation.field for violation in error.violations]


# -- create, get


@pytest.mark.spec("3.1.8")
async def test_a_config_comes_back_as_it_was_given() -> None:
    task_id = await parked()
    whole: dict[str, Any] = {"id": "mine", "url": URL, "token": TOKEN, "authentication": AUTHENTICATION}
    made = await create(task_id, **whole)
    assert made == {"taskId": task_id, **whole}
    assert await get(task_id, "mine") == made
    assert (await listed(task_id)) == {"configs": [made]}


async def test_the_least_that_a_config_needs() -> None:
    task_id = await parked()
    made = await create(task_id)
    assert made.keys() == {"id", "taskId", "url"}
    other = await create(task_id)
    assert other["id"] != made["id"]
    assert [each["id"] for each in (await listed(task_id))["configs"]] == [made["id"], other["id"]]


async def test_a_scheme_may_come_alone() -> None:
    task_id = await parked()
    made = await create(task_id, id="a", authentication={"scheme": "Negotiate"})
    assert made["authentication"] == {"scheme": "Negotiate"}
    assert await get(task_id, "a") == made


async def test_a_tenant_is_said_when_the_request_says_it() -> None:
    task_id = await parked()
    call = call_of(AGENT, tenant="tested")
    for answer in (await create(task_id, id="a", call=call), await get(task_id, "a", call=call)):
        assert answer["tenant"] == "tested"
    assert [each["tenant"] for each in (await listed(task_id, call=call))["configs"]] == ["tested"]
    assert "tenant" not in await get(task_id, "a")


@pytest.mark.parametrize("config_id", ["c", "C", "c ", "\u00e4/%2F:\U0001f600", "x" * 1024])
async def test_ids_of_clients_are_kept_apart(config_id: str) -> None:
    task_id = await parked()
    await create(task_id, id="other", url=URL + "/other")
    assert (await create(task_id, id=config_id))["id"] == config_id
    assert (await get(task_id, config_id))["url"] == URL
    for unknown in (config_id.swapcase() + "x", config_id + " "):
        with pytest.raises(TaskNotFoundError):
            await get(task_id, unknown)
    await delete(task_id, config_id)
    assert [each["id"] for each in (await listed(task_id))["configs"]] == ["other"]


async def test_the_same_id_replaces_and_belongs_to_its_task_alone() -> None:
    one, other = await parked(), await parked()
    await create(one, id="c", token=TOKEN, authentication=AUTHENTICATION)
    await create(other, id="c")
    made = await create(one, id="c", url=URL + "/new")
    assert made == {"id": "c", "taskId": one, "url": URL + "/new"}
    assert await listed(one) == {"configs": [made]}
    assert (await get(other, "c"))["url"] == URL
    row = await database.run(PushConfig.objects.get, task_id=one)
    assert (row.sealed, row.scheme) == ("", "")


@pytest.mark.spec("3.1.9")
async def test_an_ended_task_may_have_some_too() -> None:
    task = await send(AGENT)
    made = await create(task["id"], id="late")
    assert await get(task["id"], "late") == made


async def test_a_row_says_what_senders_need() -> None:
    task_id = await parked()
    places = {
        "https://93.184.215.14/x": "93.184.215.14:443",
        "https://93.184.215.14:8443/x": "93.184.215.14:8443",
        "HTTPS://93.184.215.14": "93.184.215.14:443",
        "https://[2606:2800:21F:CB07::1]/x?y=1": "[2606:2800:21f:cb07::1]:443",
    }
    for number, url in enumerate(places):
        await create(task_id, id=str(number), url=url)
    rows = await database.run(lambda: list(PushConfig.objects.order_by("pk")))
    assert [row.host for row in rows] == list(places.values())
    assert {row.protocol_version for row in rows} == {"1.0"}
    assert [row.url for row in rows] == list(places)


async def test_a_leaving_caller_does_not_stop_what_was_asked() -> None:
    task_id = await parked()
    creating = asyncio.ensure_future(create(task_id, id="c"))
    await asyncio.sleep(0)
    while not engine.get().journal._jobs and not creating.done():  # noqa: ASYNC110 - until it is handed in
        await asyncio.sleep(0)
    creating.cancel()
    await asyncio.wait({creating})
    async with asyncio.timeout(10):
        while not (await listed(task_id))["configs"]:  # noqa: ASYNC110 - rows wake nobody
            await asyncio.sleep(0.01)


# -- what is refused


@pytest.mark.parametrize(
    "url",
    [
        "not a url",
        "ftp://h.example/",
        "file:///etc/passwd",
        "javascript:1",
        "http://",
        "https://",
        "//h.example/x",
        "https://127.0.0.1/x",
        "https://[::1]/",
        "https://10.0.0.1/",
        "https://h.example:99999/",
        URL + "?" + "x" * guard.MAX_URL,
        URL + "/\r\nx: y",
    ],
)
async def test_urls_that_are_refused(url: str) -> None:
    task_id = await parked()
    with pytest.raises(InvalidParamsError) as caught:
        await create(task_id, url=url)
    assert fields(caught.value) == ["url"]
    for name in ("SendMessage", "SendStreamingMessage"):
        with pytest.raises(InvalidParamsError) as caught:
            await ask(name, call_of(AGENT), request(configuration=inline(url=url)))
        assert fields(caught.value) == [f"{INLINE}.url"]
    assert await database.run(Task.objects.count) == 1
    assert not await database.run(PushConfig.objects.exists)


BAD_TEXTS = ["s3\r\nX-Evil: 1", "s3\nb", "s3\rb", "s3\tb", "s3\x1b[1m", "s3\x7f", "s3\x85b", "s3\u2603", " s3", "s3 "]


@pytest.mark.parametrize("text", BAD_TEXTS)
@pytest.mark.parametrize("field", ["token", "authentication.scheme", "authentication.credentials"])
async def test_texts_that_no_header_can_carry(field: str, text: str) -> None:
    task_id = await parked()
    members = with_field(field, text)
    with pytest.raises(InvalidParamsError) as caught:
        await create(task_id, **members)
    assert fields(caught.value) == [field]
    assert "s3" not in caught.value.message
    with pytest.raises(InvalidParamsError) as caught:
        await send(AGENT, configuration=inline(**members))
    assert fields(caught.value) == [f"{INLINE}.{field}"]
    assert not await database.run(PushConfig.objects.exists)


def with_field(field: str, text: str) -> dict[str, Any]:
    group, _, name = field.rpartition(".")
    return {group: {"scheme": "Bearer", "credentials": "x"} | {name: text}} if group else {name: text}


LIMITS = {
    "token": configs.MAX_TOKEN,
    "authentication.scheme": configs.MAX_SCHEME,
    "authentication.credentials": configs.MAX_CREDENTIALS,
}


@pytest.mark.parametrize(("field", "limit"), LIMITS.items())
async def test_limits(field: str, limit: int) -> None:
    task_id = await parked()
    longest = await create(task_id, id="c", **with_field(field, "\u00e9" * limit))
    assert await get(task_id, "c") == longest
    with pytest.raises(InvalidParamsError) as caught:
        await create(task_id, id="d", **with_field(field, "x" * (limit + 1)))
    assert fields(caught.value) == [field]
    assert str(limit) in caught.value.message


async def test_the_longest_url() -> None:
    task_id = await parked()
    url = URL + "?" + "x" * (guard.MAX_URL - len(URL) - 1)
    assert (await create(task_id, id="c", url=url))["url"] == url
    assert (await get(task_id, "c"))["url"] == url


async def test_all_that_is_wrong_is_said_at_once() -> None:
    members: dict[str, Any] = {
        "token": "\n",
        "authentication": {"scheme": "\n", "credentials": "\n"},
        "url": "x" * 10_000,
    }
    with pytest.raises(InvalidParamsError) as caught:
        await create("any", **members)
    assert fields(caught.value) == ["token", "authentication.scheme", "authentication.credentials", "url"]


@pytest.mark.parametrize("members", [{"url": ""}, {"authentication": {}}, {"authentication": {"credentials": "x"}}])
async def test_what_is_required(members: dict[str, Any]) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        await create("any", **members)
    assert fields(caught.value) == ["authentication.scheme" if "authentication" in members else "url"]


async def test_a_config_without_a_task() -> None:
    with pytest.raises(InvalidParamsError) as caught:
        await ask("CreateTaskPushNotificationConfig", call_of(AGENT), {"url": URL})
    assert fields(caught.value) == ["task_id"]


async def test_a_task_has_only_so_many(settings: Any) -> None:
    setting(settings, MAX_PUSH_CONFIGS=3)
    task_id = await parked()
    for config_id in "abc":
        await create(task_id, id=config_id)
    with pytest.raises(InvalidParamsError):
        await create(task_id, id="d")
    with pytest.raises(InvalidParamsError):
        await send(AGENT, task_id=task_id, configuration=inline(id="d"))
    assert await database.run(Message.objects.filter(task_id=task_id, role="ROLE_USER").count) == 1
    await create(task_id, id="c", url=URL + "/new")
    await delete(task_id, "a")
    await create(task_id, id="d")
    assert [each["id"] for each in (await listed(task_id))["configs"]] == ["b", "c", "d"]


# -- list, delete


@pytest.mark.spec("3.1.9")
async def test_pages() -> None:
    task_id = await parked()
    ids = [str(number) for number in range(7)]
    for config_id in ids:
        await create(task_id, id=config_id)
    for size in (1, 2, 3, 6, 7, 8, 100_000):
        found: list[str] = []
        token = ""
        while True:
            page = await listed(task_id, pageSize=size, pageToken=token)
            assert 0 < len(page["configs"]) <= size
            found += [each["id"] for each in page["configs"]]
            token = page.get("nextPageToken", "")
            if not token:
                break
        assert found == ids
    assert (await listed(task_id, pageSize=0)) == (await listed(task_id))


@pytest.mark.spec("3.1.9")
async def test_the_default_page(settings: Any) -> None:
    setting(settings, MAX_PUSH_CONFIGS=200)
    task_id = await parked()
    row = await configs.row_of({"url": URL}, prefix="", version="1.0")

    def fill() -> None:
        task = Task.objects.get(pk=task_id)
        made = [
            PushConfig(task=task, config_id=str(n), config_key=str(n), url=row.url, created_at=task.created_at)
            for n in range(101)
        ]
        PushConfig.objects.bulk_create(made)

    await database.run(fill)
    page = await listed(task_id)
    assert len(page["configs"]) == 100
    last = await listed(task_id, pageToken=page["nextPageToken"])
    assert [each["id"] for each in last["configs"]] == ["100"]
    assert "nextPageToken" not in last


@pytest.mark.spec("3.1.9")
async def test_pages_of_a_list_that_changes() -> None:
    task_id = await parked()
    for config_id in "abcd":
        await create(task_id, id=config_id)
    page = await listed(task_id, pageSize=2)
    await delete(task_id, "b")
    await delete(task_id, "c")
    await create(task_id, id="a", url=URL + "/new")
    await create(task_id, id="e")
    rest_of = await listed(task_id, pageSize=2, pageToken=page["nextPageToken"])
    assert [each["id"] for each in rest_of["configs"]] == ["d", "e"]


@pytest.mark.spec("3.1.9")
async def test_tokens_of_other_lists_are_refused() -> None:
    one, other = await parked(), await parked()
    for task_id in (one, other):
        for config_id in "abc":
            await create(task_id, id=config_id)
    token = (await listed(one, pageSize=1))["nextPageToken"]
    tasks = (await ask("ListTasks", call_of(AGENT), {"pageSize": 1}))["nextPageToken"]
    altered = ("A" if token[0] != "A" else "B") + token[1:]
    for task_id, wrong in (
        (other, token),
        (one, tasks),
        (one, altered),
        (one, token[:-1]),
        (one, "x"),
        (one, "\u00e9"),
    ):
        with pytest.raises(InvalidParamsError) as caught:
            await listed(task_id, pageToken=wrong)
        assert fields(caught.value) == ["page_token"]
    with pytest.raises(InvalidParamsError):
        await ask("ListTasks", call_of(AGENT), {"pageToken": token})
    assert len((await listed(one, pageToken=token))["configs"]) == 2


@pytest.mark.spec("3.1.10")
async def test_deleting_again_and_what_never_was() -> None:
    task_id = await parked()
    await create(task_id, id="c")
    for config_id in ("c", "c", "never-was"):
        assert await delete(task_id, config_id) == {}
    assert await listed(task_id) == {"configs": []}
    with pytest.raises(TaskNotFoundError):
        await get(task_id, "c")
    with pytest.raises(TaskNotFoundError):
        await delete("unknown", "c")


async def test_with_a_config_goes_what_waits_for_it() -> None:
    task_id = await parked()
    await create(task_id, id="c")
    await create(task_id, id="d")
    await cancel(AGENT, task_id)
    assert await database.run(PushCursor.objects.count) == 2
    await delete(task_id, "c")
    rows = await database.run(lambda: list(PushCursor.objects.values_list("config__config_id", flat=True)))
    assert rows == ["d"]


# -- whose


OTHERS = {
    "owner": call_of(AGENT, owner="bob"),
    "anonymous": call_of(AGENT, owner=""),
    "agent": call_of(made_of(run, slug="other", push_notifications=True)),
    "case": call_of(AGENT, owner="Alice"),
    "blank": call_of(AGENT, owner="alice "),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
async def test_configs_of_others_are_like_those_of_a_task_that_does_not_exist(other: CallContext) -> None:
    task_id = await parked()
    made = await create(task_id, id="c", token=TOKEN, authentication=AUTHENTICATION)
    mine, unknown = [
        [
            await refusal(call)
            for call in (
                create(pk, call=other),
                listed(pk, call=other),
                get(pk, "c", call=other),
                delete(pk, "c", call=other),
            )
        ]
        for pk in (task_id, "unknown")
    ]
    assert mine == unknown
    assert await listed(task_id) == {"configs": [made]}


async def refusal(call: Any) -> tuple[type[A2AError], str, Any]:
    with pytest.raises(TaskNotFoundError) as caught:
        await call
    return type(caught.value), caught.value.message, caught.value.details()


async def test_an_agent_without_webhooks_refuses_everything_first() -> None:
    call = call_of(made_of(run))
    for name, wire in {
        "CreateTaskPushNotificationConfig": {"url": "nonsense", "token": "\n"},
        "GetTaskPushNotificationConfig": {"taskId": "unknown", "id": "c"},
        "ListTaskPushNotificationConfigs": {"taskId": "unknown", "pageToken": "x"},
        "DeleteTaskPushNotificationConfig": {"taskId": "unknown", "id": "c"},
        "SendMessage": request(configuration=inline()),
        "SendStreamingMessage": request(configuration=inline()),
    }.items():
        with pytest.raises(PushNotificationNotSupportedError):
            await ask(name, call, wire)
    assert not await database.run(Task.objects.exists)


# -- with a message


@pytest.mark.parametrize("mode", ["task", "auto"])
async def test_a_webhook_comes_with_the_message_that_makes_a_task(mode: str) -> None:
    agent = made_of(run, push_notifications=True, mode=mode)
    given = {"id": "mine", "url": URL, "token": TOKEN, "authentication": AUTHENTICATION}
    task = await send(agent, "done", configuration=inline(**given))
    assert outputs(task) == ["done"]
    assert await listed(task["id"]) == {"configs": [{"taskId": task["id"], **given}]}
    assert await told(task["id"]) == list(range(1, await last_seq(task["id"]) + 1))


async def test_a_webhook_comes_with_a_stream() -> None:
    events = await rest(await stream(AGENT, "done", configuration=inline()))
    task_id = events[0]["task"]["id"]
    assert len((await listed(task_id))["configs"]) == 1
    assert await told(task_id) == list(range(1, await last_seq(task_id) + 1))


async def test_a_webhook_comes_with_a_message_to_a_task() -> None:
    task_id = await parked()
    before = await last_seq(task_id)
    await send(AGENT, "done", task_id=task_id, configuration=inline(id="c"))
    assert await told(task_id) == list(range(before + 1, await last_seq(task_id) + 1))
    assert [each["id"] for each in (await listed(task_id))["configs"]] == ["c"]


async def last_seq(task_id: str) -> int:
    return (await database.run(Task.objects.get, pk=task_id)).last_seq


async def told(task_id: str) -> list[int]:
    """The events that are in the outbox for a task's webhooks."""
    cursor = await database.run(PushCursor.objects.select_related("config").get, config__task_id=task_id)
    return list(range(cursor.sent_seq + 1, cursor.config.queued_seq + 1))


async def test_the_task_is_that_of_the_message() -> None:
    other = await parked()
    task = await send(AGENT, "done", configuration=inline(taskId=other))
    assert await listed(other) == {"configs": []}
    assert [each["taskId"] for each in (await listed(task["id"]))["configs"]] == [task["id"]]
    again = await send(AGENT, "done", task_id=other, configuration=inline(taskId=task["id"]))
    assert len((await listed(again["id"]))["configs"]) == 1
    assert len((await listed(task["id"]))["configs"]) == 1


@pytest.mark.parametrize("mode", ["message", "auto"])
async def test_without_a_task_there_is_nobody_to_tell(mode: str) -> None:
    async def reply(ctx: Any) -> None:
        await ctx.reply("good day")

    agent = made_of(reply, push_notifications=True, mode=mode)
    assert (await send(agent, configuration=inline()))["kind"] == "message"
    with pytest.raises(InvalidParamsError):
        await send(agent, configuration=inline(url="https://10.0.0.1/"))
    assert not await database.run(PushConfig.objects.exists)


async def test_a_refused_message_leaves_no_webhook() -> None:
    ended = await send(AGENT)
    with pytest.raises(UnsupportedOperationError):
        await send(AGENT, task_id=ended["id"], configuration=inline())
    with pytest.raises(TaskNotFoundError):
        await send(AGENT, task_id="unknown", configuration=inline())
    assert not await database.run(PushConfig.objects.exists)


# -- secrets


async def test_no_secret_is_in_plain_text_anywhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    task_id = await parked()
    await create(task_id, id="c", token=TOKEN, authentication=AUTHENTICATION)
    sent = await send(AGENT, "done", configuration=inline(token=TOKEN, authentication=AUTHENTICATION))
    await create(task_id, id="c", token=TOKEN, authentication=AUTHENTICATION)
    await get(task_id, "c")
    await listed(sent["id"])
    with pytest.raises(InvalidParamsError) as caught:
        await create(task_id, token=TOKEN + "\n", authentication={"scheme": "B", "credentials": CREDENTIALS + "\n"})
    stored = await database.run(everything_stored)
    for secret in (TOKEN, CREDENTIALS):
        assert secret not in stored
        assert secret not in caplog.text
        assert secret not in caught.value.message + json.dumps(caught.value.details())
    assert URL in stored


def everything_stored() -> str:
    """All columns of all rows of the database."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table.startswith("a2a_django"):
                cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - our own tables
                found += [str(row) for row in cursor.fetchall()]
    return "\n".join(found)


async def test_secrets_may_be_kept_out_of_answers(settings: Any) -> None:
    setting(settings, PUSH_MASK_SECRETS=True)
    task_id = await parked()
    made = await create(task_id, id="c", token=TOKEN, authentication=AUTHENTICATION)
    bare = await create(task_id, id="d", authentication={"scheme": "Basic"})
    masked = {"scheme": "Bearer", "credentials": configs.MASK}
    assert made == {"id": "c", "taskId": task_id, "url": URL, "token": configs.MASK, "authentication": masked}
    assert await get(task_id, "c") == made
    assert await listed(task_id) == {"configs": [made, bare]}
    assert "credentials" not in bare["authentication"]
    assert "token" not in bare
    row = await database.run(PushConfig.objects.get, config_id="c")
    assert row.secrets == {"token": TOKEN, "credentials": CREDENTIALS}


async def test_a_lost_key_is_one_clear_line_in_the_log(settings: Any, caplog: pytest.LogCaptureFixture) -> None:
    task_id = await parked()
    await create(task_id, id="c", token=TOKEN)
    settings.SECRET_KEY = "another" * 10
    for call in (get(task_id, "c"), listed(task_id)):
        caplog.clear()
        with pytest.raises(InternalError) as caught:
            await call
        assert caught.value.message == InternalError.default
        (record,) = caplog.records
        assert "ENCRYPTION_KEYS" in record.getMessage()
        assert task_id in record.getMessage()
        assert record.exc_info is None
    assert (await create(task_id, id="c", token=TOKEN))["token"] == TOKEN
    assert (await get(task_id, "c"))["token"] == TOKEN


# -- traces


TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


async def test_a_trace_goes_to_the_agent_and_along_with_the_deliveries() -> None:
    seen: list[str] = []

    async def tells(ctx: TaskContext) -> None:
        seen.append(ctx.traceparent)
        await (ctx.input_required("?") if ctx.text == "ask" else ctx.complete())

    agent = made_of(tells, push_notifications=True)
    call = call_of(agent, traceparent=TRACE)
    task = await send(agent, "ask", call=call, configuration=inline())
    await quiet()
    second = TRACE.replace("b7-01", "b8-00")
    await send(agent, "on", task_id=task["id"], call=call_of(agent, traceparent=second))
    assert seen == [TRACE, second]
    assert (await database.run(Task.objects.get, pk=task["id"])).traceparent == second
    third = await send(agent, "on", configuration=inline())
    assert seen[-1] == ""
    assert (await database.run(Task.objects.get, pk=third["id"])).traceparent == ""


# -- whatever clients do


@pytest.mark.parametrize("seed", range(5))
async def test_any_sequence_of_operations_leaves_what_a_dictionary_would_hold(seed: int, settings: Any) -> None:
    setting(settings, MAX_PUSH_CONFIGS=5)
    luck = random.Random(seed)
    tasks = [await parked() for _ in range(2)]
    held: dict[str, dict[str, Any]] = {task_id: {} for task_id in tasks}
    for _ in range(60):
        task_id, config_id = luck.choice(tasks), luck.choice("abcdefg")
        mine = held[task_id]
        action = luck.choice(["create", "create", "get", "delete", "list"])
        if action == "create":
            members = made_up(luck)
            if config_id not in mine and len(mine) == 5:
                with pytest.raises(InvalidParamsError):
                    await create(task_id, id=config_id, **members)
                continue
            mine[config_id] = await create(task_id, id=config_id, **members)
            assert mine[config_id] == {"id": config_id, "taskId": task_id, "url": URL, **members}
        elif action == "get":
            if config_id in mine:
                assert await get(task_id, config_id) == mine[config_id]
            else:
                with pytest.raises(TaskNotFoundError):
                    await get(task_id, config_id)
        elif action == "delete":
            await delete(task_id, config_id)
            mine.pop(config_id, None)
        else:
            assert (await listed(task_id))["configs"] == list(mine.values())


def made_up(luck: random.Random) -> dict[str, Any]:
    def text(most: int) -> str:
        return "".join(
            luck.choices(string.ascii_letters + string.digits + "-._~+/=\u00e9\u00ff", k=luck.randint(1, most))
        )

    found: dict[str, Any] = {"url": f"{URL}/{luck.randrange(1000)}"}
    if luck.random() < 0.5:
        found["token"] = text(50)
    if luck.random() < 0.5:
        found["authentication"] = {"scheme": text(10)} | ({"credentials": text(200)} if luck.random() < 0.7 else {})
    return found
