"""One call, three bindings: the doors of a site as generated tests see them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import grpc
import pytest
from a2a.types import a2a_pb2
from google.protobuf import json_format
from google.rpc import error_details_pb2

from a2a_django.operations import OPERATIONS
from a2a_django.testing.bindings import PATHS
from tests.bindings.asgi import AsgiCall
from tests.bindings.carriers import CARRIERS
from tests.bindings.conftest import VERSION, envelope
from tests.bindings.grpc.conftest import Refusal, Running, serve

__all__ = ["Door", "Outcome", "door", "serve"]


@dataclass
class Outcome:
    """What came of a call: ``value`` is its answer, of a stream the first event; ``reason`` says why there is none."""

    status: Any
    value: Any = None
    reason: str = ""
    fields: list[str] = field(default_factory=list)
    retry: int | None = None
    extensions: str = ""
    stream: Any = None

    @property
    def task(self) -> dict[str, Any]:
        """The task that a message went to."""
        found: dict[str, Any] = self.value["task"]
        return found


class Door:
    """A site, called over one binding: an ASGI application, or a gRPC server."""

    def __init__(self, name: str, application: Any = None, live: Running | None = None) -> None:
        self.name = name
        self.application = application
        self.live = live

    async def call(
        self,
        operation: str,
        request: Mapping[str, Any] | None = None,
        *,
        path_tenant: str = "",
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        keep: bool = False,
    ) -> Outcome:
        """Carry out an operation; ``keep``: leave its stream open, it is in the outcome."""
        sent = VERSION | dict(headers or {})
        wire = dict(request or {})
        if self.name == "GRPC":
            return await self._grpc(operation, wire, sent, keep)
        call = self._http_call(operation, wire, path_tenant, dict(query or {}), sent)
        await call.__aenter__()
        found = await self._read(call)
        if keep and found.stream is not None:
            return found
        await call.leave()
        found.stream = None
        return found

    def _http_call(
        self, operation: str, wire: dict[str, Any], tenant: str, query: dict[str, str], sent: dict[str, str]
    ) -> AsgiCall:
        if self.name == "JSONRPC":
            body = envelope(operation, wire).encode()
            return AsgiCall(self.application, "POST", "/a2a/", body=body, headers=sent, query=urlencode(query))
        verb, path = PATHS[operation]
        for name in ("id", "taskId"):
            if "{" + name + "}" in path:
                path = path.replace("{" + name + "}", wire.pop(name))
        body = b""
        if verb == "POST":
            body = json.dumps(wire).encode()
        else:
            query |= {name: value if isinstance(value, str) else json.dumps(value) for name, value in wire.items()}
        path = (f"/a2a/{tenant}" if tenant else "/a2a") + path
        return AsgiCall(
            self.application, verb, path, body=body, headers=sent, query=urlencode(query), raw_path=quote(path)
        )

    async def _read(self, call: AsgiCall) -> Outcome:
        status, headers = await call.head()
        found = Outcome(status, extensions=headers.get("a2a-extensions", ""))
        if headers.get("content-type") == "text/event-stream":
            block = (await call.chunk()).decode("ascii")
            body = json.loads(block.split("\n\n")[0].partition("data: ")[2])
            found.value, found.stream = body.get("result", body), call
            return found
        content = await call.body()
        body: Any = json.loads(content) if content else {}
        error = body.get("error")
        if error is None:
            found.value = body["result"] if self.name == "JSONRPC" else body
            return found
        details = error.get("data") or error.get("details")
        found.reason = details[0]["reason"]
        found.fields = [each["field"] for part in details for each in part.get("fieldViolations", ())]
        retries = [part["retryDelay"] for part in details if "retryDelay" in part]
        if retries:
            found.retry = int(retries[0].removesuffix("s"))
            assert headers["retry-after"] == str(found.retry)
        return found

    async def _grpc(self, operation: str, wire: dict[str, Any], sent: dict[str, str], keep: bool) -> Outcome:
        assert self.live is not None
        request = json_format.ParseDict(wire, getattr(a2a_pb2, OPERATIONS[operation].request)())
        metadata = tuple((name.lower(), value) for name, value in sent.items())
        call = getattr(self.live.stub(), operation)(request, metadata=metadata)
        try:
            answer = await (anext(aiter(call)) if OPERATIONS[operation].streaming else call)
        except grpc.aio.AioRpcError as error:
            refusal = Refusal(error)
            info = refusal.detail(error_details_pb2.RetryInfo)
            retry = info.retry_delay.seconds if info else None
            return Outcome(refusal.code, reason=refusal.reason, fields=refusal.fields, retry=retry)
        echoed = dict(await call.initial_metadata() or ())
        found = Outcome("OK", json_format.MessageToDict(answer), extensions=str(echoed.get("a2a-extensions", "")))
        if OPERATIONS[operation].streaming:
            if keep:
                found.stream = call
            else:
                call.cancel()
        return found

    async def leave(self, outcome: Outcome) -> None:
        """Close a stream that was kept open."""
        if self.name == "GRPC":
            outcome.stream.cancel()
        else:
            await outcome.stream.leave()


@pytest.fixture(params=["views JSONRPC", "views HTTP+JSON", "consumers JSONRPC", "consumers HTTP+JSON", "GRPC"])
async def door(request: pytest.FixtureRequest, serve: Callable[..., Awaitable[Running]]) -> Door:
    """Each binding on each of its carriers."""
    carrier, _, name = request.param.rpartition(" ")
    if not carrier:
        return Door(name, live=await serve())
    return Door(name, CARRIERS[carrier]().application())
