"""The playground in a browser: talk to agents over each binding, see the wire, cancel, answer, go on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import OpenPage
from tests.browser.test_agents import LOOKS, fits

PLAYGROUND = "a2a_django/agentsetting/playground/"
BINDINGS = {"jsonrpc": "SendStreamingMessage", "rest": "message:stream", "jsonrpc03": "message/stream"}

WATCHING = {"jsonrpc": "SubscribeToTask", "rest": ":subscribe", "jsonrpc03": "tasks/resubscribe"}


def say(page: Any, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_label("Message", exact=True).press("Control+Enter")


def is_in(page: Any, state: str) -> None:
    """Wait until the task is in a state."""
    page.locator("#a2a-state", has_text=re.compile(f"^{state}$")).wait_for()


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("mode", ["stream", "wait", "poll"])
def test_a_conversation_over_each_binding(open_page: OpenPage, shot: Any, binding: str, mode: str) -> None:
    page = open_page(PLAYGROUND)
    page.get_by_label("Binding").select_option(binding)
    page.get_by_label("Get the answer").select_option(mode)
    talk, wire = page.get_by_role("log", name="Conversation"), page.locator("#a2a-wire")
    page.get_by_role("button", name="Where is my order?").click()
    page.get_by_role("button", name="Send", exact=True).click()
    is_in(page, "input required")
    talk.get_by_text("Which order do you mean?").wait_for()
    page.get_by_text("The agent waits for your answer.").wait_for()
    assert page.evaluate("document.activeElement.id") == "a2a-text"
    task = page.locator("#a2a-task code").inner_text()
    page.get_by_label("Message", exact=True).fill("1003")
    page.get_by_role("button", name="Answer", exact=True).click()
    is_in(page, "completed")
    talk.get_by_text(re.compile("Order 1003 of .* is ")).wait_for()
    assert page.locator("#a2a-task code").inner_text() == task
    talk.get_by_text('"number": 1003').wait_for()  # a data part
    if mode == "stream":
        assert wire.get_by_text(re.compile(f"^→ .*{BINDINGS[binding]}$")).count() == 2 + 2 * (binding == "rest")
        assert wire.locator("pre", has_text="TASK_STATE_COMPLETED" if binding != "jsonrpc03" else "completed").count()
    if mode == "poll":
        assert wire.get_by_text(re.compile("GetTask|tasks/")).count() >= 1
    shot(page, f"playground-{binding}-{mode}")
    context = page.locator("#a2a-context code").inner_text()
    page.get_by_role("button", name="New task, same context").click()
    say(page, "Where is order 1001?")
    is_in(page, "completed")
    assert page.locator("#a2a-context code").inner_text() == context
    assert page.locator("#a2a-task code").inner_text() != task


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_task_is_left_watched_again_and_cancelled(open_page: OpenPage, binding: str) -> None:
    page = open_page(PLAYGROUND)
    page.get_by_label("Binding").select_option(binding)
    say(page, "Please do a stocktake")
    is_in(page, "working")
    page.get_by_role("button", name="Leave the stream").click()
    page.get_by_text("You left the stream; the task goes on.").wait_for()
    page.get_by_role("button", name="Watch again").click()
    page.locator("#a2a-wire").get_by_text(re.compile(f"^→ .*{WATCHING[binding]}$")).first.wait_for()
    page.locator("#a2a-wire pre", has_text="in stock").first.wait_for()
    page.get_by_role("button", name="Cancel the task").click()
    is_in(page, "canceled")
    assert page.get_by_role("button", name="Cancel the task").is_disabled()
    page.get_by_text("Nothing is under way.").wait_for()


def test_files_data_and_hostile_text_do_no_harm(open_page: OpenPage, tmp_path: Path, shot: Any) -> None:
    page = open_page(PLAYGROUND)
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)> \u202e\u05e9\u05dc\u05d5\u05dd\u0001 \ufffd 1003"
    file = tmp_path / "<b>note<b>.txt"
    file.write_text("hello")
    page.get_by_label("Files").set_input_files(str(file))
    say(page, evil)
    is_in(page, "input required")  # there is no order 1
    talk = page.get_by_role("log", name="Conversation")
    assert "<script>alert(1)</script>" in talk.inner_text()
    assert "<b>note<b>.txt" in talk.inner_text()
    assert talk.locator("script, img, b").count() == 0
    with page.expect_download() as download:
        talk.get_by_role("button", name="Download").first.click()
    assert Path(download.value.path()).read_text() == "hello"
    wire = page.locator("#a2a-wire").inner_text()
    assert "\\u202e" in wire
    assert "\u202e" not in wire
    shot(page, "playground-hostile")
    page.get_by_role("button", name="New conversation").click()
    assert talk.inner_text() == ""
    page.get_by_label("The message is JSON data").check()
    say(page, "{no json")
    page.get_by_text(re.compile("This is no JSON")).wait_for()
    say(page, json.dumps({"number": 1003}))
    page.get_by_text('"number": 1003').first.wait_for()


def test_an_error_is_shown(open_page: OpenPage, complaints: Any) -> None:
    page = open_page(PLAYGROUND)
    page.get_by_label("Extensions").fill("https://example.org/unknown")
    ended = {"status": 401, "content_type": "application/json", "body": "{}"}
    page.route("**/playground/jsonrpc/", lambda route: route.fulfill(**ended))
    complaints.expected = ["status 401", "console Failed to load resource"]
    say(page, "hello")
    page.get_by_text("Your session has ended.").wait_for()


@pytest.mark.parametrize("look", ["light", "dark", "narrow"])
def test_how_it_looks(open_page: OpenPage, shot: Any, look: str) -> None:
    page = open_page(PLAYGROUND, **LOOKS[look])
    say(page, "Where is order 1003?")
    is_in(page, "completed")
    page.get_by_text("Nothing is under way.").wait_for()
    shot(page, f"playground-{look}")
    assert fits(page)
