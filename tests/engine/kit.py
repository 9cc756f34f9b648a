"""Agents made of functions, calls of operations, and what must be true of the rows whatever happened."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from django.contrib.auth.models import AnonymousUser

from a2a_django import Agent, engine
from a2a_django.agents.cards import CardBase
from a2a_django.engine import database
from a2a_django.models import Artifact, EventKind, Message, Task, TaskEvent, TaskTally
from a2a_django.operations import OPERATIONS, CallContext, EventStream
from a2a_django.protocol import codec
from a2a_django.protocol.folding import fold
from a2a_django.protocol.states import TERMINAL

#: How long anything is waited for before the test fails.
WAIT = 15

_numbers = itertools.count(1)


def made_of(function: Callable[..., Any], **attributes: Any) -> Agent:
    """An agent that runs ``function``, which may be of any kind an agent's ``run`` may be."""
    options = {"slug": "tested", "description": "Tested.", **attributes}
    hooks = {name: staticmethod(options.pop(name)) for name in ("cancel", "extended_card") if name in options}
    return type("Tested", (Agent,), {"abstract": True, "run": staticmethod(function), **hooks})(**options)


def call_of(
    agent: Agent, *, owner: str = "alice", user: Any = None, streaming: bool = True, **members: Any
) -> CallContext:
    """A call of ``owner``."""
    given = {"tenant": "", "version": "1.0", "extensions": (), "binding": "JSONRPC", **members}
    base = CardBase("http://testserver", "/a2a")
    return CallContext(agent, owner=owner, user=user or AnonymousUser(), streaming=streaming, base=base, **given)


def message(text: str = "hello", **members: Any) -> dict[str, Any]:
    """A user's message with an id of its own; a member that is None is left out."""
    wire = {"messageId": f"m-{next(_numbers)}", "role": "ROLE_USER", "parts": [{"text": text}], **members}
    return {name: value for name, value in wire.items() if value is not None}


def request(
    text: str = "hello",
    *,
    task_id: str | None = None,
    context_id: str | None = None,
    history_length: int | None = None,
    immediately: bool = False,
    metadata: dict[str, Any] | None = None,
    configuration: dict[str, Any] | None = None,
    **members: Any,
) -> dict[str, Any]:
    """A SendMessageRequest as the codec makes it."""
    wire: dict[str, Any] = {"message": message(text, taskId=task_id, contextId=context_id, **members)}
    configuration = dict(configuration or {})
    if history_length is not None:
        configuration["historyLength"] = history_length
    if immediately:
        configuration["returnImmediately"] = True
    if configuration:
        wire["configuration"] = configuration
    if metadata:
        wire["metadata"] = metadata
    return codec.decode("SendMessageRequest", wire)


async def ask(name: str, call: CallContext, wire: dict[str, Any]) -> Any:
    """Call an operation that answers once; the answer decoded."""
    async with asyncio.timeout(WAIT):
        text = await OPERATIONS[name].call(call, wire)
    assert isinstance(text, str)
    assert text.isascii()
    return json.loads(text)


async def send(agent: Agent, text: str = "hello", *, call: CallContext | None = None, **options: Any) -> Any:
    """SendMessage; the task or message."""
    answer = await ask("SendMessage", call or call_of(agent), request(text, **options))
    ((kind, value),) = answer.items()
    return {"kind": kind, **value}


async def get(agent: Agent, task_id: str, *, call: CallContext | None = None, **options: Any) -> Any:
    """GetTask."""
    return await ask("GetTask", call or call_of(agent), {"id": task_id, **options})


async def cancel(agent: Agent, task_id: str, *, call: CallContext | None = None) -> Any:
    """CancelTask."""
    return await ask("CancelTask", call or call_of(agent), {"id": task_id})


async def listed(agent: Agent, *, call: CallContext | None = None, **wire: Any) -> Any:
    """ListTasks."""
    return await ask("ListTasks", call or call_of(agent), wire)


async def stream(agent: Agent, text: str = "hello", *, call: CallContext | None = None, **options: Any) -> EventStream:
    """SendStreamingMessage."""
    async with asyncio.timeout(WAIT):
        found = await OPERATIONS["SendStreamingMessage"].call(call or call_of(agent), request(text, **options))
    assert isinstance(found, EventStream)
    return found


async def subscribe(agent: Agent, task_id: str, *, call: CallContext | None = None) -> EventStream:
    """SubscribeToTask."""
    async with asyncio.timeout(WAIT):
        found = await OPERATIONS["SubscribeToTask"].call(call or call_of(agent), {"id": task_id})
    assert isinstance(found, EventStream)
    return found


async def some(events: EventStream) -> list[dict[str, Any]]:
    """The next events of a stream; none at its end."""
    async with asyncio.timeout(WAIT):
        async for texts in events:
            return [json.loads(text) for text in texts]
    return []


async def rest(events: EventStream) -> list[dict[str, Any]]:
    """All events of a stream up to its end."""
    found: list[dict[str, Any]] = []
    while more := await some(events):
        found += more
    return found


