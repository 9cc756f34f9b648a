"""What every test of the package needs: nobody holds a connection when the test database is dropped."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from django.db import connections
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from a2a_django.agents.directory import Directory, directory

STARTING_PROCESSES = tuple(f"tests/{name}/" for name in ("processes", "example", "browser", "runners"))

# How long an example takes says more of the machine than of the code.
hypothesis_settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("patient")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Stop the engine before the fixtures of a test are torn down.

    A hook and not a fixture, because it has to come before the ``db`` fixture empties or drops the database: the
    engine's threads hold connections of their own, and PostgreSQL drops no database that somebody is connected to.
    """
    engine = sys.modules.get("a2a_django.engine")
    if engine is not None:
        engine.shutdown()
    failures = sys.modules.get("a2a_django.access.failures")
    if failures is not None:  # one test's wrong credentials must not slow down another's
        failures.cache.clear()
        failures.forget()


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the tests that start processes to one worker, those of other files to whoever has time.

    Two at a time leave a machine with two cores nothing for what they wait for.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "processes" if nodeid.startswith(STARTING_PROCESSES) else nodeid.partition("::")[0]

    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def agents_as_their_code_has_them() -> Iterator[None]:
    """Let nobody ask the database about agents, so that tests without one can look at cards. A test that saves an
    ``AgentSetting`` has it read again."""
    known = Directory()
    known._known, known._until = True, math.inf
    directory.__dict__.update(known.__dict__)
    yield
    directory.__dict__.update(known.__dict__)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """Close the connection of asgiref's thread, which nobody else does, before pytest-django drops the database."""
    yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the directory of the SQLite files, but not from a worker of pytest-xdist: the others still need it."""
    run = os.environ.get("A2A_TEST_RUN_DIR")
    if run and not hasattr(config, "workerinput"):
        shutil.rmtree(run, ignore_errors=True)
