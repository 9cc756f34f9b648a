"""Brokers of the tests' own, one of each kind, and sites."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import pytest

from tests.acceptance.servers import database
from tests.runners.brokers import Broker, RabbitMQ, Redis
from tests.runners.kit import KINDS, RunnersSite

SETTINGS = "tests.runners.site.settings"
HERE = Path(__file__).parent
DATABASE = os.environ.get("A2A_TEST_RUNNERS_DATABASE", "sqlite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave these tests out unless they are asked for."""
    if os.environ.get("A2A_TEST_RUNNERS") == "1":
        return
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="needs brokers: set A2A_TEST_RUNNERS=1"))


@pytest.fixture(scope="session")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Broker]]:
    """The brokers; who needs one starts it."""
    found: dict[str, Broker] = {
        "redis": Redis(tmp_path_factory.mktemp("redis")),
        "rabbitmq": RabbitMQ(tmp_path_factory.mktemp("rabbitmq")),
    }
    yield found
    for each in found.values():
        each.end()


MakeSite = Callable[..., RunnersSite]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database with the tables of all sites."""
    folder = tmp_path_factory.mktemp("template")
    with database(DATABASE, folder, "template") as url:
        site = RunnersSite(
            SETTINGS, folder, {"EXAMPLE_DATA_DIR": str(folder), "EXAMPLE_DATABASE_URL": url, "RUNNERS_KIND": "tasks-db"}
        )
        site.manage("migrate", "--verbosity", "0")
        yield url


@contextmanager
def copied(template: str, folder: Path) -> Iterator[str]:
    """Yield the address of a copy of the database ``template``."""
    if DATABASE == "sqlite":
        path = folder / "site.sqlite3"
        with (
            closing(sqlite3.connect(unquote(urlsplit(template).path[1:]))) as source,
            closing(sqlite3.connect(path)) as copy,
        ):
            source.backup(copy)
        yield f"sqlite:///{quote(str(path))}"
        return
    with database(DATABASE, folder, "site", template=template) as url:
        yield url


@pytest.fixture(scope="module")
def make_site(
    brokers: dict[str, Broker], template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MakeSite]:
    """Make sites: ``make_site(kind, **environment)``; the broker of the kind is at work."""
    with ExitStack() as stack:

        def make(kind: str, **environment: str) -> RunnersSite:
            runner, name = KINDS[kind]
            folder = tmp_path_factory.mktemp(kind)
            url = ""
            if name is not None:
                brokers[name].start()
                url = brokers[name].url
            given = {
                "EXAMPLE_DATA_DIR": str(folder),
                "EXAMPLE_DATABASE_URL": stack.enter_context(copied(template, folder)),
                "RUNNERS_KIND": runner,
                "RUNNERS_BROKER_URL": url,
                # With a channel layer as well as without.
                "EXAMPLE_REDIS_URL": url if kind == "celery-redis" else "",
                **environment,
            }
            return RunnersSite(SETTINGS, folder, given)

        yield make
