"""django-oauth-toolkit as the authorization server of the same site: programs with credentials of their own."""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.access import HasScope, create_api_key
from a2a_django.agents import TaskContext
from a2a_django.engine import history
from a2a_django.models import Task
from tests.bindings.conftest import Echo, echo, message, register
from tests.bindings.doors import Door, door, serve

__all__ = ["door", "echo", "register", "serve"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("site", "echo")]

OAUTH = "oauth2_provider.contrib.rest_framework.OAuth2Authentication"
KEYS = "a2a_django.access.APIKeyAuthentication"


@pytest.fixture
def site(settings: Settings, transactional_db: None) -> None:
    """A site that lets in who has a token."""
    settings.ROOT_URLCONF = "tests.access.urls_oauth"
    settings.OAUTH2_PROVIDER = {"SCOPES": {"orders": "See orders", "stock": "See the stock"}}
    settings.A2A = {"AUTHENTICATION_CLASSES": [KEYS, OAUTH]}


async def program(name: str, **fields: Any) -> Application:
    """Register a program with the grant of client credentials."""
    return await Application.objects.acreate(
        name=name,
        client_id=name,
        client_secret="secret",
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_CLIENT_CREDENTIALS,
        **fields,
    )


async def token_for(name: str, scope: str = "orders") -> dict[str, str]:
    """Get a token as the card says: from the address of the flow of client credentials; return it as a header."""
    card = json.loads((await AsyncClient().get("/.well-known/agent-card.json")).content)
    flow = card["securitySchemes"]["oauth2"]["oauth2SecurityScheme"]["flows"]["clientCredentials"]
    assert set(scope.split()) <= set(flow["scopes"])
    address = flow["tokenUrl"].removeprefix("http://testserver")
    secret = base64.b64encode(f"{name}:secret".encode()).decode()
    answer = await AsyncClient().post(
        address,
        data=f"grant_type=client_credentials&scope={scope}",
        content_type="application/x-www-form-urlencoded",
        headers={"Authorization": f"Basic {secret}"},
    )
    assert answer.status_code == 200, answer.content
    return {"Authorization": f"Bearer {json.loads(answer.content)['access_token']}"}


async def test_a_program_has_tasks_of_its_own(door: Door) -> None:
    """Its token has no user: the program is the owner, and nobody else, least of all the anonymous."""
    await program("robot")
    await program("rival")
    robot, rival = await token_for("robot"), await token_for("rival")
    task = (await door.call("SendMessage", {"message": message("ask")}, headers=robot)).task
    row = await Task.objects.aget(pk=task["id"])
    assert (row.owner, row.user) == ("app:robot", "app:robot")
    assert (await door.call("GetTask", {"id": task["id"]}, headers=robot)).value["id"] == task["id"]
    page = (await door.call("ListTasks", headers=await token_for("robot", "stock"))).value
    assert [each["id"] for each in page["tasks"]] == [task["id"]]
    stream = await door.call("SubscribeToTask", {"id": task["id"]}, headers=robot)
    assert stream.task["id"] == task["id"]
    for operation in ("GetTask", "CancelTask", "SubscribeToTask"):
        assert (await door.call(operation, {"id": task["id"]}, headers=rival)).reason == "TASK_NOT_FOUND"
        assert (await door.call(operation, {"id": task["id"]})).reason == "UNAUTHENTICATED"
    assert not (await door.call("ListTasks", headers=rival)).value.get("tasks")


async def test_streams(door: Door) -> None:
    await program("robot")
    outcome = await door.call("SendStreamingMessage", {"message": message("hello")}, headers=await token_for("robot"))
    assert outcome.task["status"]["state"] == "TASK_STATE_SUBMITTED"
    refused = await door.call("SendStreamingMessage", {"message": message("x")}, headers={"Authorization": "Bearer x"})
    assert refused.reason == "UNAUTHENTICATED"


async def test_tokens_that_are_over(door: Door) -> None:
    await program("robot")
    headers = await token_for("robot")
    assert not (await door.call("ListTasks", headers=headers)).reason
    await AccessToken.objects.aupdate(expires=timezone.now() - dt.timedelta(seconds=1))
    assert (await door.call("ListTasks", headers=headers)).reason == "UNAUTHENTICATED"
    headers = await token_for("robot")
    await AccessToken.objects.all().adelete()
    assert (await door.call("ListTasks", headers=headers)).reason == "UNAUTHENTICATED"


async def test_scopes(door: Door, echo: Agent) -> None:
    echo.permissions = [HasScope.of("stock")]
    await program("robot")
    few, more = await token_for("robot"), await token_for("robot", "orders stock")
    for operation, request in (("ListTasks", {}), ("SendStreamingMessage", {"message": message("x")})):
        assert (await door.call(operation, request, headers=few)).reason == "PERMISSION_DENIED"
        assert not (await door.call(operation, request, headers=more)).reason
    card = json.loads((await AsyncClient().get("/.well-known/agent-card.json")).content)
    required = {name: need for each in card["securityRequirements"] for name, need in each["schemes"].items()}
    assert required["oauth2"] == {"list": ["stock"]}
    assert required["bearer"] == {}


async def test_tokens_of_users_and_keys_beside_them(door: Door) -> None:
    """A user is the same owner whatever the credentials are; the owner of a program is not the program."""
    alice = await User.objects.acreate(username="alice")
    robot = await program("robot", user=alice)
    await AccessToken.objects.acreate(
        user=alice, application=robot, token="of-alice", scope="orders", expires=timezone.now() + dt.timedelta(hours=1)
    )
    __, key = await sync_to_async(create_api_key)(alice)
    task = (await door.call("SendMessage", {"message": message("x")}, headers={"X-API-Key": key})).task
    by_token = await door.call("GetTask", {"id": task["id"]}, headers={"Authorization": "Bearer of-alice"})
    assert by_token.value["id"] == task["id"]
    outcome = await door.call("GetTask", {"id": task["id"]}, headers=await token_for("robot"))
    assert outcome.reason == "TASK_NOT_FOUND"


class Introduce(Echo):
    """Says who is asking."""

    slug = "introduce"

    async def run(self, ctx: TaskContext) -> Any:
        """Say who is asking."""
        yield f"{ctx.user} {ctx.user.is_authenticated} {ctx.user.has_perm('auth.add_user')}"


async def test_the_agent_knows_who_is_asking(
    register: Callable[[Agent], Agent], settings: Settings, door: Door
) -> None:
    register(Introduce())
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "introduce"}
    await program("robot")
    task = (await door.call("SendMessage", {"message": message("x")}, headers=await token_for("robot"))).task
    assert task["artifacts"][0]["parts"][0]["text"] == "robot True False"


@pytest.mark.usefixtures("transactional_db")
def test_a_run_in_another_process_knows_it_too() -> None:
    """It finds the caller by what stands in the task's row."""
    found = history.user_of("app:robot")
    assert (found.pk, found.is_authenticated, str(found)) == ("app:robot", True, "robot")


async def test_large_messages(door: Door) -> None:
    """The toolkit looks at the request too; it must not bring Django's limit for forms with it."""
    await program("robot")
    text = "x" * 3_000_000
    task = (await door.call("SendMessage", {"message": message(text)}, headers=await token_for("robot"))).task
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
