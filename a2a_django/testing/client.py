"""The clients: every operation of the protocol, over any binding, without a server."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypedDict, TypeVar, Unpack

from a2a_django.protocol.wire import Wire
from a2a_django.testing.calls import AgentName, Calls, Options, a_message, a_task, message_request
from a2a_django.testing.receiver import FakeReceiver
from a2a_django.testing.results import Message, Task
from a2a_django.testing.stage import Stage, SyncStage, async_stage, sync_stage
from a2a_django.testing.streams import AsyncStream, Stream

T = TypeVar("T")


class Caller(TypedDict, total=False):
    """Who calls whom; for one call in the place of what the client was made with."""

    user: Any
    agent: AgentName
    tenant: str
    headers: Mapping[str, str]
    extensions: Sequence[str]


class Sent(Caller, total=False):
    """What a message is sent with."""

    #: A task to go on with.
    task: Task | str | None
    #: A conversation to go on with, in a new task.
    context: Task | Message | str | None
    #: Tasks that the message refers to.
    references: Sequence[Task | str]
    #: Of the request, and of the message.
    metadata: Mapping[str, Any]
    message_metadata: Mapping[str, Any]
    output_modes: Sequence[str]
    history_length: int
    message_id: str
    #: Who is told of what happens.
    push: FakeReceiver


class _Client:
    def __init__(
        self,
        user: Any = None,
        *,
        agent: AgentName = "",
        tenant: str = "",
        binding: str = "JSONRPC",
        version: str = "1.0",
        headers: Mapping[str, str] | None = None,
        extensions: Sequence[str] = (),
        timeout: float = 10.0,
    ) -> None:
        """Make a client.

        ``user``: who calls, whatever the site's authenticators say; with None they decide, by ``headers``. ``agent``:
        slug, class or instance of the agent, by default the site's; an instance is served for the time of the test.
        ``tenant`` instead, where the site has a ``TENANT_RESOLVER``. ``binding``: "JSONRPC", "HTTP+JSON" or "GRPC";
        ``version``: "1.0" or "0.3". ``timeout``: seconds after which a call without an answer fails with
        ``StillWorking``.
        """
        self._options = Options(user, agent, tenant, headers or {}, extensions)
        self._binding, self._version, self._timeout = binding, version, timeout
        self._made: Calls | None = None

    def force_login(self, user: Any) -> None:
        """Call as ``user`` from now on; None: as the site's authenticators say."""
        self._options.user = user

    def _stage(self) -> Stage:
        raise NotImplementedError

    def _calls(self) -> Calls:
        stage = self._stage()
        if self._made is None or self._made.stage is not stage:
            self._made = Calls(stage, self._binding, self._version, self._timeout)
        return self._made

    def _request(self, parts: Sequence[Any], given: Sent) -> tuple[Wire, Options]:
        rest: dict[str, Any] = dict(given)
        options = self._options.but(**{name: rest.pop(name) for name in Caller.__annotations__ if name in rest})
        if (receiver := rest.pop("push", None)) is not None:
            rest["push"] = self._calls().receiver(receiver)
        return message_request(parts, **rest), options


