"""A site's own test cases: inside a rolled-back transaction, without threads, over every binding."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import TestCase, override_settings

from a2a_django.models import Task as Row
from a2a_django.protocol.errors import (
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnauthenticatedError,
)
from a2a_django.testing import A2AClient, A2ATestCase, A2ATestMixin, A2ATransactionTestCase, FakeReceiver
from tests.testing.kit import CLERK, PARROT, SCRIBE

DOORS = [(b, v) for v in ("1.0", "0.3") for b in ("JSONRPC", "HTTP+JSON", "GRPC")]


class Both:
    """What is true of asynchronous and of plain agents, in either kind of test case."""

    a2a_client: A2AClient
    a2a_receiver: FakeReceiver

    def assertEqual(self, one: Any, other: Any) -> None: ...

    def test_an_answer(self) -> None:
        task = self.a2a_client.send("echo one two")
        assert task.state == "completed"
        assert task.text == "onetwo"
        assert task.data == {"said": "one two", "by": ""}
        assert [message.text for message in task.history] == ["echo one two", "Thinking"]
        row = Row.objects.get(pk=task.id)
        assert row.state == "TASK_STATE_COMPLETED"
        assert self.a2a_client.get(task).wire == task.wire

    def test_its_rows_are_seen_and_gone_afterwards(self) -> None:
        Group.objects.create(name="before")
        assert self.a2a_client.send("group after").text == "after of 2"
        assert Group.objects.count() == 2

    test_its_rows_are_seen_and_gone_afterwards_2 = test_its_rows_are_seen_and_gone_afterwards

    def test_a_failed_statement_fails_alone(self) -> None:
        Group.objects.create(name="there")
        task = self.a2a_client.send("twice there")
        assert (task.state, task.text) == ("completed", "There is one.")
        assert Group.objects.count() == 1

    def test_a_failure(self) -> None:
        task = self.a2a_client.send("fail badly")
        assert task.state == "failed"
        assert isinstance(task.exception, ZeroDivisionError)
        assert "badly" in repr(task)
        assert task.message is not None
        assert task.message.text == "The agent could not finish the task."

    def test_turns(self) -> None:
        asked = self.a2a_client.send("ask")
        assert (asked.state, asked.text) == ("input_required", "Which colour?")
        done = self.a2a_client.send("blue", task=asked)
        assert done.id == asked.id
        assert done.text == "Blue it is, after 3 messages and 2 before."
        other = self.a2a_client.send("blue", context=asked)
        assert other.id != asked.id
        assert other.text == "Blue it is, after 1 messages and 3 before."

    def test_a_stream(self) -> None:
        with self.a2a_client.stream("echo one two") as stream:
            first = stream.next()
            assert first is not None
            assert (first.kind, first.state) == ("task", "submitted")
            events = list(stream)
        assert [event.kind for event in events] == ["status", "artifact", "artifact", "artifact", "status"]
        assert (stream.states, stream.text) == (["working", "completed"], "onetwo")
        assert stream.task.text == "onetwo"
        assert stream.task.state == "completed"

    def test_pushes(self) -> None:
        task = self.a2a_client.send("echo one", push=self.a2a_receiver)
        assert self.a2a_receiver.states == ["working", "completed"]
        assert self.a2a_receiver.text == "one"
        assert {push.task_id for push in self.a2a_receiver.pushes} == {task.id}
        assert not self.a2a_receiver.refused

    def test_a_receiver_that_fails_is_told_again(self) -> None:
        self.a2a_receiver.fail(503, times=2)
        self.a2a_client.send("echo one", push=self.a2a_receiver)
        assert self.a2a_receiver.pushes == []
        self.a2a_client.retry_pushes()
        assert self.a2a_receiver.pushes == []
        self.a2a_client.retry_pushes()
        assert self.a2a_receiver.states == ["working", "completed"]

    def test_every_door(self) -> None:
        for binding, version in DOORS:
            client = A2AClient(agent=self.agent, binding=binding, version=version)
            if (binding, version) == ("GRPC", "0.3"):
                with override_settings(A2A={**OPEN, "DEFAULT_AGENT": self.agent.slug}):
                    self.walk(client, version)
            else:
                self.walk(client, version)

    agent: Any

    def walk(self, client: A2AClient, version: str) -> None:
        receiver = FakeReceiver()
        task = client.send("echo one two", push=receiver)
        assert (task.state, task.text, task.data["said"]) == ("completed", "onetwo", "one two"), task.wire
        assert receiver.pushes[-1].state == "completed"
        stream = client.stream("ask")
        stream.read()
        assert stream.states == ["input_required"]
        assert client.get(stream.task).message.text == "Which colour?"  # type: ignore[union-attr]
        assert client.send("blue", task=stream.task).state == "completed"
        waiting = client.send("ask")
        client.add_webhook(waiting, receiver)
        assert client.cancel(waiting).state == "canceled"
        assert receiver.pushes[-1].state == "canceled"
        try:
            client.cancel(task)
        except TaskNotCancelableError:
            pass
        else:
            raise AssertionError("what has ended cannot be cancelled")
        try:
            client.get("nothing")
        except TaskNotFoundError as error:
            assert "not found" in str(error)
        else:
            raise AssertionError("there is no such task")


OPEN = {"AUTHENTICATION_CLASSES": [], "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}


class ClerkTests(Both, A2ATestCase):
    a2a_agent = agent = CLERK

    def test_a_cancelled_run(self) -> None:
        task = self.a2a_client.send("sleep", wait=False)
        assert task.state == "submitted"
        assert self.a2a_client.wait(task, "working").text == "Zzz"
        with self.a2a_client.subscribe(task) as stream:
            assert self.a2a_client.cancel(task).state == "canceled"
            assert stream.read()[-1].state == "canceled"
        assert Group.objects.get().name == "cancelled"

    def test_waiting_for_the_end(self) -> None:
        task = self.a2a_client.send("tick", wait=False)
        assert self.a2a_client.wait(task).text == "0.1.2."

    def test_a_state_that_passes(self) -> None:
        task = self.a2a_client.send("login")
        assert task.state in ("auth_required", "completed")
        self.a2a_client.wait(task, "auth_required")
        assert self.a2a_client.wait(task, "completed").text == "Thank you."
        with self.assertRaisesRegex(AssertionError, "come to a rest as completed"):
            self.a2a_client.wait(task, "failed")
        with self.assertRaisesRegex(AssertionError, "come to a rest as input_required"):
            self.a2a_client.wait(self.a2a_client.send("ask"), "completed")

    def test_one_that_never_ends_is_named(self) -> None:
        client = A2AClient(agent=CLERK, timeout=2)
        with self.assertRaisesRegex(
            AssertionError, r"Nothing came within 2 s; clerk is at task .*, (working|submitted)"
        ):
            client.send("sleep")


class ClerkTransactionTests(Both, A2ATransactionTestCase):
    a2a_agent = agent = CLERK


class Plain(Both):
    def test_what_is_in_a_transaction_stays_together(self) -> None:
        assert self.a2a_client.send("together").text == "in the transactioncommitted"
        assert set(Group.objects.values_list("name", flat=True)) == {"together", "on commit"}

    def test_what_is_rolled_back_was_never_there(self) -> None:
        task = self.a2a_client.send("together not")
        assert (task.state, task.text) == ("completed", "rolled back")
        assert not Group.objects.exists()


class ScribeTests(Plain, A2ATestCase):
    a2a_agent = agent = SCRIBE


class ScribeTransactionTests(Plain, A2ATransactionTestCase):
    a2a_agent = agent = SCRIBE


class AccessTests(A2ATestMixin, TestCase):
    """Who calls is who the test says, or who the site's authenticators say."""

    a2a_agent = CLERK

    @classmethod
    def setUpTestData(cls) -> None:
        cls.alice = User.objects.create_user("alice")
        cls.bob = User.objects.create_user("bob")

    def setUp(self) -> None:
        override = override_settings(A2A={})
        override.enable()
        self.addCleanup(override.disable)

    def test_users(self) -> None:
        for binding in ("JSONRPC", "HTTP+JSON", "GRPC"):
            alice = A2AClient(self.alice, agent=CLERK, binding=binding)
            task = alice.send("echo hello")
            assert task.data == {"said": "hello", "by": "alice"}
            assert alice.list()[0].id == task.id
            with self.assertRaises(TaskNotFoundError):
                alice.get(task, user=self.bob)
            stranger = A2AClient(agent=CLERK, binding=binding)
            for call in (stranger.send, stranger.stream):
                with self.assertRaisesRegex(UnauthenticatedError, "not provided") as refused:
                    call("echo hello")
                assert "force_login" in "".join(refused.exception.__notes__)

    def test_keys(self) -> None:
        from a2a_django.access import create_api_key

        _, key = create_api_key(self.bob)
        client = A2AClient(agent=CLERK, headers={"Authorization": f"Bearer {key}"})
        assert client.send("echo hello").data["by"] == "bob"
        with self.assertRaisesRegex(UnauthenticatedError, "Invalid API key"):
            client.send("echo hello", headers={"Authorization": f"Bearer {key[:-4]}abcd"})

    def test_login(self) -> None:
        self.a2a_client.force_login(self.bob)
        assert self.a2a_client.send("echo hello").data["by"] == "bob"

    def test_errors_name_the_field(self) -> None:
        with self.assertRaisesRegex(InvalidParamsError, "tenant: unknown"):
            self.a2a_client.send("hello", agent="nobody", user=self.bob)

    def test_settings_are_the_tests_own(self) -> None:
        client = A2AClient(self.bob, agent=CLERK)
        with self.settings(A2A={"MAX_PARTS": 1}), self.assertRaisesRegex(InvalidParamsError, "at most 1 parts"):
            client.send("echo", "hello")
        assert client.send("echo ", "hello").state == "completed"

    def test_an_agent_without_a_task(self) -> None:
        client = A2AClient(self.bob, agent=PARROT)
        answer = client.ask("hello")
        assert (answer.role, answer.text) == ("agent", "HELLO")
        with self.assertRaisesRegex(AssertionError, "without a task"):
            client.send("hello")
        with self.assertRaisesRegex(AssertionError, "has made a task"):
            client.ask("echo x", agent=CLERK)
        stream = client.stream("hello")
        stream.read()
        assert stream.message.text == "HELLO"

    def test_cards(self) -> None:
        assert self.a2a_client.card()["name"] == "Clerk"


