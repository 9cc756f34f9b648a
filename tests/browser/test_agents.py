"""The registry and the playground, in a browser."""

from __future__ import annotations

from typing import Any

from tests.browser.conftest import Complaints, OpenPage


def test_the_list_of_agents(open_page: OpenPage, shot: Any) -> None:
    page = open_page("a2a_django/agentsetting/")
    shot(page, "agents")
