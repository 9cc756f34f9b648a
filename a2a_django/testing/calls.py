"""What both clients do: make a request, wait for its answer, and see that all it brings about here has happened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.urls import reverse
from django.utils import timezone

from a2a_django.agents import Agent, content, registry
from a2a_django.engine import database
from a2a_django.engine.feed import Reader
from a2a_django.models import PushConfig
from a2a_django.models import Task as Row
from a2a_django.models.fields import uuid7
from a2a_django.protocol.errors import UnauthenticatedError
from a2a_django.protocol.states import SETTLED, TERMINAL
from a2a_django.protocol.wire import Wire
from a2a_django.testing.bindings import Binding, binding_of
from a2a_django.testing.exchanges import Site, UnexpectedAnswer, calling_as
from a2a_django.testing.receiver import FakeReceiver
from a2a_django.testing.results import PREFIX, Event, Message, Task, state_of
from a2a_django.testing.stage import Stage
from a2a_django.testing.streams import AsyncStream

T = TypeVar("T")

#: How an agent is named: by its slug, its class, or itself.
AgentName = str | type[Agent] | Agent

#: How long a run that has ended its task may take to return before it is not waited for any more.
RETURN_SECONDS = 1.0
PAUSE_SECONDS = 0.002


class StillWorking(AssertionError):
    """Nothing came within the client's ``timeout``."""


class Options:
    """What may be said for every call: see ``A2AClient``."""

    def __init__(
        self,
        user: Any = None,
        agent: AgentName = "",
        tenant: str = "",
        headers: Mapping[str, str] | None = None,
        extensions: Sequence[str] = (),
    ) -> None:
        self.user, self.agent, self.tenant = user, agent, tenant
        self.headers, self.extensions = dict(headers or {}), extensions

    def but(self, **given: Any) -> Options:
        """Return these options with those that are given in their places; headers are added."""
        return Options(**{**self.__dict__, **given, "headers": self.headers | dict(given.get("headers", {}))})


@contextmanager
def _a_hint_for_strangers(options: Options) -> Iterator[None]:
    """Say in the report of a test that nobody has logged in, which is what most sites ask for."""
    try:
        yield
    except UnauthenticatedError as error:
        if options.user is None and not options.headers:
            error.add_note("Nobody has logged in: force_login(user), user= in the call, or headers with credentials.")
        raise


