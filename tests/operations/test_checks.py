"""What is checked before a message is taken in, and in which order (R-032 to R-034, D-20)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from a2a_django import Skill
from a2a_django.agents import TaskContext
from a2a_django.engine import database
from a2a_django.models import Task
from a2a_django.operations import media
from a2a_django.protocol.errors import (
    A2AError,
    ContentTypeNotSupportedError,
    ExtendedAgentCardNotConfiguredError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnauthenticatedError,
    UnsupportedOperationError,
)
from tests.engine.kit import ask, call_of, cancel, made_of, message, quiet, said, send, state_of

pytestmark = pytest.mark.usefixtures("sound_rows")


async def parks(ctx: TaskContext) -> None:
    if ctx.text == "ask":
        await ctx.input_required("?")


AGENT = made_of(
    parks,
    input_modes=["text/plain", "Application/JSON; charset=utf-8", "image/*"],
    skills=[Skill("a", "A", "Does A", input_modes=["audio/wav"])],
)


async def refused(error: type[A2AError], wire: dict[str, Any], **options: Any) -> A2AError:
    for name in ("SendMessage", "SendStreamingMessage"):
        with pytest.raises(error) as caught:
            await ask(name, call_of(AGENT, **options), wire)
    return caught.value


@pytest.mark.spec("3.1.1")
@pytest.mark.parametrize(
    ("declared", "fits"),
    [
        ("text/plain", True),
        ("TEXT/Plain", True),
        ("text/plain; charset=utf-8", True),
        (" text/plain ;format=flowed", True),
        ("application/json", True),
        ("image/png", True),
        ("audio/wav", True),
        ("text/html", False),
        ("audio/mpeg", False),
        ("images/png", False),
        ("text", False),
        ("*/*", False),
        (";", False),
    ],
)
async def test_declared_media_types(declared: str, fits: bool) -> None:
    parts = [{"text": "x"}, {"text": "x", "mediaType": declared}]
    assert media.accepts(AGENT, declared) == fits
    if fits:
        assert (await ask("SendMessage", call_of(AGENT), {"message": message(parts=parts)}))["task"]
    else:
        error = await refused(ContentTypeNotSupportedError, {"message": message(parts=parts)})
        assert "message.parts[1].media_type" in error.message
        assert "image/*" in error.metadata["accepted"]
        assert not await database.run(Task.objects.exists)


@pytest.mark.spec("3.1.1")
async def test_an_agent_that_takes_everything_takes_everything() -> None:
    agent = made_of(parks, input_modes=["*/*"])
    assert media.accepts(agent, "application/x-unheard-of")


@pytest.mark.spec("3.1.1")
async def test_a_message_of_the_agent_is_no_request() -> None:
    error = await refused(InvalidParamsError, {"message": message(role="ROLE_AGENT")})
    assert [violation.field for violation in error.violations] == ["message.role"]


@pytest.mark.spec("3.1.1")
async def test_a_webhook_in_the_request_is_refused_where_there_are_none() -> None:
    configuration = {"taskPushNotificationConfig": {"url": "https://shop.example"}}
    await refused(PushNotificationNotSupportedError, {"message": message(), "configuration": configuration})
    assert not await database.run(Task.objects.exists)
    for name in ("Create", "Get", "Delete"):
        with pytest.raises(PushNotificationNotSupportedError):
            await ask(f"{name}TaskPushNotificationConfig", call_of(AGENT), {})
    with pytest.raises(PushNotificationNotSupportedError):
        await ask("ListTaskPushNotificationConfigs", call_of(AGENT), {})


@pytest.mark.spec("3.1.1", "3.4.2", "3.4.1")
async def test_an_unknown_task_a_wrong_context_and_an_ended_task_in_this_order() -> None:
    parked, ended = await send(AGENT, "ask"), await send(AGENT)
    await quiet()
    await refused(TaskNotFoundError, {"message": message(taskId="unknown", contextId="wrong")})
    for task in (parked, ended):
        await refused(InvalidParamsError, {"message": message(taskId=task["id"], contextId="wrong")})
    await refused(UnsupportedOperationError, {"message": message(taskId=ended["id"], contextId=ended["contextId"])})
    await refused(UnsupportedOperationError, {"message": message(taskId=ended["id"])})
    answer = await send(AGENT, task_id=parked["id"], context_id=parked["contextId"])
    assert state_of(answer) == "COMPLETED"


@pytest.mark.spec("3.4.1")
@pytest.mark.parametrize("context_id", ["", "x" * 1000, "\u00e4 \U0001f600 '\"\\ %/", " blanks "])
async def test_a_context_id_of_the_clients_choice_is_kept(context_id: str) -> None:
    task = await send(AGENT, "ask", context_id=context_id or None)
    assert task["contextId"] == context_id or (not context_id and task["contextId"])
    await quiet()
    assert (await send(AGENT, task_id=task["id"], context_id=task["contextId"]))["contextId"] == task["contextId"]


@pytest.mark.spec("3.1.5")
async def test_cancel_of_ended_tasks() -> None:
    async def ends(ctx: TaskContext) -> None:
        if ctx.text == "wait":
            await asyncio.sleep(60)
        await getattr(ctx, ctx.text)()

    agent = made_of(ends)
    for text in ("complete", "fail", "reject"):
        task = await send(agent, text)
        with pytest.raises(TaskNotCancelableError):
            await cancel(agent, task["id"])
    task = await send(agent, "wait", immediately=True)
    first = await cancel(agent, task["id"])
    assert state_of(first) == "CANCELED"
    assert await cancel(agent, task["id"]) == first
    with pytest.raises(TaskNotFoundError):
        await cancel(agent, "unknown")
    await quiet()


@pytest.mark.spec("3.1.5")
async def test_a_cancel_moves_the_question_into_the_history() -> None:
    task = await send(AGENT, "ask")
    await quiet()
    answer = await cancel(AGENT, task["id"])
    assert said(answer) == ["ask", "?"]
    assert "message" not in answer["status"]


class User:
    """Somebody who is known."""

    is_authenticated = True
    pk = 1

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.spec("3.1.11")
async def test_the_extended_card() -> None:
    def card(user: Any) -> Any:
        return {"name": f"for {user.name}"} if user.name == "alice" else None

    async def later(user: Any) -> Any:
        return card(user)

    with pytest.raises(UnsupportedOperationError):
        await ask("GetExtendedAgentCard", call_of(AGENT, user=User("alice")), {})
    for function in (card, later):
        agent = made_of(parks, extended_agent_card=True, extended_card=function)
        answer = await ask("GetExtendedAgentCard", call_of(agent, user=User("alice")), {})
        assert answer == {"name": "for alice"}
        with pytest.raises(ExtendedAgentCardNotConfiguredError):
            await ask("GetExtendedAgentCard", call_of(agent, user=User("bob")), {})
        with pytest.raises(UnauthenticatedError):
            await ask("GetExtendedAgentCard", call_of(agent), {})
