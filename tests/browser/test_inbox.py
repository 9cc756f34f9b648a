"""Tasks that wait for an operator: the inbox, the answer, the approval that nobody else can give."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.browser.calls import send, settled
from tests.browser.conftest import OpenPage
from tests.live import LiveProcess

INBOX = "a2a_django/waitingtask/"


def test_a_refund_waits_for_the_approval_of_an_operator(open_page: OpenPage, live: LiveProcess, shot: Any) -> None:
    task = send(live.url, "Please refund order 1002")
    assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    again = send(live.url, "Approve", task=task["id"], metadata={"a2a_django.operator": True, "operator": True})
    assert again["status"]["state"] == "TASK_STATE_INPUT_REQUIRED", "the customer has approved it"
    page = open_page(INBOX)
    shot(page, "inbox")
    page.get_by_role("link", name="for order 1002").first.click()
    expect(page.get_by_role("heading", name="The task waits for an answer")).to_be_visible()
    shot(page, "question")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Your answer is sent.")).to_be_visible()
    expect(page.locator(".a2a-head .a2a-state")).to_have_text("completed")
    expect(page.locator(".a2a-by-operator")).to_contain_text("Approve")
    done = settled(live.url, task["id"], "COMPLETED")
    assert done["artifacts"][0]["parts"][0]["text"] == "Order 1002 is refunded."
    said = done["history"][-2] if done["history"][-1]["role"] != "ROLE_USER" else done["history"][-1]
    assert said["metadata"] == {"a2a_django.operator": True}
    assert "admin" not in str(done["history"]), "clients are not told who it was"
    page.get_by_role("link", name="History").click()
    expect(page.get_by_text("Answered: Approve")).to_be_visible()


def test_a_question_is_answered_in_words_and_the_page_goes_on(
    open_page: OpenPage, live: LiveProcess, shot: Any
) -> None:
    task = send(live.url, "ask 1", agent="scripted-agent")
    page = open_page(f"a2a_django/task/{task['id']}/change/", color_scheme="dark")
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_text("Write something, or choose an answer.")).to_be_visible()
    page.get_by_label("Your answer").fill("blue, says the operator")
    shot(page, "question-dark")
    page.get_by_role("button", name="Send answer").click()
    expect(page.locator(".a2a-head .a2a-state")).to_have_text("completed")
    expect(page.locator(".a2a-artifact .a2a-text")).to_have_text("blue, says the operator")


def test_a_page_that_is_open_shows_the_question_when_it_comes(open_page: OpenPage, live: LiveProcess) -> None:
    task = send(live.url, "ask 2", agent="scripted-agent")
    page = open_page(f"a2a_django/task/{task['id']}/change/")
    page.evaluate("window.stillHere = true")
    send(live.url, "green", agent="scripted-agent", task=task["id"])  # the owner is quicker, and is asked again
    expect(page.locator(".a2a-timeline")).to_contain_text("green")
    expect(page.get_by_role("heading", name="The task waits for an answer")).to_be_visible()
    send(live.url, "red", agent="scripted-agent", task=task["id"])
    expect(page.locator(".a2a-head .a2a-state")).to_have_text("completed")
    expect(page.locator(".a2a-artifact .a2a-text")).to_have_text("red")
    expect(page.get_by_role("heading", name="The task waits for an answer")).to_have_count(0)
    assert page.evaluate("window.stillHere") is True, "the page was loaded again"