async def up_to(events: EventStream, state: str) -> list[dict[str, Any]]:
    """The events of a stream until a status with ``state`` has come."""
    found: list[dict[str, Any]] = []
    while state not in states_in(found):
        more = await some(events)
        assert more, f"the stream ended before {state}: {found}"
        found += more
    return found


@asynccontextmanager
async def reading(events: EventStream) -> AsyncIterator[asyncio.Task[list[dict[str, Any]]]]:
    """Read a stream to its end beside what happens inside."""
    task = asyncio.create_task(rest(events))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})


def states_in(events: Iterable[dict[str, Any]]) -> list[str]:
    """The states of a stream's status events, without the common prefix."""
    return [short(event["statusUpdate"]["status"]["state"]) for event in events if "statusUpdate" in event]


def short(state: str) -> str:
    """A state without the prefix that all have."""
    return state.removeprefix("TASK_STATE_")


def state_of(task: dict[str, Any]) -> str:
    """The state of a task as it travels."""
    return short(task["status"]["state"])


def texts_of(value: dict[str, Any]) -> list[str]:
    """The texts of a message's or artifact's parts."""
    return [part["text"] for part in value["parts"]]


def outputs(task: dict[str, Any]) -> list[str]:
    """The texts of all artifacts of a task."""
    return [text for artifact in task.get("artifacts", ()) for text in texts_of(artifact)]


def said(task: dict[str, Any]) -> list[str]:
    """The texts of a task's history."""
    return [text for entry in task.get("history", ()) for text in texts_of(entry)]


def status_text(task: dict[str, Any]) -> str:
    """The text of a task's status message, "" without one."""
    found = task["status"].get("message")
    return texts_of(found)[0] if found else ""


def folded(events: list[dict[str, Any]]) -> dict[str, Any]:
    """What a reader makes of a stream: the first task with everything after it applied."""
    first, *others = copy.deepcopy(events)
    task = {"history": [], **first["task"]}
    for event in others:
        fold(task, event)
    if not task["history"]:
        del task["history"]
    return task


async def until(condition: Callable[[], Any]) -> Any:
    """Wait until ``condition`` (asked again and again, in a database thread) is true; its value."""
    async with asyncio.timeout(WAIT):
        while not (value := await database.run(condition)):  # noqa: ASYNC110 - rows wake nobody
            await asyncio.sleep(0.005)
    return value


async def when(condition: Callable[[], Any]) -> None:
    """Let the loop go on until ``condition`` (of things in memory) is true."""
    async with asyncio.timeout(WAIT):
        while not condition():  # noqa: ASYNC110 - nothing says when
            await asyncio.sleep(0)


async def quiet(*, coming: int = 0) -> None:
    """Wait until this process runs nothing, and nothing counts as running but ``coming`` messages being taken in."""
    runner = engine.get().runner
    await when(lambda: not runner._runs and not runner._background)
    await when(lambda: sum(runner.quota._taken.values()) == runner._coming == coming)


def row(task_id: str) -> Task:
    """The row of a task."""
    return Task.objects.get(pk=task_id)


def check_rows() -> None:
    """Raise AssertionError unless all rows of the database are what the invariants say."""
    events, messages, artifacts = (
        _by_task(TaskEvent.objects.order_by("seq").defer("wire")),
        _by_task(Message.objects.order_by("position").defer("wire")),
        _by_task(Artifact.objects.order_by("position")),
    )
    for task in Task.objects.all():
        check_task(task, events[task.pk], messages[task.pk], artifacts[task.pk])
    check_tallies()


def _by_task(rows: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for one in rows:
        found[one.task_id].append(one)
    return found


def check_task(task: Task, events: list[TaskEvent], messages: list[Message], artifacts: list[Artifact]) -> None:
    """Raise AssertionError unless the rows of a task are what the invariants say."""
    assert [event.seq for event in events] == list(range(1, task.last_seq + 1)), "numbers have no holes"
    assert [message.position for message in messages] == list(range(1, task.message_count + 1))
    assert [artifact.position for artifact in artifacts] == list(range(1, task.artifact_count + 1))
    attempts = [event.attempt for event in events]
    assert attempts == sorted(attempts), "runs do not overlap"
    ends = [event.seq for event in events if event.state in TERMINAL]
    assert ends in ([], [task.last_seq]), "nothing comes after the end"
    assert bool(ends) == task.is_terminal
    assert not (ends and task.lease_holder), "what has ended is run by nobody"
    states = [event.state for event in events if event.kind == EventKind.STATUS]
    assert task.state == (states[-1] if states else "TASK_STATE_SUBMITTED")
    moments = [task.created_at, *(event.created_at for event in events if event.kind == EventKind.STATUS)]
    assert moments == sorted(moments), "the time of a status is not before that of the one it follows"
    shown = [(message.message_id, message.wire) for message in messages if message.shown]
    assert len(shown) == len(set(shown)), "each message is in the history once"


def check_tallies() -> None:
    """Raise AssertionError unless the tallies are the numbers of ended tasks."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for tally in TaskTally.objects.all():
        counted[tally.agent, tally.owner, tally.state] += tally.count
    rows = Task.objects.filter(state__in=TERMINAL).values_list("agent", "owner", "state")
    assert {key: count for key, count in counted.items() if count} == Counter(rows)
