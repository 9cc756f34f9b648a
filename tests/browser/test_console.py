"""Keys, webhooks and the dashboard in a browser."""

from __future__ import annotations

import json
import re
import urllib.request
from typing import Any

import pytest

from tests.browser.conftest import OpenPage
from tests.browser.test_agents import LOOKS, fits
from tests.live import LiveProcess
from tests.push.receiver import receiving

KEYS = "a2a_django/apikey/"


def call(live: LiveProcess, method: str, params: Any) -> Any:
    """Call the site as any caller does."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    headers = {"Content-Type": "application/json", "A2A-Version": "1.0"}
    request = urllib.request.Request(f"{live.url}/a2a/", body, headers)  # noqa: S310 - an address of our own
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
        return json.loads(answer.read())["result"]


def message(text: str) -> dict[str, Any]:
    return {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}


@pytest.mark.parametrize("look", LOOKS)
def test_a_key_is_made_shown_once_and_revoked(open_page: OpenPage, shot: Any, look: str) -> None:
    page = open_page(f"{KEYS}add/", **LOOKS[look])
    page.get_by_label("Name").fill(f"Partner {look}")
    page.get_by_label("Scopes").fill("read write")
    page.get_by_label("order-desk").check()
    shot(page, f"key-new-{look}")
    assert fits(page)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Copy it now").wait_for()
    secret = page.locator("#a2a-secret").inner_text()
    assert re.fullmatch(r"[0-9a-f]{12}\.[\w-]{40,}", secret)
    shot(page, f"key-made-{look}")
    assert fits(page)
    page.reload()  # not a second key, and not the first one again
    page.get_by_role("link", name=f"Partner {look}").wait_for()
    assert page.get_by_role("link", name=f"Partner {look}").count() == 1
    assert secret.partition(".")[2] not in page.content()
    shot(page, f"keys-{look}")
    page.get_by_role("link", name=f"Partner {look}").click()
    shot(page, f"key-{look}")
    page.get_by_role("button", name="Revoke this key").click()
    page.get_by_text("1 key was revoked.").wait_for()
    page.go_back()
    assert secret.partition(".")[2] not in page.content()


@pytest.mark.parametrize("look", LOOKS)
def test_a_webhook_is_disabled_enabled_and_sent_to_again(
    open_page: OpenPage, live: LiveProcess, shot: Any, look: str
) -> None:
    with receiving() as receiver:
        hook = receiver.hook(410, 200)
        config = {"url": f"{hook.url}?key=s3cret", "token": "s3cret-token"}
        sent = {"message": message("Where is my order?"), "configuration": {"taskPushNotificationConfig": config}}
        task = call(live, "SendMessage", sent)["task"]["id"]
        page = open_page(f"a2a_django/pushconfig/?q={task}", **LOOKS[look])
        for _ in range(100):  # until the sender has been there
            if page.get_by_text("answered 410").count():
                break
            page.reload()
        page.get_by_text("answered 410").first.wait_for()
        shot(page, f"webhooks-{look}")
        page.get_by_role("link", name="http://127.0.0.1").first.click()
        assert "s3cret" not in page.content()
        shot(page, f"webhook-{look}")
        assert fits(page)
        page.get_by_role("button", name="Enable").click()
        page.get_by_text("1 webhook was enabled.").wait_for()
        page.get_by_role("button", name="Send again what was given up").click()
        page.get_by_text(re.compile("delivery is sent again|deliveries are sent again")).wait_for()
        for _ in range(100):
            if page.get_by_text("delivered", exact=True).count():
                break
            page.reload()
        page.get_by_text("delivered", exact=True).first.wait_for()
        assert hook.states()[-1:] == ["INPUT_REQUIRED"]
        page.get_by_role("button", name="Disable").click()
        page.get_by_text("1 webhook was disabled.").wait_for()
        page.get_by_role("link", name=re.compile("^#")).first.click()
        shot(page, f"delivery-{look}")
        assert "s3cret" not in page.content()


@pytest.mark.parametrize("look", LOOKS)
def test_the_dashboard_renews_itself(open_page: OpenPage, live: LiveProcess, shot: Any, look: str) -> None:
    call(live, "SendMessage", {"message": message("Where is order 1003?")})
    page = open_page("a2a_django/", **LOOKS[look])
    shot(page, f"app-index-{look}")
    page.get_by_role("link", name="Dashboard").click()
    waiting = page.locator('[data-tile="waiting"] [data-value]')
    before = int(waiting.inner_text())
    shot(page, f"dashboard-{look}")
    assert fits(page)
    call(live, "SendMessage", {"message": message("Where is my order?")})
    page.wait_for_function(
        "n => Number(document.querySelector('[data-tile=waiting] [data-value]').textContent) > n", arg=before
    )
    assert page.locator("rect.a2a-bar").count() == 24
    page.get_by_text("The same as a table").click()
    rows = page.locator("#a2a-hours-table tbody tr").all_inner_texts()
    assert sum(int(row.split()[-1]) for row in rows) >= 2


@pytest.mark.parametrize("name", ["dashboard", "playground", "agents", "keys", "webhooks"])
def test_the_desk_in_german(open_page: OpenPage, shot: Any, name: str) -> None:
    paths = {"agents": "", "dashboard": "dashboard/", "playground": "playground/"}
    path = {"keys": KEYS, "webhooks": "a2a_django/pushconfig/"}.get(name) or f"a2a_django/agentsetting/{paths[name]}"
    for width in (1280, 390):
        page = open_page(path, locale="de-DE", viewport={"width": width, "height": 800})
        assert page.locator("html").get_attribute("lang") == "de"
        shot(page, f"german-{name}-{width}")
        assert fits(page)
