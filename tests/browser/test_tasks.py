"""The list of tasks and the page of one, with a task that runs meanwhile."""

from __future__ import annotations

import base64
import re
import time
import zlib
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.calls import WAIT, cancel, get, send
from tests.browser.conftest import OpenPage
from tests.live import LiveProcess, Site

TASKS = "a2a_django/task/"
SCRIPTED = "scripted-agent"
NARROW = {"viewport": {"width": 390, "height": 844}}


def test_the_list_is_filtered_searched_and_opened(open_page: OpenPage, live: LiveProcess, shot: Any) -> None:
    done = send(live.url, "Where is order 1003, by the magenta lorry?")
    waiting = send(live.url, "Where is my order?")
    send(live.url, "fail", agent="scripted-agent")
    page = open_page(TASKS)
    expect(page.get_by_title(done["id"])).to_be_visible()
    shot(page, "tasks-light")
    page.get_by_role("navigation", name="Filter").get_by_role("link", name="input required").click()
    expect(page.get_by_title(waiting["id"])).to_be_visible()
    expect(page.get_by_title(done["id"])).to_have_count(0)
    page.goto(page.url.split("?")[0])
    page.get_by_role("textbox", name="Search").fill("magenta lorry")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_title(done["id"])).to_be_visible()
    expect(page.get_by_title(waiting["id"])).to_have_count(0)
    page.get_by_title(done["id"]).click()
    expect(page.get_by_role("heading", name=f"Task {done['id']}")).to_be_visible()
    expect(page.locator(".a2a-artifact .a2a-text").first).to_contain_text("Order 1003 of")
    shot(page, "task-light")


def test_it_is_dark_and_narrow_where_the_operator_is(open_page: OpenPage, live: LiveProcess, shot: Any) -> None:
    task = send(live.url, "Where is order 1003?")
    for name, options in (("dark", {"color_scheme": "dark"}), ("narrow", NARROW)):
        page = open_page(TASKS, **options)
        expect(page.get_by_title(task["id"])).to_be_visible()
        shot(page, f"tasks-{name}")
        page = open_page(f"{TASKS}{task['id']}/change/", **options)
        expect(page.get_by_role("heading", name="What happened")).to_be_visible()
        shot(page, f"task-{name}")
        width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width <= 0, "the page is wider than the screen"


def follow(page: Page, base: str, task: str) -> None:
    """See a task grow on its page, end it elsewhere, and see that, too; all without loading the page again."""
    page.evaluate("window.stillHere = true")
    expect(page.locator(".a2a-following")).to_be_visible()
    last = page.locator(".a2a-artifact .a2a-last")
    expect(last).to_have_count(1)
    seen = int(last.inner_text())
    expect(page.locator(".a2a-artifact .a2a-text")).to_contain_text(f"tick-{seen + 3}")
    cancel(base, task, agent=SCRIPTED)
    expect(page.locator(".a2a-head .a2a-state")).to_have_text("canceled")
    expect(page.locator(".a2a-following")).to_be_hidden()
    whole = "".join(part["text"] for part in get(base, task, agent=SCRIPTED)["artifacts"][0]["parts"])
    shown = page.locator(".a2a-artifact .a2a-text").text_content()
    assert shown, "there is something"
    assert whole.endswith(shown), "a page that was opened late begins later, and has no hole"
    assert page.evaluate("window.stillHere") is True, "the page was loaded again"
    page.reload()
    assert (page.locator(".a2a-artifact .a2a-text").text_content() or "") in whole


def test_the_page_follows_a_running_task(open_page: OpenPage, live: LiveProcess, shot: Any) -> None:
    task = begun(live.url)
    page = open_page(f"{TASKS}{task}/change/")
    assert page.locator("[data-a2a-task]").get_attribute("data-live")
    follow(page, live.url, task)
    shot(page, "task-followed")


