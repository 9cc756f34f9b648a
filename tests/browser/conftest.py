"""A live site, a browser, and pages that must not complain.

The browser is Debian's: ``apt-get install chromium``, ``pip install playwright`` and A2A_TEST_BROWSER=1 (``make
browser`` does it all). Without that variable these tests are not run. A2A_TEST_SHOTS names a folder for screenshots.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.live import LiveProcess, Site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

ADMIN = "/back/office/"
#: Milliseconds that a page may take to show something, on a busy machine.
PATIENCE = 30_000


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave the tests of this folder out unless they are asked for: they need a browser and a package to drive it."""
    return None if os.environ.get("A2A_TEST_BROWSER") == "1" else True


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)

    path = shutil.which("chromium") or shutil.which("google-chrome")
    assert path is not None, "apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site of its own with the data of the demo; ``site.manage`` runs its commands."""
    folder = tmp_path_factory.mktemp("browser")
    database = os.environ.get("A2A_TEST_BROWSER_DATABASE", "")
    made = Site("tests.browser.settings", folder, {"EXAMPLE_DATA_DIR": str(folder), "EXAMPLE_DATABASE_URL": database})
    made.manage("preparedemo")
    return made


@pytest.fixture(scope="session")
def live(site: Site) -> Iterator[LiveProcess]:
    """The site under uvicorn."""
    with site.server("uvicorn") as process:
        yield process


@pytest.fixture(scope="session")
def signed_in(chromium: Browser, site: Site, live: LiveProcess) -> Any:
    """The cookies of the demo's administrator."""
    return sign_in(chromium, live.url, "admin", (site.folder / "admin-password").read_text().strip())


def sign_in(browser: Browser, base: str, user: str, password: str) -> Any:
    """Sign a user in by the admin's form and return the browser's state after it."""
    context = browser.new_context(base_url=base)
    page = context.new_page()
    page.goto(f"{ADMIN}login/", timeout=PATIENCE)
    page.get_by_label("Username").fill(user)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "login" not in url, timeout=PATIENCE)
    state = context.storage_state()
    context.close()
    return state


class Complaints:
    """What a browser has to say against a page. ``expected``: beginnings of what a test brings about on purpose."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.expected: list[str] = []

    def watch(self, page: Page) -> None:
        """Listen to a page."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.found.append(f"error {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._answered)

    def _said(self, message: ConsoleMessage) -> None:
        # Browsers ask for an icon by themselves; nobody has to have one.
        if message.type in {"error", "warning"} and not message.location["url"].endswith("/favicon.ico"):
            self.found.append(f"console {message.text}")

    def _failed(self, request: Request) -> None:
        # Leaving a page ends its stream, and its downloads are no pages: neither is a failure.
        if request.failure != "net::ERR_ABORTED":
            self.found.append(f"failed {request.url} {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.found.append(f"status {response.status} {response.url}")

    def check(self) -> None:
        """Fail if there is anything that was not expected."""
        left = [each for each in self.found if not each.startswith(tuple(self.expected) or ("\0",))]
        assert not left, left


@pytest.fixture
def complaints() -> Iterator[Complaints]:
    """What the browser complains of during the test; anything unexpected fails it."""
    made = Complaints()
    yield made
    made.check()


OpenPage = Callable[..., "Page"]


@pytest.fixture
def open_page(chromium: Browser, live: LiveProcess, signed_in: Any, complaints: Complaints) -> Iterator[OpenPage]:
    """``open_page(path, **options)``: a page of the admin, as the administrator sees it.

    Options are those of ``Browser.new_context``: ``color_scheme="dark"``, ``viewport={...}``, ``storage_state``.
    """
    contexts: list[BrowserContext] = []

    def opened(path: str = "", **options: Any) -> Page:
        context = chromium.new_context(**{"base_url": live.url, "storage_state": signed_in, **options})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        complaints.watch(page)
        page.goto(path if path.startswith(("/", "http")) else ADMIN + path)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def shot(request: pytest.FixtureRequest) -> Callable[[Page, str], None]:
    """``shot(page, name)``: a screenshot of the whole page, where somebody wants to look at it."""
    folder = os.environ.get("A2A_TEST_SHOTS")

    def taken(page: Page, name: str) -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return taken
