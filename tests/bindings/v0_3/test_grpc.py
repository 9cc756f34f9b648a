"""What the gRPC service of 0.3 has beside the operations: frames that are none, errors, the tools' services."""

from __future__ import annotations

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from a2a_django.bindings.v0_3.grpc import METHODS
from a2a_django.models import Task
from tests.bindings.grpc.conftest import Running, live, refusal, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("agent"), pytest.mark.spec("A")]

__all__ = ["live", "serve"]

PATH = "/a2a.v1.A2AService/"


def test_all_methods_of_the_proto_are_there() -> None:
    assert {path.removeprefix(PATH) for path in METHODS} == {
        "SendMessage",
        "SendStreamingMessage",
        "GetTask",
        "CancelTask",
        "TaskSubscription",
        "CreateTaskPushNotificationConfig",
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfig",
        "GetAgentCard",
        "DeleteTaskPushNotificationConfig",
    }


@pytest.mark.parametrize("path", sorted(METHODS))
async def test_frames_that_are_no_message(live: Running, path: str) -> None:
    kind = "unary_stream" if METHODS[path].operation.streaming else "unary_unary"
    refused = await refusal(getattr(live.channel(), kind)(path)(b"\xff\xff\xff"))
    assert (refused.code, refused.reason) == ("INVALID_ARGUMENT", "INVALID_REQUEST")
    assert refused.message.startswith("InvalidRequestError: The request is not a a2a.v1.")


@pytest.mark.parametrize("path", sorted(METHODS))
async def test_frames_with_nothing_in_them(live: Running, path: str) -> None:
    kind = "unary_stream" if METHODS[path].operation.streaming else "unary_unary"
    refused = await refusal(getattr(live.channel(), kind)(path)(b""))
    wanted = "UNAUTHENTICATED" if path.endswith("GetAgentCard") else "INVALID_PARAMS"
    assert refused.reason == wanted
    assert await Task.objects.acount() == 0


async def test_a_name_that_is_none(live: Running) -> None:
    refused = await refusal(live.raw("GetTask", b"\x0a\x05tasks", path=PATH))
    assert (refused.code, refused.fields) == ("INVALID_ARGUMENT", ["name"])
    assert refused.message == "InvalidParamsError: Invalid parameters: name: must be tasks/{id}"


async def test_a_message_is_not_taken_for_one_of_the_other_version(live: Running) -> None:
    """In 1.0 the message has number 2, which here is the configuration."""
    from a2a.types import a2a_pb2

    message = a2a_pb2.Message(message_id="m", role="ROLE_USER", parts=[a2a_pb2.Part(text="hi")])
    frame = a2a_pb2.SendMessageRequest(message=message).SerializeToString()
    refused = await refusal(live.raw("SendMessage", frame, path=PATH))
    assert refused.code == "INVALID_ARGUMENT"
    assert await Task.objects.acount() == 0


async def test_the_health_of_the_service(live: Running) -> None:
    stub = health_pb2_grpc.HealthStub(live.channel())
    answer = await stub.Check(health_pb2.HealthCheckRequest(service="a2a.v1.A2AService"))
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
