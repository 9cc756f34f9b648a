"""``TestCase`` classes with clients."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.test import TestCase, TransactionTestCase

from a2a_django.testing.client import A2AClient, AsyncA2AClient
from a2a_django.testing.receiver import FakeReceiver
from a2a_django.testing.stage import in_process

if TYPE_CHECKING:
    from unittest import TestCase as _Base
    from unittest import TestResult
else:
    _Base = object


class A2ATestMixin(_Base):
    """For any test case of Django's: ``class OrderTests(A2ATestMixin, TestCase)``.

    ``a2a_client`` is the client of synchronous tests, ``async_a2a_client`` that of asynchronous ones, and ``a2a_agent``
    the agent that both call, by default the site's. Other clients may be made as well. From the first call on, and
    until the test ends, agents run on the test's thread and connection.
    """

    #: Slug, class or instance of the agent.
    a2a_agent: Any = ""

    @cached_property
    def a2a_client(self) -> A2AClient:
        """The client of this test."""
        return A2AClient(agent=self.a2a_agent)

    @cached_property
    def async_a2a_client(self) -> AsyncA2AClient:
        """The client of this asynchronous test."""
        return AsyncA2AClient(agent=self.a2a_agent)

    @cached_property
    def a2a_receiver(self) -> FakeReceiver:
        """A receiver of notifications."""
        return FakeReceiver()

    def run(self, result: TestResult | None = None) -> TestResult | None:
        """Run the test, inside ``in_process``."""
        with in_process():
            return super().run(result)


class A2ATestCase(A2ATestMixin, TestCase):
    """``django.test.TestCase`` with clients; what agents write is rolled back with the rest."""


class A2ATransactionTestCase(A2ATestMixin, TransactionTestCase):
    """``django.test.TransactionTestCase`` with clients."""