class StandingTests(A2ATestCase):
    """What else the test relies on."""

    a2a_agent = CLERK

    def test_the_connection_is_the_tests(self) -> None:
        assert connection.in_atomic_block
        before = connection.connection
        self.a2a_client.send("group one")
        assert connection.connection is before
        assert connection.in_atomic_block

    def test_djangos_own_client_is_told_why_not(self) -> None:
        self.a2a_client.send("echo one")
        body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {"tenant": "clerk"}}
        with self.assertRaisesRegex(RuntimeError, "use its A2AClient"):
            self.client.post("/a2a/", body, content_type="application/json")

    def test_signed_pushes(self) -> None:
        from tests.keys import pem

        signed = {
            **OPEN,
            "BASE_URL": "https://shop.test",
            "SIGNING_KEYS": [pem()],
            "WEBHOOK_SIGNATURES": ["jwt", "hmac"],
        }
        receiver = FakeReceiver()
        with self.settings(A2A=signed):
            self.a2a_client.send("echo one", push=receiver)
            assert receiver.states == ["working", "completed"]
            assert {"a2a-notification-jwt", "a2a-notification-signature"} <= receiver.pushes[0].headers.keys()
            receiver.token = "another"
            self.a2a_client.send("echo one", push=FakeReceiver(url=receiver.url + "/2"))
            waiting = self.a2a_client.send("ask", push=receiver)
            receiver.token = "a third"
            self.a2a_client.cancel(waiting)
        assert [str(error) for error in receiver.refused] == ["The request has another token"]


