"""The Python SDK's client of version 0.3, driven from outside: run by an interpreter that has it (``clients.py``).

Reads a line of JSON {"url", "path", "binding", "key"}, "path" of the card or null, then one {"id", "call", "arguments"}
for each call. Writes {"id", "event"} for each event of a stream and {"id", "result"} or {"id", "error"} at the end of a
call. What goes in and out has the form of 0.3's JSON schema. Calls run at the same time.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.grpc import a2a_pb2
from a2a.types import (
    AgentCard,
    DeleteTaskPushNotificationConfigParams,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigParams,
    ListTaskPushNotificationConfigParams,
    ListTaskPushNotificationConfigRequest,
    Message,
    MessageSendConfiguration,
    PushNotificationConfig,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
)
from a2a.utils import proto_utils
from google.protobuf import json_format
from pydantic import BaseModel

SECONDS = 30


class Keyed:
    """Sends the key with each call: the SDK's transport for gRPC has no way to do so."""

    def __init__(self, key: str) -> None:
        self._key = key

    def _with_key(self, details: grpc.aio.ClientCallDetails) -> grpc.aio.ClientCallDetails:
        metadata = [*(details.metadata or ()), ("authorization", f"Bearer {self._key}")]
        return details._replace(metadata=grpc.aio.Metadata(*metadata))


class KeyedUnary(Keyed, grpc.aio.UnaryUnaryClientInterceptor):
    async def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        return await continuation(self._with_key(details), request)


class KeyedStream(Keyed, grpc.aio.UnaryStreamClientInterceptor):
    async def intercept_unary_stream(self, continuation: Any, details: Any, request: Any) -> Any:
        return await continuation(self._with_key(details), request)


