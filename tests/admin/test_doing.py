"""What operators may do, and what they may not."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.test import Client, RequestFactory

from a2a_django import TaskContext
from a2a_django.admin import details, errands
from a2a_django.agents import registry
from a2a_django.models import Message, PushConfig, PushDelivery, StoredFile, Task
from a2a_django.models.fields import uuid7
from tests.admin.kit import at, made, operator
from tests.engine.kit import WAIT, made_of
from tests.engine.writing import journal, says, status
from tests.push.kit import Told

ALL = ("view_task", "cancel_task", "answer_task", "rerun_task", "delete_task", "change_pushconfig")


pytestmark = pytest.mark.usefixtures("sound_rows")


@pytest.fixture
def site_agent(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """``site_agent(function)``: an agent of the site that runs it."""

    def registered(function: Any, **options: Any) -> Any:
        agent = made_of(function, **options)
        monkeypatch.setitem(registry._agents, agent.slug, agent)
        return agent

    return registered


def waiting_for(condition: Callable[[], Any]) -> Any:
    """Wait until it is true."""
    until = time.monotonic() + WAIT
    while not (found := condition()):
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


def parked(state: str = "INPUT_REQUIRED", **options: Any) -> Task:
    """A task whose run has asked and returned."""
    from a2a_django.engine.jobs import EndRun

    with journal() as (writer, _):
        task = made(writer, **options)
        writer.write(says(task, status(task, state, "which?")))
        writer.write(EndRun(task.pk, 1, writer.holder))
    return Task.objects.get(pk=task.pk)


def ended(state: str = "FAILED", **options: Any) -> Task:
    """A task that has ended."""
    with journal() as (writer, _):
        task = made(writer, {"text": "the first"}, {"data": {"n": 1}}, **options)
        writer.write(says(task, status(task, state)))
    return Task.objects.get(pk=task.pk)


def do(client: Client, task: Task, what: str, **more: Any) -> Any:
    """Press a button."""
    return client.post(at("do", task.pk), {"do": what, **more})


def act(client: Client, action: str, *tasks: Task, **more: Any) -> Any:
    """Choose an action for tasks in the list."""
    data = {"action": action, "_selected_action": [task.pk for task in tasks], "index": "0", **more}
    return client.post(at("changelist"), data, follow=True)


@pytest.mark.parametrize("missing", ["cancel_task", "answer_task", "rerun_task", "change_pushconfig"])
def test_each_thing_needs_its_permission(missing: str) -> None:
    client = operator(*(permission for permission in ALL if permission != missing))
    waits, over = parked(), ended()
    wanted = {
        "cancel": ("cancel_task", waits, {}),
        "answer": ("answer_task", waits, {"text": "this"}),
        "again": ("rerun_task", over, {}),
        "disable": ("change_pushconfig", over, {"config": "1"}),
        "enable": ("change_pushconfig", over, {"config": "1"}),
        "resend": ("change_pushconfig", over, {"config": "1"}),
    }
    for what, (permission, task, more) in wanted.items():
        if permission == missing:
            assert do(client, task, what, **more).status_code == 403, what
    assert Task.objects.get(pk=waits.pk).state == "TASK_STATE_INPUT_REQUIRED"
    assert not LogEntry.objects.exists()
    shown = client.get(at("change", waits.pk)).content.decode()
    assert ('value="cancel"' in shown) is (missing != "cancel_task")
    listed = client.get(at("changelist")).content.decode()
    assert ('value="cancel_selected"' in listed) is (missing != "cancel_task")
    assert ('value="run_again_selected"' in listed) is (missing != "rerun_task")
    assert ('value="resend_selected"' in listed) is (missing != "change_pushconfig")


def test_whoever_may_only_look_gets_no_buttons_and_no_actions() -> None:
    client, task, over = operator("view_task"), parked(), ended()
    for page in (client.get(at("change", task.pk)), client.get(at("change", over.pk))):
        assert 'name="do"' not in page.content.decode()
    assert 'name="action"' not in client.get(at("changelist")).content.decode()
    for action in ("cancel_selected", "run_again_selected", "resend_selected", "prune_selected", "delete_selected"):
        act(client, action, task, over, sure="yes")
    assert set(Task.objects.values_list("pk", flat=True)) == {task.pk, over.pk}
    assert client.post(at("delete", over.pk), {"post": "yes"}).status_code == 403
    assert client.post(at("add")).status_code == 403


def test_even_the_superuser_neither_adds_nor_changes_nor_deletes() -> None:
    client, task = operator(superuser=True), ended()
    assert client.get(at("add")).status_code == 403
    assert client.post(at("delete", task.pk), {"post": "yes"}).status_code == 403
    client.post(at("change", task.pk), {"state": "TASK_STATE_COMPLETED"})
    assert Task.objects.get(pk=task.pk).state == "TASK_STATE_FAILED"
    assert do(client, task, "nonsense").status_code == 404
    assert client.get(at("do", task.pk)).status_code == 302


def test_forms_of_other_sites_are_refused() -> None:
    task = parked()
    client = operator(superuser=True)
    client.handler.enforce_csrf_checks = True
    assert do(client, task, "cancel").status_code == 403
    assert Task.objects.get(pk=task.pk).state == "TASK_STATE_INPUT_REQUIRED"


def test_a_task_is_cancelled_and_its_agent_cleans_up(site_agent: Callable[..., Any]) -> None:
    cleaned: list[str] = []

    async def run(ctx: TaskContext) -> None: ...

    async def clean(ctx: TaskContext) -> None:
        cleaned.append(ctx.task_id)

    site_agent(run, cancel=clean)
    client, task = operator("view_task", "cancel_task"), parked()
    assert do(client, task, "cancel").status_code == 302
    assert Task.objects.get(pk=task.pk).state == "TASK_STATE_CANCELED"
    waiting_for(lambda: cleaned == [task.pk])
    assert LogEntry.objects.get().object_id == task.pk
    assert do(client, task, "cancel").status_code == 302  # a second time changes nothing
    assert LogEntry.objects.count() == 1


def test_tasks_of_agents_that_are_gone_are_cancelled_too() -> None:
    client, task, over = operator("view_task", "cancel_task"), parked(agent="gone"), ended()
    answer = act(client, "cancel_selected", task, over)
    assert Task.objects.get(pk=task.pk).state == "TASK_STATE_CANCELED"
    assert "Done for 1 task." in answer.content.decode()
    assert f"{over.pk}: " in answer.content.decode()


def test_an_answer_comes_from_the_operator_and_the_task_goes_on(site_agent: Callable[..., Any]) -> None:
    seen: list[tuple[Any, Any, str, Any]] = []

    async def run(ctx: TaskContext) -> None:
        seen.append((ctx.operator, ctx.user, ctx.text, ctx.data))
        await ctx.complete("thank you")

    site_agent(run)
    client, task = operator("view_task", "answer_task", name="Olga"), parked(user="77")
    assert do(client, task, "answer", text="take the blue one", json='{"n": 1}').status_code == 302
    waiting_for(lambda: Task.objects.get(pk=task.pk).is_terminal)
    assert [(by.username, user.username, text, data) for by, user, text, data in seen] == [
        ("Olga", "Olga", "take the blue one", {"n": 1})
    ]
    message = Message.objects.get(task=task, role="ROLE_USER", position__gt=1)
    assert message.data["metadata"] == {"a2a_django.operator": True}
    assert "Olga" not in message.wire
    entry = LogEntry.objects.get()
    assert entry.user.username == "Olga"
    assert "Answered: take the blue one" in entry.change_message
    shown = client.get(at("change", task.pk)).content.decode()
    assert f"Operator (user {entry.user_id})" in shown


def test_nobody_becomes_an_operator_by_saying_so(site_agent: Callable[..., Any]) -> None:
    seen: list[Any] = []

    async def run(ctx: TaskContext) -> None:
        seen.append(ctx.operator)
        await ctx.input_required("and now?")

    site_agent(run)
    client = Client()
    told: dict[str, Any] = {"operator": True, "user": "1", "a2a_django.operator": True}
    body: dict[str, Any] = {
        "message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "x"}], "metadata": told},
        "metadata": told,
    }

    def send() -> Any:
        answer = client.post(
            "/a2a/tested/message:send",
            json.dumps(body),
            content_type="application/json",
            headers={"A2A-Version": "1.0"},
        )
        assert answer.status_code == 200, answer.content
        return answer.json()

    task = send()["task"]["id"]
    body["message"] |= {"taskId": task, "messageId": "m2"}
    send()
    assert seen == [None, None]


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"text": ""}, None),
        ({"text": "  "}, None),
        ({"text": "x", "json": "{"}, None),
        ({"text": "x", "json": "NaN"}, None),
        ({"text": "x", "json": "[1e400]"}, None),
        ({"text": "x", "json": r'{"a": "\ud800"}'}, None),
        ({"text": "x", "json": r'["\u0000"]'}, None),
        ({"text": "x", "json": "[" * 100_000}, None),
        ({"choice": "yes"}, [{"text": "yes"}]),
        ({"choice": "yes", "text": "because"}, [{"text": "yes\nbecause"}]),
        ({"json": "[1]"}, [{"data": [1]}]),
    ],
)
def test_an_answer_has_something_in_it(site_agent: Callable[..., Any], given: Any, sent: Any) -> None:
    async def run(ctx: TaskContext) -> None: ...

    site_agent(run)
    client, task = operator("view_task", "answer_task"), parked()
    answer = do(client, task, "answer", **given)
    assert answer.status_code == (200 if sent is None else 302)
    found = Message.objects.filter(task=task, role="ROLE_USER", position__gt=1).first()
    assert (found and found.data["parts"]) == sent


def test_a_task_that_ended_meanwhile_takes_no_answer(site_agent: Callable[..., Any]) -> None:
    async def run(ctx: TaskContext) -> None: ...

    site_agent(run)
    client, task = operator("view_task", "answer_task"), ended()
    answer = client.post(at("do", task.pk), {"do": "answer", "text": "too late"}, follow=True)
    assert "has ended" in answer.content.decode()
    assert Message.objects.filter(task=task).count() == 1


def test_an_answer_to_another_question_is_not_sent(site_agent: Callable[..., Any]) -> None:
    async def run(ctx: TaskContext) -> None:
        await ctx.input_required("pay 5000?")

    site_agent(run)
    client, task = operator("view_task", "answer_task"), parked()
    old = details.question(task)
    assert old is not None
    assert f'name="asked" value="{old.asked}"' in client.get(at("change", task.pk)).content.decode()
    assert do(client, task, "answer", choice="approve", asked=old.asked).status_code == 302
    waiting_for(lambda: Task.objects.get(pk=task.pk).last_seq == 2 and not Task.objects.get(pk=task.pk).lease_holder)
    late = do(client, task, "answer", text="approve too", asked=old.asked)
    assert late.status_code == 200
    shown = late.content.decode()
    assert "Nothing was sent." in shown
    assert "pay 5000?" in shown
    assert "approve too</textarea>" in shown
    new = details.question(Task.objects.get(pk=task.pk))
    assert new is not None
    assert f'name="asked" value="{new.asked}"' in shown
    assert Message.objects.filter(task=task, role="ROLE_USER").count() == 2
    assert do(client, task, "answer", text="no", asked=new.asked).status_code == 302
    assert Message.objects.filter(task=task, role="ROLE_USER").count() == 3


def test_of_two_operators_who_answer_at_once_one_is_late(site_agent: Callable[..., Any]) -> None:
    gate = threading.Event()

    def run(ctx: Any) -> None:
        gate.wait(WAIT)

    site_agent(run)
    client, task = operator("view_task", "answer_task"), parked()
    request = RequestFactory().post("/")
    request.user = get_user_model().objects.get()
    try:
        errands.answer(request, task, "approve")
        for _ in range(2):  # while the first answer is worked on; ``task`` is as it was when both operators saw it
            with pytest.raises(errands.CannotDo, match="does not wait for this answer"):
                errands.answer(request, task, "approve")
        assert do(client, task, "answer", text="hello").status_code == 302
    finally:
        gate.set()
    waiting_for(lambda: Task.objects.get(pk=task.pk).is_terminal)


def test_a_task_is_run_again_as_a_new_one_of_its_owner(site_agent: Callable[..., Any]) -> None:
    seen: list[Any] = []

    async def run(ctx: TaskContext) -> None:
        seen.append((ctx.operator, ctx.text, ctx.data, [task.pk for task in ctx.references]))

    site_agent(run)
    client, task = operator("view_task", "rerun_task"), ended(owner="bob", tenant="acme", user="")
    answer = do(client, task, "again")
    assert answer.status_code == 302
    new = waiting_for(lambda: Task.objects.exclude(pk=task.pk).filter(state="TASK_STATE_COMPLETED").first())
    assert answer["Location"] == at("change", new.pk)
    assert (new.owner, new.tenant, new.context_id) == ("bob", "acme", task.context_id)
    assert seen == [(None, "the first", {"n": 1}, [task.pk])]
    message = Message.objects.get(task=new, position=1)
    assert message.data["metadata"] == {"a2a_django.again": task.pk}
    assert message.message_id != Message.objects.get(task=task).message_id
    assert Task.objects.get(pk=task.pk).state == "TASK_STATE_FAILED"
    assert new.pk in LogEntry.objects.get().change_message


def test_what_has_not_ended_or_has_no_agent_is_not_run_again(site_agent: Callable[..., Any]) -> None:
    async def run(ctx: TaskContext) -> None: ...

    site_agent(run)
    client, open_, orphan = operator("view_task", "rerun_task"), parked(), ended(agent="gone")
    answer = act(client, "run_again_selected", open_, orphan)
    assert Task.objects.count() == 2
    text = answer.content.decode()
    assert f"{open_.pk}: It has not ended." in text
    assert f"{orphan.pk}: The site has no agent" in text


def test_pruning_takes_ended_tasks_after_a_second_yes() -> None:
    client, over, open_ = operator("view_task", "delete_task"), ended(), parked()
    first = act(client, "prune_selected", over, open_)
    assert "1 task has not ended and stays." in first.content.decode()
    assert Task.objects.count() == 2
    answer = client.post(
        at("changelist"),
        {"action": "prune_selected", "_selected_action": [over.pk, open_.pk], "sure": "yes"},
        follow=True,
    )
    assert "1 task was pruned." in answer.content.decode()
    assert list(Task.objects.values_list("pk", flat=True)) == [open_.pk]
    assert LogEntry.objects.get().object_id == over.pk
    client.post(at("changelist"), {"action": "prune_selected", "_selected_action": [open_.pk], "sure": "yes"})
    assert Task.objects.count() == 1


def test_webhooks_are_disabled_enabled_and_told_again(settings: Any) -> None:
    settings.A2A = {**settings.A2A, "WEBHOOK_ALLOWED_HOSTS": ["127.0.0.1"], "PUSH_IN_PROCESS": False}
    told = Told("https://127.0.0.1:9/s3cret-path?key=s3cret-query")
    task, config = told.task, told.configs[0]
    told.say("something")
    client = operator("view_task", "change_pushconfig")
    page = client.get(at("change", task.pk)).content.decode()
    assert "https://127.0.0.1:9<" in page
    assert "s3cret" not in page  # see ``admin.push``: an address may have a secret in it
    do(client, task, "disable", config=config.pk)
    config.refresh_from_db()
    assert config.disabled_at is not None
    assert "disabled" in client.get(at("change", task.pk)).content.decode()
    do(client, task, "enable", config=config.pk)
    config.refresh_from_db()
    assert config.disabled_at is None
    assert config.due_at is not None
    moment = task.created_at
    dead = PushDelivery.objects.create(
        config=config, seq=1, attempts=9, dead_at=moment, last_error="<b>refused", created_at=moment
    )
    shown = client.get(at("change", task.pk)).content.decode()
    assert "given up" in shown
    assert "&lt;b&gt;refused" in shown
    do(client, task, "resend", config=config.pk)
    dead.refresh_from_db()
    assert dead.dead_at is None
    PushDelivery.objects.filter(pk=dead.pk).update(dead_at=moment)
    answer = act(client, "resend_selected", task)
    assert "1 delivery is sent again." in answer.content.decode()
    other = ended()
    for wrong in (config.pk, "x", "", uuid7()):
        assert do(client, other, "disable", config=wrong).status_code == 302
    assert PushConfig.objects.get(pk=config.pk).disabled_at is None
    assert LogEntry.objects.filter(object_id=task.pk).count() == 4


def test_the_files_of_a_message_that_is_run_again_go_along(
    site_agent: Callable[..., Any], settings: Any, tmp_path: Path
) -> None:
    seen: list[bytes] = []

    async def run(ctx: TaskContext) -> None:
        seen.extend(part.raw for part in ctx.files)

    site_agent(run)
    folder = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(tmp_path)}}
    settings.STORAGES = {**settings.STORAGES, "a2a": folder}
    settings.A2A = {**settings.A2A, "FILE_STORAGE": "a2a", "FILE_MIN_BYTES": 10, "BASE_URL": "http://testserver"}
    client = operator("view_task", "rerun_task")
    part = {"raw": base64.b64encode(b"a file of its own").decode(), "filename": "x.bin"}
    body = {"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [part]}}
    headers = {"A2A-Version": "1.0"}
    answer = client.post("/a2a/tested/message:send", body, content_type="application/json", headers=headers)
    task = Task.objects.get(pk=answer.json()["task"]["id"])
    assert "a2a-file:" in Message.objects.get(task=task).wire
    assert do(client, task, "again").status_code == 302
    waiting_for(lambda: Task.objects.filter(state="TASK_STATE_COMPLETED").count() == 2)
    assert seen == [b"a file of its own"] * 2
    assert StoredFile.objects.count() == 2
