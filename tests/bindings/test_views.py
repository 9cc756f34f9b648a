"""The views in a site whose settings are made for people, and under WSGI."""

from __future__ import annotations

import json

import pytest
from django.db import connections
from django.test import AsyncClient, Client
from pytest_django import Settings

from tests.bindings.conftest import envelope, message, rpc


@pytest.fixture
def _odd_site(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Redirects to slashes, a login for every page, CSRF tokens, and a transaction around every request."""
    settings.APPEND_SLASH = True
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.contrib.auth.middleware.LoginRequiredMiddleware"]
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_odd_site", "echo")
async def test_what_a_site_demands_of_its_pages_does_not_hit_agents() -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    call = envelope("SendMessage", {"message": message("hi")})
    for path in ("/a2a", "/a2a/"):
        assert "result" in json.loads((await rpc(client, call, path=path, Cookie="sessionid=x")).content)
    body = {"message": message("hi")}
    response = await client.post("/a2a/message:send", data=body, content_type="application/json")
    assert response.status_code == 200
    assert (await client.get("/.well-known/agent-card.json")).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_odd_site", "echo")
def test_under_wsgi_all_but_the_streams_works() -> None:
    client = Client(enforce_csrf_checks=True)

    def post(path: str, body: str) -> dict[str, object]:
        response = client.post(path, data=body, content_type="application/json")
        assert response.headers["Content-Type"] == "application/json"
        found: dict[str, object] = json.loads(response.content)
        return found

    first = post("/a2a/", envelope("SendMessage", {"message": message("ask")}))
    task_id = first["result"]["task"]["id"]  # type: ignore[index]
    answered = post("/a2a/message:send", json.dumps({"message": message("blue", taskId=task_id)}))
    assert answered["task"]["status"]["state"] == "TASK_STATE_COMPLETED"  # type: ignore[index]
    for method, params in (("SendStreamingMessage", {"message": message("x")}), ("SubscribeToTask", {"id": task_id})):
        assert post("/a2a/", envelope(method, params))["error"]["code"] == -32004  # type: ignore[index]
    response = client.post(f"/a2a/tasks/{task_id}:subscribe")
    assert response.status_code == 400
    assert client.get(f"/a2a/tasks/{task_id}").status_code == 200
    raw = {"RAW_URI": "/a2a/tasks/a%2Fb?x=1"}
    missing = client.get("/a2a/tasks/a/b", **raw)  # type: ignore[arg-type]
    assert json.loads(missing.content)["error"]["details"][0]["reason"] == "TASK_NOT_FOUND"
