"""The admin's front page under the strict policy: what all other tests here take for granted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import Complaints, OpenPage


def test_the_front_page_of_the_admin_gives_no_cause_for_complaint(open_page: OpenPage, shot: Any) -> None:
    page = open_page()
    assert page.get_by_role("heading", name="Site administration").is_visible()
    shot(page, "index")


@pytest.mark.parametrize("script", ["alert(1)", "document.body.style.background = 'red'"])
def test_a_script_inside_a_page_is_noticed(open_page: OpenPage, complaints: Complaints, script: str) -> None:
    page = open_page()
    page.evaluate(
        "code => { const s = document.createElement('script'); s.textContent = code; document.body.append(s) }", script
    )
    assert any("Content Security Policy" in each for each in complaints.found)
    complaints.expected = ["console Executing inline script"]