def test_a_server_that_cannot_stream_is_asked(site: Site, open_page: OpenPage) -> None:
    with site.server("wsgi", name="wsgi") as wsgi:
        task = begun(wsgi.url)
        page = open_page(f"{wsgi.url}/back/office/{TASKS}{task}/change/")
        assert page.locator("[data-a2a-task]").get_attribute("data-live") is None
        follow(page, wsgi.url, task)


def begun(base: str) -> str:
    """A task that goes on for as long as a test may take, and has said something."""
    task: str = send(base, "pace 9000 100", agent=SCRIPTED, now=True)["id"]
    until = time.monotonic() + WAIT
    while not get(base, task, agent=SCRIPTED).get("artifacts"):
        assert time.monotonic() < until
        time.sleep(0.05)
    return task


def test_a_webhook_is_disabled_and_enabled(open_page: OpenPage, live: LiveProcess, shot: Any) -> None:
    hook = {"taskPushNotificationConfig": {"url": "http://127.0.0.1:9/hook?<b>"}}
    task = send(live.url, "Where is order 1003?", configuration=hook)
    page = open_page(f"{TASKS}{task['id']}/change/")
    webhooks = page.get_by_role("region", name="Webhooks")
    expect(webhooks).to_contain_text("http://127.0.0.1:9")
    expect(webhooks).not_to_contain_text("/hook")
    webhooks.get_by_role("button", name="Disable").click()
    expect(webhooks).to_contain_text("disabled: Disabled by an operator.")
    shot(page, "webhook-of-a-task")
    webhooks.get_by_role("button", name="Enable").click()
    expect(webhooks.get_by_role("button", name="Disable")).to_be_visible()


def test_a_running_task_is_cancelled_and_run_again(open_page: OpenPage, live: LiveProcess) -> None:
    task = send(live.url, "quiet 600", agent="scripted-agent", now=True)
    page = open_page(f"{TASKS}{task['id']}/change/")
    page.get_by_role("button", name="Cancel task").click()
    expect(page.get_by_text("The task is canceled.")).to_be_visible()
    expect(page.locator(".a2a-head .a2a-state")).to_have_text("canceled")
    assert get(live.url, task["id"], agent="scripted-agent")["status"]["state"] == "TASK_STATE_CANCELED"
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_text("This is a new task with the same message.")).to_be_visible()
    assert task["id"] not in page.url
    expect(page.get_by_role("link", name=task["id"])).to_be_visible()
    page.get_by_role("button", name="Cancel task").click()
    expect(page.locator(".a2a-head .a2a-state")).to_have_text("canceled")
    page.get_by_role("link", name="History").click()
    expect(page.get_by_text("Canceled.")).to_be_visible()


def test_ended_tasks_are_pruned_once_the_operator_is_sure(open_page: OpenPage, live: LiveProcess, shot: Any) -> None:
    done = send(live.url, "Where is order 1001, the prunable one?")
    waiting = send(live.url, "Where is my prunable order?")
    page = open_page(f"{TASKS}?q=prunable")
    page.get_by_role("checkbox", name=re.compile("Select all")).check()
    page.get_by_role("combobox", name="Action").select_option(label="Prune selected tasks")
    page.get_by_role("button", name="Run").or_(page.get_by_role("button", name="Go")).click()
    expect(page.get_by_text(done["id"])).to_be_visible()
    expect(page.get_by_text("1 task has not ended and stays.")).to_be_visible()
    shot(page, "prune")
    page.get_by_role("button", name="Yes, prune").click()
    expect(page.get_by_text("1 task was pruned.")).to_be_visible()
    expect(page.get_by_title(waiting["id"])).to_be_visible()
    expect(page.get_by_title(done["id"])).to_have_count(0)


def test_the_json_of_an_event_is_fetched_when_it_is_wanted(open_page: OpenPage, live: LiveProcess) -> None:
    task = send(live.url, "Where is order 1003?")
    page = open_page(f"{TASKS}{task['id']}/change/")
    first = page.locator(".a2a-wire").first
    expect(first.locator("pre")).to_have_text("")
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(first.locator("pre")).to_contain_text('"messageId"')