class Calls:
    """The calls of one client on a stage."""

    def __init__(self, stage: Stage, binding: str, version: str, timeout: float) -> None:
        self.stage = stage
        self._site = Site()
        self._binding: Binding = binding_of(binding, version)(self._site)
        self._timeout = timeout

    # ------------------------------------------------------------------------------------------------ operations

    async def send(self, request: Wire, options: Options, *, wait: bool) -> Task | Message:
        """Send a message and return what comes back."""
        if not wait:
            request = {**request, "configuration": {**request.get("configuration", {}), "returnImmediately": True}}
        found = await self.call("SendMessage", request, options)
        if "message" in found:
            return Message(found["message"])
        return await self._task(found["task"])

    async def stream(self, operation: str, request: Wire, options: Options) -> AsyncStream:
        """Begin a stream; what is wrong with it is raised here."""
        tenant, headers, user = self._said(options)
        frames = self._binding.events(operation, request, tenant, headers)
        with calling_as(user), _a_hint_for_strangers(options):
            first = await self.step(frames)
        if first is None:
            raise UnexpectedAnswer("The stream has no event")
        return AsyncStream(self, frames, first)

    async def task(self, operation: str, request: Wire, options: Options) -> Task:
        """Carry out an operation that answers with a task."""
        return await self._task(await self.call(operation, request, options))

    async def list(self, request: Wire, options: Options) -> list[Task]:
        """Return the tasks of the first page."""
        found = await self.call("ListTasks", request, options)
        return [Task(wire, self.stage.failures.get(wire["id"])) for wire in found.get("tasks", ())]

    async def call(self, operation: str, request: Wire, options: Options) -> Wire:
        """Carry out an operation that does not stream."""
        tenant, headers, user = self._said(options)
        with calling_as(user), _a_hint_for_strangers(options):
            found: Wire = await self._in_time(self._binding.call(operation, request, tenant, headers))
        return found

    async def card(self, options: Options) -> Wire:
        """Return the public card."""
        tenant, headers, _ = self._said(options)
        name = "a2a_django:tenant-agent-card" if tenant else "a2a_django:agent-card"
        path = reverse(name, kwargs={"tenant": tenant} if tenant else {})
        response = await self._in_time(self._site.request("GET", path, headers=headers))
        if response.status_code != 200:
            raise AssertionError(f"{path} was answered with {response.status_code}")
        card: Wire = json.loads(response.content)
        return card

    # ------------------------------------------------------------------------------------------------ waiting

    async def step(self, frames: AsyncIterator[Wire]) -> Wire | None:
        """Return the next event of a stream, None at its end."""
        return await self._in_time(anext(frames, None))

    async def _in_time(self, coming: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._timeout) as limit, database.access_database():
                return await coming
        except TimeoutError:
            if not limit.expired():
                raise
        raise StillWorking(f"Nothing came within {self._timeout:g} s; {await self._at_work()}")

    async def _at_work(self) -> str:
        runs = self.stage.engine.runner._runs
        at_work = [f"{run.agent.slug} is at task {pk}, {state_of(run.state)}" for pk, run in runs.items()]
        return "; ".join(at_work) or "no agent is at work"

    async def _task(self, wire: Wire) -> Task:
        task = Task(wire)
        if wire["status"]["state"] in TERMINAL:
            await self._returned(task.id)
        await self.pushed()
        task.exception = self.stage.failures.get(task.id)
        return task

    async def settle(self, events: Iterable[Event]) -> None:
        """See that all of a stream that has ended has happened here."""
        last = [event for event in events if event.state]
        if last and last[-1].wire and PREFIX + last[-1].state.upper() in TERMINAL:
            await self._returned(last[-1].task_id)
        await self.pushed()

    async def _returned(self, task_id: str) -> None:
        """Wait until the run of a task that has ended has returned, and its cancel hook."""
        runner = self.stage.engine.runner
        run = runner._runs.get(task_id)
        if run is not None and run._aio is not None:
            await asyncio.wait({run._aio}, timeout=RETURN_SECONDS)
        if runner._background:
            await asyncio.wait(set(runner._background), timeout=self._timeout)

    async def pushed(self) -> None:
        """Wait until the receivers have what they can have now; those that fail are not waited for."""
        for task_id in await database.read(_tasks_to_tell):
            await self.stage.engine.sender.settled(task_id, self._timeout)

    async def retry_pushes(self) -> None:
        """Have what could not be delivered delivered now, and not only after its pause."""
        now = timezone.now()
        if await database.run(_make_due, now):
            self.stage.engine.sender.wake()
            async with asyncio.timeout(self._timeout):
                while await database.read(_is_due, now):  # noqa: ASYNC110 - rows wake nobody
                    await asyncio.sleep(PAUSE_SECONDS)
        await self.pushed()

    async def rest(self, task: Task | str, state: str, options: Options) -> Task:
        """Wait until a task is in a state, or without one until it has ended or waits for its sender."""
        task_id = task if isinstance(task, str) else task.id
        wanted = {PREFIX + state.upper()} if state else SETTLED
        reader = self.stage.engine.feed.reader(task_id)
        try:
            await self._in_time(_reach(reader, task_id, wanted))
        finally:
            reader.close()
        return await self.task("GetTask", {"id": task_id}, options)

    # ------------------------------------------------------------------------------------------------ requests

    def _said(self, options: Options) -> tuple[str, Mapping[str, str], Any]:
        headers = dict(options.headers)
        if options.extensions:
            name = "A2A-Extensions" if self._binding.version == "1.0" else "X-A2A-Extensions"
            headers[name] = ", ".join(options.extensions)
        return options.tenant or self._slug(options.agent), headers, options.user

    def _slug(self, agent: AgentName) -> str:
        """Return the tenant of an agent, "" for the site's default one. Raises ``ValueError`` where there is none."""
        if isinstance(agent, Agent):
            self.stage.serve(agent)
            slug = agent.slug
        elif isinstance(agent, str):
            slug = agent
        else:
            slug = next((known.slug for known in registry.all() if type(known) is agent), "")
            if not slug:
                raise ValueError(f"{agent.__name__} is not in an agents.py of the site; pass an instance to try it")
        default = registry.default()
        return "" if default is not None and default.slug == slug else slug

    def receiver(self, receiver: FakeReceiver) -> Wire:
        """Return the webhook of a receiver, which gets what is sent there from now on."""
        self.stage.receivers.add(receiver)
        return receiver.config