class Driver:
    """The calls, by their names."""

    def __init__(self, url: str, path: str | None, binding: str, key: str) -> None:
        self.url, self.path, self.binding, self.key = url, path, binding, key
        self.http = httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=SECONDS)
        self.card_read: AgentCard | None = None

    async def _client(self, *, streaming: bool, push: Any = None) -> Client:
        if self.card_read is None:
            self.card_read = await A2ACardResolver(self.http, self.url).get_agent_card(self.path)
        interceptors = [KeyedUnary(self.key), KeyedStream(self.key)]
        config = ClientConfig(
            streaming=streaming,
            httpx_client=self.http,
            grpc_channel_factory=lambda target: grpc.aio.insecure_channel(target, interceptors=interceptors),
            supported_transports=[self.binding],
            # Not with the message: there the client makes a dict of it, which it cannot send over HTTP+JSON and gRPC.
            push_notification_configs=[PushNotificationConfig.model_validate(push)] if push else [],
        )
        return ClientFactory(config).create(self.card_read)

    async def card(self) -> Any:
        async with httpx.AsyncClient(timeout=SECONDS) as http:
            return await A2ACardResolver(http, self.url).get_agent_card(self.path)

    async def extended_card(self) -> Any:
        return await (await self._client(streaming=False)).get_card()

    async def send(self, message: Any, configuration: Any = None) -> Any:
        said, how, push = _message(message, configuration)
        client = await self._client(streaming=False, push=push)
        (answer,) = [each async for each in client.send_message(said, configuration=how)]
        return answer[0] if isinstance(answer, tuple) else answer

    async def stream(self, message: Any, configuration: Any = None) -> AsyncIterator[Any]:
        said, how, push = _message(message, configuration)
        client = await self._client(streaming=True, push=push)
        async for event in client.send_message(said, configuration=how):
            yield _event(event)

    async def resubscribe(self, id: str) -> AsyncIterator[Any]:
        client = await self._client(streaming=True)
        async for event in client.resubscribe(TaskIdParams(id=id)):
            yield _event(event)

    async def get(self, **params: Any) -> Any:
        return await (await self._client(streaming=False)).get_task(TaskQueryParams(**params))

    async def cancel(self, id: str) -> Any:
        return await (await self._client(streaming=False)).cancel_task(TaskIdParams(id=id))

    async def push_set(self, **params: Any) -> Any:
        client = await self._client(streaming=False)
        return await client.set_task_callback(TaskPushNotificationConfig(**params))

    async def push_get(self, **params: Any) -> Any:
        client = await self._client(streaming=False)
        return await client.get_task_callback(GetTaskPushNotificationConfigParams(**params))

    # The client has no calls for the other two; its package has their types, and its stub for gRPC their methods.

    async def push_list(self, id: str) -> Any:
        transport: Any = (await self._client(streaming=False))._transport
        if self.binding == "GRPC":
            request = a2a_pb2.ListTaskPushNotificationConfigRequest(parent=f"tasks/{id}")
            found = await transport.stub.ListTaskPushNotificationConfig(request)
            return [proto_utils.FromProto.task_push_notification_config(each) for each in found.configs]
        if self.binding == "HTTP+JSON":
            answer = await self.http.get(f"{transport.url}/v1/tasks/{id}/pushNotificationConfigs")
            answer.raise_for_status()
            listed = a2a_pb2.ListTaskPushNotificationConfigResponse()
            json_format.ParseDict(answer.json(), listed)
            return [proto_utils.FromProto.task_push_notification_config(each) for each in listed.configs]
        listing = ListTaskPushNotificationConfigRequest(id="1", params=ListTaskPushNotificationConfigParams(id=id))
        return [TaskPushNotificationConfig(**each) for each in await self._rpc(transport.url, listing)]

    async def push_delete(self, id: str, pushNotificationConfigId: str) -> Any:
        transport: Any = (await self._client(streaming=False))._transport
        name = f"tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}"
        if self.binding == "GRPC":
            request = a2a_pb2.DeleteTaskPushNotificationConfigRequest(name=name)
            await transport.stub.DeleteTaskPushNotificationConfig(request)
            return None
        if self.binding == "HTTP+JSON":
            (await self.http.delete(f"{transport.url}/v1/{name}")).raise_for_status()
            return None
        params = DeleteTaskPushNotificationConfigParams(id=id, push_notification_config_id=pushNotificationConfigId)
        return await self._rpc(transport.url, DeleteTaskPushNotificationConfigRequest(id="1", params=params))

    async def _rpc(self, url: str, request: BaseModel) -> Any:
        body = request.model_dump(mode="json", by_alias=True, exclude_none=True)
        answer = (await self.http.post(url, json=body)).json()
        if "error" in answer:
            raise RuntimeError(f"{answer['error']['code']}: {answer['error']['message']}")
        return answer["result"]


def _message(message: Any, configuration: Any) -> tuple[Message, MessageSendConfiguration, Any]:
    how = dict(configuration or {})
    push = how.pop("pushNotificationConfig", None)
    return Message.model_validate(message), MessageSendConfiguration.model_validate(how), push


def _event(event: Any) -> Any:
    """Return what came over the wire: of a pair the update, or the task where there is none."""
    if isinstance(event, tuple):
        task, update = event
        return task if update is None else update
    return event


def plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return [plain(each) for each in value] if isinstance(value, list) else value


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


async def carry_out(driver: Driver, order: dict[str, Any]) -> None:
    number = order["id"]
    try:
        async with asyncio.timeout(SECONDS):
            call = getattr(driver, order["call"])(**order.get("arguments", {}))
            if hasattr(call, "__aiter__"):
                async for event in call:
                    say(id=number, event=plain(event))
                say(id=number, result=None)
            else:
                say(id=number, result=plain(await call))
    except Exception as error:
        say(id=number, error=f"{type(error).__name__}: {error}")


async def main() -> None:
    reader = asyncio.StreamReader(limit=2**24)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    driver = Driver(**json.loads(await reader.readline()))
    running: set[asyncio.Task[None]] = set()
    while line := await reader.readline():
        task = asyncio.create_task(carry_out(driver, json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)


asyncio.run(main())
