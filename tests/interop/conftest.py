"""The live site that the official clients talk to.

These tests run only when the command line names this directory (``pytest tests/interop``): they need node, npm and a
package from npm, which the plain test run does not. Where they run, a missing node or npm is a failure.
``A2A_INTEROP_SERVER`` names the server, one of ``tests.live.SERVERS`` that speaks ASGI; the default is uvicorn.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.servers import running, scripted_site
from tests.interop.live_site import Live

HERE = Path(__file__).resolve().parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave everything here out unless the command line names this directory or something in it."""
    folder = config.invocation_params.dir
    named = ((folder / argument.partition("::")[0]).resolve() for argument in config.args)
    return None if any(path.is_relative_to(HERE) for path in named) else True


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The three variants of the scripted site and the site with several agents, each in a process of its own."""
    server = os.environ.get("A2A_INTEROP_SERVER", "uvicorn")
    folder = tmp_path_factory.mktemp("interop")
    with running(server, "sqlite", folder) as (servers, keys):
        site = replace(
            scripted_site("main", f"sqlite:///{folder / 'several.sqlite3'}", folder),
            settings="tests.interop.several.settings",
            name="several",
        )
        site.manage("migrate", "--verbosity", "0")
        site.manage("scriptedusers", *keys.values())
        with site.server(server) as several:
            yield Live({**servers, "several": several}, keys)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, pytest.TestReport]:
    """Show the end of the servers' logs with a failure."""
    report: pytest.TestReport = yield
    site = getattr(item, "funcargs", {}).get("live")
    if report.failed and isinstance(site, Live):
        report.sections += [(f"log of {name}", process.tail(40)) for name, process in site.processes.items()]
    return report