def png() -> str:
    """A red square, as base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")

    rows = b"".join(b"\0" + b"\xd0\x20\x30" * 40 for _ in range(40))
    head = (40).to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(content).decode()


#: What somebody might send who means ill, or well in a language of another direction.
HOSTILE: list[dict[str, Any]] = [
    {"text": "</span></li><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"},
    {"text": "[click](javascript:window.hurt=1) " + "*" * 2000 + "[" * 2000 + "![](https://127.0.0.1:1/x.png)"},
    {"text": "شحنة الطلب ١٠٠٣ في الطريق — مرحبا"},
    {"text": "pay 100\u202e001 yap\u2066 and \u200b\ufeff nothing \u0007 bell \u001b[31m escape"},
    {"text": "x" * 5_000_000},
    {"data": {"<b>key</b>": ["</pre><script>window.hurt = 1</script>", 12345678901234567890]}},
    {"raw": png(), "filename": '"><script>window.hurt=1</script>.png', "mediaType": "image/png"},
    {
        "raw": base64.b64encode(
            b"<svg xmlns='http://www.w3.org/2000/svg'><script>window.hurt=1</script></svg>"
        ).decode(),
        "mediaType": "image/svg+xml",
        "filename": "drawing.svg",
    },
    {"raw": base64.b64encode(b"<script>window.hurt=1</script>").decode(), "mediaType": "text/html"},
    {"url": "javascript:window.hurt=1", "mediaType": "text/plain"},
    {"url": "https://example.com/a?b=<script>", "mediaType": "text/plain"},
]


@pytest.fixture(scope="module")
def hostile(live: LiveProcess) -> str:
    """A task whose message and artifact are all of that."""
    import httpx

    parts = [{"text": "copy"}, *({"mediaType": "text/plain", **part} if "url" in part else part for part in HOSTILE)]
    plain = [{name: value for name, value in part.items() if name != "mediaType"} for part in parts]
    body = {"message": {"messageId": "<b>hostile</b>", "role": "ROLE_USER", "parts": plain}}
    answer = httpx.post(
        f"{live.url}/a2a/scripted-agent/message:send", json=body, headers={"A2A-Version": "1.0"}, timeout=40
    )
    assert answer.status_code == 200, answer.text[:2000]
    found: str = answer.json()["task"]["id"]
    return found


def test_hostile_content_stays_content(open_page: OpenPage, hostile: str, live: LiveProcess, shot: Any) -> None:
    page = open_page(f"{TASKS}{hostile}/change/")
    expect(page.get_by_role("heading", name="What happened")).to_be_visible()
    page.locator(".a2a-figure img").last.scroll_into_view_if_needed()
    for picture in page.locator(".a2a-figure img").all():
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("naturalWidth", 40)
    assert page.evaluate("window.hurt") is None
    assert len(page.content()) < 1_000_000
    links = page.eval_on_selector_all(".a2a-parts a", "all => all.map(a => [a.getAttribute('href'), a.rel])")
    outside = [(href, rel) for href, rel in links if not href.startswith("/")]
    assert outside
    assert all(href.startswith("https://") and "noopener" in rel for href, rel in outside)
    assert page.locator(".a2a-figure img").count() == 2, "one picture in the message, one in the artifact; no SVG"
    text = page.locator(".a2a-by-user .a2a-parts").inner_text()
    assert "⟨U+202E⟩" in text
    assert "␛" in text
    shot(page, "hostile")
    with page.expect_download() as download:
        page.get_by_role("link", name="drawing.svg").first.click()
    assert download.value.suggested_filename == "drawing.svg"
    with page.expect_download() as download:
        page.get_by_role("link", name="all 5000000 characters as a file").first.click()
    path = download.value.path()
    assert path is not None
    assert path.stat().st_size == 5_000_000
    search = open_page(f"{TASKS}?q=" + "%3Cscript%3Ewindow.hurt%3D1%3C%2Fscript%3E%00")
    assert search.evaluate("window.hurt") is None
