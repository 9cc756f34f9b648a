"""Connections that come from a pool go back to it after each piece of work (PostgreSQL)."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import OperationalError, connection, connections

from a2a_django.engine import database


def pooled(monkeypatch: pytest.MonkeyPatch) -> list[threading.Thread]:
    """Let the threads' connections look as if they came from a pool; returns the threads that gave one back."""
    given: list[threading.Thread] = []
    close = type(connections["default"]).close

    def closed(self: Any) -> None:
        if self.connection is not None:
            given.append(threading.current_thread())
        close(self)

    monkeypatch.setattr(type(connections["default"]), "close", closed)
    monkeypatch.setitem(connections["default"].settings_dict["OPTIONS"], "pool", True)
    return given


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("keep", [True, False])
def test_a_connection_of_a_pool_goes_back_after_each_piece_of_work(monkeypatch: pytest.MonkeyPatch, keep: bool) -> None:
    if keep and connection.vendor != "sqlite":
        pytest.skip("a connection that only looks pooled cannot be made there; the example site has a real pool")
    pool = database.ThreadPool(1, "a2a-test", keep=keep)
    pool.submit(lambda: connections["default"].ensure_connection()).result(10)  # made before it looks pooled
    if keep:
        given = pooled(monkeypatch)
        pool.submit(lambda: connections["default"].ensure_connection()).result(10)
    else:
        given = []
    state = pool.submit(lambda: connections["default"].connection is None).result(10)
    assert state is True
    assert len(given) >= int(keep)
    pool.shutdown()


@pytest.mark.django_db(transaction=True)
def test_a_connection_without_a_pool_is_kept_for_the_next_piece_of_work() -> None:
    pool = database.ThreadPool(1, "a2a-test")
    pool.submit(lambda: connections["default"].ensure_connection()).result(10)
    assert pool.submit(lambda: connections["default"].connection is not None).result(10)
    pool.shutdown()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("dead", [1, 3, database.READ_TRIES - 1])
def test_a_read_survives_as_many_dead_connections_as_a_pool_may_have(
    monkeypatch: pytest.MonkeyPatch, dead: int
) -> None:
    tries = []

    def work() -> str:
        connection.ensure_connection()
        tries.append(1)
        if len(tries) <= dead:
            raise OperationalError("server closed the connection unexpectedly")
        return "read"

    monkeypatch.setattr(type(connections["default"]), "is_usable", lambda self: False)
    assert database.patiently(work) == "read"
    assert len(tries) == dead + 1


@pytest.mark.django_db(transaction=True)
def test_an_error_of_a_connection_that_works_is_not_repeated() -> None:
    tries = []

    def work() -> None:
        connection.ensure_connection()
        tries.append(1)
        raise OperationalError("canceling statement due to statement timeout")

    with pytest.raises(OperationalError):
        database.patiently(work)
    assert len(tries) == 1