class A2AClient(_Client):
    """The client of synchronous tests.

    Messages are given as what agents yield: str, bytes, dict, list, Part. Everything raises ``A2AError`` (a class of
    ``a2a_django.protocol.errors``) where the site answers with an error.
    """

    def _stage(self) -> SyncStage:
        return sync_stage()

    def _now(self, make: Callable[[Calls], Coroutine[Any, Any, T]]) -> T:
        calls = self._calls()
        return self._stage().call(lambda: make(calls))

    def send(self, *parts: Any, wait: bool = True, **given: Unpack[Sent]) -> Task:
        """Send a message and return its task, which has ended or waits for its sender; with ``wait=False`` at once.

        Raises ``AssertionError`` when the agent answers with a message alone: see ``ask``.
        """
        request, options = self._request(parts, given)
        return a_task(self._now(lambda calls: calls.send(request, options, wait=wait)))

    def ask(self, *parts: Any, **given: Unpack[Sent]) -> Message:
        """Send a message to an agent that answers with a message alone, and return that.

        Raises ``AssertionError`` when the agent makes a task.
        """
        request, options = self._request(parts, given)
        return a_message(self._now(lambda calls: calls.send(request, options, wait=True)))

    def stream(self, *parts: Any, **given: Unpack[Sent]) -> Stream:
        """Send a message and return the stream of what happens."""
        request, options = self._request(parts, given)
        return self._streamed("SendStreamingMessage", request, options)

    def subscribe(self, task: Task | str, **caller: Unpack[Caller]) -> Stream:
        """Return the stream of what happens to a task from now on."""
        return self._streamed("SubscribeToTask", _id(task), self._options.but(**caller))

    def _streamed(self, operation: str, request: Wire, options: Options) -> Stream:
        return Stream(self._stage(), self._now(lambda calls: calls.stream(operation, request, options)))

    def get(self, task: Task | str, *, history_length: int | None = None, **caller: Unpack[Caller]) -> Task:
        """Return a task as it is now."""
        request = _id(task) | ({} if history_length is None else {"historyLength": history_length})
        return self._now(lambda calls: calls.task("GetTask", request, self._options.but(**caller)))

    def list(self, *, caller: Caller | None = None, **filters: Any) -> list[Task]:
        """Return the caller's tasks, newest first; ``filters`` are members of a ListTasksRequest in camelCase."""
        options = self._options.but(**(caller or {}))
        return self._now(lambda calls: calls.list(filters, options))

    def cancel(self, task: Task | str, **caller: Unpack[Caller]) -> Task:
        """Cancel a task and return it; the agent has stopped, and its ``cancel`` hook has returned."""
        return self._now(lambda calls: calls.task("CancelTask", _id(task), self._options.but(**caller)))

    def wait(self, task: Task | str, state: str = "", **caller: Unpack[Caller]) -> Task:
        """Wait until a task is or has been in ``state``; without one, until it has ended or waits for its sender.

        Returns the task as it is then. Raises ``AssertionError`` when it ends in another state.
        """
        return self._now(lambda calls: calls.rest(task, state, self._options.but(**caller)))

    def add_webhook(self, task: Task | str, receiver: FakeReceiver, **caller: Unpack[Caller]) -> Wire:
        """Have a receiver told of what happens to a task from now on; returns the config as the site has it."""
        calls = self._calls()
        request = {**calls.receiver(receiver), "taskId": _id(task)["id"]}
        options = self._options.but(**caller)
        return self._now(lambda calls: calls.call("CreateTaskPushNotificationConfig", request, options))

    def retry_pushes(self) -> None:
        """Have what receivers have refused delivered once more, without the pause that there would be."""
        self._now(lambda calls: calls.retry_pushes())

    def call(self, operation: str, request: Wire | None = None, **caller: Unpack[Caller]) -> Wire:
        """Carry out any operation that does not stream, by its name in the specification; ProtoJSON in and out."""
        return self._now(lambda calls: calls.call(operation, request or {}, self._options.but(**caller)))

    def card(self, **caller: Unpack[Caller]) -> Wire:
        """Return the agent's public card."""
        return self._now(lambda calls: calls.card(self._options.but(**caller)))


class AsyncA2AClient(_Client):
    """The client of asynchronous tests: what ``A2AClient`` has, to be awaited."""

    def _stage(self) -> Stage:
        return async_stage()

    async def send(self, *parts: Any, wait: bool = True, **given: Unpack[Sent]) -> Task:
        """See ``A2AClient.send``."""
        request, options = self._request(parts, given)
        return a_task(await self._calls().send(request, options, wait=wait))

    async def ask(self, *parts: Any, **given: Unpack[Sent]) -> Message:
        """See ``A2AClient.ask``."""
        request, options = self._request(parts, given)
        return a_message(await self._calls().send(request, options, wait=True))

    async def stream(self, *parts: Any, **given: Unpack[Sent]) -> AsyncStream:
        """See ``A2AClient.stream``."""
        request, options = self._request(parts, given)
        return await self._calls().stream("SendStreamingMessage", request, options)

    async def subscribe(self, task: Task | str, **caller: Unpack[Caller]) -> AsyncStream:
        """See ``A2AClient.subscribe``."""
        return await self._calls().stream("SubscribeToTask", _id(task), self._options.but(**caller))

    async def get(self, task: Task | str, *, history_length: int | None = None, **caller: Unpack[Caller]) -> Task:
        """See ``A2AClient.get``."""
        request = _id(task) | ({} if history_length is None else {"historyLength": history_length})
        return await self._calls().task("GetTask", request, self._options.but(**caller))

    async def list(self, *, caller: Caller | None = None, **filters: Any) -> list[Task]:
        """See ``A2AClient.list``."""
        return await self._calls().list(filters, self._options.but(**(caller or {})))

    async def cancel(self, task: Task | str, **caller: Unpack[Caller]) -> Task:
        """See ``A2AClient.cancel``."""
        return await self._calls().task("CancelTask", _id(task), self._options.but(**caller))

    async def wait(self, task: Task | str, state: str = "", **caller: Unpack[Caller]) -> Task:
        """See ``A2AClient.wait``."""
        return await self._calls().rest(task, state, self._options.but(**caller))

    async def add_webhook(self, task: Task | str, receiver: FakeReceiver, **caller: Unpack[Caller]) -> Wire:
        """See ``A2AClient.add_webhook``."""
        request = {**self._calls().receiver(receiver), "taskId": _id(task)["id"]}
        options = self._options.but(**caller)
        return await self._calls().call("CreateTaskPushNotificationConfig", request, options)

    async def retry_pushes(self) -> None:
        """See ``A2AClient.retry_pushes``."""
        await self._calls().retry_pushes()

    async def call(self, operation: str, request: Wire | None = None, **caller: Unpack[Caller]) -> Wire:
        """See ``A2AClient.call``."""
        return await self._calls().call(operation, request or {}, self._options.but(**caller))

    async def card(self, **caller: Unpack[Caller]) -> Wire:
        """See ``A2AClient.card``."""
        return await self._calls().card(self._options.but(**caller))


def _id(task: Task | str) -> Wire:
    return {"id": task if isinstance(task, str) else task.id}
