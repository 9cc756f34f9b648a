"""What every test of the package needs: the engine's threads are stopped after each test."""

from __future__ import annotations

import os
import shutil
import sys

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Stop the engine before the fixtures of a test are torn down.

    A hook and not a fixture, because it has to come before the ``db`` fixture empties or drops the database: the
    engine's threads hold connections of their own, and PostgreSQL drops no database that somebody is connected to.
    """
    engine = sys.modules.get("a2a_django.engine")
    if engine is not None:
        engine.shutdown()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the directory of the SQLite files, but not from a worker of pytest-xdist: the others still need it."""
    run = os.environ.get("A2A_TEST_RUN_DIR")
    if run and not hasattr(config, "workerinput"):
        shutil.rmtree(run, ignore_errors=True)
