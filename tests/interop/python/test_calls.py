"""The Python client's calls that are answered at once: send, get, list, cancel."""

from __future__ import annotations

import asyncio
from typing import Any

from a2a.client import Client
from a2a.helpers import new_data_part, new_raw_part, new_url_part
from a2a.types import CancelTaskRequest, GetTaskRequest, ListTasksRequest, Task, TaskState
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from tests.interop.python.sdk import SECONDS, Connect, one, request, sent, state_of, texts

ENDED = {"COMPLETED", "FAILED", "CANCELED", "REJECTED"}


async def ended(client: Client, task: Task) -> Task:
    """Ask for the task until it has ended."""
    async with asyncio.timeout(SECONDS):
        while True:
            found = await client.get_task(GetTaskRequest(id=task.id))
            if state_of(found.status.state) in ENDED:
                return found
            await asyncio.sleep(0.05)


# -- send


async def test_a_blocking_send_answers_with_the_finished_task(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    question = request("slow 2")
    task = (await one(client.send_message(question))).task
    assert state_of(task.status.state) == "COMPLETED"
    assert [(artifact.artifact_id, texts(artifact)) for artifact in task.artifacts] == [("ticks", ["tick-0", "tick-1"])]
    assert task.id
    assert task.context_id
    assert task.status.timestamp.seconds
    (message,) = task.history
    assert message.message_id == question.message.message_id
    assert message.parts == question.message.parts
    assert (message.task_id, message.context_id) == (task.id, task.context_id)


async def test_an_agent_may_answer_with_a_message(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    event = await one(client.send_message(request("direct good morning")))
    assert event.HasField("message")
    assert [part.text for part in event.message.parts] == ["good morning"]
    assert event.message.context_id
    assert not event.message.task_id


async def test_a_send_that_returns_immediately_is_followed_by_polling(connect: Connect) -> None:
    client = (await connect(streaming=False, polling=True)).client
    task = await sent(client, "slow 8")
    assert state_of(task.status.state) in {"SUBMITTED", "WORKING"}
    done = await ended(client, task)
    assert state_of(done.status.state) == "COMPLETED"
    assert texts(done.artifacts[0]) == [f"tick-{i}" for i in range(8)]


async def test_the_ends_that_are_no_success(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    for text, state, words in (("fail", "FAILED", "it did not work"), ("reject", "REJECTED", "not here")):
        task = await sent(client, text)
        assert state_of(task.status.state) == state
        assert [part.text for part in task.status.message.parts] == [words]


async def test_parts_of_every_kind_come_back_as_they_went(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    note = new_data_part({"ü": [1, 2.5, True, None, {"deep": []}], "": ""}, media_type="application/json")
    note.metadata.CopyFrom(ParseDict({"page": 7, "tags": ["a", "b"]}, Struct()))
    parts = [
        new_raw_part(bytes(range(256)), media_type="application/json", filename="bytes.bin"),
        new_url_part("https://e.example/picture?a=1&b=%20", media_type="text/plain"),
        note,
        new_data_part(None),
        new_data_part([]),
    ]
    task = await sent(client, "copy", *parts)
    assert state_of(task.status.state) == "COMPLETED"
    assert list(task.artifacts[0].parts) == parts


async def test_odd_text_comes_back_as_it_went(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    for text in ("<b>&amp;</b>\u2028\u0085\r\n", "日本語 e\u0301 👩‍👩‍👧", '"\\\x01\x7f'):
        assert texts((await sent(client, f"echo {text}")).artifacts[0]) == [text]


# -- several turns


async def test_a_question_is_answered_in_the_same_task(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    asked = await sent(client, "ask 2")
    for _ in range(2):
        assert state_of(asked.status.state) == "INPUT_REQUIRED"
        assert [part.text for part in asked.status.message.parts] == ["which colour?"]
        last, asked = asked, await sent(client, "blue", task=asked)
        assert (asked.id, asked.context_id) == (last.id, last.context_id)
    assert state_of(asked.status.state) == "COMPLETED"
    assert texts(asked.artifacts[0]) == ["blue"]
    assert [message.parts[0].text for message in asked.history] == [
        "ask 2",
        "which colour?",
        "blue",
        "which colour?",
        "blue",
    ]


async def test_a_new_task_in_a_known_context(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    first = await sent(client, "echo one")
    second = await sent(client, "echo two", task=Task(context_id=first.context_id))
    assert second.context_id == first.context_id
    assert second.id != first.id


# -- get


async def test_get_cuts_the_history_to_the_newest(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    task = await sent(client, "ask 2")
    await sent(client, "red", task=task)
    await sent(client, "blue", task=task)
    whole = await client.get_task(GetTaskRequest(id=task.id))
    assert len(whole.history) == 5
    assert texts(whole.artifacts[0]) == ["blue"]
    for length in (0, 1, 2, 5, 50):
        cut = await client.get_task(GetTaskRequest(id=task.id, history_length=length))
        assert list(cut.history) == list(whole.history)[len(whole.history) - min(length, 5) :]


async def test_a_send_cuts_the_history_too(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    task = await sent(client, "ask", history=0)
    assert list(task.history) == []
    done = await sent(client, "green", task=task, history=1)
    assert [message.parts[0].text for message in done.history] == ["green"]


# -- list


async def test_list_turns_its_pages(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    first = await sent(client, "echo 0")
    tasks = [first] + [await sent(client, f"echo {i}", task=Task(context_id=first.context_id)) for i in range(1, 7)]
    pages: list[list[str]] = []
    token = ""
    while not pages or token:
        page = await client.list_tasks(
            ListTasksRequest(context_id=first.context_id, page_size=3, page_token=token, include_artifacts=True)
        )
        assert (page.page_size, page.total_size) == (3, 7)
        pages.append([task.id for task in page.tasks])
        assert all(texts(task.artifacts[0]) for task in page.tasks)
        token = page.next_page_token
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [name for page in pages for name in page] == [task.id for task in reversed(tasks)]


async def test_list_filters(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    done = await sent(client, "echo x")
    context = Task(context_id=done.context_id)
    waiting = await sent(client, "ask", task=context)

    async def listed(**filters: Any) -> list[Task]:
        return list((await client.list_tasks(ListTasksRequest(context_id=done.context_id, **filters))).tasks)

    both = await listed()
    assert [task.id for task in both] == [waiting.id, done.id]
    assert [list(task.artifacts) for task in both] == [[], []]
    assert [task.id for task in await listed(status=TaskState.TASK_STATE_COMPLETED)] == [done.id]
    assert [task.id for task in await listed(status=TaskState.TASK_STATE_INPUT_REQUIRED)] == [waiting.id]
    assert await listed(status=TaskState.TASK_STATE_FAILED) == []
    assert [task.id for task in await listed(status_timestamp_after=waiting.status.timestamp)] == [waiting.id]
    later = Timestamp(seconds=waiting.status.timestamp.seconds + 60)
    assert await listed(status_timestamp_after=later) == []
    assert [list(task.history) for task in await listed(history_length=0)] == [[], []]


async def test_another_user_sees_nothing_of_it(connect: Connect) -> None:
    alice, bob = (await connect(streaming=False)).client, (await connect(user="bob", streaming=False)).client
    task = await sent(alice, "echo x")
    assert list((await bob.list_tasks(ListTasksRequest(context_id=task.context_id))).tasks) == []


# -- cancel


async def test_cancel_ends_a_running_task(connect: Connect) -> None:
    client = (await connect(streaming=False, polling=True)).client
    task = await sent(client, "quiet 60")
    canceled = await client.cancel_task(CancelTaskRequest(id=task.id))
    assert (canceled.id, state_of(canceled.status.state)) == (task.id, "CANCELED")
    assert state_of((await client.get_task(GetTaskRequest(id=task.id))).status.state) == "CANCELED"


async def test_cancel_ends_a_task_that_waits_for_an_answer(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    task = await sent(client, "ask")
    canceled = await client.cancel_task(CancelTaskRequest(id=task.id))
    assert state_of(canceled.status.state) == "CANCELED"
