"""The registry in a browser: which agents there are, their cards, on and off."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import OpenPage

LIST = "a2a_django/agentsetting/"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "narrow": {"viewport": {"width": 390, "height": 800}},
}


def fits(page: Any) -> bool:
    """Whether nothing sticks out of the screen, however narrow it is."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


@pytest.mark.parametrize("look", LOOKS)
def test_an_agent_is_shown_with_its_card(open_page: OpenPage, shot: Any, look: str) -> None:
    page = open_page(LIST, **LOOKS[look])
    shot(page, f"agents-{look}")
    assert fits(page)
    page.get_by_role("link", name="Order Desk").click()
    card = page.get_by_role("region", name="Card")
    card.get_by_text("The card has all that the protocol requires.").wait_for()
    card.get_by_text("The card is not signed.").wait_for()
    card.get_by_text("JSON", exact=True).last.click()
    assert '"supportedInterfaces"' in card.locator("pre").inner_text()
    shot(page, f"agent-{look}")
    assert fits(page)


def test_an_agent_is_switched_off_renamed_and_switched_on_again(open_page: OpenPage, shot: Any) -> None:
    page = open_page(LIST)
    page.get_by_role("button", name="Switch off scripted-agent").click()
    page.get_by_text("scripted-agent is off: callers do not know it any more.").wait_for()
    playing = open_page("a2a_django/agentsetting/playground/?agent=scripted-agent")
    playing.get_by_text("This agent is off: callers do not know it.").wait_for()
    assert playing.get_by_role("button", name="Send", exact=True).is_disabled()
    page.get_by_role("link", name="Scripted agent").click()
    page.get_by_label("Name").fill("The play")
    page.get_by_label("Enabled").check()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Switch off scripted-agent").wait_for()
    page.get_by_role("link", name="The play").click()
    page.get_by_role("link", name="History").click()
    page.get_by_text("Switched off.").wait_for()