class AsyncTests(A2ATestCase):
    """Asynchronous methods of a test case."""

    a2a_agent = CLERK

    async def test_an_answer(self) -> None:
        await Group.objects.acreate(name="before")
        task = await self.async_a2a_client.send("group after")
        assert task.text == "after of 2"
        assert await Group.objects.acount() == 2

    test_an_answer_again = test_an_answer

    async def test_a_plain_agent(self) -> None:
        task = await self.async_a2a_client.send("together", agent=SCRIBE)
        assert task.text == "in the transactioncommitted"
        assert await Group.objects.acount() == 2

    async def test_a_stream_and_pushes(self) -> None:
        async with await self.async_a2a_client.stream("tick", push=self.a2a_receiver) as stream:
            found = [event.text async for event in stream]
        assert found == ["", "0.", "1.", "2.", ""]
        assert self.a2a_receiver.text == "0.1.2."

    async def test_a_cancelled_run(self) -> None:
        client = self.async_a2a_client
        task = await client.send("sleep", wait=False)
        await client.wait(task, "working")
        assert (await client.cancel(task)).state == "canceled"
        assert await Group.objects.acount() == 1

    async def test_one_that_is_left(self) -> None:
        task = await self.async_a2a_client.send("sleep", wait=False)
        assert (await self.async_a2a_client.get(task)).state in ("submitted", "working")

    async def test_the_other_client_is_told(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "asynchronous test"):
            self.a2a_client.send("echo one")
