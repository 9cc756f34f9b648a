"""The live site that the official clients talk to.

These tests run only when the command line names this directory (``pytest tests/interop``): they need node, npm and a
package from npm, which the plain test run does not. Where they run, a missing node or npm is a failure.
``A2A_INTEROP_SERVER`` names the server, one of ``tests.live.SERVERS`` that speaks ASGI; the default is uvicorn.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.interop.live_site import Live, serving
from tests.named import is_named

HERE = Path(__file__).resolve().parent
SERVER = os.environ.get("A2A_INTEROP_SERVER", "uvicorn")


def pytest_report_header() -> str:
    return f"a2a-sdk {version('a2a-sdk')} and the @a2a-js/sdk of package-lock.json against {SERVER}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave everything here out unless the command line names this directory or something in it."""
    return None if is_named(HERE, config) else True


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The scripted site's variants, the site with several agents and the example site."""
    with serving(SERVER, tmp_path_factory.mktemp("interop")) as found:
        yield found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, pytest.TestReport]:
    """Show the end of the servers' logs with a failure."""
    report: pytest.TestReport = yield
    site = getattr(item, "funcargs", {}).get("live")
    if report.failed and isinstance(site, Live):
        report.sections += [(f"log of {name}", log) for name, log in site.logs()]
    return report
