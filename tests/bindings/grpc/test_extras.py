"""Health and reflection, with their packages and without."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tests.bindings.grpc.conftest import Running, refusal

SERVICE = "lf.a2a.v1.A2AService"
OLD_SERVICE = "a2a.v1.A2AService"
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING

pytestmark = pytest.mark.usefixtures("echo")


@pytest.mark.parametrize("service", ["", SERVICE])
async def test_health(live: Running, service: str) -> None:
    stub = health_pb2_grpc.HealthStub(live.channel())
    assert (await stub.Check(health_pb2.HealthCheckRequest(service=service))).status == SERVING
    assert (await refusal(stub.Check(health_pb2.HealthCheckRequest(service="no.such")))).code == "NOT_FOUND"


async def test_whoever_watches_hears_of_the_end_and_does_not_hold_it_up(live: Running) -> None:
    stub = health_pb2_grpc.HealthStub(live.channel())
    watch = aiter(stub.Watch(health_pb2.HealthCheckRequest(service=SERVICE)))
    assert (await anext(watch)).status == SERVING
    async with asyncio.timeout(20):
        draining = asyncio.ensure_future(live.server.drain(3600))
        assert (await anext(watch)).status == NOT_SERVING
        await draining


async def ask_reflection(live: Running, **question: Any) -> Any:
    async def questions() -> Any:
        yield reflection_pb2.ServerReflectionRequest(**question)

    stub = reflection_pb2_grpc.ServerReflectionStub(live.channel())
    return await anext(aiter(stub.ServerReflectionInfo(questions())))


async def test_reflection_lists_the_services(live: Running) -> None:
    answer = await ask_reflection(live, list_services="")
    assert {service.name for service in answer.list_services_response.service} == {
        SERVICE,
        OLD_SERVICE,
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }


@pytest.mark.parametrize("symbol", [SERVICE, OLD_SERVICE, "lf.a2a.v1.Task", "a2a.v1.Task", "grpc.health.v1.Health"])
async def test_reflection_gives_files_that_a_client_can_use(live: Running, symbol: str) -> None:
    answer = await ask_reflection(live, file_containing_symbol=symbol)
    pool = DescriptorPool()
    files = {}
    for data in answer.file_descriptor_response.file_descriptor_proto:
        file = descriptor_pb2.FileDescriptorProto.FromString(data)
        files[file.name] = file

    def add(name: str) -> None:
        if name in files:
            file = files.pop(name)
            for dependency in file.dependency:
                add(dependency)
            pool.Add(file)

    for name in list(files):
        add(name)
    assert pool.FindFileContainingSymbol(symbol)
    if symbol == SERVICE:
        method = pool.FindServiceByName(SERVICE).FindMethodByName("GetTask")
        assert GetMessageClass(method.input_type)(id="t").SerializeToString() == b"\x12\x01t"


async def test_reflection_of_what_is_not_there(live: Running) -> None:
    for question in ({"file_containing_symbol": "no.such.Thing"}, {"file_by_filename": "no/such.proto"}):
        assert (await ask_reflection(live, **question)).error_response.error_code == 5


async def test_a_server_without_both(serve: Any) -> None:
    live = await serve(health=False, reflection=False)
    stub = health_pb2_grpc.HealthStub(live.channel())
    assert (await refusal(stub.Check(health_pb2.HealthCheckRequest()))).code == "UNIMPLEMENTED"


@pytest.mark.parametrize(
    ("module", "package", "switch"),
    [
        ("grpc_health.v1", "grpcio-health-checking", "--no-health"),
        ("grpc_reflection.v1alpha", "grpcio-reflection", "--no-reflection"),
    ],
)
async def test_a_package_that_is_missing(
    serve: Any, monkeypatch: pytest.MonkeyPatch, module: str, package: str, switch: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImproperlyConfigured) as caught:
        await serve()
    assert package in str(caught.value)
    assert switch in str(caught.value)
    assert "a2a-django[grpc]" in str(caught.value)
