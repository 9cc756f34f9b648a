"""Log records say what they belong to."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from django.test import Client

from a2a_django import Agent
from a2a_django.agents import TaskContext
from a2a_django.logs import FIELDS, AddFields
from a2a_django.models import Task
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import VERSION
from tests.engine.kit import made_of
from tests.telemetry.test_otel import PARENT, TRACE, post, rpc

pytestmark = pytest.mark.django_db(transaction=True)

logger = logging.getLogger("shop.agents")


@pytest.fixture
def records() -> Iterator[list[dict[str, str]]]:
    """What a handler with the filter gets of the site's own logger."""
    found: list[dict[str, str]] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append({name: getattr(record, name) for name in FIELDS})

    handler = Keep()
    handler.addFilter(AddFields())
    logger.addHandler(handler)
    yield found
    logger.removeHandler(handler)


async def test_what_an_agent_logs(
    carrier: Carrier, register: Callable[[Agent], Agent], records: list[dict[str, str]]
) -> None:
    async def run(ctx: TaskContext) -> AsyncIterator[str]:
        logger.warning("at work")
        yield "done"

    register(made_of(run))
    await post(carrier, rpc("SendMessage"), traceparent=PARENT)
    task = await Task.objects.aget()
    assert records == [
        {
            "a2a_operation": "",
            "a2a_binding": "",
            "a2a_agent": "tested",
            "a2a_task": task.pk,
            "a2a_attempt": "1",
            "a2a_trace": TRACE,
        }
    ]


def test_outside_of_everything(records: list[dict[str, str]]) -> None:
    logger.warning("at rest")
    assert records == [dict.fromkeys(FIELDS, "")]


def test_a_thread_that_has_carried_out_a_call_goes_on_without_its_fields(
    register: Callable[[Agent], Agent], records: list[dict[str, str]]
) -> None:
    """As it is under WSGI."""

    async def run(ctx: TaskContext) -> str:
        return "done"

    register(made_of(run))
    response = Client().post("/a2a/", rpc("SendMessage"), content_type="application/json", headers=VERSION)
    assert response.status_code == 200
    logger.warning("another request")
    assert records == [dict.fromkeys(FIELDS, "")]
