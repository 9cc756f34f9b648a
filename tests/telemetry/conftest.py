"""OpenTelemetry's own SDK, keeping what it gets in memory; agents that are told what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_django import Settings

from tests.bindings.conftest import carrier, register
from tests.engine.conftest import sound_rows
from tests.engine.kit import when
from tests.push.conftest import quick, receiver

__all__ = ["carrier", "quick", "receiver", "register", "sound_rows"]

# OpenTelemetry takes one provider for the life of a process.
_exporter, _reader = InMemorySpanExporter(), InMemoryMetricReader()


class Watched:
    """What was seen."""

    def all(self) -> tuple[ReadableSpan, ...]:
        """The spans that have ended."""
        return _exporter.get_finished_spans()

    def spans(self) -> dict[str, ReadableSpan]:
        """The same by name; there is one of each."""
        found = self.all()
        assert len({span.name for span in found}) == len(found)
        return {span.name: span for span in found}

    async def span(self, name: str) -> ReadableSpan:
        """The span of this name, as soon as it has ended."""
        await when(lambda: name in self.spans())
        return self.spans()[name]

    def points(self, name: str) -> list[Any]:
        """The data points of a metric."""
        data = _reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]


@pytest.fixture(scope="session")
def providers() -> None:
    """The SDK, set up as a site does."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(_exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([_reader]))


@pytest.fixture
def unwatched(providers: None) -> Watched:
    """A site that is not watched, and what is seen all the same."""
    _exporter.clear()
    return Watched()


@pytest.fixture
def watched(providers: None, settings: Settings) -> Iterator[Watched]:
    """A site that is watched."""
    settings.A2A = {**settings.A2A, "OPENTELEMETRY": True}
    _exporter.clear()
    yield Watched()
    _exporter.clear()
