"""One trace from the client's call over the run to the webhook, with the SDK of OpenTelemetry."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode

from a2a_django import Agent, engine, telemetry
from a2a_django.agents import SyncTaskContext, TaskContext
from a2a_django.models import Task
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import VERSION
from tests.engine.kit import made_of, when
from tests.live import ROOT
from tests.push.receiver import Receiver
from tests.telemetry.conftest import Watched

pytestmark = pytest.mark.django_db(transaction=True)

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"

Register = Callable[[Agent], Agent]


def rpc(method: str, text: str = "hi", **more: Any) -> dict[str, Any]:
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message, **more}}


async def post(carrier: Carrier, body: dict[str, Any], **headers: str) -> Any:
    return await carrier.client().post(
        "/a2a/", json.dumps(body), content_type="application/json", headers={**VERSION, **headers}
    )


async def test_a_call_its_run_and_what_the_agent_does_are_one_trace(
    carrier: Carrier, register: Register, watched: Watched
) -> None:
    async def run(ctx: TaskContext) -> AsyncIterator[str]:
        with trace.get_tracer("the site").start_as_current_span("model"):
            yield "done"

    register(made_of(run))
    await post(carrier, rpc("SendMessage"), traceparent=PARENT)
    done = await watched.span("run tested")
    spans = watched.spans()
    call, model = spans["a2a SendMessage"], spans["model"]
    assert call.kind is SpanKind.SERVER
    assert {f"{span.context.trace_id:032x}" for span in spans.values()} == {TRACE}
    assert f"{call.parent.span_id:016x}" == "00f067aa0ba902b7"
    assert done.parent.span_id == call.context.span_id
    assert model.parent.span_id == done.context.span_id
    assert call.attributes["a2a.binding"] == "JSONRPC"
    assert done.attributes["a2a.state"] == "TASK_STATE_COMPLETED"
    assert done.attributes["a2a.task.id"] == (await Task.objects.aget()).pk
    (point,) = [one for one in watched.points("a2a.run.duration") if one.attributes["a2a.agent"] == "tested"][:1]
    assert point.attributes["a2a.state"] == "TASK_STATE_COMPLETED"


async def test_inside_the_sites_own_span(carrier: Carrier, register: Register, watched: Watched) -> None:
    register(made_of(nothing))
    if carrier.name == "consumers":
        pytest.skip("a test client hands its context to views only")
    with trace.get_tracer("the site").start_as_current_span("request") as around:
        await post(carrier, rpc("SendMessage"), traceparent=PARENT)
    call = await watched.span("a2a SendMessage")
    assert call.parent.span_id == around.get_span_context().span_id


async def test_a_plain_agent_has_the_run_for_its_current_span(
    carrier: Carrier, register: Register, watched: Watched
) -> None:
    def run(ctx: SyncTaskContext) -> str:
        with trace.get_tracer("the site").start_as_current_span("query"):
            return "done"

    register(made_of(run))
    await post(carrier, rpc("SendMessage"))
    done = await watched.span("run tested")
    assert watched.spans()["query"].parent.span_id == done.context.span_id


async def test_a_run_that_fails(carrier: Carrier, register: Register, watched: Watched) -> None:
    async def run(ctx: TaskContext) -> None:
        raise LookupError("secret")

    register(made_of(run))
    await post(carrier, rpc("SendMessage"))
    broken = await watched.span("run tested")
    assert broken.status.status_code is StatusCode.ERROR
    assert broken.attributes["error.type"] == "LookupError"
    assert broken.events[0].name == "exception"
    assert watched.spans()["a2a SendMessage"].status.status_code is StatusCode.UNSET


async def test_a_call_that_is_refused(carrier: Carrier, register: Register, watched: Watched) -> None:
    register(made_of(nothing))
    body = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "nobody"}}
    await post(carrier, body)
    call = watched.spans()["a2a GetTask"]
    assert call.status.status_code is StatusCode.ERROR
    assert call.attributes["error.type"] == "TASK_NOT_FOUND"


@pytest.mark.parametrize(
    ("method", "operation"),
    [
        ("tasks/get", "GetTask"),
        ("tasks/cancel", "CancelTask"),
        ("tasks/resubscribe", "SubscribeToTask"),
        ("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"),
        ("tasks/pushNotificationConfig/get", "ListTaskPushNotificationConfigs"),
        ("tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"),
        ("tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig"),
        ("agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"),
    ],
)
async def test_every_method_of_0_3_is_seen(
    carrier: Carrier, register: Register, watched: Watched, method: str, operation: str
) -> None:
    register(made_of(nothing, push_notifications=True, extended_agent_card=True))
    params = {
        "id": "nobody",
        "taskId": "nobody",
        "pushNotificationConfigId": "one",
        "pushNotificationConfig": {"url": "https://example.com/"},
    }
    wanted = {"tasks/pushNotificationConfig/set": ("taskId", "pushNotificationConfig")}.get(method, ("id",))
    if method.endswith("/delete"):
        wanted = ("id", "pushNotificationConfigId")
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {name: params[name] for name in wanted}}
    await carrier.client().post("/a2a/", json.dumps(body), content_type="application/json")
    call = watched.spans()[f"a2a {operation}"]
    assert call.attributes["a2a.version"] == "0.3"
    assert call.status.status_code is StatusCode.ERROR


async def test_a_stream_is_a_span_to_its_end(carrier: Carrier, register: Register, watched: Watched) -> None:
    async def run(ctx: TaskContext) -> AsyncIterator[str]:
        assert "a2a SendStreamingMessage" not in watched.spans()
        yield "one"

    register(made_of(run))
    response = await post(carrier, rpc("SendStreamingMessage"))
    text = b"".join([part async for part in response.streaming_content]).decode()
    assert "TASK_STATE_COMPLETED" in text
    call, done = await watched.span("a2a SendStreamingMessage"), await watched.span("run tested")
    assert call.end_time >= done.start_time
    assert call.attributes["a2a.streaming"] is True
    active = [point.value for point in watched.points("a2a.server.open_calls")]
    assert active
    assert not any(active)


async def test_a_webhook_gets_the_trace(
    carrier: Carrier, register: Register, watched: Watched, receiver: Receiver, quick: Any
) -> None:
    quick(OPENTELEMETRY=True, PUSH_WAIT_SECONDS=30)
    hook = receiver.hook()
    register(made_of(nothing, push_notifications=True))
    await post(
        carrier,
        rpc("SendMessage", configuration={"taskPushNotificationConfig": {"url": hook.url}}),
        traceparent=PARENT,
    )
    await when(lambda: len(hook.states()) == 1)
    engine.shutdown()  # whatever is under way is over then
    sent = [span for span in watched.all() if span.name == "push"]
    assert [span.attributes["http.response.status_code"] for span in sent] == [200] * len(hook.posts)
    assert {f"{span.context.trace_id:032x}" for span in sent} == {TRACE}
    headers = {post.headers["traceparent"] for post in hook.posts}
    assert headers == {f"00-{TRACE}-{span.context.span_id:016x}-01" for span in sent}


async def test_nobody_watches_by_default(carrier: Carrier, register: Register, unwatched: Watched) -> None:
    register(made_of(nothing))
    await post(carrier, rpc("SendMessage"))
    await when(lambda: not engine.get().runner.attempts())
    assert telemetry.observer() is None
    assert not unwatched.all()


def test_without_the_package_it_is_not_even_looked_for() -> None:
    code = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "import django; from django.conf import settings\n"
        "settings.configure(A2A={'OPENTELEMETRY': len(sys.argv) > 1})\n"
        "from a2a_django import telemetry; print(telemetry.observer())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "None\n", done.stderr
    done = subprocess.run([sys.executable, "-c", code, "on"], cwd=ROOT, capture_output=True, text=True)
    assert ImproperlyConfigured.__name__ in done.stderr
    assert "a2a-django[otel]" in done.stderr


async def nothing(ctx: TaskContext) -> None:
    """Complete at once."""
