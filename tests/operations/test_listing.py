"""ListTasks: order, filters, pages, tokens, totals (Spec 3.1.4, D-21)."""

from __future__ import annotations

import base64
import datetime as dt
import random
from dataclasses import replace
from typing import Any

import pytest
from django.db.models import F

from a2a_django import Agent
from a2a_django.agents import TaskContext
from a2a_django.engine import database
from a2a_django.engine.jobs import Job
from a2a_django.engine.journal import Journal
from a2a_django.models import Task
from a2a_django.protocol import codec, wire
from a2a_django.protocol.errors import InvalidParamsError
from tests.engine.kit import call_of, listed, made_of, outputs, quiet, said, send, state_of
from tests.engine.writing import create, creation, journal, says, status, write_all

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.1.4")]

STATES = ("COMPLETED", "FAILED", "REJECTED", "WORKING", "INPUT_REQUIRED", "SUBMITTED")
AGENT = made_of(lambda ctx: None)


def fill(writer: Journal, count: int, seed: int = 1, **options: Any) -> None:
    """Tasks in all states and three contexts, many of them with equal times."""
    luck = random.Random(seed)
    jobs: list[Job[Any]] = []
    for i in range(count):
        made = creation(writer, context_id=f"context {luck.randrange(3)}", **options)
        jobs.append(made)
        if (state := STATES[i % len(STATES)]) != "SUBMITTED":
            moment = dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=luck.randrange(count // 2))
            change = replace(status(made.template, state, f"message {i}"), moment=moment)  # type: ignore[type-var]
            jobs.append(says(made.template, change))
    write_all(writer, jobs)


@pytest.fixture
async def filled() -> list[str]:
    """The ids of many tasks of alice, in the order of the list; others have tasks, too."""

    def work() -> list[str]:
        with journal() as (writer, _):
            fill(writer, 60)
            fill(writer, 6, owner="bob")
            fill(writer, 6, agent="other")
        rows = Task.objects.filter(owner="alice", agent="tested").values_list("status_timestamp", "pk")
        return [pk for _, pk in sorted(rows, reverse=True)]

    return await database.run(work)


async def pages(size: int, **wire: Any) -> list[dict[str, Any]]:
    """All tasks of a list, page by page."""
    found: list[dict[str, Any]] = []
    token = ""
    while True:
        answer = await listed(AGENT, pageSize=size, **({"pageToken": token} if token else {}), **wire)
        assert len(answer["tasks"]) <= size
        assert answer["pageSize"] == size
        found += answer["tasks"]
        token = answer["nextPageToken"]
        if not token:
            return found
        assert len(answer["tasks"]) == size


async def test_without_tasks() -> None:
    assert await listed(AGENT) == {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


async def test_the_newest_come_first_and_each_is_there_once(filled: list[str]) -> None:
    first = await listed(AGENT)
    assert [task["id"] for task in first["tasks"]] == filled[:50]
    assert (first["pageSize"], first["totalSize"]) == (50, 60)
    for size in (1, 7, 59, 60, 100):
        assert [task["id"] for task in await pages(size)] == filled


async def test_filters(filled: list[str]) -> None:
    everything = await pages(100)
    for state in (*STATES, "CANCELED"):
        expected = [task["id"] for task in everything if state_of(task) == state]
        found = await pages(3, status=f"TASK_STATE_{state}")
        assert [task["id"] for task in found] == expected
        assert (await listed(AGENT, status=f"TASK_STATE_{state}"))["totalSize"] == len(expected)
    for context in ("context 0", "context 1", "unknown"):
        expected = [task["id"] for task in everything if task["contextId"] == context]
        assert [task["id"] for task in await pages(4, contextId=context)] == expected
        assert (await listed(AGENT, contextId=context))["totalSize"] == len(expected)
    both = {"contextId": "context 0", "status": "TASK_STATE_FAILED"}
    expected = [t["id"] for t in everything if t["contextId"] == "context 0" and state_of(t) == "FAILED"]
    assert [task["id"] for task in await pages(2, **both)] == expected


async def test_the_filter_on_time_is_inclusive_and_rounds_up_to_whole_milliseconds(filled: list[str]) -> None:
    times = {task["id"]: task["status"]["timestamp"] for task in await pages(100)}
    middle = times[filled[20]]
    expected = [pk for pk in filled if times[pk] >= middle]
    assert filled[20] in expected

    async def since(text: str) -> list[str]:
        request = codec.decode("ListTasksRequest", {"statusTimestampAfter": text, "pageSize": 100})
        answer = await listed(AGENT, **request)
        assert answer["totalSize"] == len(answer["tasks"])
        return [task["id"] for task in answer["tasks"]]

    assert await since(middle) == expected
    assert await since(middle.replace("Z", "000000Z")) == expected
    later = [pk for pk in filled if times[pk] > middle]
    assert await since(middle.replace("Z", "000001Z")) == later
    assert await since(middle.replace("Z", "001Z")) == later
    assert await since("9999-12-31T23:59:59.999999999Z") == []
    assert await since("0001-01-01T00:00:00Z") == filled


async def test_artifacts_and_history_come_when_they_are_asked_for() -> None:
    async def run(ctx: TaskContext) -> str:
        await ctx.working("at work")
        return ctx.text

    agent = made_of(run)
    for text in ("one", "two"):
        await send(agent, text)
    plain = (await listed(agent))["tasks"]
    assert all("artifacts" not in task for task in plain)
    assert [said(task) for task in plain] == [["two", "at work"], ["one", "at work"]]
    full = (await listed(agent, includeArtifacts=True, historyLength=0))["tasks"]
    assert [outputs(task) for task in full] == [["two"], ["one"]]
    assert all("history" not in task for task in full)
    assert [said(task) for task in (await listed(agent, historyLength=1))["tasks"]] == [["at work"]] * 2


async def test_a_list_that_changes_while_it_is_read_shows_nothing_twice_and_all_that_stays(filled: list[str]) -> None:
    first = await listed(AGENT, pageSize=20)
    seen = [task["id"] for task in first["tasks"]]
    moved, deleted = filled[30], filled[40]

    def change() -> None:
        Task.objects.filter(pk=moved).update(status_timestamp=F("status_timestamp") + dt.timedelta(days=1))
        Task.objects.get(pk=deleted).delete()
        with journal() as (writer, _):
            create(writer)

    await database.run(change)
    token = first["nextPageToken"]
    while token:
        page = await listed(AGENT, pageSize=7, pageToken=token)
        seen += [task["id"] for task in page["tasks"]]
        token = page["nextPageToken"]
    assert seen == [pk for pk in filled if pk not in (moved, deleted)]


# -- tokens


async def refused(**wire: Any) -> None:
    call = wire.pop("call", None)
    with pytest.raises(InvalidParamsError) as caught:
        await listed(AGENT, call=call, **wire)
    assert [violation.field for violation in caught.value.violations] == ["page_token"]


async def test_a_token_that_was_altered_is_refused(filled: list[str]) -> None:
    token = (await listed(AGENT, pageSize=5))["nextPageToken"]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for place in range(len(token)):
        other = alphabet[(alphabet.index(token[place]) + 1) % 64]
        await refused(pageToken=token[:place] + other + token[place + 1 :])
    for wrong in (token[:-1], token[1:], token + "A", token + "=", " " + token, token + "\n", token.replace("", " ")):
        await refused(pageToken=wrong)


@pytest.mark.parametrize(
    "token", ["x", "=", "AAAA", "A" * 64, "A" * 500, "\u00e9", "!!!!", base64.urlsafe_b64encode(b"\0" * 60).decode()]
)
async def test_a_token_that_was_made_up_is_refused(token: str) -> None:
    await refused(pageToken=token)


async def test_a_token_of_another_list_is_refused(filled: list[str]) -> None:
    token = (await listed(AGENT, pageSize=5))["nextPageToken"]
    after = "2026-01-01T00:00:00Z"
    for other in ({"contextId": "context 0"}, {"status": "TASK_STATE_FAILED"}, {"statusTimestampAfter": after}):
        await refused(pageToken=token, **other)
    await refused(pageToken=token, call=call_of(AGENT, owner="bob"))
    await refused(pageToken=token, call=call_of(made_of(lambda ctx: None, slug="other")))
    more = await listed(AGENT, pageSize=9, pageToken=token, historyLength=0, includeArtifacts=True)
    assert [task["id"] for task in more["tasks"]] == filled[5:14]


async def test_a_token_of_another_site_is_refused(filled: list[str], settings: Any) -> None:
    token = (await listed(AGENT, pageSize=5))["nextPageToken"]
    settings.SECRET_KEY = "another" * 10
    await refused(pageToken=token)


# -- totals


async def test_totals_follow_what_happens() -> None:
    async def run(ctx: TaskContext) -> None:
        if ctx.text == "ask":
            await ctx.input_required("?")
        elif ctx.text == "fail":
            await ctx.fail()

    async def totals(agent: Agent) -> list[int]:
        states = ("", "COMPLETED", "FAILED", "INPUT_REQUIRED", "CANCELED")
        answers = [await listed(agent, **({"status": f"TASK_STATE_{s}"} if s else {})) for s in states]
        return [answer["totalSize"] for answer in answers]

    agent = made_of(run)
    await send(agent)
    failed = await send(agent, "fail")
    parked = await send(agent, "ask")
    await quiet()
    assert await totals(agent) == [3, 1, 1, 1, 0]
    await send(agent, "on", task_id=parked["id"])
    await quiet()
    assert await totals(agent) == [3, 2, 1, 0, 0]
    await database.run(lambda: Task.objects.get(pk=failed["id"]).delete())
    assert await totals(agent) == [2, 2, 0, 0, 0]
    await database.run(lambda: Task.objects.all().delete())
    assert await totals(agent) == [0, 0, 0, 0, 0]


async def test_a_status_time_is_what_the_status_says(filled: list[str]) -> None:
    (first, *_) = (await listed(AGENT))["tasks"]
    row = await database.run(Task.objects.get, pk=first["id"])
    assert first["status"]["timestamp"] == wire.timestamp(row.status_timestamp)
