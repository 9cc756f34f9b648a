"""Large parts and runs: order, failures, transactions, cancels, other processes."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction

from a2a_django import engine
from a2a_django.agents import Agent, SyncTaskContext, TaskContext, TaskEnded
from a2a_django.files import markers, parts, store
from a2a_django.models import Message, StoredFile, Task, TaskEvent
from a2a_django.protocol.errors import A2AError
from a2a_django.protocol.v1 import a2a_pb2
from tests.engine.kit import WAIT, call_of, cancel, get, made_of, message, send
from tests.files.conftest import Folder
from tests.files.kit import DATA, raw, wait_for
from tests.files.storages import Troubled

pytestmark = pytest.mark.usefixtures("sound_rows")

OTHER = DATA[::-1]


@pytest.fixture
def tested(register: Callable[[Agent], Agent]) -> Callable[..., Agent]:
    """Makes an agent of a function."""

    def tested(function: Callable[..., Any], **options: Any) -> Agent:
        return register(made_of(function, input_modes=["*/*"], **options))

    return tested


def large(text: str = "go", data: bytes = DATA) -> list[dict[str, Any]]:
    """The parts of a message."""
    return [{"text": text}, raw(data, filename="f")]


def kinds(task: dict[str, Any]) -> list[str]:
    """What the parts of the first artifact are."""
    return [next(iter(part)) for part in task["artifacts"][0]["parts"]]


async def stored() -> list[StoredFile]:
    """The rows."""
    return [row async for row in StoredFile.objects.order_by("created_at")]


async def test_what_is_said_keeps_its_order(tested: Callable[..., Agent], folder: Folder) -> None:
    async def run(ctx: TaskContext) -> None:
        await ctx.artifact("", artifact_id="a")
        say = (DATA, "1", OTHER, "2", b"small", DATA)
        await asyncio.gather(*(ctx.artifact(each, artifact_id="a", append=True) for each in say))

    task = await send(tested(run))
    assert kinds(task) == ["text", "url", "text", "url", "text", "raw", "url"]
    assert [folder.contents()[row.name] for row in await stored()] == [DATA, OTHER, DATA]
    await sync_to_async(folder.check)()


async def test_agents_of_all_kinds(tested: Callable[..., Agent], folder: Folder) -> None:
    def plain(ctx: SyncTaskContext) -> Any:
        ctx.working(a2a_pb2.Part(raw=OTHER))
        yield DATA
        yield b"small"
        yield OTHER

    task = await send(tested(plain))
    assert kinds(task) == ["url", "raw", "url"]
    assert "url" in task["history"][1]["parts"][0]

    def returning(ctx: SyncTaskContext) -> bytes:
        return DATA

    assert kinds(await send(tested(returning, slug="second"))) == ["url"]

    async def event(ctx: TaskContext) -> None:
        part = {"raw": base64.b64encode(DATA).decode(), "metadata": {"k": 1}}
        await ctx.publish({"artifactUpdate": {"artifact": {"artifactId": "a", "parts": [part]}, "lastChunk": True}})

    (part,) = (await send(tested(event, slug="third")))["artifacts"][0]["parts"]
    assert part["metadata"] == {"k": 1}
    await sync_to_async(folder.check)()


async def test_a_storage_that_fails_is_the_agents_to_deal_with(
    tested: Callable[..., Agent], folder: Folder, trouble: Callable[..., None]
) -> None:
    caught: list[str] = []

    async def run(ctx: TaskContext) -> None:
        try:
            await ctx.artifact(DATA)
        except ConnectionError as error:
            caught.append(str(error))
        await ctx.artifact("without")
        if ctx.text == "again":
            await ctx.artifact(DATA)

    trouble("save")
    agent = tested(run)
    task = await send(agent)
    assert (task["status"]["state"], kinds(task)) == ("TASK_STATE_COMPLETED", ["text"])
    task = await send(agent, "again")
    assert task["status"]["state"] == "TASK_STATE_FAILED"
    assert caught == ["The storage does not save"] * 2
    assert (await stored(), folder.contents()) == ([], {})


def _inside(ctx: SyncTaskContext) -> None:
    with transaction.atomic():
        ctx.artifact(DATA, artifact_id="a")
        ctx.artifact("t", artifact_id="a", append=True)


async def test_inside_of_a_transaction(tested: Callable[..., Agent], folder: Folder) -> None:
    task = await send(tested(_inside))
    assert kinds(task) == ["raw" if connection.vendor == "sqlite" else "url", "text"]
    await sync_to_async(folder.check)()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="There it stays in the row")
async def test_a_transaction_that_is_rolled_back_leaves_a_file_for_the_next_pruning(
    tested: Callable[..., Agent], folder: Folder
) -> None:
    def run(ctx: SyncTaskContext) -> None:
        ctx.working()
        try:
            with transaction.atomic():
                ctx.artifact(DATA)
                raise ZeroDivisionError
        except ZeroDivisionError:
            ctx.artifact("better")

    task = await send(tested(run))
    assert kinds(task) == ["text"]
    (row,) = await stored()
    assert row.task_id is None
    assert row.due_at is not None


async def test_a_cancelled_run_leaves_nothing(
    tested: Callable[..., Agent], folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[type[BaseException]] = []

    def run(ctx: SyncTaskContext) -> None:
        ctx.working()
        try:
            ctx.artifact(DATA)
        except TaskEnded as error:
            ended.append(type(error))
            raise

    gate = threading.Event()
    monkeypatch.setattr(Troubled, "gate", gate)
    monkeypatch.setattr(Troubled, "reached", threading.Event())
    agent = tested(run)
    task = await send(agent, immediately=True)
    assert await asyncio.to_thread(Troubled.reached.wait, WAIT)
    assert (await cancel(agent, task["id"]))["status"]["state"] == "TASK_STATE_CANCELED"
    gate.set()
    await wait_for(lambda: ended)
    await wait_for(lambda: StoredFile.objects.filter(task=None).count() == 1 or not StoredFile.objects.exists())
    assert "artifacts" not in await get(agent, task["id"])
    # Whoever is told that the task has ended too late to take the file back leaves it to the next pruning.
    assert all(row.due_at is not None for row in await stored())


async def test_a_file_that_is_removed_on_its_way_fails_the_task(
    tested: Callable[..., Agent], folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = parts.change_stored

    def too_slow(change: Any) -> Any:
        done = real(change)
        store.discard(done.files)
        return done

    monkeypatch.setattr(parts, "change_stored", too_slow)

    async def run(ctx: TaskContext) -> None:
        await ctx.artifact("first")
        await ctx.artifact(DATA)

    task = await send(tested(run))
    assert task["status"]["state"] == "TASK_STATE_FAILED"
    assert kinds(task) == ["text"]
    assert len(task["artifacts"]) == 1


async def test_earlier_messages_are_read_when_the_agent_wants_it(tested: Callable[..., Agent], folder: Folder) -> None:
    read: list[bytes] = []
    refused: list[str] = []

    async def run(ctx: TaskContext) -> None:
        if ctx.text == "first":
            await ctx.input_required(a2a_pb2.Part(raw=OTHER))
            return
        said = [part for each in [*ctx.history, *await ctx.conversation()] for part in each.parts]
        read.extend([await ctx.read(part) for part in said if part.WhichOneof("content") in ("raw", "url")])
        for url in ("https://elsewhere.example/f", str(markers.Marker((await stored())[0].pk, "0" * 32))):
            try:
                await ctx.read(a2a_pb2.Part(url=url))
            except FileNotFoundError:
                refused.append(url)

    agent = tested(run)
    first = await send(agent, "first", parts=large("first"))
    await send(agent, "second", task_id=first["id"], parts=large("second", DATA + DATA))
    assert read == [DATA, OTHER, DATA + DATA, DATA, OTHER]
    assert len(refused) == 2

    def plain(ctx: SyncTaskContext) -> str:
        read.append(ctx.read(ctx.files[0]))
        (row,) = StoredFile.objects.filter(size=len(DATA), task__owner="alice", task_id=first["id"])[:1]
        foreign = a2a_pb2.Part(url=str(markers.Marker(row.pk, row.secret)))
        try:
            ctx.read(foreign)
        except FileNotFoundError:
            return "refused"
        return "read"

    other = tested(plain, slug="other")
    task = await send(other, parts=large("x"), call=call_of(other, owner="bob"))
    assert task["artifacts"][0]["parts"] == [{"text": "refused"}]
    assert read[-1] == DATA


async def test_another_process_gives_the_agent_the_bytes(tested: Callable[..., Agent], folder: Folder) -> None:
    seen: list[bytes] = []
    gate = asyncio.Event()

    async def run(ctx: TaskContext) -> str:
        seen.append(ctx.files[0].raw)
        if ctx.attempt == 1:
            await gate.wait()
        return "done"

    agent = tested(run, max_attempts=2)
    task = await send(agent, parts=large(), immediately=True)
    await wait_for(lambda: seen)
    await asyncio.to_thread(engine.shutdown)
    engine.get()
    await wait_for(lambda: Task.objects.filter(pk=task["id"], state="TASK_STATE_COMPLETED").exists())
    assert seen == [DATA, DATA]
    assert (await get(agent, task["id"]))["history"][0]["parts"][1]["url"].startswith("a2a-file:")
    await sync_to_async(folder.check)()


async def test_a_message_that_waits_for_the_run_before_it(tested: Callable[..., Agent], folder: Folder) -> None:
    seen: list[bytes] = []
    gate = asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        seen.extend(part.raw for part in ctx.files)
        if ctx.text == "first":
            await ctx.input_required("more?")
            await gate.wait()

    agent = tested(run)
    first = await send(agent, "first", parts=[{"text": "first"}], immediately=True)
    await wait_for(lambda: Task.objects.filter(pk=first["id"], state="TASK_STATE_INPUT_REQUIRED").exists())
    await send(agent, task_id=first["id"], parts=large("second"), immediately=True)
    gate.set()
    await wait_for(lambda: seen)
    assert seen == [DATA]


async def test_bytes_that_are_gone_fail_the_run(tested: Callable[..., Agent], folder: Folder) -> None:
    calls: list[str] = []
    gate = asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        calls.append(ctx.text)
        await ctx.input_required("more?")
        await gate.wait()

    agent = tested(run)
    first = await send(agent, "first", immediately=True)
    await wait_for(lambda: Task.objects.filter(pk=first["id"], state="TASK_STATE_INPUT_REQUIRED").exists())
    await send(agent, task_id=first["id"], parts=large("second"), immediately=True)
    for name in folder.contents():
        (folder.path / name).unlink()
    gate.set()
    await wait_for(lambda: Task.objects.filter(pk=first["id"], state="TASK_STATE_FAILED").exists())
    assert calls == ["hello"] or calls == ["first"]


@pytest.mark.parametrize("mode", ["auto", "message"])
async def test_a_message_that_comes_into_no_task(tested: Callable[..., Agent], folder: Folder, mode: str) -> None:
    seen: list[bytes] = []

    async def run(ctx: TaskContext) -> None:
        seen.append(ctx.files[0].raw)
        await ctx.reply(a2a_pb2.Part(raw=OTHER))

    answer = await send(tested(run, mode=mode), parts=large())
    assert (answer["kind"], answer["parts"]) == ("message", [raw(OTHER)])
    assert seen == [DATA]
    assert (await stored(), folder.contents()) == ([], {})


async def test_mode_auto_with_a_task(tested: Callable[..., Agent], folder: Folder) -> None:
    seen: list[bytes] = []

    async def run(ctx: TaskContext) -> bytes:
        seen.append(ctx.files[0].raw)
        return OTHER

    answer = await send(tested(run, mode="auto"), parts=large())
    assert answer["kind"] == "task"
    assert seen == [DATA]
    assert {row.task_id for row in await stored()} == {answer["id"]}
    await sync_to_async(folder.check)()


async def test_a_message_that_is_sent_again_is_stored_once(tested: Callable[..., Agent], folder: Folder) -> None:
    async def run(ctx: TaskContext) -> None:
        return None

    agent = tested(run, deduplicate=True)
    said = message("x", parts=large())
    both = [await send(agent, parts=said["parts"], messageId=said["messageId"]) for _ in range(2)]
    assert both[0]["id"] == both[1]["id"]
    assert len(await stored()) == 1
    await sync_to_async(folder.check)()


async def test_a_caller_who_leaves_while_the_parts_are_stored(
    tested: Callable[..., Agent], folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    monkeypatch.setattr(Troubled, "gate", gate)
    monkeypatch.setattr(Troubled, "reached", threading.Event())

    async def run(ctx: TaskContext) -> None:
        return None

    sending = asyncio.create_task(send(tested(run), parts=large()))
    assert await asyncio.to_thread(Troubled.reached.wait, WAIT)
    sending.cancel()
    await asyncio.wait([sending])
    gate.set()
    await wait_for(folder.contents)
    (row,) = await stored()
    assert row.task_id is None
    assert row.due_at is not None
    assert await Message.objects.acount() == 0


async def test_the_rows_stay_small(tested: Callable[..., Agent], folder: Folder) -> None:
    async def run(ctx: TaskContext) -> None:
        for _ in range(3):
            await ctx.artifact(bytes(8 * 1024 * 1024))

    task = await send(tested(run))
    assert len(task["artifacts"]) == 3
    assert max([len(text) async for text in TaskEvent.objects.values_list("wire", flat=True)]) < 500


async def test_refusals_are_the_protocols(
    tested: Callable[..., Agent], folder: Folder, trouble: Callable[..., None]
) -> None:
    async def run(ctx: TaskContext) -> None:
        return None

    trouble("save")
    with pytest.raises(A2AError) as refused:
        await send(tested(run), parts=large())
    assert refused.value.http_status == 503
