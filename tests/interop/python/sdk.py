"""The Python SDK's own client, made the way its documentation says, and what the tests need around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import grpc
import httpx
from a2a.client import (
    A2ACardResolver,
    AuthInterceptor,
    Client,
    ClientCallContext,
    ClientCallInterceptor,
    ClientConfig,
    ClientFactory,
    CredentialService,
)
from a2a.client.interceptors import AfterArgs, BeforeArgs
from a2a.client.service_parameters import ServiceParametersFactory, with_a2a_extensions
from a2a.helpers import new_message, new_text_part
from a2a.types import (
    AgentCard,
    Artifact,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)

from tests.interop.live_site import Live

#: For single calls and for whole streams: a hanging server is a failed test and not a hanging run.
SECONDS = 30

Edit = Callable[[AgentCard], None]
Rewrite = Callable[[bytes], bytes]


class Key(CredentialService):
    """The API key of one user, whatever the card calls the scheme."""

    def __init__(self, key: str) -> None:
        self._key = key

    async def get_credentials(self, security_scheme_name: str, context: ClientCallContext | None) -> str | None:
        return self._key


class Limited(ClientCallInterceptor):
    """Gives each call its time; gRPC has no limit of its own."""

    async def before(self, args: BeforeArgs) -> None:
        args.context = args.context or ClientCallContext()
        args.context.timeout = args.context.timeout or SECONDS

    async def after(self, args: AfterArgs) -> None:
        pass


class Rewriting(httpx.AsyncHTTPTransport):
    """Changes the body of HTTP requests on its way out, for requests that the client would never write by itself."""

    def __init__(self, rewrite: Rewrite) -> None:
        super().__init__()
        self._rewrite = rewrite

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        if not body:
            return await super().handle_async_request(request)
        body = self._rewrite(body)
        headers = {name: value for name, value in request.headers.items() if name != "content-length"}
        return await super().handle_async_request(
            httpx.Request(request.method, request.url, headers=headers, content=body, extensions=request.extensions)
        )


@dataclass(frozen=True)
class Connection:
    """A client of the SDK with the HTTP client and the gRPC channels below it."""

    client: Client
    card: AgentCard
    http: httpx.AsyncClient
    channels: list[grpc.aio.Channel] = field(default_factory=list)

    async def drop(self) -> None:
        """Close all connections, as a client does that loses its network in the middle of a stream."""
        await self.http.aclose()
        for channel in self.channels:
            await channel.close()


class Connect(Protocol):
    """What the fixture ``connect`` gives: ``connected`` for the binding of the test."""

    async def __call__(self, variant: str = "main", **options: Any) -> Connection: ...


@asynccontextmanager
async def connected(
    live: Live,
    variant: str,
    binding: str,
    *,
    user: str | None = "alice",
    tenant: str = "",
    edit: Edit | None = None,
    rewrite: Rewrite | None = None,
    **config: Any,
) -> AsyncIterator[Connection]:
    """Resolve the card of a variant and make a client from it that speaks the binding.

    ``user`` is whose key the client sends (another name is a key that nobody has; None: no key); ``tenant`` the agent
    whose card it is, nothing for the default one; ``edit`` changes the card that the client goes by, for calls that a
    client with the true card would not make; ``rewrite`` changes every request body that is not empty; ``config`` goes
    to ``ClientConfig``.
    """
    async with httpx.AsyncClient(timeout=SECONDS, transport=Rewriting(rewrite) if rewrite else None) as http:
        path = f"/a2a/{tenant}/.well-known/agent-card.json" if tenant else None
        card = await A2ACardResolver(http, live.urls[variant]).get_agent_card(path)
        if edit is not None:
            edit(card)
        channels: list[grpc.aio.Channel] = []

        def channel_to(target: str) -> grpc.aio.Channel:
            channels.append(grpc.aio.insecure_channel(target))
            return channels[-1]

        config = {"httpx_client": http, "grpc_channel_factory": channel_to, **config}
        factory = ClientFactory(ClientConfig(supported_protocol_bindings=[binding], **config))
        key = [AuthInterceptor(Key(live.keys.get(user, user)))] if user else []
        connection = Connection(factory.create(card, [Limited(), *key]), card, http, channels)
        try:
            yield connection
        finally:
            await connection.drop()


def request(
    *parts: str | Part, task: Task | None = None, history: int | None = None, **configuration: Any
) -> SendMessageRequest:
    """Return a request with one message of the user: a text for each string, other parts as they are.

    ``task`` is the task that the message goes on with; ``history`` is the history length asked for.
    """
    message = new_message(
        [new_text_part(part) if isinstance(part, str) else part for part in parts],
        role=Role.ROLE_USER,
        task_id=task.id if task else None,
        context_id=task.context_id if task else None,
    )
    if history is not None:
        configuration["history_length"] = history
    return SendMessageRequest(message=message, configuration=SendMessageConfiguration(**configuration))


def extensions(*uris: str) -> ClientCallContext:
    """Return a call context that asks for the extensions."""
    return ClientCallContext(service_parameters=ServiceParametersFactory.create([with_a2a_extensions(list(uris))]))


async def collect(stream: AsyncIterator[StreamResponse]) -> list[StreamResponse]:
    """Read a stream to its end."""
    async with asyncio.timeout(SECONDS):
        return [event async for event in stream]


async def one(stream: AsyncIterator[StreamResponse]) -> StreamResponse:
    """Return the only event of a stream."""
    (event,) = await collect(stream)
    return event


async def sent(client: Client, *parts: str | Part, **options: Any) -> Task:
    """Send a message with a client that does not stream and return the task."""
    return (await one(client.send_message(request(*parts, **options)))).task


def kinds(events: Iterable[StreamResponse]) -> list[str]:
    return [str(event.WhichOneof("payload")) for event in events]


def states(events: Iterable[StreamResponse]) -> list[str]:
    """Return the states that the events show, each name without its prefix."""
    found = [event.task.status if event.HasField("task") else event.status_update.status for event in events]
    return [state_of(status.state) for status in found if status.state]


def state_of(state: TaskState) -> str:
    return str(TaskState.Name(state)).removeprefix("TASK_STATE_")


def texts(artifact: Artifact) -> list[str]:
    return [part.text for part in artifact.parts]


def replay(events: Iterable[StreamResponse], known: Task | None = None) -> Task:
    """Return the task that a client knows after the events, which follow on ``known``; a task replaces everything."""
    task = Task()
    if known is not None:
        task.CopyFrom(known)
    for event in events:
        match event.WhichOneof("payload"):
            case "task":
                task.CopyFrom(event.task)
            case "status_update":
                task.status.CopyFrom(event.status_update.status)
            case "artifact_update":
                update = event.artifact_update
                held = next((one for one in task.artifacts if one.artifact_id == update.artifact.artifact_id), None)
                if held is None:
                    task.artifacts.append(update.artifact)
                elif update.append:
                    held.parts.extend(update.artifact.parts)
                else:
                    held.CopyFrom(update.artifact)
    return task