async def _reach(reader: Reader, task_id: str, wanted: Collection[str]) -> None:
    """Read a task's events, from the first on, until one tells a wanted state."""
    row = await database.read(_row, task_id)
    reader.start(row.last_seq, attempt=row.attempt, running=bool(row.lease_holder), after=0)
    reader.ended = reader.ended or row.state in TERMINAL
    if row.state in wanted:
        return
    while reader.running or reader.pending or reader.seq < reader.known_seq:
        if any(state in wanted for _, _, state, _ in await reader.next()):
            return
    raise AssertionError(f"The task has come to a rest as {state_of((await database.read(_row, task_id)).state)}")


def _row(task_id: str) -> Row:
    return Row.objects.using(database.alias()).get(pk=task_id)


def _tasks_to_tell() -> list[str]:
    rows = PushConfig.objects.using(database.alias()).filter(due_at__isnull=False, failures=0)
    return list(rows.order_by("task_id").values_list("task_id", flat=True).distinct())


def _make_due(now: Any) -> int:
    rows = PushConfig.objects.using(database.alias()).filter(due_at__isnull=False)
    return rows.update(due_at=now)


def _is_due(now: Any) -> bool:
    rows = PushConfig.objects.using(database.alias()).filter(due_at__lte=now)
    return rows.exists()


def a_task(found: Task | Message) -> Task:
    """Return a task. Raises ``AssertionError`` for a message."""
    if isinstance(found, Message):
        raise AssertionError(f"The agent has answered without a task (use ask): {found}")
    return found


def a_message(found: Task | Message) -> Message:
    """Return a message. Raises ``AssertionError`` for a task."""
    if isinstance(found, Task):
        raise AssertionError(f"The agent has made a task (use send): {found}")
    return found


def message_request(
    values: Sequence[Any],
    *,
    task: Task | str | None = None,
    context: Task | Message | str | None = None,
    references: Sequence[Task | str] = (),
    metadata: Mapping[str, Any] | None = None,
    message_metadata: Mapping[str, Any] | None = None,
    output_modes: Sequence[str] = (),
    history_length: int | None = None,
    push: Wire | None = None,
    message_id: str = "",
) -> Wire:
    """Return a request that sends a message; ``values`` are parts as agents write them: str, bytes, dict, Part."""
    message: Wire = {"messageId": message_id or uuid7(), "role": "ROLE_USER", "parts": content.parts(values)}
    if task is not None:
        message["taskId"] = task if isinstance(task, str) else task.id
    if context is not None:
        message["contextId"] = context if isinstance(context, str) else context.context_id
    if references:
        message["referenceTaskIds"] = [each if isinstance(each, str) else each.id for each in references]
    if message_metadata:
        message["metadata"] = dict(message_metadata)
    configuration: Wire = {}
    if output_modes:
        configuration["acceptedOutputModes"] = list(output_modes)
    if history_length is not None:
        configuration["historyLength"] = history_length
    if push is not None:
        configuration["taskPushNotificationConfig"] = push
    request: Wire = {"message": message}
    if configuration:
        request["configuration"] = configuration
    if metadata:
        request["metadata"] = dict(metadata)
    return request
