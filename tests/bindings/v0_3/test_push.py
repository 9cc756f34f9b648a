"""What webhooks of both versions are told of the same task (D-12)."""

from __future__ import annotations

import json

import pytest
from a2a.compat.v0_3 import types
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.utils import timezone

from a2a_django.models import EventKind, PushConfig, PushCursor, Task, TaskEvent
from a2a_django.push import older
from a2a_django.push.request import body_of
from a2a_django.push.statements import Delivery, Lost
from tests.bindings.conftest import envelope, rpc
from tests.bindings.v0_3.conftest import call, say, texts
from tests.push.conftest import quick, receiver
from tests.push.kit import Told, at_rest, config, until
from tests.push.receiver import Receiver

__all__ = ["quick", "receiver"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spec("A")]


@pytest.mark.usefixtures("agent", "quick")
async def test_each_is_told_in_its_own_form(client: AsyncClient, receiver: Receiver) -> None:
    old, new = receiver.hook(), receiver.hook()
    given = {"url": old.url, "token": "tok", "authentication": {"schemes": ["Bearer"], "credentials": "cred"}}
    configuration = {"blocking": True, "pushNotificationConfig": given}
    task = await call(client, "message/send", {"message": say("ask"), "configuration": configuration})
    request = {"taskId": task["id"], "url": new.url}
    await rpc(client, envelope("CreateTaskPushNotificationConfig", request))
    ended = await call(client, "message/send", {"message": say("pieces a b c", taskId=task["id"])})
    assert ended["status"]["state"] == "completed"
    await sync_to_async(until)(lambda: all(at_rest(row) for row in PushConfig.objects.all()))
    for got in old.posts:
        types.Task.model_validate(got.json)
        assert (got.json["kind"], got.json["id"]) == ("task", task["id"])
        assert got.headers["Content-Type"] == "application/json"
        assert got.headers["A2A-Version"] == "0.3"
        assert got.headers["X-A2A-Notification-Token"] == "tok"
        assert got.headers["Authorization"] == "Bearer cred"
    last = old.posts[-1].json
    assert last == ended
    assert texts(last["artifacts"][0]["parts"]) == ["a", "b", "c"]
    # For every change of the status, and not for the pieces.
    assert len(old.posts) == await TaskEvent.objects.filter(kind=EventKind.STATUS).acount()
    assert any("artifactUpdate" in got.json for got in new.posts)
    for got in new.posts:
        assert set(got.json) <= {"statusUpdate", "artifactUpdate", "task"}
        assert got.headers["A2A-Version"] == "1.0"


def old_config(url: str) -> PushConfig:
    made = config(url)
    made.protocol_version = "0.3"
    return made


@pytest.mark.usefixtures("quick")
def test_pieces_do_not_wake_it(receiver: Receiver) -> None:
    hook, other = receiver.hook(), receiver.hook()
    told = Told(other.url)
    made = told.put(old_config(hook.url))
    told.say_all([f"c{number}" for number in range(20)])
    until(lambda: len(other.posts) == 20)
    row = PushConfig.objects.get(pk=made.pk)
    assert (row.due_at, row.queued_seq) == (None, 0)
    told.move("WORKING")
    told.say_all(["more"])
    told.move("COMPLETED")
    until(lambda: at_rest(made) and PushCursor.objects.get(pk=made.pk).sent_seq == 23)
    assert [post.json["status"]["state"] for post in hook.posts][-1] == "completed"
    assert len(hook.posts) == 2
    assert len(texts(hook.posts[-1].json["artifacts"][0]["parts"])) == 21


@pytest.mark.usefixtures("quick")
def test_what_fails_is_sent_again(receiver: Receiver) -> None:
    hook = receiver.hook(500, 503, 200)
    told = Told()
    made = told.put(old_config(hook.url))
    told.move("COMPLETED")
    until(lambda: at_rest(made) and len(hook.posts) == 3)
    assert {json.dumps(post.json, sort_keys=True) for post in hook.posts} == {
        json.dumps(hook.posts[0].json, sort_keys=True)
    }


@pytest.mark.usefixtures("quick")
def test_without_the_folder_it_is_told_in_the_form_of_1_0(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(older, "_write_task", lambda: None)
    hook = receiver.hook()
    told = Told()
    told.put(old_config(hook.url))
    told.move("COMPLETED")
    (post,) = until(lambda: hook.posts)
    assert post.json["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert post.headers["A2A-Version"] == "1.0"
    assert post.headers["Content-Type"] == "application/a2a+json"


@pytest.mark.usefixtures("quick")
async def test_of_a_task_that_is_no_more_there_is_nothing_to_tell() -> None:
    gone = Task(id="t", context_id="c", agent="tested", owner="alice")
    row = old_config("https://hook.example/")
    row.pk, row.task = 1, gone
    with pytest.raises(Lost):
        await body_of(row, Delivery(1, "{}", timezone.now()))
