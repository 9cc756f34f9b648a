"""The site's access policy over gRPC: the same classes, threads of their own, nothing left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from a2a.types import a2a_pb2
from django.contrib.auth import get_user_model
from django.db import connection
from django.db.backends.signals import connection_created
from google.rpc import error_details_pb2
from rest_framework.permissions import BasePermission
from rest_framework.throttling import BaseThrottle

from a2a_django import Agent
from a2a_django.access import create_api_key
from a2a_django.engine import database
from a2a_django.models import Task
from tests.bindings.conftest import Echo
from tests.bindings.grpc.conftest import Running, ask, refusal

pytestmark = pytest.mark.spec("7.3")

HERE = __name__

DEFAULTS: dict[str, Any] = {}


@pytest.fixture
def keys(transactional_db: None, settings: Any) -> dict[str, str]:
    """Alice's and Bob's keys, on a site with the package's defaults."""
    settings.A2A = DEFAULTS
    users = get_user_model().objects
    return {name: create_api_key(users.create_user(name))[1] for name in ("alice", "bob")}


def bearer(key: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {key}"),)


@pytest.mark.usefixtures("echo")
class TestKeys:
    async def test_they_are_taken_in_either_form_and_also_twice(self, keys: dict[str, str], live: Running) -> None:
        stub = live.stub()
        key = keys["alice"]
        for metadata in (bearer(key), (("x-api-key", key),), bearer(key) * 2):
            task = (await stub.SendMessage(ask("x"), metadata=metadata)).task
            row = await Task.objects.aget(pk=task.id)
            assert row.owner == str((await get_user_model().objects.aget(username="alice")).pk)

    @pytest.mark.parametrize("metadata", [(), bearer("no.such"), bearer(""), (("x_api_key", "x"),)])
    async def test_without_one_nothing_is_served(
        self, keys: dict[str, str], live: Running, metadata: tuple[tuple[str, str], ...]
    ) -> None:
        stub = live.stub()
        for call in (
            stub.SendMessage(ask("x"), metadata=metadata),
            stub.SendStreamingMessage(ask("x"), metadata=metadata),
            stub.GetTask(a2a_pb2.GetTaskRequest(), metadata=metadata),
            # The caller comes before the version and the message (D-14).
            stub.GetTask(a2a_pb2.GetTaskRequest(id="x"), metadata=(*metadata, ("a2a-version", "9.9"))),
            live.raw("GetTask", b"\xff", metadata=metadata),
        ):
            refused = await refusal(call)
            assert (refused.code, refused.reason) == ("UNAUTHENTICATED", "UNAUTHENTICATED")
            assert refused.trailing["www-authenticate"] == "Bearer"
        assert await Task.objects.acount() == 0

    async def test_who_may_not_call_does_not_get_to_send(
        self, keys: dict[str, str], live: Running, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The answer is there although the message never comes."""
        never = asyncio.Event()

        async def messages() -> Any:
            await never.wait()
            yield b""

        call = live.channel().stream_unary("/lf.a2a.v1.A2AService/SendMessage")(messages())
        assert (await refusal(call)).code == "UNAUTHENTICATED"

    @pytest.mark.spec("13.1")
    async def test_tasks_of_others_are_not_there(self, keys: dict[str, str], live: Running) -> None:
        stub = live.stub()
        task = (await stub.SendMessage(ask("ask"), metadata=bearer(keys["alice"]))).task
        bob = bearer(keys["bob"])
        mine, nobodys = a2a_pb2.GetTaskRequest(id=task.id), a2a_pb2.GetTaskRequest(id="no-such-task")
        refusals = [await refusal(stub.GetTask(request, metadata=bob)) for request in (mine, nobodys)]
        assert len({(each.code, each.message, each.status.SerializeToString()) for each in refusals}) == 1
        assert refusals[0].reason == "TASK_NOT_FOUND"
        for call in (
            stub.CancelTask(a2a_pb2.CancelTaskRequest(id=task.id), metadata=bob),
            stub.SubscribeToTask(a2a_pb2.SubscribeToTaskRequest(id=task.id), metadata=bob),
            stub.SendMessage(ask("x", message={"task_id": task.id}), metadata=bob),
        ):
            assert (await refusal(call)).reason == "TASK_NOT_FOUND"
        assert not (await stub.ListTasks(a2a_pb2.ListTasksRequest(), metadata=bob)).tasks


class Nobody(BasePermission):
    message = "Closed today"

    def has_permission(self, request: Any, view: Any) -> bool:
        return False


class Busy(BaseThrottle):
    def allow_request(self, request: Any, view: Any) -> bool:
        return False

    def wait(self) -> float:
        return 6.2


class Broken(BasePermission):
    def has_permission(self, request: Any, view: Any) -> bool:
        raise RuntimeError("secret-7f3a")


@pytest.mark.usefixtures("echo")
class TestPolicy:
    async def test_a_permission_says_no(self, live: Running, settings: Any) -> None:
        settings.A2A = {"AUTHENTICATION_CLASSES": [], "PERMISSION_CLASSES": [f"{HERE}.Nobody"]}
        refused = await refusal(live.stub().SendMessage(ask("x")))
        # Without authenticators REST framework has no challenge to offer, so an anonymous caller is forbidden.
        assert (refused.code, refused.reason) == ("PERMISSION_DENIED", "PERMISSION_DENIED")

    async def test_a_throttle_says_later(self, live: Running, settings: Any) -> None:
        settings.A2A = {**settings.A2A, "THROTTLE_CLASSES": [f"{HERE}.Busy"]}
        refused = await refusal(live.stub().SendMessage(ask("x")))
        assert refused.code == "RESOURCE_EXHAUSTED"
        assert refused.detail(error_details_pb2.RetryInfo).retry_delay.seconds == 7

    async def test_a_permission_that_fails_lets_nobody_in(self, live: Running, settings: Any) -> None:
        settings.A2A = {**settings.A2A, "PERMISSION_CLASSES": [f"{HERE}.Broken"]}
        refused = await refusal(live.stub().SendMessage(ask("x")))
        assert (refused.code, refused.message) == ("INTERNAL", "Internal error")

    async def test_an_agent_has_permissions_of_its_own(
        self, live: Running, register: Callable[[Agent], Agent], settings: Any
    ) -> None:
        class Closed(Echo):
            permissions = [Nobody]

        register(Closed())
        settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "echo"}
        stub = live.stub()
        assert (await stub.SendMessage(ask("x"))).task.artifacts
        assert (await refusal(stub.SendMessage(ask("x", tenant="closed")))).code == "UNAUTHENTICATED"


CALLERS = 40


class Meeting(BasePermission):
    """Asks the database, then waits until all callers are here at the same time."""

    barrier: ClassVar[threading.Barrier]
    threads: ClassVar[set[str]]

    def has_permission(self, request: Any, view: Any) -> bool:
        get_user_model().objects.exists()
        self.threads.add(threading.current_thread().name)
        self.barrier.wait(20)
        return True


@pytest.fixture
def opened() -> Iterator[list[Any]]:
    """The connections that are opened while the test runs."""
    found: list[Any] = []

    def note(connection: Any, **kwargs: Any) -> None:
        found.append(connection)

    connection_created.connect(note)
    yield found
    connection_created.disconnect(note)


@pytest.mark.usefixtures("echo")
class TestThreads:
    async def test_slow_permissions_run_beside_one_another_and_leave_no_connection(
        self, live: Running, settings: Any, monkeypatch: pytest.MonkeyPatch, opened: list[Any]
    ) -> None:
        monkeypatch.setattr(database, "IDLE_SECONDS", 0.1)
        Meeting.barrier, Meeting.threads = threading.Barrier(CALLERS), set()
        settings.A2A = {**settings.A2A, "PERMISSION_CLASSES": [f"{HERE}.Meeting"], "AGENT_THREADS": CALLERS}
        stub = live.stub()
        calls = [stub.ListTasks(a2a_pb2.ListTasksRequest()) for _ in range(CALLERS)]
        pages = await asyncio.gather(*calls)
        assert len(pages) == CALLERS
        assert Meeting.threads == {"a2a-access"}
        mine = [each for each in opened if each.alias == connection.alias]
        assert len(mine) >= CALLERS
        async with asyncio.timeout(20):
            while any(each.connection is not None for each in mine):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.02)

    async def test_there_are_no_more_threads_than_allowed(
        self, live: Running, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Meeting.barrier, Meeting.threads = threading.Barrier(1), set()
        seen: set[int] = set()
        monkeypatch.setattr(Meeting.barrier, "wait", lambda timeout: seen.add(threading.get_ident()))
        settings.A2A = {**settings.A2A, "PERMISSION_CLASSES": [f"{HERE}.Meeting"], "AGENT_THREADS": 3}
        stub = live.stub()
        await asyncio.gather(*(stub.ListTasks(a2a_pb2.ListTasksRequest()) for _ in range(50)))
        assert 1 <= len(seen) <= 3
